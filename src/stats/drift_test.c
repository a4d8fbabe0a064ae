#include "stats/drift.h"

#include "base/prng.h"
#include "stats/dist.h"
#include "support/test.h"

static void psi_by_hand(void **state)
{
    (void)state;
    const double a[] = {50, 30, 20, 0}, b[] = {20, 30, 40, 10};
    assert_near(stats_psi(a, b, 4), 0.6971492121637783, 1e-12);
    assert_near(stats_psi(b, a, 4), 0.6971492121637783, 1e-12);
    assert_true(stats_psi(a, a, 4) == 0);
    const double none[] = {0, 0, 0, 0};
    assert_true(isnan(stats_psi(a, none, 4)) && isnan(stats_psi(a, b, 1)));
}

static void null_point_is_chi_square(void **state)
{
    (void)state;
    /* 95 % points of chi-square with 9 and 4 degrees: 16.919, 9.488; the cube root is good to 0.4 %. */
    assert_near(stats_psi_null_p95(10, 1000, 1000), 16.919 * 0.002, 4e-5);
    assert_near(stats_psi_null_p95(5, 300, 3000), 9.488 * (1 / 300.0 + 1 / 3000.0), 1.4e-4);
    assert_true(isnan(stats_psi_null_p95(10, 0, 5)) && isnan(stats_psi_null_p95(1, 5, 5)));
}

/* Without any change PSI passes its null point in about 5 % of pairs. */
static void null_point_holds(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 6);
    int above = 0;
    const int rounds = 4000, n = 300, m = 1000;
    for (int i = 0; i < rounds; i++) {
        double a[10] = {0}, b[10] = {0};
        for (int k = 0; k < n; k++) a[prng_below(&p, 10)]++;
        for (int k = 0; k < m; k++) b[prng_below(&p, 10)]++;
        above += stats_psi(a, b, 10) > stats_psi_null_p95(10, n, m);
    }
    print_message("PSI above its null p95: %d of %d\n", above, rounds);
    assert_in_range(above, 130, 260);
}

static void histogram_edges(void **state)
{
    (void)state;
    const double edges[] = {10, 20}, x[] = {5, 10, 10.5, 20, 99, -1};
    double counts[3];
    stats_histogram(edges, 2, x, 6, counts);
    assert_true(counts[0] == 3 && counts[1] == 2 && counts[2] == 1);
    stats_histogram(edges, 0, x, 6, counts);
    assert_true(counts[0] == 6);
}

static void ks_by_hand(void **state)
{
    (void)state;
    double a[] = {15, 3, 4, 8, 1, 12, 9}, b[] = {21, 7, 8, 10, 13, 16, 18, 20, 5};
    struct stats_ks k = stats_ks(a, 7, b, 9);
    assert_near(k.d, 0.4444444444444444, 1e-12);
    assert_near(k.p, 0.31549784202802916, 1e-9);
    double c[] = {1, 2, 3}, d[] = {1, 2, 3};
    k = stats_ks(c, 3, d, 3);
    assert_true(k.d == 0 && k.p == 1);
    assert_true(isnan(stats_ks(c, 0, d, 3).d));
    c[1] = NAN;
    assert_true(isnan(stats_ks(c, 3, d, 3).p));
}

static void ks_chance_is_honest(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 8);
    int low = 0, half = 0;
    for (int i = 0; i < 2000; i++) {
        double a[80], b[120];
        for (int k = 0; k < 80; k++) a[k] = stats_draw_exponential(&p, 1);
        for (int k = 0; k < 120; k++) b[k] = stats_draw_exponential(&p, 1);
        double chance = stats_ks(a, 80, b, 120).p;
        low += chance < 0.05;
        half += chance < 0.5;
    }
    assert_in_range(low, 60, 130);
    assert_in_range(half, 870, 1100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(psi_by_hand),       cmocka_unit_test(null_point_is_chi_square),
        cmocka_unit_test(null_point_holds),  cmocka_unit_test(histogram_edges),
        cmocka_unit_test(ks_by_hand),        cmocka_unit_test(ks_chance_is_honest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
