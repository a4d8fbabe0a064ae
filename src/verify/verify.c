#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>

#include "base/tri.h"
#include "stats/elem.h"
#include "stats/order.h"
#include "stats/rate.h"
#include "stats/shift.h"
#include "verify/words.h"

#define KNOWN_SHARE 0.8
#define HALF_WIDTH_MAX 0.15
#define JITTER_FACTOR 1.5
#define LN_090 (-0.10536051565782628)    /* ln 0.90 */

/* Known values of one stretch, in order of time. */
struct stretch {
    double x[VERIFY_BLOCKS_MAX];
    uint32_t n;
};

static bool usable(double v, bool positive)
{
    return isfinite(v) && (!positive || v > 0);
}

/* `newest`: of more than VERIFY_BLOCKS_MAX blocks keep the last ones, else the first. */
static struct blocks nearest(struct blocks b, bool newest)
{
    if (b.n <= VERIFY_BLOCKS_MAX) return b;
    if (newest) b.values += b.n - VERIFY_BLOCKS_MAX;
    b.n = VERIFY_BLOCKS_MAX;
    return b;
}

static void take(struct stretch *s, struct blocks b, bool positive)
{
    s->n = 0;
    for (uint32_t i = 0; i < b.n; i++)
        if (usable(b.values[i], positive)) s->x[s->n++] = b.values[i];
}

static double median_of(struct stretch s)
{
    return stats_median(s.x, s.n);
}

static double quantile_of(struct stretch s, double q)
{
    return stats_quantile(s.x, s.n, q);
}

/* Before is what is known of it, as it is for the judge; NaN when that is too little. */
static double level_before(struct blocks b)
{
    struct stretch s;
    take(&s, nearest(b, true), false);
    return s.n < VERIFY_BLOCKS_MIN ? (double)NAN : median_of(s);
}

/* NaN when less than the needed share of the window's blocks is known. */
static double level_after(struct blocks b)
{
    struct stretch s;
    take(&s, nearest(b, false), false);
    uint32_t n = b.n < VERIFY_BLOCKS_MAX ? b.n : VERIFY_BLOCKS_MAX;
    if (s.n == 0 || s.n < KNOWN_SHARE * n) return NAN;
    return median_of(s);
}

static bool configured(const struct verify_part *p)
{
    return p->before.n > 0 || p->after.n > 0;
}

/* sd of successive differences / sqrt 2; a gap breaks the chain, so that it never adds a difference. NaN: too few. */
static double jitter_of(struct blocks b)
{
    struct stretch d = {.n = 0};
    for (uint32_t i = 1; i < b.n; i++)
        if (usable(b.values[i], true) && usable(b.values[i - 1], true)) d.x[d.n++] = b.values[i] - b.values[i - 1];
    return d.n < 3 ? (double)NAN : stats_sd(d.x, d.n) / sqrt(2);
}

static double max_known(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
}

static void log_all(struct stretch *s, double sign)
{
    for (uint32_t i = 0; i < s->n; i++) s->x[i] = sign * stats_log(s->x[i]);
}

/* d, lo, hi in "worse is positive" logs. false: no memory. */
static bool shift_of(struct stretch before, struct stretch after, double sign, struct verify_result *r)
{
    double *scratch = malloc((size_t)before.n * after.n * sizeof *scratch);
    if (!scratch) return false;
    log_all(&before, sign);
    log_all(&after, sign);
    struct stats_shift s = stats_shift_blocks(before.x, before.n, after.x, after.n, scratch, &r->autocorrelation);
    free(scratch);
    r->shift_log = s.d;
    r->lo = s.lo;
    r->hi = s.hi;
    r->shift_ratio = stats_exp(sign * s.d) - 1;
    return true;
}

double verify_best_width(struct blocks blocks)
{
    struct stretch before, after = {.n = VERIFY_WINDOW_BLOCKS};
    struct verify_result r = {.autocorrelation = NAN};
    take(&before, nearest(blocks, true), true);
    if (before.n == 0) return INFINITY;
    for (uint32_t i = 0; i < after.n; i++) after.x[i] = 1;
    return shift_of(before, after, 1, &r) ? (r.hi - r.lo) / 2 : (double)NAN;
}

static void describe_levels(const struct verify_input *in, const struct stretch *before, const struct stretch *after,
                            struct verify_result *r)
{
    r->median_before = median_of(*before);
    r->median_after = median_of(*after);
    r->peak_before = quantile_of(*before, in->bad == BAD_DOWN ? 0.1 : 0.9);
    r->jitter_before = jitter_of(nearest(in->latency.before, true));
    r->jitter_after = jitter_of(nearest(in->latency.after, false));
    r->jitter_limit = JITTER_FACTOR * max_known(max_known(r->jitter_before, in->jitter_normal), in->jitter_floor);
    if (in->drift_symptom && in->drift_anchor > 0) {
        r->drift_before = r->median_before / in->drift_anchor - 1;
        r->drift_after = r->median_after / in->drift_anchor - 1;
    }
}

static void describe_parts(const struct verify_input *in, struct verify_result *r)
{
    if (configured(&in->load)) {
        double before = level_before(in->load.before), after = level_after(in->load.after);
        r->rho = before > 0 ? after / before : (double)NAN;
    }
    if (configured(&in->queue)) r->queue_median = level_after(in->queue.after);
    r->queue_limit = max_known(in->queue_hour_p90, 0.8 * in->queue_threshold);
    if (configured(&in->throughput)) {
        double before = level_before(in->throughput.before), after = level_after(in->throughput.after);
        r->throughput_ratio = before > 0 ? after / before : before == 0 && after >= 0 ? 1.0 : (double)NAN;
    }
}

/* Why there is nothing to judge; NULL when there is. */
static const char *too_little(const struct verify_input *in, uint32_t before, uint32_t after)
{
    const struct blocks *a = &in->latency.after;
    if (before < VERIFY_BLOCKS_MIN) return "too few good measurements from before the change";
    if (after < VERIFY_BLOCKS_MIN) return "too few good measurements from after the change";
    uint32_t judged = a->n < VERIFY_BLOCKS_MAX ? a->n : VERIFY_BLOCKS_MAX;
    if (in->after_known < KNOWN_SHARE * in->after_expected || after < KNOWN_SHARE * judged)
        return "less than 80 % of the time after the change was measured";
    if (in->still_filling) return "the cache was still filling";
    if (in->input_shifted) return "the lengths of the inputs changed";
    return NULL;
}

struct condition { enum tri holds; const char *failed, *unknown; };

static enum tri at_most(double v, double limit)
{
    return isnan(v) || isnan(limit) ? TRI_UNKNOWN : tri_of(v <= limit);
}

static enum tri below_peak(const struct verify_input *in, const struct verify_result *r)
{
    return tri_of(in->bad == BAD_DOWN ? r->median_after * 0.9 >= r->peak_before : r->median_after <= 0.9 * r->peak_before);
}

static enum tri errors_no_worse(const struct verify_input *in)
{
    bool before = in->requests_before > 0, after = in->requests_after > 0;
    if (!in->errors_configured && !before && !after) return TRI_TRUE;
    if (!before || !after) return TRI_UNKNOWN;
    if (!isfinite(in->errors_before) || !isfinite(in->errors_after)) return TRI_UNKNOWN;
    return tri_of(!stats_rate_worse(in->errors_before, in->requests_before, in->errors_after, in->requests_after));
}

static enum tri throughput_held(const struct verify_input *in, const struct verify_result *r)
{
    if (!configured(&in->throughput)) return TRI_TRUE;
    if (isnan(r->throughput_ratio)) return TRI_UNKNOWN;
    double load = isnan(r->rho) || r->rho > 1 ? 1 : r->rho;
    return tri_of(r->throughput_ratio >= 0.95 * load);
}

/* Is it effective? *why: the first condition that failed, else the first unknown one, else why it holds. */
static enum tri effective(const struct verify_input *in, const struct verify_result *r, const char **why)
{
    const struct condition all[] = {
        {tri_of(r->shift_log <= LN_090), "no clear change: latency improved by less than 10 %", ""},
        {tri_of(r->hi < 0), "no clear change: the difference may be chance", ""},
        {below_peak(in, r), "latency is not 10 % below its peak from before the change", ""},
        {configured(&in->queue) ? at_most(r->queue_median, r->queue_limit) : TRI_TRUE, "the queue is not back to normal",
         "the queue or its normal level is unknown"},
        {throughput_held(in, r), "throughput fell", "throughput is unknown"},
        {errors_no_worse(in), "errors rose", "the error counts are unknown"},
    };
    enum tri result = TRI_TRUE;
    *why = "latency, queue, throughput and errors are all good";
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i].holds == TRI_FALSE && result != TRI_FALSE) *why = all[i].failed;
        if (all[i].holds == TRI_UNKNOWN && result == TRI_TRUE) *why = all[i].unknown;
        result = tri_and(result, all[i].holds);
    }
    return result;
}

static enum verdict by_shift(const struct verify_input *in, const struct verify_result *r, const char **why)
{
    if ((r->hi - r->lo) / 2 > HALF_WIDTH_MAX || isnan(r->lo) || isnan(r->hi)) {
        *why = "latency varies too much to tell";
        return VERDICT_INCONCLUSIVE;
    }
    if (r->lo > 0.05 && r->shift_log > 0.10) {
        *why = "latency is clearly worse";
        return VERDICT_HARMFUL;
    }
    if (r->jitter_after > r->jitter_limit) {
        *why = "latency jumps about more than 1.5 times as much as it did";
        return VERDICT_HARMFUL;
    }
    switch (effective(in, r, why)) {
    case TRI_TRUE: return VERDICT_EFFECTIVE;
    case TRI_FALSE: return VERDICT_INEFFECTIVE;
    default: return VERDICT_INCONCLUSIVE;
    }
}

static enum verdict by_load(const struct verify_input *in, const struct verify_result *r, enum verdict v, const char **why)
{
    if (v == VERDICT_INCONCLUSIVE || !configured(&in->load)) return v;
    if (isnan(r->rho)) *why = "the load is unknown";
    else if (r->rho < 0.8 && v == VERDICT_EFFECTIVE) *why = "it improved, but the load fell";
    else if (r->rho > 1.25 && v != VERDICT_EFFECTIVE) *why = "it did not improve, but the load rose";
    else return v;
    return VERDICT_INCONCLUSIVE;
}

static enum verdict by_symptom(const struct verify_input *in, const struct verify_result *r, enum verdict v,
                               const char **why)
{
    if (v != VERDICT_EFFECTIVE) return v;
    bool by_ratio = in->drift_symptom && !isnan(r->drift_after) && in->drift_limit > 0;
    bool known = by_ratio || in->symptom_known;
    bool holds = by_ratio ? r->drift_after > in->drift_limit : in->symptom_true;
    if (known && !holds) return v;
    *why = known ? "it helped, but the symptom is still true" : "it helped, but whether the symptom is over is unknown";
    return VERDICT_PARTIAL;
}

void verify_judge(const struct verify_input *in, struct verify_result *ret)
{
    *ret = (struct verify_result){.shift_log = NAN, .lo = NAN, .hi = NAN, .shift_ratio = NAN, .autocorrelation = NAN,
        .rho = NAN, .jitter_before = NAN, .jitter_after = NAN, .jitter_limit = NAN, .peak_before = NAN,
        .median_before = NAN, .median_after = NAN, .queue_median = NAN, .queue_limit = NAN, .throughput_ratio = NAN,
        .drift_before = NAN, .drift_after = NAN, .verdict = VERDICT_INCONCLUSIVE};
    struct stretch before, after;
    take(&before, nearest(in->latency.before, true), true);
    take(&after, nearest(in->latency.after, false), true);
    ret->blocks_before = before.n;
    ret->blocks_after = after.n;
    describe_parts(in, ret);
    if (before.n > 0 && after.n > 0) describe_levels(in, &before, &after, ret);
    ret->why = too_little(in, before.n, after.n);
    if (!ret->why && !shift_of(before, after, in->bad == BAD_DOWN ? -1 : 1, ret)) ret->why = "out of memory while judging";
    if (!ret->why) {
        enum verdict v = by_shift(in, ret, &ret->why);
        v = by_load(in, ret, v, &ret->why);
        ret->verdict = by_symptom(in, ret, v, &ret->why);
    }
    verify_words(in, ret);
}
