/* History for the baselines: from the API, or from a metrics server at the first start. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/daemon.h"
#include "base/text.h"
#include "loop/control.h"

/* ---- import: lived through beside the running service, then put in its place as a whole ---- */

void daemon_import_end(struct daemon *d)
{
    loop_free(d->import);
    d->import = NULL;
}

static enum status import_begin(struct daemon *d, uint16_t service, struct err *e)
{
    struct instant now;
    struct wall wall;
    if (d->import && d->import_service == service && d->import_policy == d->policy) return STATUS_OK;
    daemon_import_end(d);
    clock_now(&d->clock, &now, &wall);
    d->import = loop_new(d->policy, now, wall, (struct loop_options){.alone = true});
    d->import_service = service;
    d->import_policy = d->policy;
    d->import_rows = 0;
    return d->import ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory for an import");
}

static bool import_feed(struct daemon *d, const struct v1_series *s, bool last, struct wall *ret_newest)
{
    struct instant now;
    struct wall wall;
    struct update u;
    clock_now(&d->clock, &now, &wall);
    struct point *points = calloc(s->n ? s->n : 1, sizeof *points);
    if (!points) return false;
    for (uint32_t i = 0; i < s->n; i++) {
        bool known = s->values[i] - s->values[i] == 0;
        points[i] = (struct point){.at = {now.us - (wall.us - s->times[i].us)}, .value = s->values[i],
                                   .why = known ? WHY_KNOWN : WHY_MISSING};
        *ret_newest = s->times[i];
    }
    struct event e = {.kind = EVENT_HISTORY, .now = now, .wall = wall, .service = d->import_service};
    e.u.history.signal = s->signal;
    e.u.history.points = points;
    e.u.history.walls = s->times;
    e.u.history.n = s->n;
    e.u.history.last = last;
    loop_step(d->import, &e, &u);
    free(points);
    return true;
}

static enum status import_put(struct daemon *d, const char *by, struct err *e)
{
    struct instant now;
    struct wall wall;
    struct buf state = BUF_INIT;
    char note[200];
    const char *name = d->policy->services[d->import_service].name;
    clock_now(&d->clock, &now, &wall);
    loop_service_state(d->import, d->import_service, &state);
    struct event x = {.kind = EVENT_STATE, .service = d->import_service};
    x.u.state.bytes = state.data;
    x.u.state.len = state.len;
    x.u.state.age = (struct span){wall.us - d->import_newest.us};
    daemon_step(d, &x);
    enum status s = store_state_put(d->store, name, wall.us, state.data, state.len, e);
    buf_free(&state);
    snprintf(note, sizeof note, "%llu rows of history for %s", (unsigned long long)d->import_rows, name);
    daemon_log_own(d, RECORD_IMPORT, by, note);
    return s;
}

enum status daemon_import(void *ctx, uint16_t service, const struct v1_series *series, uint32_t n, bool last,
                          const char *by, struct err *e)
{
    struct daemon *d = ctx;
    struct instant now;
    struct wall wall;
    const struct control *c = loop_control(d->loop, service);
    clock_now(&d->clock, &now, &wall);
    if (c->incident_open || control_in_flight(c)) {
        return err_set(e, STATUS_STATE, "an incident is open or an action runs; import when it has ended");
    }
    if (n && series[0].n && series[0].times[series[0].n - 1].us > wall.us) {
        return err_set(e, STATUS_INVALID, "the newest row lies in the future of the daemon's nominal clock");
    }
    enum status s = import_begin(d, service, e);
    if (s != STATUS_OK) return s;
    if (d->import_rows && n && series[0].n && series[0].times[0].us <= d->import_newest.us) {
        daemon_import_end(d);
        return err_set(e, STATUS_INVALID, "this piece does not continue the one before; begin again");
    }
    for (uint32_t i = 0; i < n && s == STATUS_OK; i++) {
        if (!import_feed(d, &series[i], last && i + 1 == n, &d->import_newest)) s = err_set(e, STATUS_MEMORY, "no memory");
    }
    d->import_rows += n ? series[0].n : 0;
    if (s == STATUS_OK && last && d->import_rows == 0) s = err_set(e, STATUS_INVALID, "there is no row to import");
    if (s == STATUS_OK && last) s = import_put(d, by, e);
    if (s != STATUS_OK || last) daemon_import_end(d);
    return s;
}
