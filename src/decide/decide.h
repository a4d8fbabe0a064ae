/* Stage 4: causes + whitelist + gates -> one action or a reason. loop.md section 2 is the contract. Pure.
 * A pass evaluates all gates of one kind before the next and stores each gate's verdict with numbers.
 *
 * What a pass may end with:
 *   TUNE   planned                    all gates open
 *   ASK    a PERSON reason            the plan waits for a person
 *   ALERT  mode-alert, has_plan       what auto would have done (or asked: see person_gates)
 *   ALERT  without a plan             handover to a person (row 12): advice-only, no-cause, cannot-rule-out, no-candidate
 *   NOOP   a SERVICE reason           first shut gate of the service; has_plan: what waits behind it
 *   NOOP   cause-pending              no cause true yet, or one ranked above the best is unknown, for less than cause_wait
 *   NOOP   a CANDIDATE reason         a candidate is left, but must wait
 *
 * "No candidate left" (row 12) means: none that may yet be tried in this incident. A shut candidate still counts as left
 *   - while what shuts it ends by itself: interval, protected, cooling, class-suspended, a freeze of the knob with an end, an
 *     expired request's hour, the dead band (a deviation too small to act on is no reason to call a person either);
 *   - for cause_wait (5 min) while what shuts it hangs on data that may still come or change: precondition, not-uniform,
 *     unreadable.
 * It does not count when only a person can open it: excluded, unlisted or tier 3, at-bound, coupled, knob owned by somebody else
 * until acknowledged. The change window is a SERVICE gate and so never leads to a handover.
 *
 * Causes are walked in rank order. A cause with only advice ends the walk: what stands below it is less upstream. */
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
    bool owned_by_other;                        /* EXTERNAL, YIELDED, failed twice, unacknowledged */
    struct instant frozen_until;                /* NEVER: until acknowledged; NONE: free. Owned with an end: until then */
    struct instant cool_until, protect_until, interval_until, class_suspended_until;
    struct instant skip_until;                  /* a request for this plan expired; of its cause and direction alone */
    uint16_t skip_cause;                        /* NO_INDEX: of any */
    enum direction skip_direction;
    struct knob_value value;                    /* believed */
};

struct standing {
    struct instant now;
    struct wall wall;
    struct wall wall_before;                    /* what the clock before a step would show; WALL_NONE: no doubt */
    uint64_t incident;
    bool halted, leader, frozen, recovering, outage;
    char frozen_why[160];                       /* which window, by whom, until when; or which trouble */
    bool warm;                                  /* 24 h, or import */
    struct span warm_left;
    bool judge_stale;
    enum tri request_symptom;                   /* a request-layer symptom true now */
    struct instant release_until;               /* NONE: no watch */
    bool in_flight, group_in_flight, unacknowledged, late_watch;
    struct instant gap_until;
    double before_width;         /* half-width that a verdict could have at best with what was seen since the onset, in logs;
                                    NaN unknown */
    bool before_patience_over;   /* it has been waited for long enough */
    uint32_t points_since_onset, blocks_since_onset;
    uint32_t points_needed, blocks_needed;      /* 30 and 8, fewer points for layers with longer intervals */
    bool storm;                                 /* fleet to confirm */
    int fleet_in_flight, fleet_in_flight_max, fleet_last_hour, fleet_per_hour_max;
    int n_auto;
    bool breaker;
    struct span cause_age;                      /* since the incident opened or there last was a plan: for the five minutes */
    double reference_margin;                    /* (value - reference) / |reference| of the driving symptom, > 0 worse; NaN
                                                   unknown. expr_reference gives both: what the rule compares with (the
                                                   baseline 38.1), not the limit made of it (1.15 * 38.1) */
    bool slo_symptom;
    uint16_t symptom;                           /* driving */
    const struct excluded_list *excluded;
    struct knob_standing knobs[POLICY_KNOBS_MAX];
    uint32_t overridden;                        /* approval: DECIDE_OVERRIDE bits; bits of other reasons are not heard */
};

/* The only reasons besides PERSON gates that an approval may override, and only if it names them. */
#define DECIDE_OVERRIDE(reason) (1u << (reason))
#define DECIDE_OVERRIDABLE                                                                                    \
    (DECIDE_OVERRIDE(REASON_COOLING) | DECIDE_OVERRIDE(REASON_PROTECTED) | DECIDE_OVERRIDE(REASON_INTERVAL) | \
     DECIDE_OVERRIDE(REASON_CHANGE_WINDOW))

#define DECIDE_CEILING_SHARE 0.85               /* loop.md section 1, "The ceiling must bind" */
#define DECIDE_AUTO_IN_A_ROW 3

/* One pass. `out` holds the decision, the gates and, where all but PERSON or LAST gates are open, the plan: all SERVICE gates,
 * of each candidate not taken its shut gates, of the one taken all. Behind a shut SERVICE gate the plan is what waits for it;
 * its gates are not stored. advice_cause is the cause whose advice applies (also with no-candidate, where one is in reach)
 * or, for cannot-rule-out and cause-pending, the unknown cause; else NO_INDEX. */
void decide_pass(const struct policy *p, const struct service_def *s, const struct cause_list *causes,
                 const struct evidence *e, const struct standing *st, struct decision *out);
/* All SERVICE gates open: asked again right before a send (loop.md row 20). */
bool decide_service_gates_open(const struct policy *p, const struct service_def *s, const struct standing *st);
/* What decide reads from the evidence besides preconditions (the use of a ceiling). Call at load, before the evidence is laid
 * out. false: the table of needs is full. */
bool decide_needs(const struct service_def *s, struct needs *needs);
/* Tier 1..3 as it counts: never below the class's own (replicas: 1 only with budget own and a max), 3 with a shared budget, at
 * least 2 for restart, and for reload with fewer than two instances. */
int decide_tier(const struct service_def *s, const struct knob_def *k);
/* loop.md: SHA-256 of (incident, cause, knob, class, from bytes, to bytes, policy revision). Encoding: "trimtab plan 1\n", then
 * eight fields, each as its length in bytes (u32, little-endian) followed by the bytes: service name and incident number (8 bytes,
 * little-endian) for the incident, the cause's row id (its name without one), knob name, class word, from, to, revision. */
void decide_plan_hash(const struct policy *p, const struct service_def *s, uint64_t incident, struct plan *plan);
/* Change windows: are changes allowed at `wall`? Without windows always. A window counts by the weekday it begins on and holds
 * from its first minute to before its last; with to <= from it runs over midnight. */
bool decide_window_open(const struct service_def *s, struct wall wall);
/* When that answer next changes; WALL_NONE: never (looks eight days ahead, windows repeat weekly). */
struct wall decide_window_change(const struct service_def *s, struct wall wall);

#endif
