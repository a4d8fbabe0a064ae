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

static void test_a_growing_queue_is_load_that_was_not_completed(void **state)
{
    (void)state;
    double done[4] = {100, 100, 100, 100};
    const double waiting[4] = {0, 300, 900, 900};
    struct blocks b = {.values = done, .n = 4, .known = 4, .step = SPAN_S(30)};
    struct blocks queue = {.values = waiting, .n = 4, .known = 4, .step = SPAN_S(30)};
    verify_add_queue_change(done, &b, &queue);
    assert_near(done[0], 100, 0);
    assert_near(done[1], 110, 1e-9);
    assert_near(done[2], 120, 1e-9);
    assert_near(done[3], 100, 1e-9);
    queue.n = 3;                          /* they do not fit together */
    verify_add_queue_change(done, &b, &queue);
    assert_near(done[1], 110, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_growing_queue_is_load_that_was_not_completed),
        cmocka_unit_test(test_unknown_blocks_are_left_out),
        cmocka_unit_test(test_nothing_known_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
