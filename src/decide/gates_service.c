#include "decide/pass.h"

#include "base/buf.h"

static enum hold shut_if(bool shut)
{
    return shut ? HOLD_WAIT : HOLD_OPEN;
}

static enum hold halted(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a, (void)g;
    return shut_if(p->st->halted);
}

static enum hold not_leader(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a, (void)g;
    return shut_if(!p->st->leader);
}

static enum hold frozen(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    if (p->st->frozen) gate_say(g, p->st->frozen_why);
    return shut_if(p->st->frozen);
}

static enum hold recovering(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a, (void)g;
    return shut_if(p->st->recovering);
}

static enum hold outage(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a, (void)g;
    return shut_if(p->st->outage);
}

static enum hold warming(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    if (p->st->warm) return HOLD_OPEN;
    struct buf b = BUF_INIT;
    gate_numbers(g, span_seconds(p->st->warm_left), 0, UNIT_S);
    span_print(&b, p->st->warm_left);
    buf_puts(&b, " left");
    gate_note(g, &b);
    return HOLD_WAIT;
}

static enum hold stale_judge(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    if (!p->st->judge_stale) return HOLD_OPEN;
    uint16_t judge = p->service->judge.latency;
    if (judge < p->service->signal_count) gate_say(g, p->service->signals[judge].name);
    return HOLD_WAIT;
}

static enum hold no_user_impact(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    if (p->st->request_symptom == TRI_TRUE) return HOLD_OPEN;
    gate_say(g, p->st->request_symptom == TRI_UNKNOWN ? "unknown on this tick" : "");
    return HOLD_WAIT;
}

static enum hold release(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    return gate_until(p, p->st->release_until, g);
}

static enum hold change_window(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    struct wall other = p->st->wall_before;
    bool open = decide_window_open(p->service, p->st->wall);
    if (open && (other.us == WALL_NONE.us || decide_window_open(p->service, other))) return HOLD_OPEN;
    if (gate_overridden(p, REASON_CHANGE_WINDOW)) {
        gate_say(g, "overridden by the approval");
        return HOLD_OPEN;
    }
    if (open) {
        gate_say(g, "open by the present time, but not by the clock before it was set; for a day both must agree");
        return HOLD_WAIT;
    }
    struct wall next = decide_window_change(p->service, p->st->wall);
    if (next.us == WALL_NONE.us) {
        gate_say(g, "no change window ever opens");
        return HOLD_WAIT;
    }
    struct buf b = BUF_INIT;
    gate_numbers(g, (double)(next.us - p->st->wall.us) / 1e6, 0, UNIT_S);
    until_text(&b, p->st->wall, next);
    gate_note(g, &b);
    return HOLD_WAIT;
}

static enum hold in_flight(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    const struct standing *st = p->st;
    if (st->in_flight) gate_say(g, "an action of this service is on its way");
    else if (st->group_in_flight) gate_say(g, "an action of its group is on its way");
    else if (st->unacknowledged) gate_say(g, "an earlier action waits for a person to acknowledge it");
    else if (st->late_watch) gate_say(g, "an earlier write may still land");
    return shut_if(st->in_flight || st->group_in_flight || st->unacknowledged || st->late_watch);
}

static enum hold gap(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    return gate_until(p, p->st->gap_until, g);
}

/* loop.md section 3: a verdict whose half-width is over 0.15 is inconclusive; what comes after has noise of its own. A change
 * made while the latency is still climbing would end so and be taken back, however much it helped. */
#define EVIDENCE_WIDTH 0.12

static enum hold evidence_before(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    const struct standing *st = p->st;
    gate_numbers(g, st->points_since_onset, st->points_needed, UNIT_ONE);
    struct buf b = BUF_INIT;
    buf_printf(&b, "%u of %u points, %u of %u blocks since the onset", st->points_since_onset, st->points_needed,
               st->blocks_since_onset, st->blocks_needed);
    bool few = st->points_since_onset < st->points_needed || st->blocks_since_onset < st->blocks_needed;
    bool moving = !few && st->before_width > EVIDENCE_WIDTH && !st->before_patience_over;
    if (moving) buf_puts(&b, "; latency is still changing too fast for a fair comparison");
    gate_note(g, &b);
    return shut_if(few || moving);
}

static enum hold fleet(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    const struct standing *st = p->st;
    bool flying = st->fleet_in_flight >= st->fleet_in_flight_max;
    struct buf b = BUF_INIT;
    gate_numbers(g, flying ? st->fleet_in_flight : st->fleet_last_hour,
                 flying ? st->fleet_in_flight_max : st->fleet_per_hour_max, UNIT_ONE);
    buf_printf(&b, "%d of %d in flight, %d of %d in the last hour", st->fleet_in_flight, st->fleet_in_flight_max,
               st->fleet_last_hour, st->fleet_per_hour_max);
    gate_note(g, &b);
    return shut_if(flying || st->fleet_last_hour >= st->fleet_per_hour_max);
}

const struct gate gates_service[] = {
    {REASON_HALTED, halted},           {REASON_NOT_LEADER, not_leader},
    {REASON_FROZEN, frozen},           {REASON_RECOVERING, recovering},
    {REASON_OUTAGE, outage},           {REASON_WARMING, warming},
    {REASON_STALE_JUDGE, stale_judge}, {REASON_NO_USER_IMPACT, no_user_impact},
    {REASON_RELEASE, release},         {REASON_CHANGE_WINDOW, change_window},
    {REASON_IN_FLIGHT, in_flight},     {REASON_GAP, gap},
    {REASON_EVIDENCE_BEFORE, evidence_before}, {REASON_FLEET, fleet},
};
const uint16_t gates_service_count = ARRAY_LEN(gates_service);
