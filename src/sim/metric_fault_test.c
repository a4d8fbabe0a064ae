#include "support/test.h"

#include "sim/faults.h"
#include "sim/metric_fault.h"

enum { SIGNALS = 4 };

static struct signal_def signals[SIGNALS] = {
    {.name = "latency_p99", .unit = UNIT_MS}, {.name = "throughput", .unit = UNIT_PER_S},
    {.name = "queue_depth", .unit = UNIT_ONE}, {.name = "gpu_util", .unit = UNIT_RATIO},
};
static const struct service_def service = {.signals = signals, .signal_count = SIGNALS};

struct points { uint16_t signals[2 * POLICY_SIGNALS_MAX]; struct point points[2 * POLICY_SIGNALS_MAX]; uint32_t n; };

static struct points fresh(double base)
{
    struct points p = {.n = SIGNALS};
    for (uint16_t i = 0; i < SIGNALS; i++) {
        p.signals[i] = i;
        p.points[i] = (struct point){{600 * US_PER_S}, base + i, 1000, WHY_KNOWN};
    }
    return p;
}

static struct span spoil(struct spoiler *s, struct points *p, int64_t now_s)
{
    return spoil_points(s, (struct instant){now_s * US_PER_S}, &service, p->signals, p->points, &p->n);
}

/* In force from second 600 to 660. */
static struct spoiler with(uint32_t kind, double size)
{
    struct spoiler s = {.n = 1, .items = {{kind, {600 * US_PER_S}, {660 * US_PER_S}, size}}};
    prng_seed(&s.chance, 1);
    return s;
}

static void nothing_is_changed_outside_its_time(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < FAULTS_KINDS; k++) {
        if (faults_group((enum faults_kind)k) != FAULTS_METRICS) continue;
        struct spoiler s = with(k, 0.5);
        struct points p = fresh(10), want = fresh(10);
        assert_int_equal(spoil(&s, &p, 599).us, 0);
        assert_int_equal(spoil(&s, &p, 660).us, 0);
        assert_memory_equal(&p, &want, sizeof p);
        struct span late = spoil(&s, &p, 600);
        assert_true(late.us > 0 || memcmp(&p, &want, sizeof p) != 0 || k == FAULTS_METRICS_FROZEN || k == FAULTS_METRICS_SKEW);
    }
}

static void one_signal_is_nan_or_missing(void **state)
{
    (void)state;
    struct spoiler s = with(FAULTS_METRICS_NAN, 0.6);   /* the third of four */
    struct points p = fresh(10);
    spoil(&s, &p, 600);
    assert_int_equal(p.n, 4);
    assert_int_equal(p.points[2].why, WHY_NAN);
    assert_int_equal(p.points[1].why, WHY_KNOWN);
    s = with(FAULTS_METRICS_ONE_MISSING, 1);            /* the last */
    p = fresh(10);
    spoil(&s, &p, 600);
    assert_int_equal(p.n, 3);
    assert_int_equal(p.signals[2], 2);
    s = with(FAULTS_METRICS_MISSING, 0);
    spoil(&s, &p, 600);
    assert_int_equal(p.n, 0);
}

static void a_stuck_exporter_repeats_itself_under_new_times(void **state)
{
    (void)state;
    struct spoiler s = with(FAULTS_METRICS_FROZEN, 0);
    struct points p = fresh(10);
    spoil(&s, &p, 600);
    assert_near(p.points[0].value, 10, 0);
    p = fresh(50);
    spoil(&s, &p, 630);
    assert_near(p.points[0].value, 10, 0);
    assert_near(p.points[3].value, 13, 0);
    p = fresh(70);
    spoil(&s, &p, 660);
    assert_near(p.points[0].value, 70, 0);
}

static void rates_fall_to_zero_when_counters_restart(void **state)
{
    (void)state;
    struct spoiler s = with(FAULTS_METRICS_RESET, 0);
    struct points p = fresh(10);
    spoil(&s, &p, 600);
    assert_near(p.points[1].value, 0, 0);
    assert_near(p.points[0].value, 10, 0);
}

static void clocks_and_delays(void **state)
{
    (void)state;
    struct spoiler s = with(FAULTS_METRICS_SKEW, 1);
    struct points p = fresh(10);
    spoil(&s, &p, 600);
    assert_int_equal(p.points[0].at.us, 630 * US_PER_S);
    s = with(FAULTS_METRICS_STALE, 1);
    p = fresh(10);
    spoil(&s, &p, 600);
    assert_int_equal(p.points[0].at.us, 0);
    s = with(FAULTS_METRICS_TWICE, 0);
    spoil(&s, &p, 600);
    assert_int_equal(p.n, 8);
    assert_int_equal(p.signals[5], 1);
    s = with(FAULTS_METRICS_LATE, 0);
    p = fresh(10);
    struct span late = spoil(&s, &p, 600);
    assert_true(late.us > 0 && late.us <= 75 * US_PER_S);
}

static void words_and_checks(void **state)
{
    (void)state;
    struct err e;
    uint32_t k;
    assert_true(metric_fault_kind("metrics-skew", &k));
    assert_int_equal(k, FAULTS_METRICS_SKEW);
    assert_false(metric_fault_kind("kill", &k));        /* another group */
    for (k = 0; k < FAULTS_KINDS; k++) {
        if (faults_group((enum faults_kind)k) == FAULTS_METRICS)
            assert_non_null(strstr(metric_fault_words(), faults_word((enum faults_kind)k)));
    }
    struct metric_fault f = {FAULTS_METRICS_NAN, {5}, {5}, 0};
    assert_int_equal(metric_fault_check(&f, &e), STATUS_INVALID);
    f.until.us = 6;
    assert_int_equal(metric_fault_check(&f, &e), STATUS_OK);
    f.size = 1.5;
    assert_int_equal(metric_fault_check(&f, &e), STATUS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_changed_outside_its_time),
        cmocka_unit_test(one_signal_is_nan_or_missing),
        cmocka_unit_test(a_stuck_exporter_repeats_itself_under_new_times),
        cmocka_unit_test(rates_fall_to_zero_when_counters_restart),
        cmocka_unit_test(clocks_and_delays),
        cmocka_unit_test(words_and_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
