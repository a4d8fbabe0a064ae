/* The functions that take and give instant vectors and scalars, and the table of all functions. */
#include <math.h>
#include <string.h>

#include "base/time.h"
#include "promql/eval.h"
#include "promql/functions.h"
#include "promql/histogram.h"
#include "promql/math.h"
#include "promql/range.h"
#include "promql/sort.h"
#include "stats/elem.h"

/* ---- one number to one number ---- */

static double sgn_of(double x) { return x < 0 ? -1 : x > 0 ? 1 : x; }
static double deg_of(double x) { return x * 180 / 3.141592653589793; }
static double rad_of(double x) { return x * 3.141592653589793 / 180; }

#define PLAIN_TABLE(X)                                                                                      \
    X("abs", fabs) X("ceil", ceil) X("floor", floor) X("sqrt", sqrt) X("sgn", sgn_of) X("exp", stats_exp)   \
    X("ln", stats_log) X("log2", stats_log2) X("log10", stats_log10) X("sin", pq_sin_of) X("cos", pq_cos_of)      \
    X("tan", pq_tan_of) X("asin", pq_asin_of) X("acos", pq_acos_of) X("atan", pq_atan_of) X("sinh", pq_sinh_of)            \
    X("cosh", pq_cosh_of) X("tanh", pq_tanh_of) X("asinh", pq_asinh_of) X("acosh", pq_acosh_of) X("atanh", pq_atanh_of)    \
    X("deg", deg_of) X("rad", rad_of)

static double (*const plain[])(double) = {
#define X(word, body) body,
    PLAIN_TABLE(X)
#undef X
};
#define X(word, body) PLAIN_##body,
enum { PLAIN_TABLE(X) PLAIN_KINDS };
#undef X

static bool plain_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    if (!pq_eval_node(ev, call->args[0], t, ret)) return false;
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[i].v = plain[call->function->number](ret->items[i].v);
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

/* ---- clamp, round ---- */

static bool scalar_argument(struct eval *ev, const struct pq_node *call, uint32_t i, int64_t t, double *ret)
{
    struct value v;
    if (i >= call->arg_count) return true;
    if (!pq_eval_node(ev, call->args[i], t, &v)) return false;
    *ret = v.scalar;
    return true;
}

static double clamp_to(double v, double lo, double hi)
{
    if (isnan(v) || isnan(lo) || isnan(hi)) return NAN;
    double a = v > lo ? v : lo;
    return a < hi ? a : hi;
}

enum { CLAMP, CLAMP_MIN, CLAMP_MAX };

static bool clamp_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    double lo = -INFINITY, hi = INFINITY;
    int kind = call->function->number;
    if (!pq_eval_node(ev, call->args[0], t, ret)) return false;
    if (!scalar_argument(ev, call, 1, t, kind == CLAMP_MAX ? &hi : &lo) || !scalar_argument(ev, call, 2, t, &hi)) return false;
    if (lo > hi) ret->n = 0;
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[i].v = clamp_to(ret->items[i].v, lo, hi);
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

static bool round_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    double to = 1;
    if (!pq_eval_node(ev, call->args[0], t, ret) || !scalar_argument(ev, call, 1, t, &to)) return false;
    double inverse = 1.0 / to;
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[i].v = floor(ret->items[i].v * inverse + 0.5) / inverse;
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

/* ---- scalar, vector, time, timestamp ---- */

static bool scalar_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value v;
    if (!pq_eval_node(ev, call->args[0], t, &v)) return false;
    *ret = (struct value){.type = PQ_SCALAR, .scalar = v.n == 1 ? v.items[0].v : NAN};
    return true;
}

static bool one_element(struct eval *ev, double v, int64_t t, struct value *ret)
{
    if (!pq_vector_room(ev, 1, ret)) return false;
    ret->items[ret->n++] = (struct pq_element){{NULL, 0}, v, t};
    return true;
}

static bool vector_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value v;
    return pq_eval_node(ev, call->args[0], t, &v) && one_element(ev, v.scalar, t, ret);
}

static bool time_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    (void)ev;
    (void)call;
    *ret = (struct value){.type = PQ_SCALAR, .scalar = (double)t / 1000.0};
    return true;
}

static bool pi_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    (void)ev;
    (void)call;
    (void)t;
    *ret = (struct value){.type = PQ_SCALAR, .scalar = 3.141592653589793};
    return true;
}

/* Of a selector: the sample's own time; of anything else: the time of evaluation. */
static bool timestamp_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    const struct pq_node *a = call->args[0];
    if (!pq_eval_node(ev, a, t, ret)) return false;
    while (a->kind == NODE_PAREN) a = a->a;
    for (uint32_t i = 0; i < ret->n; i++) {
        int64_t at = a->kind == NODE_SELECTOR ? ret->items[i].t_ms : t;
        ret->items[i].v = (double)at / 1000.0;
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

/* ---- calendar ---- */

enum { MINUTE, HOUR, DAY_OF_MONTH, DAY_OF_WEEK, DAY_OF_YEAR, DAYS_IN_MONTH, MONTH, YEAR };

static double calendar_part(int part, double seconds)
{
    if (!(fabs(seconds) < 9e12)) return NAN;
    struct civil c = wall_civil((struct wall){(int64_t)seconds * US_PER_S}, 0);
    switch (part) {
    case MINUTE: return c.minute;
    case HOUR: return c.hour;
    case DAY_OF_MONTH: return c.day;
    case DAY_OF_WEEK: return (c.weekday + 1) % 7;       /* Sunday is 0 */
    case DAY_OF_YEAR: return c.yday + 1;
    case MONTH: return c.month;
    case YEAR: return c.year;
    default: break;
    }
    int next_year = c.month == 12 ? c.year + 1 : c.year, next = c.month == 12 ? 1 : c.month + 1;
    return (double)(civil_days(next_year, next, 1) - civil_days(c.year, c.month, 1));
}

static bool calendar_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    int part = call->function->number;
    if (call->arg_count == 0) return one_element(ev, calendar_part(part, floor((double)t / 1000.0)), t, ret);
    if (!pq_eval_node(ev, call->args[0], t, ret)) return false;
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[i].v = calendar_part(part, ret->items[i].v);
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

/* ---- absent ---- */

/* Labels that the selector pins by equality, once each. */
static struct pq_labels absent_labels(struct eval *ev, const struct pq_node *n)
{
    struct pq_labels l = {NULL, 0};
    while (n->kind == NODE_PAREN) n = n->a;
    if (n->kind != NODE_SELECTOR) return l;
    for (uint32_t i = 0; i < n->matcher_count; i++) {
        const struct pq_matcher *m = n->matchers[i];
        const char *name = pq_matcher_name(m);
        bool twice = false;
        if (strcmp(name, "__name__") == 0) continue;
        for (uint32_t j = 0; j < n->matcher_count; j++)
            if (j != i && strcmp(pq_matcher_name(n->matchers[j]), name) == 0) twice = true;
        if (!twice && pq_matcher_kind(m) == PQ_EQ) l = pq_labels_set(ev, l, name, pq_matcher_value(m));
    }
    return l;
}

static bool absent_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct value v;
    if (!pq_eval_node(ev, call->args[0], t, &v)) return false;
    bool there = v.type == PQ_MATRIX ? v.series_n > 0 : v.n > 0;
    if (there) return pq_vector_room(ev, 0, ret);
    if (!one_element(ev, 1, t, ret)) return false;
    ret->items[0].labels = absent_labels(ev, call->args[0]);
    return true;
}

/* ---- sort ---- */

static int rising(const void *pa, const void *pb)
{
    double a = ((const struct pq_element *)pa)->v, b = ((const struct pq_element *)pb)->v;
    if (isnan(a) || isnan(b)) return isnan(a) ? !isnan(b) : -1;
    return a < b ? -1 : a > b;
}

static int falling(const void *pa, const void *pb)
{
    double a = ((const struct pq_element *)pa)->v, b = ((const struct pq_element *)pb)->v;
    if (isnan(a) || isnan(b)) return isnan(a) ? !isnan(b) : -1;
    return a > b ? -1 : a < b;
}

static bool sort_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    if (!pq_eval_node(ev, call->args[0], t, ret)) return false;
    if (ret->n) pq_sort(ret->items, ret->n, sizeof *ret->items, call->function->number ? falling : rising);
    return true;
}

/* ---- the table ---- */

#define OWN_TABLE(X)                                                                                          \
    X("absent", 'v', "v", absent_function, 0) X("absent_over_time", 'v', "m", absent_function, 0)             \
    X("clamp", 'v', "vss", clamp_function, CLAMP) X("clamp_min", 'v', "vs", clamp_function, CLAMP_MIN)        \
    X("clamp_max", 'v', "vs", clamp_function, CLAMP_MAX) X("round", 'v', "vs?", round_function, 0)            \
    X("scalar", 's', "v", scalar_function, 0) X("vector", 'v', "s", vector_function, 0)                       \
    X("time", 's', "", time_function, 0) X("pi", 's', "", pi_function, 0)                                     \
    X("timestamp", 'v', "v", timestamp_function, 0)                                                           \
    X("minute", 'v', "v?", calendar_function, MINUTE) X("hour", 'v', "v?", calendar_function, HOUR)           \
    X("day_of_month", 'v', "v?", calendar_function, DAY_OF_MONTH)                                             \
    X("day_of_week", 'v', "v?", calendar_function, DAY_OF_WEEK)                                               \
    X("day_of_year", 'v', "v?", calendar_function, DAY_OF_YEAR)                                               \
    X("days_in_month", 'v', "v?", calendar_function, DAYS_IN_MONTH)                                           \
    X("month", 'v', "v?", calendar_function, MONTH) X("year", 'v', "v?", calendar_function, YEAR)             \
    X("sort", 'v', "v", sort_function, 0) X("sort_desc", 'v', "v", sort_function, 1)                          \
    X("sort_by_label", 'v', "vt*", pq_sort_by_label, 0) X("sort_by_label_desc", 'v', "vt*", pq_sort_by_label, 1)    \
    X("label_replace", 'v', "vtttt", pq_label_replace, 0) X("label_join", 'v', "vttt*", pq_label_join, 0)           \
    X("histogram_quantile", 'v', "sv", pq_histogram_quantile, 0)                                                 \
    X("histogram_quantiles", 'v', "vts*", pq_histogram_quantiles, 0)                                             \
    X("histogram_fraction", 'v', "ssv", pq_histogram_fraction, 0)

#define X(word, body, ...) RANGE_##body,
enum { RANGE_TABLE(X) RANGE_KINDS };
#undef X

static const struct function functions[] = {
#define X(word, body, arguments, keeps_name) {word, 'v', arguments, pq_range_function, RANGE_##body},
    RANGE_TABLE(X)
#undef X
#define X(word, result, arguments, body, number) {word, result, arguments, body, number},
    OWN_TABLE(X)
#undef X
#define X(word, body) {word, 'v', "v", plain_function, PLAIN_##body},
    PLAIN_TABLE(X)
#undef X
};

const struct function *pq_function_find(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (strcmp(functions[i].word, word) == 0) return &functions[i];
    return NULL;
}

const char *pq_function(uint32_t i) { return i < ARRAY_LEN(functions) ? functions[i].word : NULL; }

const char *pq_function_nearest(const char *word)
{
    const char *words[ARRAY_LEN(functions)];
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) words[i] = functions[i].word;
    return text_nearest(word, words, ARRAY_LEN(functions));
}
