#include "support/test.h"

#include "verify/verify.h"

static struct verify_early_input fine(void)
{
    return (struct verify_early_input){.p99 = 40, .peak_before = 48, .errors_ratio = 0.001, .errors_before_ratio = 0.001,
                                       .error_count = 5, .objective = 80, .gpu_memory_ratio = 0.7};
}

/* Feeds it n times to a fresh state; the tick that called harm, 0 for none. */
static int harm_at(struct verify_early_input in, int n, const char *word)
{
    struct verify_early s = {0};
    char why[120];
    for (int tick = 1; tick <= n; tick++) {
        if (!verify_early(&s, &in, why)) {
            assert_string_equal(why, "");
            continue;
        }
        if (!strstr(why, word)) print_error("%s\n", why);
        assert_non_null(strstr(why, word));
        return tick;
    }
    return 0;
}

static void test_each_condition_needs_three_ticks(void **state)
{
    (void)state;
    struct verify_early_input in = fine();
    assert_int_equal(harm_at(in, 50, ""), 0);
    in.p99 = 60;                                   /* 1.25 x 48, not over it */
    assert_int_equal(harm_at(in, 50, ""), 0);
    in.p99 = 60.1;
    assert_int_equal(harm_at(in, 5, "latency 60.1 is 25 % beyond"), 3);
    in = fine();
    in.errors_ratio = 0.022;
    in.error_count = 20;
    assert_int_equal(harm_at(in, 5, "error"), 3);
    in.error_count = 19;
    assert_int_equal(harm_at(in, 5, ""), 0);
    in = fine();
    in.peak_before = 75;
    in.p99 = 81;
    assert_int_equal(harm_at(in, 5, "objective"), 3);
    in.objective_broken_before = true;
    assert_int_equal(harm_at(in, 5, ""), 0);
    in = fine();
    in.instances_lost = 1;
    assert_int_equal(harm_at(in, 5, "instances"), 3);
    in = fine();
    in.gpu_memory_ratio = 0.96;
    assert_int_equal(harm_at(in, 5, "GPU memory"), 3);
}

static void test_a_good_tick_ends_the_run_and_an_unknown_one_does_not(void **state)
{
    (void)state;
    struct verify_early s = {0};
    struct verify_early_input good = fine(), bad = fine(), unknown = fine();
    bad.p99 = 70;
    unknown.p99 = NAN;
    char why[120];
    assert_false(verify_early(&s, &bad, why));
    assert_false(verify_early(&s, &bad, why));
    assert_false(verify_early(&s, &good, why));
    assert_false(verify_early(&s, &bad, why));
    assert_false(verify_early(&s, &unknown, why));
    assert_false(verify_early(&s, &bad, why));
    assert_false(verify_early(&s, &unknown, why));   /* never harm on an unknown tick */
    assert_true(verify_early(&s, &bad, why));
    assert_true(verify_early(&s, &bad, why));        /* and it stays harm */
}

static void test_unknown_numbers_never_count(void **state)
{
    (void)state;
    struct verify_early_input in = {.p99 = NAN, .peak_before = NAN, .errors_ratio = NAN, .errors_before_ratio = NAN,
                                    .error_count = NAN, .objective = 80, .gpu_memory_ratio = NAN, .instances_lost = -1};
    assert_int_equal(harm_at(in, 50, ""), 0);
}

static void test_down_is_mirrored(void **state)
{
    (void)state;
    struct verify_early_input in = fine();
    in.bad = BAD_DOWN;
    in.objective = 0;
    in.peak_before = 50;
    in.p99 = 40;
    assert_int_equal(harm_at(in, 5, ""), 0);
    in.p99 = 39;
    assert_int_equal(harm_at(in, 5, "latency 39"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_condition_needs_three_ticks),
        cmocka_unit_test(test_a_good_tick_ends_the_run_and_an_unknown_one_does_not),
        cmocka_unit_test(test_unknown_numbers_never_count),
        cmocka_unit_test(test_down_is_mirrored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
