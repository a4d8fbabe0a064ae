/* What holds between the services of a fleet: invariant 1's budget, groups, storms and the breakers of loop.md sections 1, 2. */
#include <stdlib.h>

#include "base/check.h"
#include "sim/invariants_inside.h"

#define SENDS 64
#define SLACK SPAN_S(30)              /* a slow disk makes a record durable later than it was made */
#define START_CAUTION SPAN_MIN(30)
#define STORM_WINDOW SPAN_MIN(10)
#define BREAKER SPAN_HOUR(24)

/* Of one service, and the last entry of the fleet: the newest harmful verdicts since a person acknowledged. */
struct inv_harm { struct instant at[3]; };

struct inv_fleet {
    struct instant started;
    struct instant sends[SENDS];
    unsigned send_n;
    struct inv_harm harm[SWARM_SERVICES], all;
    struct instant opened[SWARM_SERVICES], opened_wall[SWARM_SERVICES], busy_since[SWARM_SERVICES];   /* NONE: no */
    uint64_t incident[SWARM_SERVICES];
    struct inv_windows windows;
};

struct inv_windows *inv_windows(struct swarm *w) { return &w->fleet->windows; }

static void forgive(struct inv_harm *h) { h->at[0] = h->at[1] = h->at[2] = INSTANT_NONE; }

struct inv_fleet *invariants_fleet_new(void)
{
    struct inv_fleet *f = calloc(1, sizeof *f);
    CHECK(f != NULL);
    forgive(&f->all);
    for (unsigned i = 0; i < SWARM_SERVICES; i++) {
        forgive(&f->harm[i]);
        f->opened[i] = f->opened_wall[i] = f->busy_since[i] = INSTANT_NONE;
    }
    return f;
}

void invariants_fleet_free(struct inv_fleet *f) { free(f); }

void invariants_starts(struct swarm *w) { w->fleet->started = w->now; }

static void harmed(struct inv_harm *h, struct instant now)
{
    h->at[2] = h->at[1];
    h->at[1] = h->at[0];
    h->at[0] = now;
}

/* For sure tripped: the nth newest is younger than a day, whatever the disk's delay was. */
static bool tripped(const struct inv_harm *h, unsigned n, struct instant now)
{
    struct instant t = h->at[n - 1];
    return instant_is_set(t) && instant_since(now, t).us + SLACK.us < BREAKER.us;
}

static bool calls(const struct service_def *a, const struct service_def *b)
{
    for (unsigned i = 0; i < a->depends_count; i++) {
        if (text_eq(a->depends_on[i], b->name)) return true;
    }
    return false;
}

static bool same_group(const struct service_def *a, const struct service_def *b)
{
    return (a->group && b->group && text_eq(a->group, b->group)) || calls(a, b) || calls(b, a);
}

static bool unended(const struct swarm_service *s)
{
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (!inv_ended(s->inv->knobs[i].phase)) return true;
    }
    return false;
}

/* Services that became ill together; each incident still open. */
static bool storm(const struct swarm *w, int64_t wall)
{
    const struct inv_fleet *f = w->fleet;
    unsigned n = 0;
    for (unsigned i = 0; i < w->n; i++) {
        if (!instant_is_set(f->opened[i])) continue;
        struct span age = instant_since(w->now, f->opened[i]), by_wall = {wall - f->opened_wall[i].us};
        n += span_less(age, STORM_WINDOW) && span_less(by_wall, STORM_WINDOW) && by_wall.us >= 0;
    }
    return n >= 3 && n * 5 > w->n;
}

/* What an automatic INTENT may not be decided in; an approval of a person opens these gates. */
static void check_intent(struct swarm_service *s, const struct record *r)
{
    struct swarm *w = s->w;
    bool asked = s->inv->approval || !record_get_u64(r, RF_AUTOMATIC, 0);
    if (asked || s->inv->clock_moved) return;
    if (storm(w, record_get_i64(r, RF_AT, 0))) violated(w, "fleet: an automatic change in a storm");
    if (tripped(&w->fleet->harm[s->index], 2, w->now)) violated(w, "fleet: an automatic change after two harmful verdicts in 24 h");
    if (tripped(&w->fleet->all, 3, w->now)) violated(w, "fleet: an automatic change after three harmful verdicts of all in 24 h");
}

static void on_incident(struct swarm_service *s, const struct record *r)
{
    struct inv_fleet *f = s->w->fleet;
    uint64_t id = record_get_u64(r, RF_INCIDENT, 0);
    if (id == f->incident[s->index]) return;           /* an update */
    f->incident[s->index] = id;
    f->opened[s->index] = s->w->now;
    f->opened_wall[s->index] = (struct instant){record_get_i64(r, RF_AT, 0)};
}

void fleet_record(struct swarm_service *s, const struct record *r)
{
    struct inv_fleet *f = s->w->fleet;
    switch (r->kind) {
    case RECORD_INTENT: check_intent(s, r); break;
    case RECORD_INCIDENT: on_incident(s, r); break;
    case RECORD_VERDICT:
        if (!text_eq(record_get_text(r, RF_VERDICT), "harmful") || !record_get_u64(r, RF_FAIL, 0)) break;
        harmed(&f->harm[s->index], s->w->now);
        harmed(&f->all, s->w->now);
        break;
    case RECORD_ACCEPTED:
    case RECORD_CLOSED:
        f->opened[s->index] = INSTANT_NONE;
        if (r->kind == RECORD_ACCEPTED) forgive(&f->harm[s->index]);
        break;
    case RECORD_RETRY:
    case RECORD_RESUME: forgive(&f->harm[s->index]); break;
    default: break;
    }
}

void fleet_busy(struct swarm_service *s)
{
    struct instant *since = &s->w->fleet->busy_since[s->index];
    if (!unended(s)) *since = INSTANT_NONE;
    else if (!instant_is_set(*since)) *since = s->w->now;
}

void fleet_command(struct swarm *w, uint16_t service, const struct command *c)
{
    if (c->verb == COMMAND_RESUME && service == ALL_SERVICES) forgive(&w->fleet->all);
}

static unsigned allowed(const struct swarm *w)
{
    if (span_less(instant_since(w->now, w->fleet->started), START_CAUTION)) return 1;
    unsigned share = (unsigned)((double)w->n * w->policy->fleet_fraction);
    return share < 1 ? 1 : share;
}

static void check_hour(struct swarm_service *s)
{
    struct inv_fleet *f = s->w->fleet;
    unsigned n = 0, have = f->send_n < SENDS ? f->send_n : SENDS;
    for (unsigned i = 0; i < have; i++) {
        n += instant_since(s->w->now, f->sends[i]).us + SLACK.us < US_PER_HOUR;
    }
    if (n >= (unsigned)s->w->policy->fleet_per_hour) violated(s->w, "I1 the fleet's budget of an hour is spent");
    f->sends[f->send_n++ % SENDS] = s->w->now;
}

/* Right before a forward write goes out: what the others do, as far as it was durable when this one was planned. */
void fleet_send(struct swarm_service *s, struct instant planned)
{
    struct swarm *w = s->w;
    unsigned busy = 0;
    for (unsigned i = 0; i < w->n; i++) {
        struct swarm_service *o = &w->services[i];
        struct instant since = w->fleet->busy_since[i];
        if (o == s) continue;
        bool is = unended(o) && instant_is_set(since) && !instant_before(planned, since);
        bool waits = span_less(SLACK, instant_since(o->inv->gap_until, w->now)) && !o->inv->clock_moved;
        busy += is;
        bool group = (is || waits) && same_group(s->def, o->def);
        if (group) violated(w, "I1 a change while %s of the same group has one", o->def->name);
    }
    if (busy >= allowed(w)) violated(w, "I1 %u other services are under change, %u are allowed", busy, allowed(w) - 1);
    if (!s->inv->clock_moved) check_hour(s);
}
