/* What a world is, by oracle and not by its author: loop.md section 8, "Labels by oracle". From one warm world, cloned, with
 * the same chance: doing nothing, and every whitelisted sequence of up to two notches.
 *
 * All times are in ticks (30 s). All of p99 comes from the target itself, not from what was scraped.
 *   twin(t)     p99 of the same service and chance to which nothing happens: no fault, no hand
 *   ref(t)      median of twin over t +- 5 min
 *   r(t)        p99(t) / ref(t); a tick in which nothing was answered counts as infinitely slow
 *   degraded    r > 1.15
 *   onset t0    first degraded tick of doing nothing with 8 of the 10 ticks from it degraded, and from which it is not restored
 *               within 30 min; when each time it is, the first of them
 *   hour        [t0, t0 + 60 min); a world that ends before t0 + 75 min is run on until then
 *   restored    median of r over the last 10 min of a span <= 1.15. Restored at: the first tick that is not degraded with at
 *               most 2 of the 10 ticks from it degraded, and with all medians over 10 min from it on <= 1.15
 *   promised    where doing nothing breaks the policy's objective (its late p99 is over it), a p99 within the objective counts as
 *               restored, too: "restores p99 <= 1.15 x baseline (or the objective)"
 *   late p99    median of p99 over the last 20 min of the hour
 *   moves       every knob of tier 1 or 2 in every allowed direction, one rung of its ladder; alone, and every ordered pair of
 *               two; of one knob twice only if its whitelisted interval (4 h) is over by then. The first at t0 + 6 min: two
 *               ticks to see it and five minutes of evidence, about what an ideal tuner that follows the rules needs; the second
 *               12 min after it (settle and window). What the whitelist says of a knob binds: range, ladder, direction, interval,
 *               precondition, and that a limit binds before it is raised. Gates that stand elsewhere do not count.
 *
 *   CLEAN         nothing happens in this world: no fault, hand, release, broken metric or clock
 *   QUIET         something happens, but p99 is never degraded
 *   SELF_HEALING  doing nothing is restored within 30 min
 *   TUNABLE       some sequence is restored within the hour, and doing nothing is not
 *   INCURABLE     no sequence has a late p99 of 10 % or more below that of doing nothing; or the onset lies within the watch
 *                 of a release (30 min), where the rules allow no sequence at all, whatever a knob would do ("by rule")
 *                 A sequence after which the process restarts more often than by itself is none: what a restart cleans is no cure
 *   PARTIAL       the rest; and every world in which somebody answers to an action (a hand that waits for it, a reconciler): what
 *                 can be done there depends on who does it
 *   harmful knob  (beside the label) some single move has a late p99 of 25 % or more above that of doing nothing
 *   inert         (beside the label incurable) every single move leaves late p99 within 2 % of that of doing nothing: a placebo
 *   scaling cures (beside the label) replicas at the knob's max from the first notch's moment on are restored within the hour
 *
 * A world of kind plant is labelled in its own requests, but only the sequences that do best in its fluid form are replayed, with
 * each move that does worst there: a request-by-request hour is a thousand times dearer. */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "sim/rig.h"

#define ORACLE_DEGRADED 1.15
#define ORACLE_IMPROVES 0.90
#define ORACLE_HARMS 1.25
#define ORACLE_INERT 0.02
#define ORACLE_HOUR SPAN_MIN(60)
#define ORACLE_HEALS SPAN_MIN(30)
#define ORACLE_FIRST SPAN_MIN(6)
#define ORACLE_SECOND SPAN_MIN(12)
#define ORACLE_RUN_ON SPAN_MIN(75)
#define ORACLE_WINDOW SPAN_MIN(10)

#define LABEL_TABLE(X)                                                                                  \
    X(CLEAN, "clean") X(QUIET, "quiet") X(SELF_HEALING, "self-healing") X(TUNABLE, "tunable")           \
    X(INCURABLE, "incurable") X(PARTIAL, "partial")
#define X(id, word) LABEL_##id,
enum label { LABEL_TABLE(X) LABEL_COUNT };
#undef X
const char *oracle_label_name(enum label l);

/* A world before anybody tunes it. */
struct oracle_world {
    const struct scenario_part *part;
    const struct service_def *service;   /* of the policy: knobs and objective */
    uint64_t seed;
    struct span tick;
};

/* What the oracle found. The arrays are its own; oracle_free. */
struct oracle {
    enum label label;
    bool degraded, harmful_knob, scaling_cures, release, inert;
    uint32_t n, t0;              /* ticks run; onset, when degraded */
    double *nothing, *ref;       /* p99 of doing nothing; n each. NULL in clean worlds */
    struct plant_window usual;   /* medians of the healthy twin's p99, queue, gpu_util, replicas; in clean worlds of a day */
    double block_sd;             /* sd of log p99 from tick to tick while doing nothing, over the hour; NaN: not degraded */
    double promised;             /* the objective, in worlds where doing nothing breaks it; else 0 */
    double late;                 /* p99 of doing nothing */
    double best_late;            /* least of all sequences */
    double best_degraded_min;    /* least degraded minutes of the hour of all sequences, doing nothing among them */
    char best[96];               /* that sequence, "batch_max up, replicas up"; "" nothing */
    double knobs_end[POLICY_KNOBS_MAX];   /* of the policy's knobs, where doing nothing leaves them; NaN: the target has none */
    double replica_s;            /* seconds of all replicas while doing nothing; not in clean worlds */
    uint32_t replays;
};

/* Does nothing happen in it? */
bool oracle_is_clean(const struct scenario_part *p);
enum status oracle_ask(const struct oracle_world *w, struct oracle *ret, struct err *e);
void oracle_free(struct oracle *o);

/* The hour of a trace: p99 of n ticks. normal: restored to 1.15 x ref, whatever was promised. */
struct oracle_hour { bool restored, normal; uint32_t restored_at; double degraded_min, late; };
void oracle_hour(const struct oracle *o, const double *p99, struct span tick, struct span length, struct oracle_hour *ret);
/* p99 of a window as traces hold it: infinite when nothing was answered. */
double oracle_p99(const struct plant_window *w);

#endif
