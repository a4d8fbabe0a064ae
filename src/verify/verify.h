/* Stage 6: before and after -> verdict. loop.md section 3 is the contract. Pure; block slices come in as values. */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/series.h"

struct verify_part { struct blocks before, after; };   /* block medians */

struct verify_input {
    struct verify_part latency;          /* the judge */
    struct verify_part queue, throughput, load, mean;  /* n == 0: not configured */
    double errors_before, errors_after;  /* counts */
    double requests_before, requests_after;            /* counts; 0: unknown */
    double queue_hour_p90;               /* p90 of the hour before the incident; NaN unknown */
    double queue_threshold;              /* of the symptom; NaN none */
    double jitter_normal;                /* sd of successive differences / sqrt 2 in healthy time; NaN unknown */
    double jitter_floor;                 /* resolution or relative floor, in the signal's unit */
    uint32_t after_known, after_expected;              /* points */
    bool input_shifted;                  /* PSI of input lengths over its null p95 */
    bool drift_symptom;                  /* judged by the ratio to the anchor over the window */
    double drift_anchor;
    enum bad bad;                        /* direction of the judge, normally up */
    bool symptom_true, symptom_known;    /* at the end of the window */
};

struct verify_result {
    enum verdict verdict;                /* PARTIAL when effective and the symptom is still true or unknown */
    double shift_log, lo, hi;            /* d and its widened 95 % interval, log ratio */
    double shift_ratio;                  /* exp(d) - 1 */
    double autocorrelation, rho;         /* rho NaN: load unknown */
    double jitter_before, jitter_after;
    double peak_before;                  /* P = p90 of before */
    double median_before, median_after;
    double queue_median, queue_limit, throughput_ratio;
    const char *why;                     /* static: which rule decided */
    char sentence[240];                  /* with numbers */
};

/* Never fails: too little data is INCONCLUSIVE. The widening, the half-width rule, load rules: loop.md section 3. */
void verify_judge(const struct verify_input *in, struct verify_result *ret);

/* Early harm: on each tick while the change is in force; harm when a condition holds 3 ticks running. */
struct verify_early {                    /* plain data, zero it at APPLIED */
    uint8_t p99_ticks, error_ticks, objective_ticks, instance_ticks, memory_ticks;
};
struct verify_early_input {
    double p99, peak_before;             /* p99 NaN: unknown tick, the run is kept as it is */
    double errors_ratio, errors_before_ratio, error_count;
    double objective;                    /* 0: none */
    bool objective_broken_before;
    int instances_lost;
    double gpu_memory_ratio;             /* NaN unknown */
    enum bad bad;
};
bool verify_early(struct verify_early *state, const struct verify_early_input *in, char why[120]);

#endif
