#include "support/test.h"

#include "stats/elem.h"
#include "verify/verify.h"

#define N 8
/* Steps in an order whose autocorrelation is negative (taken as 0), and climbing, which gives the cap of 0.9. */
static const int mixed[N] = {0, 7, 1, 6, 2, 5, 3, 4};
static const int climbing[N] = {0, 1, 2, 3, 4, 5, 6, 7};

static double store[16][N];
static int stored;

/* Eight blocks level * exp(0.01 i): the 64 differences of two such stretches d apart are d + 0.01 (j - i), j - i = -7..7
 * once to eight times. The Mann-Whitney rank for 8 and 8 at 95 % is 14, and the 14th smallest is d - 0.03. */
static struct blocks stretch(double level, const int order[N])
{
    double *x = store[stored++];
    for (int i = 0; i < N; i++) x[i] = level * stats_exp(0.01 * order[i]);
    return (struct blocks){.values = x, .n = N, .known = N, .step = SPAN_S(30)};
}

static struct blocks flat(double level)
{
    double *x = store[stored++];
    for (int i = 0; i < N; i++) x[i] = level;
    return (struct blocks){.values = x, .n = N, .known = N, .step = SPAN_S(30)};
}

static struct blocks zigzag(double a, double b)
{
    double *x = store[stored++];
    for (int i = 0; i < N; i++) x[i] = i % 2 ? b : a;
    return (struct blocks){.values = x, .n = N, .known = N, .step = SPAN_S(30)};
}

/* Latency moved by d, all else the same and fine. */
static struct verify_input moved(double d, const int order[N])
{
    stored = 0;
    return (struct verify_input){
        .latency = {stretch(50, order), stretch(50 * stats_exp(d), order)},
        .queue = {flat(320), flat(90)}, .throughput = {flat(1000), flat(1000)},
        .load = {flat(1000), flat(1000)},
        .errors_before = 3, .errors_after = 4, .requests_before = 240000, .requests_after = 600000, .errors_configured = true,
        .queue_hour_p90 = 180, .queue_threshold = 250, .jitter_normal = 5, .jitter_floor = 0.5,
        .after_known = 60, .after_expected = 60, .drift_anchor = NAN, .drift_limit = NAN,
        .symptom_known = true, .unit = "ms",
    };
}

static struct verify_result judge(const struct verify_input *in)
{
    struct verify_result r;
    verify_judge(in, &r);
    assert_non_null(r.why);
    assert_true(strlen(r.sentence) > strlen(r.why));
    assert_true(strncmp(r.sentence, verdict_name(r.verdict), strlen(verdict_name(r.verdict))) == 0);
    return r;
}

static void expect(const struct verify_input *in, enum verdict want, const char *why)
{
    struct verify_result r = judge(in);
    if (r.verdict != want || !strstr(r.why, why)) print_error("%s\n", r.sentence);
    assert_int_equal(r.verdict, want);
    assert_non_null(strstr(r.why, why));
}

static void test_effective_with_its_numbers(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    struct verify_result r = judge(&in);
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
    assert_near(r.shift_log, -0.20, 1e-12);
    assert_near(r.lo, -0.23, 1e-12);
    assert_near(r.hi, -0.17, 1e-12);
    assert_near(r.shift_ratio, -0.18126924692201818, 1e-12);   /* exp(-0.2) - 1 */
    assert_near(r.autocorrelation, 0, 0);
    assert_near(r.rho, 1, 0);
    assert_near(r.median_before, 50 * (1.0304545339535169 + 1.0408107741923882) / 2, 1e-9);   /* exp(.03), exp(.04) */
    assert_near(r.peak_before, 50 * (0.7 * 1.0618365465453596 + 0.3 * 1.0725081812542165), 1e-9);  /* at 6.3 of 0..7 */
    assert_near(r.queue_median, 90, 0);
    assert_near(r.queue_limit, 200, 0);      /* 0.8 x 250 beats the p90 of 180 */
    assert_near(r.throughput_ratio, 1, 0);
    assert_string_equal(r.sentence, "effective: latency, queue, throughput and errors are all good. Latency 51.8 -> 42.4 ms, "
        "18.1 % lower (sure: 15.6 to 20.5 % lower). 90 wait in the queue, at most 200 may. Throughput as before. Load as before");
}

static void test_the_interval_is_widened_by_autocorrelation(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, climbing);
    struct verify_result r = judge(&in);
    assert_near(r.autocorrelation, 0.9, 0);
    assert_near(r.hi, -0.20 + 0.03 * 4.358898943540674, 1e-12);   /* sqrt(1.9 / 0.1) */
    assert_near(r.lo, -0.20 - 0.03 * 4.358898943540674, 1e-12);
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
}

static void test_partial_while_the_symptom_is_true_or_unknown(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.symptom_true = true;
    expect(&in, VERDICT_PARTIAL, "still true");
    in.symptom_known = in.symptom_true = false;
    expect(&in, VERDICT_PARTIAL, "unknown");
}

static void test_ineffective_names_the_condition_that_failed(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.10, mixed);      /* ln 0.9 = -0.105 */
    expect(&in, VERDICT_INEFFECTIVE, "less than 10 %");
    in = moved(0, mixed);
    expect(&in, VERDICT_INEFFECTIVE, "less than 10 %");
    in = moved(-0.12, climbing);                       /* hi = -0.12 + 0.1308 */
    expect(&in, VERDICT_INEFFECTIVE, "may be chance");
    in = moved(-0.20, mixed);
    in.queue.after = flat(201);
    expect(&in, VERDICT_INEFFECTIVE, "queue");
    in.queue_hour_p90 = 201;
    expect(&in, VERDICT_EFFECTIVE, "");
    in.throughput.after = flat(949);
    expect(&in, VERDICT_INEFFECTIVE, "throughput");
    in.throughput.after = flat(950);
    expect(&in, VERDICT_EFFECTIVE, "");
    in.throughput.after = flat(860);                   /* 0.95 x 0.9 = 0.855 is enough when less is asked */
    in.load.after = flat(900);
    expect(&in, VERDICT_EFFECTIVE, "");
    in.errors_after = 60;                              /* 3 in 240,000: Wilson up to 3.7e-5; 60 in 600,000: from 7.8e-5 */
    expect(&in, VERDICT_INEFFECTIVE, "errors");
}

static void test_harmful_by_shift(void **state)
{
    (void)state;
    struct verify_input in = moved(0.12, mixed);       /* lo = 0.09 */
    expect(&in, VERDICT_HARMFUL, "worse");
    in = moved(0.09, mixed);                           /* d is not over 0.10 */
    expect(&in, VERDICT_INEFFECTIVE, "");
    in = moved(0.12, climbing);                        /* lo = 0.12 - 0.131 */
    expect(&in, VERDICT_INEFFECTIVE, "");
}

static void test_harmful_by_jitter_though_the_mean_improved(void **state)
{
    (void)state;
    struct verify_input in = moved(0, mixed);
    in.latency = (struct verify_part){zigzag(50, 51), zigzag(30, 33)};
    in.jitter_normal = NAN;
    struct verify_result r = judge(&in);
    /* differences +1 -1 +1 -1 +1 -1 +1: mean 1/7, variance (7 - 1/7) / 6 = 8/7; sd / sqrt 2 = sqrt(4/7) */
    assert_near(r.jitter_before, 0.7559289460184544, 1e-12);
    assert_near(r.jitter_after, 2.2677868380553634, 1e-12);
    assert_near(r.jitter_limit, 1.1338934190276817, 1e-12);
    assert_int_equal(r.verdict, VERDICT_HARMFUL);
    assert_non_null(strstr(r.sentence, "jumps by 2.27 from one half minute to the next, at most 1.13 may"));
    in.jitter_normal = 1.52;                           /* 1.5 x 1.52 = 2.28 */
    expect(&in, VERDICT_EFFECTIVE, "");
    in.jitter_normal = NAN;
    in.jitter_floor = 1.52;
    expect(&in, VERDICT_EFFECTIVE, "");
}

/* Ten blocks with one unknown: its two differences are left out, the other seven tell the jitter. */
static void test_a_gap_does_not_hide_jitter(void **state)
{
    (void)state;
    static double after[10] = {30, 33, 30, 33, NAN, 33, 30, 33, 30, 33};
    struct verify_input in = moved(0, mixed);
    in.latency.before = zigzag(50, 51);
    in.latency.after = (struct blocks){.values = after, .n = 10, .known = 9};
    in.jitter_normal = NAN;
    struct verify_result r = judge(&in);
    /* +3 -3 +3 and -3 +3 -3 +3: mean 3/7, variance (63 - 9/7) / 6 = 72/7 */
    assert_near(r.jitter_after, 2.2677868380553634, 1e-12);
    assert_int_equal(r.verdict, VERDICT_HARMFUL);
}

static void test_a_ramp_is_no_jitter(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    double *x = store[stored++];
    for (int i = 0; i < N; i++) x[i] = 40 - 0.5 * i;
    in.latency.after.values = x;
    in.jitter_normal = NAN;
    in.jitter_floor = 0;
    assert_near(judge(&in).jitter_after, 0, 1e-12);
}

static void test_a_wide_interval_comes_before_effective_and_harmful(void **state)
{
    (void)state;
    double wild[] = {30, 80, 35, 90, 28, 75, 33, 88}, after[] = {60, 160, 70, 180, 56, 150, 66, 176};
    struct verify_input in = moved(0, mixed);
    in.latency.before.values = wild;
    in.latency.after.values = after;                   /* twice as slow, and no one can be sure */
    expect(&in, VERDICT_INCONCLUSIVE, "varies too much");
    in.latency.before.values = after;
    in.latency.after.values = wild;
    expect(&in, VERDICT_INCONCLUSIVE, "varies too much");
}

static void test_too_little_is_inconclusive(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.after_known = 48;                               /* exactly 80 % of 60 */
    expect(&in, VERDICT_EFFECTIVE, "");
    in.after_known = 47;
    expect(&in, VERDICT_INCONCLUSIVE, "80 %");
    in = moved(-0.20, mixed);
    in.latency.before.n = 7;
    expect(&in, VERDICT_INCONCLUSIVE, "before");
    in = moved(-0.20, mixed);
    store[1][3] = NAN;
    expect(&in, VERDICT_INCONCLUSIVE, "after");
    in = moved(-0.20, mixed);
    store[0][3] = 0;                                   /* a p99 of 0 is no latency */
    expect(&in, VERDICT_INCONCLUSIVE, "before");
    in = moved(-0.20, mixed);
    in.latency = (struct verify_part){0};
    expect(&in, VERDICT_INCONCLUSIVE, "");
    in = moved(-0.20, mixed);
    in.input_shifted = true;
    expect(&in, VERDICT_INCONCLUSIVE, "inputs");
}

static void test_load_rule(void **state)
{
    (void)state;
    const struct { double d, load; enum verdict want; } cases[] = {
        {-0.20, 800, VERDICT_EFFECTIVE},     {-0.20, 799, VERDICT_INCONCLUSIVE}, {-0.20, 1400, VERDICT_EFFECTIVE},
        {0, 799, VERDICT_INEFFECTIVE},       {0, 1250, VERDICT_INEFFECTIVE},     {0, 1251, VERDICT_INCONCLUSIVE},
        {0.20, 700, VERDICT_HARMFUL},        {0.20, 1250, VERDICT_HARMFUL},      {0.20, 1251, VERDICT_INCONCLUSIVE},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct verify_input in = moved(cases[i].d, mixed);
        in.load.after = flat(cases[i].load);
        if (cases[i].load < 1000) in.throughput.after = flat(cases[i].load);
        struct verify_result r = judge(&in);
        if (r.verdict != cases[i].want) print_error("case %zu: %s\n", i, r.sentence);
        assert_int_equal(r.verdict, cases[i].want);
    }
}

static void test_what_is_unknown_is_never_effective(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.queue.after = flat(NAN);
    expect(&in, VERDICT_INCONCLUSIVE, "queue");
    in = moved(-0.20, mixed);
    in.queue_hour_p90 = in.queue_threshold = NAN;
    expect(&in, VERDICT_INCONCLUSIVE, "queue");
    in = moved(-0.20, mixed);
    in.throughput.before = flat(NAN);
    expect(&in, VERDICT_INCONCLUSIVE, "throughput");
    in = moved(-0.20, mixed);
    in.requests_after = 0;
    expect(&in, VERDICT_INCONCLUSIVE, "error");
    in = moved(-0.20, mixed);
    in.load.after = flat(NAN);
    expect(&in, VERDICT_INCONCLUSIVE, "load");
    in = moved(-0.10, mixed);                          /* a condition that is false stands, whatever else is unknown */
    in.requests_after = 0;
    expect(&in, VERDICT_INEFFECTIVE, "less than 10 %");
}

/* All but `known` blocks, the newest, were lost. */
static struct blocks only_newest(struct blocks b, uint32_t known)
{
    double *x = store[stored++];
    for (uint32_t i = 0; i < b.n; i++) x[i] = i + known < b.n ? NAN : b.values[i];
    return (struct blocks){.values = x, .n = b.n, .known = known, .step = b.step};
}

/* "Before = known points ... After = the window, at least 80 % known": scrapes lost before a change take no verdict away. */
static void test_before_is_what_is_known_of_it(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.throughput.before = only_newest(in.throughput.before, 8);
    in.load.before = only_newest(in.load.before, 8);
    expect(&in, VERDICT_EFFECTIVE, "");
    in = moved(-0.20, mixed);
    in.throughput.before = only_newest(in.throughput.before, 7);
    expect(&in, VERDICT_INCONCLUSIVE, "throughput");
    in = moved(-0.20, mixed);
    in.throughput.after = only_newest(in.throughput.after, N * 3 / 4);
    expect(&in, VERDICT_INCONCLUSIVE, "throughput");
}

static void test_what_is_not_configured_sets_no_condition(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.queue = in.throughput = in.load = (struct verify_part){0};
    in.errors_configured = false;
    in.requests_before = in.requests_after = 0;
    struct verify_result r = judge(&in);
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
    assert_true(isnan(r.rho));
    assert_non_null(strstr(r.sentence, "The load is not measured"));
}

static void test_drift_is_closed_by_its_own_ratio(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.drift_symptom = true;
    in.drift_anchor = 38;
    in.drift_limit = 0.15;
    in.symptom_true = true;                            /* the 24-h median has not moved yet */
    struct verify_result r = judge(&in);
    assert_near(r.drift_after, r.median_after / 38 - 1, 1e-12);   /* 42.4 / 38 = +11.6 % */
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
    in.drift_anchor = 36;                              /* 42.4 / 36 = +17.8 % */
    assert_int_equal(judge(&in).verdict, VERDICT_PARTIAL);
}

static void test_a_judge_where_down_is_bad_is_mirrored(void **state)
{
    (void)state;
    struct verify_input in = moved(0.20, mixed);
    in.bad = BAD_DOWN;
    struct verify_result r = judge(&in);
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
    assert_near(r.shift_log, -0.20, 1e-12);
    assert_near(r.shift_ratio, 0.22140275816016985, 1e-12);
    in = moved(-0.20, mixed);
    in.bad = BAD_DOWN;
    expect(&in, VERDICT_HARMFUL, "worse");
}

static void test_of_too_many_blocks_the_nearest_count(void **state)
{
    (void)state;
    static double before[1000], after[1000];
    for (int i = 0; i < 1000; i++) {
        before[i] = i < 600 ? 20 : 50 + i % 3;
        after[i] = i < 400 ? 40 + i % 3 : 90;
    }
    struct verify_input in = moved(0, mixed);
    in.latency.before = (struct blocks){.values = before, .n = 1000, .known = 1000};
    in.latency.after = (struct blocks){.values = after, .n = 1000, .known = 1000};
    struct verify_result r = judge(&in);
    assert_int_equal(r.verdict, VERDICT_EFFECTIVE);
    assert_int_equal(r.blocks_before, 400);
    assert_near(r.median_after, 41, 0);
}

/* One request is known to be one: only none at all leaves the errors unknown. */
static void test_one_request_is_enough_to_know_errors(void **state)
{
    (void)state;
    struct verify_input in = moved(-0.20, mixed);
    in.errors_before = in.errors_after = 0;
    in.requests_before = in.requests_after = 1;
    assert_int_equal(judge(&in).verdict, VERDICT_EFFECTIVE);
    in.requests_before = 0;
    assert_int_not_equal(judge(&in).verdict, VERDICT_EFFECTIVE);
    in.requests_before = 1;
    in.requests_after = 0;
    assert_int_not_equal(judge(&in).verdict, VERDICT_EFFECTIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_effective_with_its_numbers),
        cmocka_unit_test(test_one_request_is_enough_to_know_errors),
        cmocka_unit_test(test_the_interval_is_widened_by_autocorrelation),
        cmocka_unit_test(test_partial_while_the_symptom_is_true_or_unknown),
        cmocka_unit_test(test_ineffective_names_the_condition_that_failed),
        cmocka_unit_test(test_harmful_by_shift),
        cmocka_unit_test(test_harmful_by_jitter_though_the_mean_improved),
        cmocka_unit_test(test_a_gap_does_not_hide_jitter),
        cmocka_unit_test(test_a_ramp_is_no_jitter),
        cmocka_unit_test(test_a_wide_interval_comes_before_effective_and_harmful),
        cmocka_unit_test(test_too_little_is_inconclusive),
        cmocka_unit_test(test_load_rule),
        cmocka_unit_test(test_what_is_unknown_is_never_effective),
        cmocka_unit_test(test_before_is_what_is_known_of_it),
        cmocka_unit_test(test_what_is_not_configured_sets_no_condition),
        cmocka_unit_test(test_drift_is_closed_by_its_own_ratio),
        cmocka_unit_test(test_a_judge_where_down_is_bad_is_mirrored),
        cmocka_unit_test(test_of_too_many_blocks_the_nearest_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
