#include "stats/rate.h"

#include "support/test.h"

static void bounds_by_hand(void **state)
{
    (void)state;
    struct stats_bounds b = stats_wilson(10, 100, STATS_Z95);
    assert_near(b.lo, 0.05522913706067508, 1e-14);
    assert_near(b.hi, 0.17436566150491348, 1e-14);
    b = stats_wilson(0, 50, STATS_Z95);
    assert_true(b.lo == 0);
    assert_near(b.hi, 0.07134759913335874, 1e-14);
    b = stats_wilson(3, 3, STATS_Z95);
    assert_near(b.lo, 0.4385029682449543, 1e-14);
    assert_true(b.hi == 1);
}

static void odd_counts(void **state)
{
    (void)state;
    struct stats_bounds b = stats_wilson(0, 0, STATS_Z95);
    assert_true(b.lo == 0 && b.hi == 1);
    b = stats_wilson(5, -1, STATS_Z95);
    assert_true(b.lo == 0 && b.hi == 1);
    b = stats_wilson(7, 5, STATS_Z95);  /* more errors than requests: extrapolated counters do that */
    assert_true(b.hi == 1 && b.lo > 0.5);
    b = stats_wilson(NAN, 5, STATS_Z95);
    assert_true(isnan(b.lo) && isnan(b.hi));
}

static void worse_needs_bounds_apart(void **state)
{
    (void)state;
    assert_true(stats_rate_worse(12, 1000, 40, 1000));    /* upper 2.09 % against lower 2.95 % */
    assert_false(stats_rate_worse(12, 1000, 25, 1000));
    assert_false(stats_rate_worse(0, 0, 20, 20));         /* nothing known before */
    assert_false(stats_rate_worse(40, 1000, 12, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_by_hand),
        cmocka_unit_test(odd_counts),
        cmocka_unit_test(worse_needs_bounds_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
