#include "stats/elem.h"

#include <stdbool.h>

#include "base/prng.h"
#include "support/test.h"

#define DIGEST UINT64_C(0xc9f44433c8f74d3d)

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* Correctly rounded values from 30-digit arithmetic; ours may differ in the last bit. */
static void assert_ulp(double got, double want)
{
    if (got == want) return;
    if (nextafter(want, INFINITY) == got || nextafter(want, -INFINITY) == got) return;
    fail_msg("%a, expected %a", got, want);
}

static void logarithms(void **state)
{
    (void)state;
    assert_ulp(stats_log(2), 0x1.62e42fefa39efp-1);
    assert_ulp(stats_log(10), 0x1.26bb1bbb55516p+1);
    assert_ulp(stats_log(0.1), -0x1.26bb1bbb55515p+1);
    assert_ulp(stats_log(1e-310), -0x1.64e69394d9508p+9);
    assert_ulp(stats_log(38.1), 0x1.d1f28aa6188f4p+1);
    assert_ulp(stats_log(1.0000001), 0x1.ad7f2847b6492p-24);
    assert_ulp(stats_log2(3), 0x1.95c01a39fbd68p+0);
    assert_ulp(stats_log2(0.1), -0x1.a934f0979a371p+1);
    assert_ulp(stats_log10(2), 0x1.34413509f79ffp-2);
    assert_ulp(stats_log1p(1e-10), 0x1.b7cdfd9d1d693p-34);
    assert_ulp(stats_log1p(-0.5), -0x1.62e42fefa39efp-1);
    assert_true(stats_log(1) == 0 && stats_log2(1) == 0 && stats_log1p(0) == 0);
}

static void powers(void **state)
{
    (void)state;
    assert_ulp(stats_exp(1), 0x1.5bf0a8b145769p+1);
    assert_ulp(stats_exp(-1), 0x1.78b56362cef38p-2);
    assert_ulp(stats_exp(0.5), 0x1.a61298e1e069cp+0);
    assert_ulp(stats_exp(-700), 0x1.14f2b0fb9307fp-1010);
    assert_ulp(stats_exp(10.25), 0x1.b9ea2aed2a0f1p+14);
    assert_ulp(stats_exp2(0.5), 0x1.6a09e667f3bcdp+0);
    assert_ulp(stats_exp2(-1.5), 0x1.6a09e667f3bcdp-2);
    assert_ulp(stats_exp10(0.3), 0x1.fec982d5bb8afp+0);
    assert_ulp(stats_exp10(-5), 0x1.4f8b588e368f1p-17);
    assert_ulp(stats_expm1(1e-10), 0x1.b7cdfd9dda4e3p-34);
    assert_ulp(stats_expm1(-0.5), -0x1.92e9a0720d3ecp-2);
    assert_ulp(stats_expm1(3), 0x1.315e5bf6fb106p+4);
    assert_true(stats_exp(0) == 1 && stats_exp2(0) == 1 && stats_expm1(0) == 0);
}

static void whole_powers_are_exact(void **state)
{
    (void)state;
    for (int k = -1074; k < 1024; k++) {
        double p = ldexp(1, k);
        assert_true(stats_exp2(k) == p);
        assert_true(stats_log2(p) == k);
    }
    double p = 1;
    for (int k = 0; k <= 22; k++, p *= 10) {
        assert_true(stats_exp10(k) == p);
        assert_true(stats_log10(p) == k);
    }
}

static void edges(void **state)
{
    (void)state;
    assert_true(stats_log(0) == -INFINITY && stats_log2(-0.0) == -INFINITY && stats_log1p(-1) == -INFINITY);
    assert_true(isnan(stats_log(-1)) && isnan(stats_log1p(-2)) && isnan(stats_log10(NAN)) && isnan(stats_exp(NAN)));
    assert_true(stats_log(INFINITY) == INFINITY && stats_log1p(INFINITY) == INFINITY);
    assert_true(stats_exp(710) == INFINITY && stats_exp(INFINITY) == INFINITY && stats_exp(-INFINITY) == 0);
    assert_true(stats_exp(709.75) > 1.69e308 && stats_exp(709.75) < INFINITY);
    assert_true(stats_exp2(1024) == INFINITY && stats_exp2(-1080) == 0 && stats_exp10(309) == INFINITY);
    assert_true(stats_exp10(-323) == 1e-323);
    assert_true(stats_expm1(-50) == -1 && stats_expm1(INFINITY) == INFINITY && isnan(stats_expm1(NAN)));
    assert_true(same_bits(stats_log1p(-0.0), -0.0) && same_bits(stats_expm1(1e-300), 1e-300));
}

/* One digest over many results: a compiler or processor that computes otherwise changes it. */
static void bits_never_change(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 1);
    uint64_t digest = 0;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = prng_below(&p, UINT64_C(0x7ff) << 52);
        double any, x = prng_between(&p, -300, 300);
        memcpy(&any, &bits, sizeof any);
        double got[] = {stats_log(any), stats_log2(any), stats_log10(any), stats_log1p(any), stats_log1p(x / 301),
                        stats_exp(x), stats_exp2(x), stats_exp10(x), stats_expm1(x / 100)};
        for (size_t k = 0; k < sizeof got / sizeof *got; k++) {
            memcpy(&bits, &got[k], sizeof bits);
            digest = (digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
            digest ^= digest >> 29;
        }
        assert_near(got[0] / log(any), 1, 3e-16);
        assert_near(got[5] / exp(x), 1, 4e-16);
    }
    if (digest != DIGEST) fail_msg("digest %#llx", (unsigned long long)digest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms), cmocka_unit_test(powers), cmocka_unit_test(whole_powers_are_exact),
        cmocka_unit_test(edges),      cmocka_unit_test(bits_never_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
