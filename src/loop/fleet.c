/* What one service may not see alone: groups, the fleet's budget, storms. loop.md section 1, "Classes and groups". */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "loop/service.h"

#define START_CAUTION SPAN_MIN(30)
#define STORM_WINDOW SPAN_MIN(10)
#define STORM_SERVICES 3

static bool depends(const struct service_def *a, const struct service_def *b)
{
    for (unsigned i = 0; i < a->depends_count; i++) {
        if (strcmp(a->depends_on[i], b->name) == 0) return true;
    }
    return false;
}

static bool same_group(const struct service_def *a, const struct service_def *b)
{
    if (a->group && b->group && text_eq(a->group, b->group)) return true;
    return depends(a, b) || depends(b, a);
}

static bool busy(const struct loop *l, const struct service_loop *s)
{
    return control_in_flight(&s->control) || !instant_reached(l->now, s->control.gap_until);
}

bool fleet_group_in_flight(const struct loop *l, const struct service_loop *s)
{
    if (!s->def->group && s->def->depends_count == 0 && l->service_count < 2) return false;
    for (uint16_t i = 0; i < l->service_count; i++) {
        const struct service_loop *other = &l->services[i];
        if (other != s && busy(l, other) && same_group(s->def, other->def)) return true;
    }
    return false;
}

bool fleet_storm(const struct loop *l)
{
    unsigned opened = 0;
    for (uint16_t i = 0; i < l->service_count; i++) {
        struct instant at = l->services[i].opened_at;
        bool open = l->services[i].control.incident_open;
        opened += open && instant_is_set(at) && span_less(instant_since(l->now, at), STORM_WINDOW);
    }
    return opened >= STORM_SERVICES && opened * 5 > l->service_count;
}

int fleet_in_flight(const struct loop *l)
{
    int n = 0;
    for (uint16_t i = 0; i < l->service_count; i++) {
        /* An INTENT that is not sent yet counts too, else two services could pass the gate in one tick. */
        n += control_in_flight(&l->services[i].control);
    }
    return n;
}

int fleet_in_flight_max(const struct loop *l)
{
    if (span_less(instant_since(l->now, l->started), START_CAUTION)) return 1;
    int share = (int)((double)l->service_count * l->policy->fleet_fraction);
    return share < 1 ? 1 : share;
}

int fleet_last_hour(const struct loop *l)
{
    int n = 0;
    unsigned have = l->recent_n < RECENT_ACTIONS ? l->recent_n : RECENT_ACTIONS;
    for (unsigned i = 0; i < have; i++) n += span_less(instant_since(l->now, l->recent[i]), SPAN_HOUR(1));
    return n;
}

void fleet_count(const struct loop *l, struct loop_counters *c)
{
    c->services = l->service_count;
    c->in_flight = c->awaiting = c->halted = c->with_person = 0;
    for (uint16_t i = 0; i < l->service_count; i++) {
        const struct control *s = &l->services[i].control;
        c->in_flight = (uint16_t)(c->in_flight + control_in_flight(s));
        c->awaiting = (uint16_t)(c->awaiting + (s->state == STATE_AWAITING));
        c->halted = (uint16_t)(c->halted + s->halted);
        c->with_person = (uint16_t)(c->with_person + (s->state == STATE_PERSON));
    }
}

/* Wakes: leaves [leaves, 2 * leaves), each node above holds the earlier of its two. The root is node 1. */
bool fleet_wakes_init(struct loop *l)
{
    uint32_t leaves = 1;
    while (leaves < l->service_count) leaves *= 2;
    struct instant *wakes = malloc(2u * leaves * sizeof *wakes);
    if (!wakes) return false;
    for (uint32_t i = 0; i < 2 * leaves; i++) wakes[i] = INSTANT_NEVER;
    free(l->wakes);
    l->wakes = wakes;
    l->wake_leaves = leaves;
    for (uint16_t i = 0; i < l->service_count; i++) fleet_wake_set(l, i);
    return true;
}

void fleet_wake_set(struct loop *l, uint16_t service)
{
    uint32_t at = l->wake_leaves + service;
    struct instant wake = round_wake(l, &l->services[service]);
    while (l->wakes[at].us != wake.us) {
        l->wakes[at] = wake;
        if (at == 1) return;
        wake = instant_min(wake, l->wakes[at ^ 1]);
        at /= 2;
    }
}

struct instant fleet_wake(const struct loop *l) { return l->wakes[1]; }
