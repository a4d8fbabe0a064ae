#include "stats/slope.h"

#include "support/test.h"

static const double t[] = {0, 10, 20, 30, 50, 60}, x[] = {38, 39, 41, 40, 44, 60};
static double scratch[15];

static void change_over_the_window(void **state)
{
    (void)state;
    assert_near(stats_slope(t, x, 6, 60), 17.590062111801245, 1e-12);
    assert_near(stats_slope_robust(t, x, 6, 60, scratch), 9, 1e-12);
    const double line[] = {5, 4, 3, 2, 0, -1};
    assert_near(stats_slope(t, line, 6, 300), -30, 1e-12);
    assert_near(stats_slope_robust(t, line, 6, 300, scratch), -30, 1e-12);
}

static void no_line_through_one_time(void **state)
{
    (void)state;
    const double same[] = {7, 7, 7};
    assert_true(isnan(stats_slope(t, x, 1, 60)) && isnan(stats_slope(t, x, 0, 60)));
    assert_true(isnan(stats_slope(same, x, 3, 60)) && isnan(stats_slope_robust(same, x, 3, 60, scratch)));
}

static void large_times_lose_nothing(void **state)
{
    (void)state;
    double late[6];
    for (int i = 0; i < 6; i++) late[i] = t[i] + 1778580150.0;
    assert_near(stats_slope(late, x, 6, 60), 17.590062111801245, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(change_over_the_window),
        cmocka_unit_test(no_line_through_one_time),
        cmocka_unit_test(large_times_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
