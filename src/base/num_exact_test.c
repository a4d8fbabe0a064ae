#include "base/num_exact.h"

#include "base/num_fast.h"
#include "base/prng.h"
#include "support/test.h"

static double exact(const char *digits, int64_t exp10)
{
    struct num_decimal d = {digits, strlen(digits), exp10};
    return num_exact_double(&d);
}

static double any_positive(struct prng *p)
{
    uint64_t bits = 1 + prng_below(p, (UINT64_C(0x7ff) << 52) - 1);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void exact_values_by_hand(void **state)
{
    (void)state;
    assert_true(exact("000", 5) == 0);
    assert_true(exact("15", -1) == 1.5 && exact("1.5", 0) == 15);  /* the point is skipped: 15 * 10^0 */
    assert_true(exact("1", 308) == 1e308 && exact("18", 307) == INFINITY);
    assert_true(exact("5", -324) == 0x1p-1074 && exact("2", -324) == 0);
    assert_true(exact("1", INT64_C(1) << 40) == INFINITY && exact("1", -(INT64_C(1) << 40)) == 0);
}

/* The exact and the fast side know nothing of each other's method. */
static void fast_agrees_with_exact(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 31);
    int undecided = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t w = prng_u64(&p) >> prng_below(&p, 64);
        int64_t exp10 = (int64_t)prng_below(&p, 680) - 360;
        char digits[24];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)w);
        double fast;
        if (!num_fast_double(w, exp10, &fast)) undecided++;
        else if (fast != exact(digits, exp10)) fail_msg("%se%d is not %a", digits, (int)exp10, fast);
    }
    assert_true(undecided < 100);
}

static void digits_agree_with_printf(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 17);
    for (int i = 0; i < 50000; i++) {
        double v = any_positive(&p);
        unsigned n = 1 + (unsigned)prng_below(&p, 17);
        struct num_digits d = num_exact_digits(v, n);
        char want[40], got[40];
        snprintf(want, sizeof want, "%.*e", (int)n - 1, v);
        snprintf(got, sizeof got, "%llu", (unsigned long long)d.digits);
        assert_int_equal(strlen(got), n);
        assert_true(want[0] == got[0] && (n == 1 || memcmp(want + 2, got + 1, n - 1) == 0));
        assert_int_equal(atoi(strchr(want, 'e') + 1), d.exp10 + (int)n - 1);
    }
}

static void split_and_join(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 18);
    for (int i = 0; i < 50000; i++) {
        double v = any_positive(&p);
        struct num_binary b = num_split(v);
        int zeros = __builtin_clzll(b.mantissa);
        assert_true(num_join(b.mantissa << zeros, b.exp2 - zeros, 0) == v);
    }
    assert_true(num_join(UINT64_MAX, -63, 0) == 2);
    assert_true(num_join(UINT64_C(1) << 63 | 0x400, -63, 0) == 1);              /* a tie: to even */
    assert_true(num_join(UINT64_C(1) << 63 | 0x400, -63, 1) == 1 + 0x1p-52);    /* above the tie */
    assert_true(num_join(UINT64_C(1) << 63, -1138, 0) == 0);                    /* half of the smallest: to even */
    assert_true(num_join(UINT64_C(1) << 63, -1138, 1) == 0x1p-1074);
    assert_true(num_join(UINT64_MAX, 960, 0) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_values_by_hand),
        cmocka_unit_test(fast_agrees_with_exact),
        cmocka_unit_test(digits_agree_with_printf),
        cmocka_unit_test(split_and_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
