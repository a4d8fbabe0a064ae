/* Classic histograms: quantiles and fractions from cumulative buckets. */
#include "promql/histogram.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "promql/sort.h"

#define SMALL_DELTA 1e-12

static int by_bound(const void *pa, const void *pb)
{
    double a = ((const struct bucket *)pa)->bound, b = ((const struct bucket *)pb)->bound;
    return a < b ? -1 : a > b;
}

static bool almost_equal(double a, double b)
{
    const double least = 2.2250738585072014e-308;
    if (a == b || (isnan(a) && isnan(b))) return true;
    double sum = fabs(a) + fabs(b), diff = fabs(a - b);
    if (a == 0 || b == 0 || sum < least) return diff < SMALL_DELTA * least;
    return diff / (sum < 1.7976931348623157e308 ? sum : 1.7976931348623157e308) < SMALL_DELTA;
}

/* Buckets with one bound (spelled differently) become one. */
static uint32_t coalesce(struct bucket *b, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (b[i].bound == b[kept].bound) b[kept].count += b[i].count;
        else b[++kept] = b[i];
    }
    return kept + 1;
}

/* Counts that fall, by rounding or by scrapes of different moments, are lifted. true: by more than rounding. */
static bool make_monotonic(struct bucket *b, uint32_t n)
{
    bool forced = false;
    double last = b[0].count;
    for (uint32_t i = 1; i < n; i++) {
        if (b[i].count == last) continue;
        if (almost_equal(last, b[i].count)) { b[i].count = last; continue; }
        if (b[i].count < last) { b[i].count = last; forced = true; continue; }
        last = b[i].count;
    }
    return forced;
}

double pq_bucket_quantile(double q, struct bucket *b, uint32_t n, bool *ret_forced)
{
    *ret_forced = false;
    if (isnan(q)) return NAN;
    if (q < 0) return -INFINITY;
    if (q > 1) return INFINITY;
    pq_sort(b, n, sizeof *b, by_bound);
    if (n == 0 || !(isinf(b[n - 1].bound) && b[n - 1].bound > 0)) return NAN;
    n = coalesce(b, n);
    *ret_forced = make_monotonic(b, n);
    if (n < 2 || b[n - 1].count == 0 || isnan(b[n - 1].count)) return NAN;
    double rank = q * b[n - 1].count;
    uint32_t i = 0;
    while (i < n - 1 && !(b[i].count >= rank)) i++;
    if (i == n - 1) return b[n - 2].bound;
    if (i == 0 && b[0].bound <= 0) return b[0].bound;
    double start = 0, end = b[i].bound, count = b[i].count;
    if (i > 0) {
        start = b[i - 1].bound;
        count -= b[i - 1].count;
        rank -= b[i - 1].count;
    }
    return start + (end - start) * (rank / count);
}

/* Observations at or below v. */
static double rank_of(double v, const struct bucket *b, uint32_t n)
{
    if (isinf(v)) return v < 0 ? 0 : b[n - 1].count;
    double below = 0, start = b[0].bound > 0 ? 0 : -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        if (v < b[i].bound) {
            /* Nothing is known inside a bucket without a finite width: what lies in it counts as below. */
            if (isinf(start)) return b[i].count;
            if (v <= start || isinf(b[i].bound)) return below;
            return below + (b[i].count - below) * (v - start) / (b[i].bound - start);
        }
        below = b[i].count;
        start = b[i].bound;
    }
    return below;
}

double pq_bucket_fraction(double lower, double upper, struct bucket *b, uint32_t n)
{
    pq_sort(b, n, sizeof *b, by_bound);
    if (n == 0 || !(isinf(b[n - 1].bound) && b[n - 1].bound > 0)) return NAN;
    n = coalesce(b, n);
    double count = b[n - 1].count;
    if (count == 0 || isnan(count) || isnan(lower) || isnan(upper)) return NAN;
    if (lower >= upper) return 0;
    return (rank_of(upper, b, n) - rank_of(lower, b, n)) / count;
}

/* ---- from a vector to histograms ---- */

/* Elements with a readable `le`, one histogram per set of other labels. */
static bool gather(struct eval *ev, const struct value *v, struct histograms *ret)
{
    static const char *const le = "le";
    const struct names without = {(const char **)&le, 1};
    struct pq_labels *keys = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct pq_labels);
    struct bucket *buckets = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct bucket);
    uint32_t *group = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, uint32_t), n = 0;
    if (!keys || !group || !buckets) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < v->n; i++) {
        const char *text = pq_labels_get(v->items[i].labels, le);
        if (!text || !num_parse_all(text, strlen(text), &buckets[n].bound)) {
            pq_eval_warn(ev, "bucket label le is missing or is not a number");
            continue;
        }
        buckets[n].count = v->items[i].v;
        keys[n++] = pq_labels_drop(ev, v->items[i].labels, &without, false);
    }
    *ret = (struct histograms){0};
    if (!pq_group_by_labels(ev, keys, n, group, &ret->n)) return false;
    ret->items = ARENA_NEW_N(ev->arena, (size_t)ret->n + 1, struct histogram);
    struct bucket *sorted = ARENA_NEW_N(ev->arena, (size_t)n + 1, struct bucket);
    if (!ret->items || !sorted) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < n; i++) ret->items[group[i]].n++;
    for (uint32_t g = 0, at = 0; g < ret->n; g++) {
        ret->items[g].buckets = sorted + at;
        at += ret->items[g].n;
        ret->items[g].n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct histogram *h = &ret->items[group[i]];
        if (h->n == 0) h->labels = pq_labels_without_name(ev, keys[i]);
        h->buckets[h->n++] = buckets[i];
    }
    return true;
}

bool pq_histogram_quantile(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value q, v;
    struct histograms all;
    if (!pq_eval_node(ev, call->args[0], t, &q) || !pq_eval_node(ev, call->args[1], t, &v) || !gather(ev, &v, &all)) return false;
    if (!pq_vector_room(ev, all.n, ret)) return false;
    if (isnan(q.scalar) || q.scalar < 0 || q.scalar > 1) pq_eval_warn(ev, "a quantile should be between 0 and 1");
    for (uint32_t i = 0; i < all.n; i++) {
        struct histogram *h = &all.items[i];
        bool forced;
        double r = pq_bucket_quantile(q.scalar, h->buckets, h->n, &forced);
        if (forced) pq_eval_info(ev, "input to histogram_quantile needed to be fixed for monotonicity");
        ret->items[ret->n++] = (struct pq_element){h->labels, r, t};
        double requests = call->observations_scale * h->buckets[h->n - 1].count;
        if (requests > 0 && isinf(h->buckets[h->n - 1].bound)) ev->ret->observations += requests;
    }
    return pq_vector_check_unique(ev, ret);
}

/* As Prometheus spells a quantile in a label: 0.0, 0.25, 1.0. */
static const char *quantile_text(struct eval *ev, double q)
{
    char text[NUM_TEXT_MAX + 2];
    size_t n = num_print(text, q);
    if (q == trunc(q) && !strpbrk(text, "eNI")) memcpy(text + n, ".0", 3);
    return arena_strdup(ev->arena, text);
}

bool pq_histogram_quantiles(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value v, label, q;
    struct histograms all;
    if (!pq_eval_node(ev, call->args[0], t, &v) || !pq_eval_node(ev, call->args[1], t, &label) || !gather(ev, &v, &all))
        return false;
    if (!pq_vector_room(ev, all.n * (call->arg_count - 2), ret)) return false;
    for (uint32_t k = 2; k < call->arg_count; k++) {
        if (!pq_eval_node(ev, call->args[k], t, &q)) return false;
        if (isnan(q.scalar) || q.scalar < 0 || q.scalar > 1) pq_eval_warn(ev, "a quantile should be between 0 and 1");
        const char *text = quantile_text(ev, q.scalar);
        for (uint32_t i = 0; i < all.n; i++) {
            struct histogram *h = &all.items[i];
            bool forced;
            double r = pq_bucket_quantile(q.scalar, h->buckets, h->n, &forced);
            if (forced) pq_eval_info(ev, "input to histogram_quantiles needed to be fixed for monotonicity");
            ret->items[ret->n++] = (struct pq_element){pq_labels_set(ev, h->labels, label.string, text), r, t};
        }
    }
    return pq_vector_check_unique(ev, ret);
}

bool pq_histogram_fraction(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value lower, upper, v;
    struct histograms all;
    if (!pq_eval_node(ev, call->args[0], t, &lower) || !pq_eval_node(ev, call->args[1], t, &upper) ||
        !pq_eval_node(ev, call->args[2], t, &v) || !gather(ev, &v, &all))
        return false;
    if (!pq_vector_room(ev, all.n, ret)) return false;
    for (uint32_t i = 0; i < all.n; i++)
        ret->items[ret->n++] = (struct pq_element){
            all.items[i].labels, pq_bucket_fraction(lower.scalar, upper.scalar, all.items[i].buckets, all.items[i].n), t};
    return pq_vector_check_unique(ev, ret);
}
