/* Stage 6: before and after -> verdict. loop.md section 3 is the contract. Pure; block slices come in as values.
 *
 * Order of the rules, first match decides:
 *   1. too little data, input lengths shifted, half-width of the interval > 0.15       inconclusive
 *   2. clearly worse (lo > +0.05 and d > +0.10), or jitter                             harmful
 *   3. every condition of effective true: effective; one of them false: ineffective;
 *      none false, but one unknown (configured, not enough points)                     inconclusive
 *   4. the load rule over 2 and 3: rho < 0.8 takes effective back, rho > 1.25 takes
 *      ineffective and harmful back                                                    inconclusive
 *   5. effective with the symptom still true, or not known                             partial
 * What is not configured (n == 0) sets no condition; without any load the load rule is skipped, and the sentence says so.
 * Unknown is neither zero nor false: a configured part that is unknown never makes a verdict effective. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/series.h"

#define VERIFY_BLOCKS_MAX 400        /* a side; of a longer one the blocks nearest to the change count */
#define VERIFY_WINDOW_BLOCKS 20      /* the least that a window holds: loop.md section 6 */
#define VERIFY_BLOCKS_MIN 8          /* known, a side: the same floor as gate evidence-before */

struct verify_part { struct blocks before, after; };   /* block medians */

struct verify_input {
    struct verify_part latency;          /* the judge; values in its own unit, > 0 */
    struct verify_part queue, throughput, load;        /* n == 0 on both sides: not configured */
    struct verify_part mean;             /* latency mean; shown, never decides */
    double errors_before, errors_after;  /* counts */
    double requests_before, requests_after;            /* counts; 0 or NaN: unknown */
    bool errors_configured;              /* false and no requests on either side: errors set no condition */
    double queue_hour_p90;               /* p90 of the hour before the incident; NaN unknown */
    double queue_threshold;              /* of the symptom; NaN none */
    double jitter_normal;                /* sd of successive differences / sqrt 2 in healthy time; NaN unknown */
    double jitter_floor;                 /* resolution or relative floor, in the signal's unit; NaN or 0 none */
    uint32_t after_known, after_expected;              /* points */
    bool still_filling;                  /* of a cache that was made larger */
    bool input_shifted;                  /* PSI of input lengths over its null p95 */
    bool drift_symptom;                  /* the symptom is judged by the ratio to the anchor over the window */
    double drift_anchor;                 /* the anchor's level in the signal's unit; NaN unknown */
    double drift_limit;                  /* the symptom holds while median(after) / anchor - 1 > this; NaN or 0: the
                                            caller has set symptom_true by that ratio itself */
    enum bad bad;                        /* direction of the judge, normally up; BOTH counts as up */
    bool symptom_true, symptom_known;    /* at the end of the window; not used with drift_limit */
    const char *unit;                    /* of the judge, for the sentence: "ms"; NULL none */
};

/* The half-width of the interval that a verdict would have with these blocks as its before and twenty of one value as its after,
 * in log latency: no verdict gets a narrower one. Infinite with too few blocks, NaN without memory. */
double verify_best_width(struct blocks before);

struct verify_result {
    enum verdict verdict;                /* PARTIAL when effective and the symptom is still true or unknown */
    double shift_log, lo, hi;            /* d and its widened 95 % interval, log ratio; > 0 is worse, whatever `bad` */
    double shift_ratio;                  /* median shift as a share of before, signed as the signal moves: exp(d) - 1 */
    double autocorrelation, rho;         /* rho NaN: load unknown */
    double jitter_before, jitter_after, jitter_limit;  /* in the signal's unit */
    double peak_before;                  /* P = p90 of before (p10 where down is bad) */
    double median_before, median_after;
    double queue_median, queue_limit, throughput_ratio;
    double drift_before, drift_after;    /* median / anchor - 1; NaN unless a drift symptom */
    uint32_t blocks_before, blocks_after;              /* known */
    const char *why;                     /* static: which rule decided */
    char sentence[240];                  /* with numbers */
};

/* Never fails: too little data is INCONCLUSIVE. The widening, the half-width rule, load rules: loop.md section 3. */
void verify_judge(const struct verify_input *in, struct verify_result *ret);

/* Early harm: on each tick while the change is in force; harm when a condition holds 3 ticks running. A tick on which a
 * condition's numbers are unknown (NaN) neither counts nor ends its run. */
struct verify_early {                    /* plain data, zero it at APPLIED */
    uint8_t p99_ticks, error_ticks, objective_ticks, instance_ticks, memory_ticks;
};
struct verify_early_input {
    double p99, peak_before;             /* p99 NaN: unknown tick, the run is kept as it is */
    double errors_ratio, errors_before_ratio, error_count;   /* count: errors since APPLIED */
    double objective;                    /* 0: none */
    bool objective_broken_before;
    int instances_lost;                  /* against the number at INTENT; < 0 unknown */
    double gpu_memory_ratio;             /* NaN unknown */
    enum bad bad;
};
/* true: harmful. `why` then holds one sentence with numbers, else "". */
bool verify_early(struct verify_early *state, const struct verify_early_input *in, char why[120]);

#endif
