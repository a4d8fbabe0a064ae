/* zscore: the last 5 minutes against the 30 before them, loop.md section 1. B is kept sorted; each tick one
 * block enters and one leaves. */
#include "detect/series.h"

#include <string.h>

#include "stats/noise.h"

#define B_ROOM (SPIKE_B + 4)

/* How many values of B lie below v. All are looked at, a fixed number without branches, which takes a few vector
 * instructions: a search would wait for each of its steps. The free places at the end are 0. */
static uint32_t below(const struct series *s, float v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < B_ROOM; i++) n += s->b_sorted[i] < v;
    return n - (0 < v ? B_ROOM - s->b_known : 0);
}

static void insert(struct series *s, float v)
{
    uint32_t at = below(s, v);
    memmove(&s->b_sorted[at + 1], &s->b_sorted[at], (s->b_known - at) * sizeof v);
    s->b_sorted[at] = v;
    s->b_known++;
}

static void take_out(struct series *s, float v)
{
    uint32_t at = below(s, v);
    s->b_known--;
    memmove(&s->b_sorted[at], &s->b_sorted[at + 1], (s->b_known - at) * sizeof v);
    s->b_sorted[s->b_known] = 0;             /* no leftovers: equal states are equal bytes */
}

/* The common case of a tick: one value goes, one comes, and only what stands between the two moves. */
static void replace(struct series *s, float old, float v)
{
    uint32_t from = below(s, old), to = below(s, v);
    if (to > from) {
        to--;
        memmove(&s->b_sorted[from], &s->b_sorted[from + 1], (to - from) * sizeof v);
    } else {
        memmove(&s->b_sorted[to + 1], &s->b_sorted[to], (from - to) * sizeof v);
    }
    s->b_sorted[to] = v;
}

static bool counts(const struct track *t, uint64_t q)
{
    return !(*block_known(t, block_at(q)) & (BLOCK_EXCLUDED | BLOCK_OLD));
}

static bool known(const struct track *t, uint64_t q) { return *block_known(t, block_at(q)) & BLOCK_COUNT; }

static void enter(struct series *s, const struct track *t, uint64_t q)
{
    if (!counts(t, q)) return;
    s->b_count++;
    if (known(t, q)) insert(s, *block_mean(t, block_at(q)));
}

static void leave(struct series *s, const struct track *t)
{
    uint64_t q = s->b_from++;
    if (!counts(t, q)) return;
    s->b_count--;
    if (known(t, q)) take_out(s, *block_mean(t, block_at(q)));
}

/* The oldest block that B may hold when it ends before `end`. */
static uint64_t reach(const struct series *s, const struct track *t, uint64_t end)
{
    uint64_t span = t->b + SPIKE_SKIP / t->block_ticks, first = end > span ? end - span : 0;
    uint64_t oldest = block_oldest(s);
    return first > oldest ? first : oldest;
}

/* B begins with a block that counts, so that its bounds follow from its blocks alone. */
static void trim(struct series *s, const struct track *t)
{
    while (s->b_from < s->b_to && *block_known(t, block_at(s->b_from)) & (BLOCK_EXCLUDED | BLOCK_OLD)) s->b_from++;
}

/* B anew: the newest t->b blocks before `end` that are not excluded. */
void spike_rebuild(struct series *s, const struct track *t, uint64_t end)
{
    s->b_known = s->b_count = 0;
    memset(s->b_sorted, 0, sizeof s->b_sorted);
    s->b_from = s->b_to = end;
    uint64_t first = reach(s, t, end);
    while (s->b_from > first && s->b_count < t->b) enter(s, t, --s->b_from);
    trim(s, t);
}

void spike_closed(struct series *s, const struct track *t)
{
    if (s->b_frozen) return;
    uint64_t end = spike_end(s);
    if (end != s->b_to + 1 || s->b_from < block_oldest(s)) {
        if (end != s->b_to) spike_rebuild(s, t, end);
        return;
    }
    uint64_t first = reach(s, t, end), q = s->b_to, old = s->b_from;
    if (s->b_count == t->b && old >= first && counts(t, q) && known(t, q) && counts(t, old) && known(t, old)) {
        replace(s, *block_mean(t, block_at(old)), *block_mean(t, block_at(q)));
        s->b_from++;
        s->b_to++;
        trim(s, t);
        return;
    }
    enter(s, t, s->b_to++);
    while (s->b_count > t->b || s->b_from < first) leave(s, t);
    trim(s, t);
}

static double sorted_median(const float *x, uint32_t n)
{
    return n % 2 ? x[n / 2] : ((double)x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Of the two sides, is the i-th value below m nearer to it than its counterpart above? */
static inline uint32_t is_nearer(const float *x, uint32_t split, uint32_t k, uint32_t i, double m)
{
    return m - x[split - 1 - i] < x[split + (k - i)] - m;
}

/* Median of the distances to m, the median. They lie in two sorted runs, one to each side: search how many of the
 * n / 2 + 1 nearest lie below. */
static double sorted_mad(const float *x, uint32_t n, double m)
{
    uint32_t split = n / 2, k = n / 2, below_n = split, above_n = n - split;
    uint32_t lo = k + 1 > above_n ? k + 1 - above_n : 0, hi = k + 1 < below_n ? k + 1 : below_n, len = hi - lo;
    while (len > 1) {                        /* without branches: each would be guessed wrong half the time */
        uint32_t half = len / 2;
        lo += half * is_nearer(x, split, k, lo + half - 1, m);
        len -= half;
    }
    if (len == 1) lo += is_nearer(x, split, k, lo, m);
    uint32_t i = lo, j = k + 1 - lo;
    double a = i > 0 ? m - x[split - i] : -1, b = j > 0 ? x[split + j - 1] - m : -1, far = a > b ? a : b;
    if (n % 2) return far;
    if (a > b) i--;                          /* the farthest goes; the next is the other of the two in the middle */
    else j--;
    a = i > 0 ? m - x[split - i] : -1;
    b = j > 0 ? x[split + j - 1] - m : -1;
    return (far + (a > b ? a : b)) / 2;
}

/* Whether half the sample sd may be more than `rest`: by an upper bound from a few of the sorted values, each standing for
 * up to 10 that are nearer to m. A clear no needs no root. */
static bool half_sd_may_exceed(const float *x, uint32_t n, double m, double rest)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i += 10) {
        uint32_t last = i + 10 < n ? i + 9 : n - 1;
        double a = fabs(x[i] - m), b = fabs(x[last] - m), far = a > b ? a : b;
        sum += far * far * (last - i + 1);
    }
    if (n < 2 || 0.25 * sum < 0.999999 * (rest * rest * (n - 1))) return false;
    return 0.5 * sqrt(sum / (n - 1)) > rest;
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
    double m = sorted_median(x, n), scale = x[0] == x[n - 1] ? 0 : 1.4826 * sorted_mad(x, n, m);
    double floor = t->rel * fabs(m);
    if (t->resolution > floor) floor = t->resolution;
    if (t->is_quantile && s->requests > 0) {
        double noise = stats_p99_noise(s->requests) * fabs(m);
        if (noise > floor) floor = noise;
    }
    s->b_median = m;
    s->b_rest = floor > scale ? floor : scale;
    /* Half the sd counts only where it is more than the rest: the bound spares most ticks the sum. */
    bool more = x[0] != x[n - 1] && half_sd_may_exceed(x, n, m, s->b_rest);
    s->b_half_sd = more ? 0.5 * sorted_sd(x, n, m) : 0;
}

/* The scale for learning: here the sd counts at most twice the rest, so that one wild block in B does not open the
 * clip that keeps wild samples out of the baseline. NaN when B is empty. */
double spike_limited_scale(const struct series *s)
{
    double half_sd = s->b_half_sd > 2 * s->b_rest ? 2 * s->b_rest : s->b_half_sd;
    return half_sd > s->b_rest ? half_sd : s->b_rest;
}

static double r_mean(const struct series *s, const struct track *t, uint32_t r, uint32_t *ret_known)
{
    double sum = 0;
    uint32_t found = 0;
    uint32_t n = s->blocks > r ? r : (uint32_t)s->blocks, at = block_at(s->blocks - n);
    for (; n > 0; n--, at = at + 1 < SERIES_BLOCKS ? at + 1 : 0) {
        uint8_t k = *block_known(t, at);
        if (!(k & BLOCK_COUNT) || k & BLOCK_OLD) continue;
        sum += *block_mean(t, at);
        found++;
    }
    *ret_known = found;
    return found ? sum / found : NAN;
}

void spike_eval(struct series *s, const struct track *t)
{
    uint32_t r_known, r = s->lead;
    s->z = NAN;
    s->r_mean = r_mean(s, t, r, &r_known);
    b_eval(s, t);
    s->b_scale = s->b_half_sd > s->b_rest ? s->b_half_sd : s->b_rest;
    if (s->why_x == WHY_LOW_TRAFFIC) {
        s->why_z = WHY_LOW_TRAFFIC;
        return;
    }
    if (3 * r_known < 2 * r || 3 * s->b_known < 2 * t->b) {
        s->why_z = s->blocks < r + t->b ? WHY_WARMING : WHY_GAPS;
        return;
    }
    double d = s->r_mean - s->b_median, scale = s->b_scale;
    /* A signal that stood still at zero and has no resolution: measure against where it went. */
    if (!(scale > 0)) scale = (t->rel > 0 ? t->rel : 0.02) * fabs(s->r_mean);
    s->z = d == 0 ? 0 : d / scale;
    s->why_z = WHY_KNOWN;
}
