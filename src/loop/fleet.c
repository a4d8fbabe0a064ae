/* What one service may not see alone: groups, the fleet's budget, storms. loop.md section 1, "Classes and groups". */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "loop/service.h"

#define START_CAUTION SPAN_MIN(30)
#define STORM_WINDOW SPAN_MIN(10)
#define STORM_SERVICES 3
#define BREAKER_SPAN SPAN_HOUR(24)

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

/* From INTENT to verdict, also while a halt or a restart has interrupted it. A service whose log is still to be read may have
 * something under way: it counts until that is known. */
static bool under_change(const struct service_loop *s)
{
    const struct control *c = &s->control;
    if (control_in_flight(c) || c->store_failed || !s->folded) return true;
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        if (!story_ended((enum story)c->knobs[k].slot.story)) return true;
    }
    return false;
}

static bool busy(const struct loop *l, const struct service_loop *s)
{
    return under_change(s) || !instant_reached(l->now, s->control.gap_until);
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

bool fleet_storm(const struct loop *l) { return l->storm; }

/* Open incidents, of those the ones opened at `since` or later. */
static unsigned open_since(const struct loop *l, struct instant since)
{
    unsigned n = 0;
    for (uint16_t i = 0; i < l->service_count; i++) {
        struct instant at = l->services[i].opened_at;
        n += l->services[i].control.incident_open && instant_is_set(at) && !instant_before(at, since);
    }
    return n;
}

static bool many(const struct loop *l, unsigned n) { return n >= STORM_SERVICES && n * 5 > l->service_count; }

int fleet_in_flight(const struct loop *l, const struct service_loop *s)
{
    int n = 0;
    for (uint16_t i = 0; i < l->service_count; i++) {
        /* An INTENT that is not sent yet counts too, else two services could pass the gate in one tick. */
        n += &l->services[i] != s && under_change(&l->services[i]);
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
    for (unsigned i = 0; i < have; i++) {
        struct instant at = l->recent[i].at;
        n += instant_is_set(at) && span_less(instant_since(l->now, at), SPAN_HOUR(1));
    }
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

uint32_t fleet_next_due(const struct loop *l, uint32_t from)
{
    uint32_t at = l->wake_leaves + from;
    if (from >= l->service_count) return l->service_count;
    while (!instant_reached(l->now, l->wakes[at])) {
        while (at & 1 && at > 1) at /= 2;                 /* nothing right of here below this parent */
        if (at <= 1) return l->service_count;
        at++;
    }
    while (at < l->wake_leaves) {
        at *= 2;
        at += !instant_reached(l->now, l->wakes[at]);
    }
    return at - l->wake_leaves;
}

static uint64_t who(const struct service_loop *s, uint32_t action)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *c = s->def->name; *c; c++) h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return (h ^ action) * UINT64_C(0x100000001b3);
}

static struct fleet_write *find_write(struct loop *l, uint64_t id)
{
    unsigned have = l->recent_n < RECENT_ACTIONS ? l->recent_n : RECENT_ACTIONS;
    for (unsigned i = 0; i < have; i++) {
        if (l->recent[i].who == id) return &l->recent[i];
    }
    return NULL;
}

void fleet_sent(struct loop *l, const struct service_loop *s, uint32_t action, struct instant at)
{
    struct fleet_write *known = find_write(l, who(s, action));
    if (known) known->at = instant_max(known->at, at);
    else l->recent[l->recent_n++ % RECENT_ACTIONS] = (struct fleet_write){who(s, action), at};
}

void fleet_not_sent(struct loop *l, const struct service_loop *s, uint32_t action)
{
    struct fleet_write *known = find_write(l, who(s, action));
    if (known) known->at = INSTANT_NONE;
}

/* loop.md section 2: three harmful verdicts in 24 h drop the fleet to confirm until resume --all. */
void fleet_harm(struct loop *l, const struct service_loop *s, uint32_t action, struct instant at)
{
    struct fleet_write *h = l->harmful;
    for (unsigned i = 0; i < 3; i++) {
        if (h[i].who == who(s, action)) return;      /* the log is given a second time */
    }
    bool older = instant_is_set(h[0].at) && instant_before(at, h[0].at);
    if (older || !span_less(instant_since(l->now, at), BREAKER_SPAN)) return;
    h[2] = h[1];
    h[1] = h[0];
    h[0] = (struct fleet_write){who(s, action), at};
    bool three = instant_is_set(h[2].at) && span_less(instant_since(h[0].at, h[2].at), BREAKER_SPAN);
    if (three) l->fleet_breaker = true;
}

void fleet_acknowledge(struct loop *l)
{
    l->fleet_breaker = false;
    for (unsigned i = 0; i < 3; i++) l->harmful[i].at = INSTANT_NONE;
}

/* A neighbour that got worse after our write counts as harm done by it; one that was ill before does not. */
void fleet_incident(struct loop *l, const struct service_loop *s)
{
    uint16_t symptom = s->control.symptom;
    if (symptom >= s->def->symptom_count || !s->def->symptoms[symptom].request_layer) return;
    for (uint16_t i = 0; i < l->service_count; i++) {
        struct service_loop *other = &l->services[i];
        bool ours = other != s && control_in_flight(&other->control) && same_group(s->def, other->def);
        if (!ours || instant_before(s->control.onset, other->action.intent_at)) continue;
        other->neighbour_harm = true;
        (void)text_copy(other->neighbour, sizeof other->neighbour, s->def->name);
    }
}

/* loop.md section 1: more than 20 % of the services (at least 3) open within 10 min. It lasts until so many are not ill any
 * more: that some of them fell ill longer ago than 10 min makes their cause no less common. */
void fleet_watch_storm(struct loop *l, struct service_loop *s)
{
    if (l->storm) {
        l->storm = many(l, open_since(l, INSTANT_NONE));
        return;
    }
    l->storm = many(l, open_since(l, instant_sub(l->now, STORM_WINDOW)));
    if (!l->storm) return;
    notice(l, s, NOTICE_PAGE, "common cause",
           "more than a fifth of the services degraded within ten minutes: look for what they share; until then every change "
           "asks a person");
}

/* After a start: those that fell ill within ten minutes of the last one. It was told when it began. */
void fleet_find_storm(struct loop *l)
{
    struct instant last = INSTANT_NONE;
    for (uint16_t i = 0; i < l->service_count; i++) {
        if (l->services[i].control.incident_open) last = instant_max(last, l->services[i].opened_at);
    }
    if (instant_is_set(last)) l->storm = l->storm || many(l, open_since(l, instant_sub(last, STORM_WINDOW)));
}
