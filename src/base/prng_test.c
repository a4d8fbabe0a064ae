#include "base/prng.h"

#include "support/test.h"

/* The first numbers that the reference generators give for these states. */
static void stream_is_the_published_one(void **state)
{
    (void)state;
    struct prng p = {{1, 2, 3, 4}};
    assert_true(prng_u64(&p) == UINT64_C(11520));
    assert_true(prng_u64(&p) == UINT64_C(0));
    assert_true(prng_u64(&p) == UINT64_C(1509978240));
    assert_true(prng_u64(&p) == UINT64_C(1215971899390074240));
    prng_seed(&p, 0);
    assert_true(p.s[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(p.s[1] == UINT64_C(0x6e789e6aa1b965f4));
}

static void forks_are_apart_and_leave_the_parent(void **state)
{
    (void)state;
    struct prng parent, a, b, again;
    prng_seed(&parent, 42);
    struct prng before = parent;
    prng_fork(&a, &parent, "arrivals");
    prng_fork(&b, &parent, "faults");
    prng_fork(&again, &parent, "arrivals");
    assert_memory_equal(&before, &parent, sizeof parent);
    assert_memory_equal(&a, &again, sizeof a);
    assert_true(prng_u64(&a) != prng_u64(&b));
}

static void below_is_in_range_and_even(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 7);
    int counts[6] = {0};
    for (int i = 0; i < 60000; i++) counts[prng_below(&p, 6)]++;
    for (int i = 0; i < 6; i++) assert_in_range(counts[i], 9600, 10400);  /* 10000 +- 4.4 sd */
    assert_true(prng_below(&p, 1) == 0);
    for (int i = 0; i < 100; i++) assert_true(prng_below(&p, UINT64_MAX) < UINT64_MAX);
}

static void unit_is_half_open(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 9);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double u = prng_unit(&p);
        assert_true(u >= 0 && u < 1);
        sum += u;
        double v = prng_between(&p, -2, 3);
        assert_true(v >= -2 && v <= 3);
    }
    assert_near(sum / 100000, 0.5, 0.004);  /* sd of the mean is 0.00091 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_is_the_published_one),
        cmocka_unit_test(forks_are_apart_and_leave_the_parent),
        cmocka_unit_test(below_is_in_range_and_even),
        cmocka_unit_test(unit_is_half_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
