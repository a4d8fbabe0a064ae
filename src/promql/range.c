/* Functions of ranges: rate and its relatives, NAME_over_time. Formulas as in Prometheus 3. */
#include <math.h>

#include "promql/eval.h"
#include "promql/range.h"
#include "promql/sort.h"

/* ---- sums ---- */

void pq_kahan_add(struct kahan *k, double v)
{
    double t = k->sum + v;
    if (isinf(t)) k->c = 0;
    else if (fabs(k->sum) >= fabs(v)) k->c += (k->sum - t) + v;
    else k->c += (v - t) + k->sum;
    k->sum = t;
}

double pq_kahan_result(const struct kahan *k) { return isinf(k->sum) ? k->sum : k->sum + k->c; }

int pq_double_compare(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    if (isnan(a)) return isnan(b) ? 0 : -1;
    if (isnan(b)) return 1;
    return a < b ? -1 : a > b;
}

double pq_quantile_of(double q, double *values, uint32_t n)
{
    if (n == 0 || isnan(q)) return NAN;
    if (q < 0) return -INFINITY;
    if (q > 1) return INFINITY;
    pq_sort(values, n, sizeof *values, pq_double_compare);
    double rank = q * (double)(n - 1);
    uint32_t lower = (uint32_t)floor(rank), upper = lower + 1 < n ? lower + 1 : n - 1;
    double weight = rank - floor(rank);
    return values[lower] * (1 - weight) + values[upper] * weight;
}

/* ---- rate ---- */

enum { RATE, INCREASE, DELTA };

static bool extrapolated(struct eval *ev, const struct range *r, int kind, double *ret)
{
    if (r->n < 2) return false;
    const struct pq_sample *s = r->samples;
    double value = s[r->n - 1].v - s[0].v;
    if (kind != DELTA) {
        for (uint32_t i = 1; i < r->n; i++) {
            if (!(s[i].v < s[i - 1].v)) continue;
            value += s[i - 1].v;
            ev->ret->reset_seen = true;
        }
    }
    double to_start = (double)(s[0].t_ms - r->from) / 1000.0, to_end = (double)(r->to - s[r->n - 1].t_ms) / 1000.0;
    double sampled = (double)(s[r->n - 1].t_ms - s[0].t_ms) / 1000.0;
    double between = sampled / (double)(r->n - 1), threshold = between * 1.1;
    if (to_start >= threshold) to_start = between / 2;
    if (kind != DELTA && value > 0 && s[0].v >= 0) {
        double to_zero = sampled * (s[0].v / value);
        if (to_zero < to_start) to_start = to_zero;
    }
    if (to_end >= threshold) to_end = between / 2;
    double factor = (sampled + to_start + to_end) / sampled;
    if (kind == RATE) factor /= (double)(r->to - r->from) / 1000.0;
    *ret = value * factor;
    return true;
}

static bool rate(struct eval *ev, const struct range *r, double *ret) { return extrapolated(ev, r, RATE, ret); }
static bool increase(struct eval *ev, const struct range *r, double *ret) { return extrapolated(ev, r, INCREASE, ret); }
static bool delta(struct eval *ev, const struct range *r, double *ret) { return extrapolated(ev, r, DELTA, ret); }

static bool last_two(struct eval *ev, const struct range *r, bool per_second, double *ret)
{
    if (r->n < 2) return false;
    const struct pq_sample *a = &r->samples[r->n - 2], *b = a + 1;
    bool reset = per_second && b->v < a->v;
    if (reset) ev->ret->reset_seen = true;
    double v = reset ? b->v : b->v - a->v;
    if (b->t_ms == a->t_ms) return false;
    *ret = per_second ? v / ((double)(b->t_ms - a->t_ms) / 1000.0) : v;
    return true;
}

static bool irate(struct eval *ev, const struct range *r, double *ret) { return last_two(ev, r, true, ret); }
static bool idelta(struct eval *ev, const struct range *r, double *ret) { return last_two(ev, r, false, ret); }

/* ---- over time ---- */

static bool avg_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    struct mean m = {0};
    for (uint32_t i = 0; i < r->n; i++) pq_mean_add(&m, r->samples[i].v);
    *ret = pq_mean_result(&m);
    return true;
}

void pq_mean_add(struct mean *m, double v)
{
    m->n++;
    if (!m->running) {
        struct kahan next = m->k;
        pq_kahan_add(&next, v);
        if (m->n == 1 || !isinf(next.sum)) { m->k = next; return; }
        /* The sum would overflow: go on with a running mean. */
        m->running = true;
        m->k.sum /= m->n - 1;
        m->k.c /= m->n - 1;
    }
    double q = (m->n - 1) / m->n;
    struct kahan next = {q * m->k.sum, q * m->k.c};
    pq_kahan_add(&next, v / m->n);
    m->k = next;
}

double pq_mean_result(const struct mean *m)
{
    if (m->running) return isinf(m->k.sum) ? m->k.sum : m->k.sum + m->k.c;
    return m->k.sum / m->n + m->k.c / m->n;
}

static bool sum_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    struct kahan k = {0};
    for (uint32_t i = 0; i < r->n; i++) pq_kahan_add(&k, r->samples[i].v);
    *ret = pq_kahan_result(&k);
    return true;
}

static bool min_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double best = r->samples[0].v;
    for (uint32_t i = 1; i < r->n; i++)
        if (r->samples[i].v < best || isnan(best)) best = r->samples[i].v;
    *ret = best;
    return true;
}

static bool max_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double best = r->samples[0].v;
    for (uint32_t i = 1; i < r->n; i++)
        if (r->samples[i].v > best || isnan(best)) best = r->samples[i].v;
    *ret = best;
    return true;
}

static bool count_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    *ret = r->n;
    return true;
}

static bool last_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    *ret = r->samples[r->n - 1].v;
    return true;
}

static bool first_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    *ret = r->samples[0].v;
    return true;
}

static bool present_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    (void)r;
    *ret = 1;
    return true;
}

void pq_spread_add(struct spread *s, double v)
{
    s->n++;
    double d = v - (s->mean.sum + s->mean.c);
    pq_kahan_add(&s->mean, d / s->n);
    pq_kahan_add(&s->squares, d * (v - (s->mean.sum + s->mean.c)));
}

double pq_spread_variance(const struct spread *s) { return (s->squares.sum + s->squares.c) / s->n; }

static bool stdvar_over_time(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    struct spread s = {0};
    for (uint32_t i = 0; i < r->n; i++) pq_spread_add(&s, r->samples[i].v);
    *ret = pq_spread_variance(&s);
    return true;
}

static bool stddev_over_time(struct eval *ev, const struct range *r, double *ret)
{
    stdvar_over_time(ev, r, ret);
    *ret = sqrt(*ret);
    return true;
}

static bool changes(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double n = 0;
    for (uint32_t i = 1; i < r->n; i++) {
        double a = r->samples[i - 1].v, b = r->samples[i].v;
        if (a != b && !(isnan(a) && isnan(b))) n++;
    }
    *ret = n;
    return true;
}

static bool resets(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double n = 0;
    for (uint32_t i = 1; i < r->n; i++) n += r->samples[i].v < r->samples[i - 1].v;
    *ret = n;
    return true;
}

/* ---- lines ---- */

/* Least squares; the line's value at `zero` and its slope per second. */
static void fit(const struct range *r, int64_t zero, double *slope, double *intercept)
{
    bool constant = true;
    struct kahan x = {0}, y = {0}, xy = {0}, xx = {0};
    for (uint32_t i = 0; i < r->n; i++) {
        const struct pq_sample *s = &r->samples[i];
        double t = (double)(s->t_ms - zero) / 1000.0;
        if (i > 0 && s->v != r->samples[0].v) constant = false;
        pq_kahan_add(&x, t);
        pq_kahan_add(&y, s->v);
        pq_kahan_add(&xy, t * s->v);
        pq_kahan_add(&xx, t * t);
    }
    *slope = 0;
    *intercept = r->samples[0].v;
    if (constant) {
        if (isinf(r->samples[0].v)) *slope = *intercept = NAN;
        return;
    }
    double n = r->n, sx = x.sum + x.c, sy = y.sum + y.c, sxy = xy.sum + xy.c, sxx = xx.sum + xx.c;
    double cov = sxy - sx * sy / n, var = sxx - sx * sx / n;
    *slope = cov / var;
    *intercept = sy / n - *slope * sx / n;
}

static bool deriv(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double intercept;
    if (r->n < 2) return false;
    fit(r, r->samples[0].t_ms, ret, &intercept);
    return true;
}

static bool quantile_over_time(struct eval *ev, const struct range *r, double *ret)
{
    double *values = ARENA_NEW_N(ev->arena, r->n, double);
    if (!values) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < r->n; i++) values[i] = r->samples[i].v;
    if (isnan(r->parameter) || r->parameter < 0 || r->parameter > 1) pq_eval_warn(ev, "a quantile should be between 0 and 1");
    *ret = pq_quantile_of(r->parameter, values, r->n);
    return true;
}

static bool predict_linear(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    double slope, intercept;
    if (r->n < 2) return false;
    fit(r, r->now, &slope, &intercept);
    *ret = slope * r->parameter + intercept;
    return true;
}

/* ---- spread, smoothing, times ---- */

static bool mad_over_time(struct eval *ev, const struct range *r, double *ret)
{
    double *values = ARENA_NEW_N(ev->arena, r->n, double);
    if (!values) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < r->n; i++) values[i] = r->samples[i].v;
    double median = pq_quantile_of(0.5, values, r->n);
    for (uint32_t i = 0; i < r->n; i++) values[i] = fabs(r->samples[i].v - median);
    *ret = pq_quantile_of(0.5, values, r->n);
    return true;
}

/* Level and trend, each smoothed by its own factor. */
static bool smoothed(struct eval *ev, const struct range *r, double *ret)
{
    double level = r->parameter, trend = r->parameter2;
    if (!(level > 0 && level < 1)) return pq_eval_fail(ev, STATUS_INVALID, "invalid smoothing factor: it must be between 0 and 1");
    if (!(trend > 0 && trend < 1)) return pq_eval_fail(ev, STATUS_INVALID, "invalid trend factor: it must be between 0 and 1");
    if (r->n < 2) return false;
    double s = r->samples[0].v, b = r->samples[1].v - r->samples[0].v, before = 0;
    for (uint32_t i = 1; i < r->n; i++) {
        if (i > 1) b = trend * (s - before) + (1 - trend) * b;
        before = s;
        s = level * r->samples[i].v + (1 - level) * (s + b);
    }
    *ret = s;
    return true;
}

static bool winters(struct eval *ev, const struct range *r, double *ret) { return smoothed(ev, r, ret); }

static double seconds_of(const struct pq_sample *s) { return (double)s->t_ms / 1000.0; }

/* Of equals the last counts, as in Prometheus. */
static bool time_of_extreme(const struct range *r, bool smallest, double *ret)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < r->n; i++) {
        double v = r->samples[i].v, b = r->samples[best].v;
        if ((smallest ? v <= b : v >= b) || isnan(b)) best = i;
    }
    *ret = seconds_of(&r->samples[best]);
    return true;
}

static bool time_of_min(struct eval *ev, const struct range *r, double *ret) { (void)ev; return time_of_extreme(r, true, ret); }
static bool time_of_max(struct eval *ev, const struct range *r, double *ret) { (void)ev; return time_of_extreme(r, false, ret); }

static bool time_of_first(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    *ret = seconds_of(&r->samples[0]);
    return true;
}

static bool time_of_last(struct eval *ev, const struct range *r, double *ret)
{
    (void)ev;
    *ret = seconds_of(&r->samples[r->n - 1]);
    return true;
}

/* ---- all of them ---- */

static bool (*const bodies[])(struct eval *, const struct range *, double *) = {
#define X(word, body, arguments, keeps_name) body,
    RANGE_TABLE(X)
#undef X
};
static const bool keeps[] = {
#define X(word, body, arguments, keeps_name) keeps_name,
    RANGE_TABLE(X)
#undef X
};

static bool looks_like_counter(const char *name)
{
    static const char *const ends[] = {"_total", "_sum", "_count", "_bucket"};
    size_t n = 0;
    while (name[n]) n++;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t k = 0;
        while (ends[i][k]) k++;
        if (n >= k && text_eq(name + n - k, ends[i])) return true;
    }
    return false;
}

static bool counter_kind(int number)
{
    return bodies[number] == rate || bodies[number] == increase || bodies[number] == irate;
}

static bool run_ranges(struct eval *ev, const struct pq_node *call, struct range *r, const struct value *m, struct value *ret)
{
    int number = call->function->number;
    bool said = !counter_kind(number);
    for (uint32_t i = 0; i < m->series_n; i++) {
        r->samples = m->series[i].samples;
        r->n = m->series[i].n;
        double v;
        if (!bodies[number](ev, r, &v)) continue;
        struct pq_labels labels = m->series[i].labels;
        if (!said) {
            const char *name = pq_labels_get(labels, "__name__");
            if (name && !looks_like_counter(name)) { pq_eval_info(ev, "metric might not be a counter"); said = true; }
        }
        if (!keeps[number]) labels = pq_labels_without_name(ev, labels);
        ret->items[ret->n++] = (struct pq_element){labels, v, r->now};
    }
    return ev->status == STATUS_OK && (keeps[number] || pq_vector_check_unique(ev, ret));
}

bool pq_range_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret)
{
    struct range r = {.now = t};
    const struct pq_node *arg = NULL;
    struct value m = {0}, v;
    int scalars = 0;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const struct pq_node *a = call->args[i];
        if (!pq_eval_node(ev, a, t, &v)) return false;
        if (a->type == PQ_SCALAR) {
            if (scalars++) r.parameter2 = v.scalar;
            else r.parameter = v.scalar;
            continue;
        }
        m = v;
        for (arg = a; arg->kind == NODE_PAREN;) arg = arg->a;
    }
    r.to = pq_node_end_time(ev, arg, t);
    r.from = r.to - arg->range_ms;
    if (!pq_vector_room(ev, m.series_n, ret)) return false;
    return run_ranges(ev, call, &r, &m, ret);
}
