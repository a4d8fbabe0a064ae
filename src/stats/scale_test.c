#include "stats/scale.h"

#include "stats/noise.h"
#include "support/test.h"

static double scale_of(struct stats_floors floors)
{
    double x[] = {38.1, 37.4, 39.0, 38.6, 36.9, 38.3, 37.8, 38.9, 38.4, 38.0}, median;  /* median 38.2 */
    double s = stats_scale(x, 10, floors, &median);
    assert_near(median, 38.2, 1e-12);
    return s;
}

static void each_term_can_win(void **state)
{
    (void)state;
    /* deviations .1 .8 .8 .4 1.3 .1 .4 .7 .2 .2: MAD .4, sd .640 */
    assert_near(scale_of((struct stats_floors){0}), 1.4826 * 0.4, 1e-12);
    assert_near(scale_of((struct stats_floors){.rel = 0.05}), 1.91, 1e-12);
    assert_near(scale_of((struct stats_floors){.resolution = 3}), 3, 0);
    assert_near(scale_of((struct stats_floors){.rel = 0.05, .p99_noise = 0.34}), 12.988, 1e-12);
    double spike[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 11};  /* MAD 0, sd sqrt(10) */
    assert_near(stats_scale(spike, 10, (struct stats_floors){0}, NULL), 1.5811388300841898, 1e-12);
}

static void degenerate_baselines(void **state)
{
    (void)state;
    double same[] = {4, 4, 4}, median;
    assert_true(stats_scale(same, 3, (struct stats_floors){0}, &median) == 0 && median == 4);
    same[0] = same[1] = same[2] = 4;
    assert_near(stats_scale(same, 3, (struct stats_floors){.rel = 0.1}, NULL), 0.4, 1e-15);
    double one[] = {-8};
    assert_near(stats_scale(one, 1, (struct stats_floors){.rel = 0.25}, NULL), 2, 0);
    assert_true(isnan(stats_scale(same, 0, (struct stats_floors){.rel = 1, .resolution = 1}, &median)));
    assert_true(isnan(median));
}

/* The trap of overlapping windows: recent and baseline apart, a huge step is seen as huge. */
static void a_step_is_not_hidden_by_its_own_scale(void **state)
{
    (void)state;
    double base[60], median;
    for (int i = 0; i < 60; i++) base[i] = 100 + i % 5;
    double s = stats_scale(base, 60, (struct stats_floors){.rel = 0.02}, &median);
    assert_true((1e6 - median) / s > 1e5);
}

static void p99_noise(void **state)
{
    (void)state;
    assert_near(stats_p99_noise(100), 0.34, 1e-12);
    assert_near(stats_p99_noise(1000), 0.11, 1e-12);
    assert_near(stats_p99_noise(150), 0.28460820527467995, 1e-12);
    assert_near(stats_p99_noise(12000), 0.035, 1e-12);
    assert_near(stats_p99_noise(3), 0.59, 0);
    assert_true(stats_p99_noise(0) == INFINITY && stats_p99_noise(NAN) == INFINITY);
    for (double n = 1; n < 1e5; n *= 1.1) assert_true(stats_p99_noise(n * 1.1) <= stats_p99_noise(n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_term_can_win),
        cmocka_unit_test(degenerate_baselines),
        cmocka_unit_test(a_step_is_not_hidden_by_its_own_scale),
        cmocka_unit_test(p99_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
