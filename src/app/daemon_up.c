/* Time that has certainly passed, from life to life (clock.h). */
#include <string.h>

#include "app/daemon.h"
#include "base/text.h"

#define PIECE 256                      /* records read at once, from the end back to the START of the last life */

struct looking { struct clock_mark mark; bool found; };

static bool see(void *arg, const struct store_entry *entry)
{
    struct looking *l = arg;
    const struct record *r = entry->record;
    l->mark.up = record_get_i64(r, RF_UP, l->mark.up);
    if (r->kind != RECORD_START) return true;
    l->found = true;
    l->mark.boot_up = l->mark.up;
    (void)text_copy(l->mark.boot, sizeof l->mark.boot, record_get_text(r, RF_BOOT));
    return true;
}

void daemon_up_open(struct daemon *d)
{
    struct looking l = {0};
    struct store_health h;
    char id[CLOCK_BOOT_MAX];
    store_health(d->store, &h);
    for (uint64_t n = PIECE, from = h.size; from > 0 && !l.found; n *= 4) {
        from = h.size > n ? h.size - n : 0;
        l = (struct looking){0};
        if (store_records(d->store, from, &(struct store_sink){see, &l}, NULL) != STATUS_OK) return;   /* said when it is folded */
    }
    clock_boot(id);
    /* On a fast clock no time passes between two lives. */
    d->up_at_start = d->options.speed > 1 ? l.mark.up : clock_certain(&l.mark, id, d->clock.mono_start);
}

int64_t daemon_up(const struct daemon *d)
{
    struct instant now;
    struct wall wall;
    clock_now(&d->clock, &now, &wall);
    return d->up_at_start + (now.us - d->clock.nominal_start);
}
