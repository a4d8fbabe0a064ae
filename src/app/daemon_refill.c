/* The minutes between the newest saved baselines and the death of the process, from the points that were kept: so that a change
 * which was being watched is judged by what was seen then. Only for services with something open; the others lose nothing. */
#include <stdlib.h>

#include "app/daemon.h"
#include "base/check.h"
#include "loop/control.h"

#define REFILL_SPAN (4 * US_PER_HOUR)    /* as long as blocks are kept */
#define REFILL_POINTS 2048u              /* of a signal */

struct refill { struct point *points; uint32_t n; int64_t wall_minus_now, newest; };

static bool take(void *arg, const struct store_step *step)
{
    struct refill *r = arg;
    bool known = step->known > 0;
    if (step->at > r->newest) return false;      /* written by a clock that has been set back since */
    r->points[r->n++] = (struct point){.at = {step->at - r->wall_minus_now}, .value = step->last, .n = step->n,
                                       .why = known ? WHY_KNOWN : step->why};
    return r->n < REFILL_POINTS;
}

static bool is_watched(const struct daemon *d, uint16_t service)
{
    const struct control *c = loop_control(d->loop, service);
    if (c->incident_open) return true;
    for (unsigned k = 0; k < d->policy->services[service].knob_count; k++) {
        if (!story_ended((enum story)c->knobs[k].slot.story)) return true;
    }
    return false;
}

static void refill_signal(struct daemon *d, uint16_t service, uint16_t signal, int64_t saved, struct refill *r)
{
    const struct service_def *s = &d->policy->services[service];
    struct event e = {.kind = EVENT_REFILL, .service = service};
    struct err err;
    r->n = 0;
    enum status st = store_points_range(d->store, s->name, s->signals[signal].name, saved, r->newest + 1, 0,
                                        &(struct store_step_sink){take, r}, &err);
    if (st != STATUS_OK) log_line(LEVEL_WARN, "store", "kept points cannot be read", "service", s->name, "error", err.text, NULL);
    e.u.refill.signal = signal;
    e.u.refill.points = r->points;
    e.u.refill.n = r->n;
    if (st == STATUS_OK && r->n > 0) daemon_step(d, &e);
}

static void refill_service(struct daemon *d, uint16_t service, struct refill *r)
{
    const struct service_def *s = &d->policy->services[service];
    struct buf bytes = BUF_INIT;
    struct instant now;
    struct wall wall;
    struct err e;
    int64_t saved;
    clock_now(&d->clock, &now, &wall);
    bool found = store_state_get(d->store, s->name, &saved, &bytes, &e) == STATUS_OK;
    buf_free(&bytes);
    if (!found || wall.us - saved > REFILL_SPAN) return;
    r->wall_minus_now = wall.us - now.us;
    r->newest = wall.us;
    for (uint16_t i = 0; i < s->signal_count; i++) refill_signal(d, service, i, saved, r);
}

void daemon_refill(struct daemon *d)
{
    struct refill r = {.points = calloc(REFILL_POINTS, sizeof *r.points)};
    CHECK_MEMORY(r.points);
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        if (is_watched(d, i)) refill_service(d, i, &r);
    }
    free(r.points);
}
