#include "support/test.h"

#include "base/time.h"
#include "sim/load.h"
#include "sim/plant_fault.h"

static struct load_tables tables;

static void draws_have_their_means(void **state)
{
    (void)state;
    struct prng rng;
    prng_seed(&rng, 1);
    load_tables_init(&tables, &(struct load_spread){0.5, 0.05, 0.3});
    double sum = 0, squares = 0;
    enum { N = 400000 };
    for (int i = 0; i < N; i++) {
        double x = load_exp(&tables, &rng);
        assert_true(x >= 0);
        sum += x;
        squares += x * x;
    }
    assert_near(sum / N, 1, 0.006);
    assert_near(squares / N, 2, 0.04);
    double work = 0, fetch = 0;
    for (int i = 0; i < LOAD_WORK_CELLS; i++) work += (double)tables.work[i];
    for (int i = 0; i < LOAD_NOISE_CELLS; i++) fetch += (double)tables.fetch[i];
    assert_near(work / LOAD_WORK_CELLS, 1, 1e-5);
    assert_near(fetch / LOAD_NOISE_CELLS, 1, 1e-5);
    /* lognormal of mean 1: the median is exp(-0.125) = 0.8825 */
    assert_near((double)tables.work[LOAD_WORK_CELLS / 2], 0.8825, 0.003);
}

static void sizes_of_a_trace_keep_their_shape(void **state)
{
    (void)state;
    double sizes[] = {400, 100, 100, 200};  /* mean 200 */
    load_tables_sizes(&tables, sizes, 4);
    assert_near((double)tables.work[0], 0.5, 1e-6);
    assert_near((double)tables.work[LOAD_WORK_CELLS / 2], 1, 1e-6);
    assert_near((double)tables.work[LOAD_WORK_CELLS - 1], 2, 1e-6);
}

static void a_real_trace_is_read(void **state)
{
    (void)state;
    SKIP_WITHOUT_SHARED(shared);
    char path[1200];
    double *sizes;
    size_t n;
    struct err e;
    snprintf(path, sizeof path, "%s/suites/traces/AzureLLMInferenceTrace_code.csv", shared);
    assert_int_equal(load_trace_read(path, &sizes, &n, &e), STATUS_OK);
    assert_int_equal(n, 8819);
    assert_near(sizes[0], 4818, 0);
    free(sizes);
    snprintf(path, sizeof path, "%s/suites/SOURCES.md", shared);
    assert_int_equal(load_trace_read(path, &sizes, &n, &e), STATUS_INVALID);
    assert_non_null(strstr(e.text, "SOURCES.md:2: not a row"));
    assert_int_equal(load_trace_read("/nowhere/trace.csv", &sizes, &n, &e), STATUS_NOT_FOUND);
}

static void a_day_and_a_week_have_their_shape(void **state)
{
    (void)state;
    struct load_days wave = {.amp = 0.3, .monday = 1, .weekend = 1}, flat = {.monday = 1.2, .weekend = 0.6};
    double sum = 0;
    for (int i = 0; i < 1440; i++) sum += load_season(i * US_PER_MIN, &wave);
    assert_near(sum / 1440, 1, 0.02);
    assert_near(load_season(4 * US_PER_HOUR, &wave), 1 - 0.3 * 0.95, 1e-9);
    assert_near(load_season(US_PER_DAY + 4 * US_PER_HOUR, &wave), 1 - 0.3 * 0.95, 1e-9);
    assert_near(load_season(4 * US_PER_HOUR - 14 * US_PER_DAY, &wave), 1 - 0.3 * 0.95, 1e-9);
    assert_near(load_season(0, &flat), 1.2, 1e-9);
    assert_near(load_season(US_PER_DAY, &flat), 1, 1e-9);
    assert_near(load_season(5 * US_PER_DAY, &flat), 0.6, 1e-9);
    assert_near(load_season(7 * US_PER_DAY, &flat), 1.2, 1e-9);
    assert_near(load_season(-1, &flat), 0.6, 1e-9);  /* Sunday night */
}

static void holidays_and_jobs_come_again(void **state)
{
    (void)state;
    struct load_days d = {.monday = 1.2, .weekend = 0.6, .holiday = 0.3, .holiday_first = 2, .holiday_every = 10,
                          .cron_every = 360, .cron_minutes = 15, .cron_load = 1.5};
    assert_near(load_season(2 * US_PER_DAY + US_PER_HOUR, &d), 0.3, 1e-9);
    assert_near(load_season(12 * US_PER_DAY + US_PER_HOUR, &d), 0.3, 1e-9);   /* a Saturday: the holiday wins */
    assert_near(load_season(-8 * US_PER_DAY + US_PER_HOUR, &d), 0.3, 1e-9);
    assert_near(load_season(3 * US_PER_DAY + US_PER_HOUR, &d), 1, 1e-9);
    assert_near(load_season(3 * US_PER_DAY + 6 * US_PER_HOUR, &d), 1.5, 1e-9);
    assert_near(load_season(3 * US_PER_DAY + 6 * US_PER_HOUR + 15 * US_PER_MIN, &d), 1, 1e-9);
}

static void a_fault_ramps_holds_and_ends(void **state)
{
    (void)state;
    struct plant_fault f = {.at_us = 100, .ramp_us = 200, .until_us = 1000, .size = 3, .kind = FAULT_UPSTREAM};
    struct err e;
    assert_int_equal(fault_check(&f, &e), STATUS_OK);
    assert_near(fault_value(&f, 99), 1, 0);
    assert_near(fault_value(&f, 200), 2, 1e-12);
    assert_near(fault_value(&f, 300), 3, 0);
    assert_near(fault_value(&f, 999), 3, 0);
    assert_near(fault_value(&f, 1000), 1, 0);
    f.until_us = 100;
    assert_int_equal(fault_check(&f, &e), STATUS_INVALID);
    f.until_us = 0;
    f.size = NAN;
    assert_int_equal(fault_check(&f, &e), STATUS_INVALID);
    f = (struct plant_fault){.size = 1.3, .kind = FAULT_RELEASE};
    assert_int_equal(fault_check(&f, &e), STATUS_INVALID);
    assert_string_equal(e.text, "fault release: give the new version");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_their_means),
        cmocka_unit_test(sizes_of_a_trace_keep_their_shape),
        cmocka_unit_test(a_real_trace_is_read),
        cmocka_unit_test(a_day_and_a_week_have_their_shape),
        cmocka_unit_test(holidays_and_jobs_come_again),
        cmocka_unit_test(a_fault_ramps_holds_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
