#include "support/test.h"

#include "verify/part.h"

static void test_unknown_blocks_are_left_out(void **state)
{
    (void)state;
    const double values[] = {1, NAN, 3, 5, NAN, 7};
    struct blocks b = {.values = values, .n = 6, .known = 4};
    assert_near(verify_mean(&b), 4, 1e-12);
    assert_near(verify_quantile(&b, 0.5), 4, 1e-12);
    assert_near(verify_quantile(&b, 0.9), 6.4, 1e-12);      /* 1 3 5 7: position 2.7 */
    assert_near(verify_jitter(&b), 0, 1e-12);               /* steps 2, 2, 2 have no spread */
}

static void test_nothing_known_is_unknown(void **state)
{
    (void)state;
    const double values[] = {NAN, NAN};
    struct blocks b = {.values = values, .n = 2, .known = 0};
    assert_true(isnan(verify_mean(&b)));
    assert_true(isnan(verify_quantile(&b, 0.9)));
    assert_true(isnan(verify_jitter(&b)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_blocks_are_left_out),
        cmocka_unit_test(test_nothing_known_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
