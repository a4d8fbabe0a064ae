/* sum, avg, topk and the other aggregations. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "promql/eval.h"
#include "promql/range.h"
#include "promql/sort.h"

struct bin {                       /* what a group has gathered */
    double n, extreme;
    struct kahan sum;
    struct mean mean;
    double average, squares;       /* running mean and sum of squared distances from it */
    uint32_t first;                /* its first element */
};

static struct pq_labels group_labels(struct eval *ev, const struct pq_node *n, struct pq_labels l)
{
    static const struct names none = {NULL, 0};
    if (n->without) return pq_labels_drop(ev, l, &n->labels, true);
    return pq_labels_keep(ev, l, n->by ? &n->labels : &none);
}

static bool make_groups(struct eval *ev, const struct pq_node *n, const struct value *v, struct pq_labels **ret_keys,
                        uint32_t **ret_group, uint32_t *ret_count)
{
    *ret_keys = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct pq_labels);
    *ret_group = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, uint32_t);
    if (!*ret_keys || !*ret_group) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < v->n; i++) (*ret_keys)[i] = group_labels(ev, n, v->items[i].labels);
    return pq_group_by_labels(ev, *ret_keys, v->n, *ret_group, ret_count);
}

static void gather(struct bin *b, enum aggregation agg, double v)
{
    bool first = b->n == 0;
    b->n++;
    switch (agg) {
    case AGG_SUM: pq_kahan_add(&b->sum, v); break;
    case AGG_AVG: pq_mean_add(&b->mean, v); break;
    case AGG_MIN: if (first || v < b->extreme || isnan(b->extreme)) b->extreme = v; break;
    case AGG_MAX: if (first || v > b->extreme || isnan(b->extreme)) b->extreme = v; break;
    case AGG_STDDEV: case AGG_STDVAR: {
        double d = v - b->average;
        b->average += d / b->n;
        b->squares += d * (v - b->average);
        break;
    }
    default: break;
    }
}

static double outcome(const struct bin *b, enum aggregation agg)
{
    switch (agg) {
    case AGG_SUM: return pq_kahan_result(&b->sum);
    case AGG_AVG: return pq_mean_result(&b->mean);
    case AGG_MIN: case AGG_MAX: return b->extreme;
    case AGG_COUNT: return b->n;
    case AGG_STDDEV: return sqrt(b->squares / b->n);
    case AGG_STDVAR: return b->squares / b->n;
    default: return 1;
    }
}

static bool simple(struct eval *ev, const struct pq_node *n, const struct value *v, struct value *ret)
{
    struct pq_labels *keys;
    uint32_t *group, count;
    if (!make_groups(ev, n, v, &keys, &group, &count) || !pq_vector_room(ev, count, ret)) return false;
    struct bin *bins = ARENA_NEW_N(ev->arena, (size_t)count + 1, struct bin);
    if (!bins) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < v->n; i++) {
        struct bin *b = &bins[group[i]];
        if (b->n == 0) b->first = i;
        gather(b, n->aggregation, v->items[i].v);
    }
    for (uint32_t g = 0; g < count; g++)
        ret->items[ret->n++] = (struct pq_element){keys[bins[g].first], outcome(&bins[g], n->aggregation),
                                                   v->items[bins[g].first].t_ms};
    return true;
}

/* ---- topk, bottomk ---- */

struct ranked { double v; uint32_t at; };

/* The largest first, NaN last; among equals the earlier one. */
static int descending(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    if (isnan(a->v) != isnan(b->v)) return isnan(a->v) ? 1 : -1;
    if (a->v != b->v && !isnan(a->v)) return a->v > b->v ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static int ascending(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    if (isnan(a->v) != isnan(b->v)) return isnan(a->v) ? 1 : -1;
    if (a->v != b->v && !isnan(a->v)) return a->v < b->v ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Elements of one group in `ret`; n is its size. */
static uint32_t group_members(const struct value *v, const uint32_t *group, uint32_t g, struct ranked *ret)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++)
        if (group[i] == g) ret[n++] = (struct ranked){v->items[i].v, i};
    return n;
}

static bool ranking(struct eval *ev, const struct pq_node *n, const struct value *v, double k, struct value *ret)
{
    struct pq_labels *keys;
    uint32_t *group, count;
    if (isnan(k)) return pq_eval_fail(ev, STATUS_INVALID, "Parameter value is NaN");
    if (k >= 9.2e18) return pq_eval_fail(ev, STATUS_INVALID, "Scalar value overflows int64");
    if (k <= -9.2e18) return pq_eval_fail(ev, STATUS_INVALID, "Scalar value underflows int64");
    if (!make_groups(ev, n, v, &keys, &group, &count) || !pq_vector_room(ev, v->n, ret)) return false;
    struct ranked *r = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct ranked);
    if (!r) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t g = 0; g < count && k >= 1; g++) {
        uint32_t size = group_members(v, group, g, r);
        if (n->aggregation != AGG_LIMITK) pq_sort(r, size, sizeof *r, n->aggregation == AGG_TOPK ? descending : ascending);
        for (uint32_t i = 0; i < size && (double)i < trunc(k); i++) ret->items[ret->n++] = v->items[r[i].at];
    }
    return true;
}

/* ---- quantile ---- */

static bool quantiles(struct eval *ev, const struct pq_node *n, const struct value *v, double q, struct value *ret)
{
    struct pq_labels *keys;
    uint32_t *group, count;
    if (!make_groups(ev, n, v, &keys, &group, &count) || !pq_vector_room(ev, count, ret)) return false;
    struct ranked *r = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct ranked);
    double *values = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, double);
    if (!r || !values) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    if (isnan(q) || q < 0 || q > 1) pq_eval_warn(ev, "a quantile should be between 0 and 1");
    for (uint32_t g = 0; g < count; g++) {
        uint32_t size = group_members(v, group, g, r);
        for (uint32_t i = 0; i < size; i++) values[i] = r[i].v;
        ret->items[ret->n++] = (struct pq_element){keys[r[0].at], pq_quantile_of(q, values, size), v->items[r[0].at].t_ms};
    }
    return true;
}

/* ---- count_values ---- */

static bool label_is_utf8_name(const char *s) { return *s != '\0'; }

static bool count_values(struct eval *ev, const struct pq_node *n, const struct value *v, const char *label,
                         struct value *ret)
{
    if (!label_is_utf8_name(label)) return pq_eval_fail(ev, STATUS_INVALID, "invalid label name %s", label);
    struct value tagged;
    if (!pq_vector_room(ev, v->n, &tagged)) return false;
    struct pq_labels *keys = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, struct pq_labels);
    uint32_t *group = ARENA_NEW_N(ev->arena, (size_t)v->n + 1, uint32_t), count;
    if (!keys || !group) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < v->n; i++) {
        char text[NUM_TEXT_MAX];
        num_print(text, v->items[i].v);
        const char *value = arena_strdup(ev->arena, text);
        if (!value) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
        keys[i] = pq_labels_set(ev, group_labels(ev, n, v->items[i].labels), label, value);
    }
    if (!pq_group_by_labels(ev, keys, v->n, group, &count) || !pq_vector_room(ev, count, ret)) return false;
    for (uint32_t i = 0; i < v->n; i++) {
        struct pq_element *e = &ret->items[group[i]];
        if (e->v == 0) *e = (struct pq_element){keys[i], 0, v->items[i].t_ms};
        e->v += 1;
    }
    ret->n = count;
    return true;
}

bool pq_eval_aggregate(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    struct value v, parameter = {0};
    if (n->b && !pq_eval_node(ev, n->b, t, &parameter)) return false;
    if (!pq_eval_node(ev, n->a, t, &v)) return false;
    switch (n->aggregation) {
    case AGG_TOPK: case AGG_BOTTOMK: case AGG_LIMITK: return ranking(ev, n, &v, parameter.scalar, ret);
    case AGG_QUANTILE: return quantiles(ev, n, &v, parameter.scalar, ret);
    case AGG_COUNT_VALUES: return count_values(ev, n, &v, parameter.string, ret);
    default: return simple(ev, n, &v, ret);
    }
}
