#include "sim/faults.h"

#include "base/check.h"
#include "stats/elem.h"

static const struct { const char *word, *meaning; enum faults_group group; bool lasts; } kinds[] = {
#define F(name, word, group, lasts, meaning) {word, meaning, FAULTS_##group, lasts},
#include "sim/faults.def"
#undef F
};

const char *faults_word(enum faults_kind k) { return kinds[k].word; }
const char *faults_meaning(enum faults_kind k) { return kinds[k].meaning; }
enum faults_group faults_group(enum faults_kind k) { return kinds[k].group; }
bool faults_lasts(enum faults_kind k) { return kinds[k].lasts; }

/* Seconds between two powers of ten, each order of size as likely as the next. */
static struct span log_between(struct prng *p, double least_s, double most_s)
{
    double s = stats_exp(prng_between(p, stats_log(least_s), stats_log(most_s)));
    return (struct span){(int64_t)(s * 1e6)};
}

/* Records that open the moments in which a fault hurts. */
static enum record_kind some_record(struct prng *p, enum faults_kind k)
{
    static const enum record_kind any[] = {
        RECORD_INTENT, RECORD_INTENT, RECORD_INTENT, RECORD_APPLIED, RECORD_APPLIED, RECORD_UNDO, RECORD_UNDO, RECORD_VERDICT,
        RECORD_UNDONE, RECORD_FAILED, RECORD_CANCEL, RECORD_ROLLBACK, RECORD_HALT,
        RECORD_INCIDENT, RECORD_REQUEST, RECORD_UNDO_RETRY,
    };
    static const enum record_kind before_a_write[] = {
        RECORD_INTENT, RECORD_INTENT, RECORD_INTENT, RECORD_VERDICT, RECORD_UNDO, RECORD_CANCEL, RECORD_ROLLBACK,
    };
    bool asked = k == FAULTS_APPROVE || k == FAULTS_APPROVE_TWICE || k == FAULTS_REJECT;
    bool sends = faults_group(k) == FAULTS_WRITE || k == FAULTS_HALT_AT_WRITE;
    if (sends) return before_a_write[prng_below(p, ARRAY_LEN(before_a_write))];
    return asked ? RECORD_REQUEST : any[prng_below(p, ARRAY_LEN(any))];
}

/* A bad server, a bad disk and a kill at some effect hurt only while something is under way. */
static bool hurts_at_once(enum faults_kind k)
{
    enum faults_group g = faults_group(k);
    bool sends = g == FAULTS_WRITE || k == FAULTS_HALT_AT_WRITE;
    return sends || g == FAULTS_STORE || g == FAULTS_DISK || (g == FAULTS_PROCESS && faults_lasts(k));
}

static struct span length_of(struct prng *p, enum faults_kind k)
{
    if (k == FAULTS_DISK_RENAME) return log_between(p, 600, 8 * 3600);   /* it does no harm, so it may last */
    switch (faults_group(k)) {
    case FAULTS_METRICS: return log_between(p, 30, 7200);
    case FAULTS_WRITE: return log_between(p, 10, 3600);
    case FAULTS_READ: return log_between(p, 1, 3600);
    case FAULTS_STORE:
    case FAULTS_DISK: return log_between(p, 0.05, 3600);
    case FAULTS_PROCESS: return log_between(p, 0.5, 3600);
    case FAULTS_CLOCK: return log_between(p, 1, 14400);
    case FAULTS_PLANT: return log_between(p, 1200, 6 * 3600);
    default: return log_between(p, 10, 6 * 3600);
    }
}

static void draw_item(struct faults *f, struct prng *p, enum faults_kind k, struct span active)
{
    if (f->n == FAULTS_MAX) return;
    struct faults_item *i = &f->items[f->n++];
    bool plant = faults_group(k) == FAULTS_PLANT;
    *i = (struct faults_item){.kind = (uint16_t)k};
    i->at.us = (int64_t)prng_below(p, (uint64_t)active.us);
    i->on_record = !plant && prng_below(p, 100) < 75;
    if (k == FAULTS_APPROVE || k == FAULTS_APPROVE_TWICE) i->on_record = true;
    i->record = some_record(p, k);
    i->nth = (uint8_t)(1 + prng_below(p, 2));
    i->delay = prng_below(p, 4) < (hurts_at_once(k) ? 3 : 1) ? SPAN_MS(0) : log_between(p, 0.001, 1200);
    i->len = length_of(p, k);
    i->size = prng_unit(p);
    if (i->on_record) i->at.us = (int64_t)prng_below(p, (uint64_t)(active.us / 2));
    prng_seed(&i->chance, prng_u64(p));
}

/* Whom it meets: one service of a fleet, or all. A daemon, its disk and its clock are shared by all anyway. */
static void draw_place(struct faults *f, struct prng *root, unsigned services)
{
    struct prng p;
    prng_fork(&p, root, "places");
    for (unsigned n = 0; n < f->n; n++) {
        struct faults_item *i = &f->items[n];
        enum faults_group g = faults_group((enum faults_kind)i->kind);
        bool shared = g == FAULTS_STORE || g == FAULTS_DISK || g == FAULTS_PROCESS || g == FAULTS_CLOCK || g == FAULTS_CONFIG;
        i->service = (uint8_t)prng_below(&p, services);
        i->everywhere = prng_below(&p, 4) == 0 || shared;
    }
}

void faults_draw(struct faults *f, uint64_t seed, struct span active, unsigned services)
{
    struct prng root, p;
    f->n = 0;
    prng_seed(&root, seed);
    prng_fork(&p, &root, "faults");
    uint64_t hours = (uint64_t)(active.us / US_PER_HOUR);
    for (unsigned k = 0; k < FAULTS_KINDS; k++) {
        if (k == FAULTS_HALT_AT_WRITE) prng_fork(&p, &root, "later faults");
        bool plant = faults_group((enum faults_kind)k) == FAULTS_PLANT, reference = k == FAULTS_PLANT_REFERENCE;
        bool approve = k == FAULTS_APPROVE, disk = faults_group((enum faults_kind)k) == FAULTS_DISK;
        if (prng_below(&p, 100) >= (reference || approve ? 75 : plant || disk ? 35 : 16)) continue;
        uint64_t n = 1 + prng_below(&p, plant ? 1 + hours / (reference ? 4 : 12) : 4);
        while (n-- > 0) draw_item(f, &p, (enum faults_kind)k, active);
    }
    draw_place(f, &root, services);
}

bool faults_meets(const struct faults_item *i, uint16_t service) { return i->everywhere || i->service == service; }

struct faults_item *faults_now(struct faults *f, enum faults_kind k, uint16_t service, struct instant now)
{
    for (unsigned i = 0; i < f->n; i++) {
        struct faults_item *x = &f->items[i];
        bool meets = x->kind == k && faults_meets(x, service) && x->armed;
        if (!meets || !instant_reached(now, x->from) || !instant_before(now, x->until)) continue;
        x->bites++;
        return x;
    }
    return NULL;
}

void faults_print(const struct faults_item *i, unsigned index, struct buf *out)
{
    buf_printf(out, "%u %s ", index, faults_word((enum faults_kind)i->kind));
    if (i->on_record) buf_printf(out, "at %s number %u after ", record_kind_name(i->record), i->nth);
    else buf_puts(out, "at ");
    span_print(out, (struct span){i->at.us});
    if (i->on_record && i->delay.us > 0) {
        buf_puts(out, " + ");
        span_print(out, i->delay);
    }
    buf_puts(out, " for ");
    span_print(out, i->len);
    if (i->everywhere) buf_puts(out, ", everywhere");
    else buf_printf(out, ", service %u", i->service);
}
