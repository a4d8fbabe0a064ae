/* zscore: the last 5 minutes against the 30 before them, loop.md section 1. B is kept sorted; each tick one
 * block enters and one leaves. */
#include "detect/series.h"

#include <string.h>

#include "stats/noise.h"

static void insert(struct series *s, float v)
{
    uint32_t n = s->b_known, i = n;
    while (i > 0 && s->b_sorted[i - 1] > v) i--;
    memmove(&s->b_sorted[i + 1], &s->b_sorted[i], (n - i) * sizeof v);
    s->b_sorted[i] = v;
    s->b_known = n + 1;
}

static void take_out(struct series *s, float v)
{
    uint32_t lo = 0, hi = s->b_known;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->b_sorted[mid] < v) lo = mid + 1;
        else hi = mid;
    }
    s->b_known--;
    memmove(&s->b_sorted[lo], &s->b_sorted[lo + 1], (s->b_known - lo) * sizeof v);
}

static void enter(struct series *s, uint64_t q)
{
    uint8_t known = s->block_known[block_at(q)];
    if (known & (BLOCK_EXCLUDED | BLOCK_OLD)) return;
    s->b_count++;
    if (known & BLOCK_COUNT) insert(s, s->block_mean[block_at(q)]);
}

static void leave(struct series *s)
{
    uint32_t at = block_at(s->b_from++);
    uint8_t known = s->block_known[at];
    if (known & (BLOCK_EXCLUDED | BLOCK_OLD)) return;
    s->b_count--;
    if (known & BLOCK_COUNT) take_out(s, s->block_mean[at]);
}

/* The oldest block that B may hold when it ends before `end`. */
static uint64_t reach(const struct series *s, const struct track *t, uint64_t end)
{
    uint64_t span = t->b + SPIKE_SKIP / t->block_ticks, first = end > span ? end - span : 0;
    uint64_t oldest = block_oldest(s);
    return first > oldest ? first : oldest;
}

/* B begins with a block that counts, so that its bounds follow from its blocks alone. */
static void trim(struct series *s)
{
    while (s->b_from < s->b_to && s->block_known[block_at(s->b_from)] & (BLOCK_EXCLUDED | BLOCK_OLD)) s->b_from++;
}

/* B anew: the newest t->b blocks before `end` that are not excluded. */
void spike_rebuild(struct series *s, const struct track *t, uint64_t end)
{
    s->b_known = s->b_count = 0;
    s->b_from = s->b_to = end;
    uint64_t first = reach(s, t, end);
    while (s->b_from > first && s->b_count < t->b) enter(s, --s->b_from);
    trim(s);
}

void spike_closed(struct series *s, const struct track *t)
{
    if (s->b_frozen) return;
    uint64_t end = spike_end(s);
    if (end != s->b_to + 1 || s->b_from < block_oldest(s)) {
        if (end != s->b_to) spike_rebuild(s, t, end);
        return;
    }
    enter(s, s->b_to++);
    uint64_t first = reach(s, t, end);
    while (s->b_count > t->b || s->b_from < first) leave(s);
    trim(s);
}

static double sorted_median(const float *x, uint32_t n)
{
    return n % 2 ? x[n / 2] : ((double)x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Element k (from 0) of the distances to m, in ascending order: they lie in two sorted runs, one to each side. */
static double distance_at(const float *x, uint32_t n, uint32_t split, double m, uint32_t k)
{
    uint32_t below = split, above = n - split;
    uint32_t lo = k + 1 > above ? k + 1 - above : 0, hi = k + 1 < below ? k + 1 : below;
    while (lo < hi) {                /* how many of the k + 1 nearest lie below */
        uint32_t i = (lo + hi) / 2;
        if (m - x[split - 1 - i] < x[split + (k - i)] - m) lo = i + 1;
        else hi = i;
    }
    uint32_t j = k + 1 - lo;
    double a = lo > 0 ? m - x[split - lo] : -1, b = j > 0 ? x[split + j - 1] - m : -1;
    return a > b ? a : b;
}

static double sorted_mad(const float *x, uint32_t n, double m)
{
    uint32_t split = n / 2;
    double hi = distance_at(x, n, split, m, n / 2);
    return n % 2 ? hi : (hi + distance_at(x, n, split, m, n / 2 - 1)) / 2;
}

/* Sample sd. Four sums side by side: a fixed order, and the processor need not wait for each addition. */
static double sorted_sd(const float *x, uint32_t n, double m)
{
    if (n < 2) return 0;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        double a = x[i] - m, b = x[i + 1] - m, c = x[i + 2] - m, d = x[i + 3] - m;
        s0 += a, s1 += b, s2 += c, s3 += d;
        q0 += a * a, q1 += b * b, q2 += c * c, q3 += d * d;
    }
    for (; i < n; i++) {
        double a = x[i] - m;
        s0 += a;
        q0 += a * a;
    }
    double sum = (s0 + s1) + (s2 + s3), square = (q0 + q1) + (q2 + q3);
    double var = (square - sum * sum / n) / (n - 1);
    return var > 0 ? sqrt(var) : 0;
}

/* Median, scale and half sd of B with all floors; NaN when B is empty. */
static void b_eval(struct series *s, const struct track *t)
{
    uint32_t n = s->b_known;
    s->b_median = s->b_rest = s->b_half_sd = NAN;
    if (n == 0) return;
    const float *x = s->b_sorted;
    double m = sorted_median(x, n), scale = 0, half_sd = 0;
    if (x[0] != x[n - 1]) {
        scale = 1.4826 * sorted_mad(x, n, m);
        half_sd = 0.5 * sorted_sd(x, n, m);
    }
    double floor = t->rel * fabs(m);
    if (t->resolution > floor) floor = t->resolution;
    if (t->is_quantile && s->requests > 0) {
        double noise = stats_p99_noise(s->requests) * fabs(m);
        if (noise > floor) floor = noise;
    }
    s->b_median = m;
    s->b_rest = floor > scale ? floor : scale;
    s->b_half_sd = half_sd;
}

/* The scale for learning: here the sd counts at most twice the rest, so that one wild block in B does not open the
 * clip that keeps wild samples out of the baseline. NaN when B is empty. */
double spike_limited_scale(const struct series *s)
{
    double half_sd = s->b_half_sd > 2 * s->b_rest ? 2 * s->b_rest : s->b_half_sd;
    return half_sd > s->b_rest ? half_sd : s->b_rest;
}

static double r_mean(const struct series *s, uint32_t r, uint32_t *ret_known)
{
    double sum = 0;
    uint32_t known = 0;
    uint64_t first = s->blocks > r ? s->blocks - r : 0;
    for (uint64_t q = first; q < s->blocks; q++) {
        uint8_t k = s->block_known[block_at(q)];
        if (!(k & BLOCK_COUNT) || k & BLOCK_OLD) continue;
        sum += s->block_mean[block_at(q)];
        known++;
    }
    *ret_known = known;
    return known ? sum / known : NAN;
}

void spike_eval(struct series *s, const struct track *t)
{
    uint32_t known, r = s->lead;
    s->z = NAN;
    s->r_mean = r_mean(s, r, &known);
    b_eval(s, t);
    s->b_scale = s->b_half_sd > s->b_rest ? s->b_half_sd : s->b_rest;
    if (s->why_x == WHY_LOW_TRAFFIC) {
        s->why_z = WHY_LOW_TRAFFIC;
        return;
    }
    if (3 * known < 2 * r || 3 * s->b_known < 2 * t->b) {
        s->why_z = s->blocks < r + t->b ? WHY_WARMING : WHY_GAPS;
        return;
    }
    double d = s->r_mean - s->b_median, scale = s->b_scale;
    /* A signal that stood still at zero and has no resolution: measure against where it went. */
    if (!(scale > 0)) scale = (t->rel > 0 ? t->rel : 0.02) * fabs(s->r_mean);
    s->z = d == 0 ? 0 : d / scale;
    s->why_z = WHY_KNOWN;
}
