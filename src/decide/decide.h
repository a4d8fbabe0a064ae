/* Stage 4: causes + whitelist + gates -> one action or a reason. loop.md section 2 is the contract. Pure.
 * A pass evaluates all gates of one kind before the next and stores each gate's verdict with numbers. */
#ifndef DECIDE_DECIDE_H
#define DECIDE_DECIDE_H

#include <stdbool.h>

#include "base/time.h"
#include "model/evidence.h"
#include "model/excluded.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/value.h"

/* What the loop knows about one knob now: from control and the last read. */
struct knob_standing {
    bool readable, uniform, believed_same;      /* of the last read, at most one tick old */
    bool owned_by_other;                        /* frozen: EXTERNAL, YIELDED, failed twice, unacknowledged */
    struct instant frozen_until;                /* NEVER: until acknowledged; NONE: free */
    struct instant cool_until, protect_until, interval_until, skip_until, class_suspended_until;
    struct knob_value value;                    /* believed */
};

struct standing {
    struct instant now;
    struct wall wall;
    uint64_t incident;
    bool halted, leader, frozen, recovering, outage;
    bool warm;                                  /* 24 h, or import */
    struct span warm_left;
    bool judge_stale;
    enum tri request_symptom;                   /* a request-layer symptom true now */
    struct instant release_until;               /* NONE: no watch */
    bool in_flight, group_in_flight, unacknowledged, late_watch;
    struct instant gap_until;
    uint32_t points_since_onset, blocks_since_onset;
    uint32_t points_needed, blocks_needed;      /* 30 and 8, fewer points for layers with longer intervals */
    bool storm;                                 /* fleet to confirm */
    int fleet_in_flight, fleet_in_flight_max, fleet_last_hour, fleet_per_hour_max;
    int n_auto;
    bool breaker;
    struct span cause_age;                      /* since the incident opened, for the five minutes */
    double reference_margin;                    /* (value - reference) / |reference| of the driving symptom; NaN unknown */
    bool slo_symptom;
    uint16_t symptom;                           /* driving */
    const struct excluded_list *excluded;
    struct knob_standing knobs[POLICY_KNOBS_MAX];
    uint32_t overridden;                        /* approval: bit per reason that it may override: cooling, protected,
                                                 * interval, change-window */
};

/* One pass. `out` holds all gates seen, the decision and, where all but PERSON or LAST gates are open, the plan. */
void decide_pass(const struct policy *p, const struct service_def *s, const struct cause_list *causes,
                 const struct evidence *e, const struct standing *st, struct decision *out);
/* loop.md: SHA-256 of (incident, cause, knob, class, from bytes, to bytes, policy revision). */
void decide_plan_hash(const struct policy *p, const struct service_def *s, uint64_t incident, struct plan *plan);
/* Change windows: allowed now, and when it next changes (for "until"). */
bool decide_window_open(const struct service_def *s, struct wall wall);

#endif
