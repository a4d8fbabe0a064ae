/* Compiling and evaluating, over a small store written here. Values worked out by hand from Prometheus's rules. */
#include "promql/promql.h"

#include "promql/math.h"
#include "promql/sort.h"
#include "support/test.h"

/* ---- a store ---- */

struct store_series { const char *labels[8]; struct pq_sample samples[64]; uint32_t n; };
static struct store_series store[32];
static uint32_t store_n;
static struct pq_label label_items[32][4];

static void store_clear(void) { store_n = 0; memset(store, 0, sizeof store); }

/* labels: name, value, ... sorted by name; values from `first` on, every step_ms. */
static struct store_series *put(const char *const *labels, int64_t step_ms, const double *values, uint32_t n)
{
    struct store_series *s = &store[store_n++];
    for (int i = 0; i < 8 && labels[i]; i++) s->labels[i] = labels[i];
    for (uint32_t i = 0; i < n; i++) s->samples[s->n++] = (struct pq_sample){(int64_t)i * step_ms, values[i]};
    return s;
}

#define LABELS(...) (const char *const[8]){__VA_ARGS__}
#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

static bool select_series(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                          bool (*sink)(void *, const struct pq_series *), void *sink_ctx)
{
    (void)ctx;
    (void)from_ms;
    for (uint32_t i = 0; i < store_n; i++) {
        struct store_series *s = &store[i];
        uint32_t count = 0;
        for (; count < 4 && s->labels[count * 2]; count++)
            label_items[i][count] = (struct pq_label){s->labels[count * 2], s->labels[count * 2 + 1]};
        bool all = true;
        for (uint32_t k = 0; k < n; k++) {
            const char *v = "";
            for (uint32_t l = 0; l < count; l++)
                if (strcmp(label_items[i][l].name, pq_matcher_name(matchers[k])) == 0) v = label_items[i][l].value;
            all = all && pq_matches(matchers[k], v);
        }
        struct pq_series part = {{label_items[i], count}, s->samples, s->n};
        while (part.n && part.samples[part.n - 1].t_ms > to_ms) part.n--;
        if (all && part.n && !sink(sink_ctx, &part)) return false;
    }
    return true;
}

static struct arena arena;
static struct err err;

static enum status eval_at(const char *text, int64_t t_s, struct pq_result *r)
{
    struct pq_error e;
    struct pq_source source = {NULL, select_series};
    arena_free(&arena);
    const struct pq *q = pq_compile(&arena, text, strlen(text), &e);
    if (!q) print_error("%s: %s\n", text, e.text);
    assert_non_null(q);
    err_clear(&err);
    return pq_eval(q, &source, t_s * 1000, &arena, r, &err);
}

static double number(const char *text, int64_t t_s)
{
    struct pq_result r;
    assert_int_equal(eval_at(text, t_s, &r), STATUS_OK);
    if (r.type == PQ_SCALAR) return r.scalar;
    if (r.n != 1) print_error("%s gives %u series\n", text, r.n);
    assert_int_equal(r.n, 1);
    return r.items[0].v;
}

static uint32_t series(const char *text, int64_t t_s)
{
    struct pq_result r;
    assert_int_equal(eval_at(text, t_s, &r), STATUS_OK);
    return r.n;
}

static void arithmetic_binds_as_in_prometheus(void **state)
{
    (void)state;
    assert_near(number("1 + 2 * 3 ^ 2", 0), 19, 0);
    assert_near(number("-2 ^ 2", 0), -4, 0);
    assert_near(number("2 ^ 3 ^ 2", 0), 512, 0);
    assert_near(number("10 % 4 - 1", 0), 1, 0);
    assert_near(number("-7 % 4", 0), -3, 0);
    assert_near(number("1 == bool 1", 0), 1, 0);
    assert_near(number("5m", 0), 300, 0);
    assert_near(number("0x1F", 0), 31, 0);
    assert_true(isinf(number("1 / 0", 0)));
    assert_true(isnan(number("0 / 0", 0)));
    assert_near(number("time()", 90), 90, 0);
}

static void rate_extrapolates_and_sees_resets(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "c_total"), 10000, VALUES(0, 10, 20, 30, 40, 50, 60));
    put(LABELS("__name__", "r_total"), 10000, VALUES(100, 110, 120, 5, 15, 25, 35));
    assert_near(number("rate(c_total[1m])", 60), 1, 1e-12);
    assert_near(number("increase(c_total[1m])", 60), 60, 1e-12);
    /* (0 s, 60 s]: 6 samples from 10 s to 60 s cover 50 s; the start is 10 s away, under 1.1 spacings: taken whole. */
    assert_near(number("delta(c_total[1m])", 60), 60, 1e-12);
    struct pq_result r;
    assert_int_equal(eval_at("increase(r_total[1m])", 60, &r), STATUS_OK);
    /* 35 - 110 + 120 = 45 in 50 s, to_zero = 50 * 110 / 45 > 10 s: 45 * 60 / 50. */
    assert_near(r.items[0].v, 54, 1e-12);
    assert_true(r.reset_seen);
    assert_true(r.newest_ms == 60000);
    assert_near(number("irate(r_total[1m])", 60), 1, 1e-12);
    assert_near(number("irate(r_total[30s])", 35), 0.5, 1e-12);     /* 120 then 5: five in ten seconds */
    assert_near(number("idelta(r_total[30s])", 35), -115, 1e-12);
    assert_near(number("resets(r_total[1m])", 60), 1, 0);
    assert_near(number("changes(c_total[1m])", 60), 5, 0);
    assert_int_equal(series("rate(c_total[10s])", 60), 0);           /* one sample is no rate */
    assert_near(number("deriv(c_total[1m])", 60), 1, 1e-12);
    assert_near(number("predict_linear(c_total[1m], 100)", 60), 160, 1e-9);
    eval_at("rate(c_total[1m])", 60, &r);
    assert_int_equal(r.items[0].labels.n, 0);                        /* no metric's name on a rate */
}

static void ranges_are_open_on_the_left(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "g"), 10000, VALUES(1, 2, 3, 4));
    assert_near(number("count_over_time(g[20s])", 30), 2, 0);
    assert_near(number("sum_over_time(g[20s])", 30), 7, 0);
    assert_near(number("g", 329), 4, 0);
    assert_int_equal(series("g", 330), 0);
    assert_near(number("g offset 10s", 30), 3, 0);
    assert_near(number("g @ 10", 30), 2, 0);
    assert_near(number("timestamp(g)", 35), 30, 0);
}

static void over_time_functions(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "g"), 10000, VALUES(4, 8, 6, 2));
    assert_near(number("avg_over_time(g[1m])", 30), 5, 0);
    assert_near(number("min_over_time(g[1m])", 30), 2, 0);
    assert_near(number("max_over_time(g[1m])", 30), 8, 0);
    assert_near(number("last_over_time(g[1m])", 30), 2, 0);
    assert_near(number("present_over_time(g[1m])", 30), 1, 0);
    assert_near(number("quantile_over_time(0.5, g[1m])", 30), 5, 0);
    assert_near(number("stdvar_over_time(g[1m])", 30), 5, 1e-12);
    assert_near(number("stddev_over_time(g[1m])", 30), sqrt(5), 1e-12);
    assert_near(number("max_over_time((g * 2)[30s:10s])", 30), 16, 0);
    assert_near(number("absent(nothing{a=\"b\"})", 30), 1, 0);
    assert_int_equal(series("absent(g)", 30), 0);
}

/* 2006-01-02T22:04:05Z was a Monday. */
static void calendar_smoothing_and_spread(void **state)
{
    (void)state;
    static const struct { const char *word; double v; } parts[] = {
        {"minute", 4}, {"hour", 22}, {"day_of_week", 1}, {"day_of_month", 2}, {"day_of_year", 2}, {"days_in_month", 31},
        {"month", 1}, {"year", 2006}};
    char text[80];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(text, sizeof text, "%s(vector(1136239445))", parts[i].word);
        assert_near(number(text, 0), parts[i].v, 0);
    }
    assert_near(number("days_in_month(vector(1454284800))", 0), 29, 0);      /* February 2016 */
    assert_near(number("hour()", 7200), 2, 0);
    store_clear();
    put(LABELS("__name__", "g"), 10000, VALUES(0, 1, 2, 2, 4));
    /* Level 1, 2, 2.5, 3.625; trend 1, 1, 0.75. */
    assert_near(number("double_exponential_smoothing(g[40s], 0.5, 0.5)", 40), 3.625, 0);
    assert_near(number("mad_over_time(g[40s])", 40), 0.5, 0);
    assert_near(number("ts_of_max_over_time(g[40s])", 40), 40, 0);
    assert_near(number("ts_of_first_over_time(g[40s])", 40), 10, 0);
    assert_near(number("count(limitk(1, g))", 40), 1, 0);
    assert_near(number("round(g / 3, 0.5)", 40), 1.5, 1e-12);
    assert_near(number("clamp(g, 0, 3)", 40), 3, 0);
    assert_near(number("clamp_min(g, 7)", 40), 7, 0);
    assert_int_equal(series("clamp(g, 3, 0)", 40), 0);
    assert_near(number("sgn(-g)", 40), -1, 0);
    assert_near(number("log2(g)", 40), 2, 0);
    assert_near(number("exp(ln(g))", 40), 4, 1e-14);
}

static void stale_markers_end_a_series(void **state)
{
    (void)state;
    store_clear();
    uint64_t bits = PQ_STALE_BITS;
    double stale;
    memcpy(&stale, &bits, sizeof stale);
    put(LABELS("__name__", "g"), 10000, (const double[]){1, 2, stale}, 3);
    assert_near(number("g", 10), 2, 0);
    assert_int_equal(series("g", 20), 0);
    assert_near(number("count_over_time(g[1m])", 20), 2, 0);
}

static void aggregations_group(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "q", "job", "a", "pod", "1"), 10000, VALUES(1));
    put(LABELS("__name__", "q", "job", "a", "pod", "2"), 10000, VALUES(3));
    put(LABELS("__name__", "q", "job", "b", "pod", "3"), 10000, VALUES(7));
    assert_near(number("sum(q)", 0), 11, 0);
    assert_near(number("sum by (job) (q{job=\"a\"})", 0), 4, 0);
    assert_near(number("sum without (pod, job) (q)", 0), 11, 0);
    assert_near(number("avg(q{job=\"a\"})", 0), 2, 0);
    assert_near(number("count(q)", 0), 3, 0);
    assert_near(number("count(sum by (job) (q))", 0), 2, 0);
    assert_near(number("topk(1, q)", 0), 7, 0);
    assert_near(number("bottomk(1, q)", 0), 1, 0);
    assert_near(number("quantile(0.5, q)", 0), 3, 0);
    assert_near(number("stdvar(q{job=\"a\"})", 0), 1, 0);
    assert_near(number("group(q)", 0), 1, 0);
    assert_int_equal(series("count_values(\"v\", q)", 0), 3);
    assert_int_equal(series("q{job=~\"a|b\",pod!~\"[12]\"}", 0), 1);
    struct pq_result r;
    assert_int_equal(eval_at("sort_desc(q)", 0, &r), STATUS_OK);
    assert_near(r.items[0].v, 7, 0);
    assert_near(r.items[2].v, 1, 0);
}

static void vectors_match(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "err", "code", "500", "job", "a"), 10000, VALUES(2));
    put(LABELS("__name__", "err", "code", "503", "job", "a"), 10000, VALUES(4));
    put(LABELS("__name__", "all", "job", "a"), 10000, VALUES(8));
    assert_near(number("sum(err) / sum(all)", 0), 0.75, 0);
    assert_int_equal(series("err / on (job) group_left all", 0), 2);
    assert_near(number("err{code=\"500\"} / ignoring (code) all", 0), 0.25, 0);
    assert_near(number("all > 7", 0), 8, 0);
    assert_int_equal(series("all > 8", 0), 0);
    assert_near(number("all > bool 8", 0), 0, 0);
    assert_int_equal(series("err or all", 0), 3);
    assert_int_equal(series("err and on (job) all", 0), 2);
    assert_int_equal(series("err unless on (job) all", 0), 0);
    struct pq_result r;
    assert_int_equal(eval_at("all / on (job) err", 0, &r), STATUS_INVALID);
    assert_non_null(strstr(err.text, "found duplicate series for the match group {job=\"a\"} on the right"));
    assert_int_equal(eval_at("err / on (job) all", 0, &r), STATUS_INVALID);
    assert_non_null(strstr(err.text, "many-to-one matching must be explicit"));
    assert_int_equal(eval_at("-{job=\"a\",code!=\"500\"} or -{job=\"a\"}", 0, &r), STATUS_OK);
    assert_near(number("label_replace(all, \"x\", \"$1-y\", \"job\", \"(.*)\") * 1", 0), 8, 0);
    eval_at("label_replace(all, \"x\", \"${1}-y\", \"job\", \"(.*)\")", 0, &r);
    assert_string_equal(r.items[0].labels.items[2].value, "a-y");
    eval_at("label_join(all, \"x\", \"/\", \"job\", \"job\")", 0, &r);
    assert_string_equal(r.items[0].labels.items[2].value, "a/a");
}

static void histogram_quantile_interpolates_and_counts(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "h_bucket", "le", "0.1"), 10000, VALUES(0, 50, 100, 150, 200, 250, 300));
    put(LABELS("__name__", "h_bucket", "le", "0.5"), 10000, VALUES(0, 90, 180, 270, 360, 450, 540));
    put(LABELS("__name__", "h_bucket", "le", "+Inf"), 10000, VALUES(0, 100, 200, 300, 400, 500, 600));
    struct pq_result r;
    assert_int_equal(eval_at("histogram_quantile(0.7, sum by (le) (rate(h_bucket[1m])))", 60, &r), STATUS_OK);
    assert_near(r.items[0].v, 0.1 + 0.4 * (0.7 - 0.5) / 0.4, 1e-12);
    assert_near(r.observations, 600, 1e-9);
    assert_near(number("histogram_quantile(0.25, rate(h_bucket[1m]))", 60), 0.05, 1e-12);
    assert_near(number("histogram_quantile(0.99, rate(h_bucket[1m]))", 60), 0.5, 0);     /* in +Inf: the bound below */
    assert_near(number("histogram_fraction(0, 0.1, rate(h_bucket[1m]))", 60), 0.5, 1e-12);
    eval_at("histogram_quantile(0.5, h_bucket)", 60, &r);
    assert_near(r.observations, 0, 0);             /* counts since the start of the process: not this window's */
    assert_true(isnan(number("histogram_quantile(0.5, h_bucket)", 0)));
}

static void range_queries_step(void **state)
{
    (void)state;
    struct pq_error e;
    struct pq_result r;
    struct pq_source source = {NULL, select_series};
    store_clear();
    put(LABELS("__name__", "c_total"), 10000, VALUES(0, 10, 20, 30, 40, 50, 60));
    arena_free(&arena);
    const struct pq *q = pq_compile(&arena, "rate(c_total[30s])", 18, &e);
    assert_int_equal(pq_eval_range(q, &source, 0, 60000, 20000, &arena, &r, &err), STATUS_OK);
    assert_int_equal(r.series_n, 1);
    assert_int_equal(r.series[0].n, 3);            /* 20, 40, 60 s: at 0 there is one sample only */
    assert_true(r.series[0].samples[0].t_ms == 20000);
    assert_near(r.series[0].samples[2].v, 1, 1e-12);
    assert_int_equal(pq_eval_range(q, &source, 0, 60000, 0, &arena, &r, &err), STATUS_INVALID);
    assert_int_equal(pq_eval_range(q, &source, 0, INT64_C(1) << 50, 1, &arena, &r, &err), STATUS_LIMIT);
}

static void costly_expressions_do_not_hang(void **state)
{
    (void)state;
    store_clear();
    char value[400];
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    put(LABELS("__name__", "g", "v", value), 10000, VALUES(1));
    assert_int_equal(series("g{v=~\"(a+)+b\"}", 0), 0);
    assert_int_equal(series("g{v=~\"(a|aa)+\"}", 0), 1);
    assert_int_equal(series("g{v=~\"((a*)*)*c|.*x\"}", 0), 0);
    struct pq_result r;
    assert_int_equal(eval_at("sum_over_time(g[1000d:1s])", 0, &r), STATUS_LIMIT);
    assert_non_null(strstr(err.text, "subquery"));
    assert_int_equal(eval_at("sum_over_time(sum_over_time(vector(1)[1d:1s])[1d:1s])", 0, &r), STATUS_LIMIT);
    assert_non_null(strstr(err.text, "too much work"));
}

/* Short of memory at any point a query fails with LIMIT; it never answers something else. */
static void memory_limits_fail_cleanly(void **state)
{
    (void)state;
    store_clear();
    put(LABELS("__name__", "h_bucket", "job", "a", "le", "1"), 10000, VALUES(0, 50, 100, 150, 200, 250, 300));
    put(LABELS("__name__", "h_bucket", "job", "a", "le", "+Inf"), 10000, VALUES(0, 90, 180, 270, 360, 450, 540));
    put(LABELS("__name__", "h_bucket", "job", "b", "le", "1"), 10000, VALUES(0, 50, 100, 150, 200, 250, 300));
    put(LABELS("__name__", "h_bucket", "job", "b", "le", "+Inf"), 10000, VALUES(0, 90, 180, 270, 360, 450, 540));
    static const char *const texts[] = {
        "sum(label_join(topk(3, h_bucket * on (job, le) group_left (zz) h_bucket), \"z\", \"-\", \"job\", \"le\") or h_bucket)",
        "sum(histogram_quantile(0.5, sum by (le, job) (rate(h_bucket[1m]))))", "max(max_over_time(rate(h_bucket[30s])[30s:10s]))",
        "sum(count_values(\"v\", -h_bucket)) + quantile(0.3, h_bucket)"};
    struct pq_source source = {NULL, select_series};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double full = number(texts[i], 60);
        arena_free(&arena);
        const struct pq *q = pq_compile(&arena, texts[i], strlen(texts[i]), NULL);
        unsigned failed = 0, answered = 0;
        for (size_t limit = 16; limit < 40000; limit += 48) {
            struct arena scratch = {.limit = limit};
            struct pq_result r;
            enum status st = pq_eval(q, &source, 60000, &scratch, &r, &err);
            if (st == STATUS_OK) assert_near(r.items[0].v, full, 0);
            else assert_int_equal(st, STATUS_LIMIT);
            st == STATUS_OK ? answered++ : failed++;
            arena_free(&scratch);
        }
        assert_true(failed > 0 && answered > 0);
    }
}

static void own_mathematics(void **state)
{
    (void)state;
    static const double xs[] = {-3.7, -1, -0.3, 0.001, 0.5, 0.9, 1, 2, 7.25, 100, 12345.678};
    for (size_t i = 0; i < sizeof xs / sizeof xs[0]; i++) {
        double v = xs[i];
        assert_near(pq_sin_of(v), sin(v), 1e-12);
        assert_near(pq_cos_of(v), cos(v), 1e-12);
        assert_near(pq_atan_of(v), atan(v), 1e-14);
        assert_near(pq_atan2_of(v, -2), atan2(v, -2), 1e-14);
        assert_near(pq_tanh_of(v), tanh(v), 1e-14);
        assert_near(pq_asinh_of(v), asinh(v), 1e-12 * (1 + fabs(asinh(v))));
        if (fabs(v) <= 1) assert_near(pq_asin_of(v), asin(v), 1e-14);
        if (fabs(v) < 1) assert_near(pq_atanh_of(v), atanh(v), 1e-13);
        if (v >= 1) assert_near(pq_acosh_of(v), acosh(v), 1e-12);
        if (v > 0) assert_near(pq_pow_of(v, 1.7), pow(v, 1.7), 1e-12 * pow(v, 1.7));
        if (fabs(v) < 10) assert_near(pq_sinh_of(v), sinh(v), 1e-13 * (1 + fabs(sinh(v))));
    }
    assert_near(pq_pow_of(2, 10), 1024, 0);
    assert_near(pq_pow_of(-2, 3), -8, 0);
    assert_near(pq_pow_of(2, -1), 0.5, 0);
    assert_true(isnan(pq_pow_of(-8, 0.5)));
    static const double edges[] = {-INFINITY, -2, -1, -0.5, 0, 0.5, 1, 2, 3, INFINITY};
    for (size_t i = 0; i < 10; i++)
        for (size_t k = 0; k < 10; k++) {
            double mine = pq_pow_of(edges[i], edges[k]), theirs = pow(edges[i], edges[k]);
            assert_true((isnan(mine) && isnan(theirs)) || mine == theirs || fabs(mine - theirs) <= 1e-15 * fabs(theirs));
        }
}

static int by_int(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void sorting(void **state)
{
    (void)state;
    for (int n = 0; n < 300; n += 7) {
        int v[300];
        for (int i = 0; i < n; i++) v[i] = (i * 7919 + n) % 101;
        pq_sort(v, (size_t)n, sizeof v[0], by_int);
        for (int i = 1; i < n; i++) assert_true(v[i - 1] <= v[i]);
    }
}

static void assert_companion(const char *query, bool (*print)(struct buf *, const struct pq *), const char *expected)
{
    struct arena a = ARENA_INIT;
    struct buf b = BUF_INIT;
    struct pq_error error;
    const struct pq *q = pq_compile(&a, query, strlen(query), &error);
    assert_non_null(q);
    assert_int_equal(print(&b, q), expected != NULL);
    assert_string_equal(buf_text(&b), expected ? expected : "");
    if (expected) assert_non_null(pq_compile(&a, b.data, b.len, &error));
    buf_free(&b);
    arena_free(&a);
}

static void companions_ask_what_a_value_does_not_tell(void **state)
{
    (void)state;
    assert_companion("1000 * histogram_quantile(0.99, sum by (le) (rate(x_bucket{a=\"b\"}[1m])))", pq_print_observations,
                     "sum(max without (le) (sum by (le) (rate(x_bucket{a=\"b\"}[1m])))) * 60");
    assert_companion("rate(x[1m])", pq_print_observations, NULL);
    assert_companion("sum(q{a=\"b\"}) / sum(max_q) + rate(x[1m])", pq_print_newest,
                     "min(label_replace(max(timestamp(q{a=\"b\"})), \"selector\", \"0\", \"\", \"\") or "
                     "label_replace(max(timestamp(max_q)), \"selector\", \"1\", \"\", \"\"))");
    assert_companion("rate(x[1m]) + max_over_time(y[5m]) + max_over_time(sum(z)[5m:1m]) + (w offset 5m)", pq_print_newest, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(companions_ask_what_a_value_does_not_tell),
        cmocka_unit_test(arithmetic_binds_as_in_prometheus),
        cmocka_unit_test(rate_extrapolates_and_sees_resets),
        cmocka_unit_test(ranges_are_open_on_the_left),
        cmocka_unit_test(over_time_functions),
        cmocka_unit_test(calendar_smoothing_and_spread),
        cmocka_unit_test(stale_markers_end_a_series),
        cmocka_unit_test(aggregations_group),
        cmocka_unit_test(vectors_match),
        cmocka_unit_test(histogram_quantile_interpolates_and_counts),
        cmocka_unit_test(range_queries_step),
        cmocka_unit_test(costly_expressions_do_not_hang),
        cmocka_unit_test(memory_limits_fail_cleanly),
        cmocka_unit_test(own_mathematics),
        cmocka_unit_test(sorting),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return rc;
}
