#include "support/test.h"

#include <math.h>

#include "base/check.h"
#include "sim/fluid_moments.h"

static void the_inverse_is_one(void **state)
{
    (void)state;
    const struct moments all[] = {{30, 16, 0}, {30, 16, 60}, {30, 16, -60}, {5, 25, 250}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        assert_near(moments_below(&all[i], moments_quantile(&all[i], 0)), 0.5, 1e-6);
        assert_near(moments_below(&all[i], moments_quantile(&all[i], MOMENTS_Z99)), 0.99, 1e-6);
    }
}

/* Mean 1.3, median 1.22 and p99 2.4 cycles of 20 ms come out again as they went in; so does what leans to the other side. */
static void the_table_is_met(void **state)
{
    (void)state;
    const struct rest_point all[] = {{1.3, 1.22, 2.4, 0}, {1.3, 1.35, 1.7, 0}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct moments m = moments_of_rest(&all[i], 20);
        assert_near(m.mean, 26, 1e-9);
        assert_near(moments_quantile(&m, 0), 20 * all[i].p50, 1e-9);
        assert_near(moments_quantile(&m, MOMENTS_Z99), 20 * all[i].p99, 1e-9);
    }
    /* More skew than the expansion bears: p99 is kept, the median is not. */
    struct rest_point far = {1.3, 0.8, 1.9, 0};
    struct moments m = moments_of_rest(&far, 20);
    assert_near(moments_quantile(&m, MOMENTS_Z99), 38, 1e-9);
}

/* Normal 30 +- 4, and 3 % that take 200 ms longer: p99 is the two-thirds quantile of these, 230 + 0.4307 x 4. */
static void a_few_that_take_longer_are_the_p99(void **state)
{
    (void)state;
    struct moments m = {30, 16, 0};
    struct tail t[TAILS] = {[TAIL_LOSS] = {0.03, 200}};
    assert_near(moments_quantile_with(&m, t, 0.99, MOMENTS_Z99), 231.72, 0.02);
    t[TAIL_LOSS].part = 0.005;       /* too few: the 0.99 / 0.995 = 0.99497 quantile of the others, 30 + 2.573 x 4 */
    assert_near(moments_quantile_with(&m, t, 0.99, MOMENTS_Z99), 40.29, 0.02);
    t[TAIL_LOSS].part = 0;
    assert_near(moments_quantile_with(&m, t, 0.99, MOMENTS_Z99), moments_quantile(&m, MOMENTS_Z99), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inverse_is_one),
        cmocka_unit_test(the_table_is_met),
        cmocka_unit_test(a_few_that_take_longer_are_the_p99),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
