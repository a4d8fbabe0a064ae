#include "stats/dist.h"

#include "stats/elem.h"
#include "stats/order.h"
#include "support/test.h"

#define DIGEST UINT64_C(0x1dfaced5a5689a89)

enum { DRAWS = 200000 };
static double x[DRAWS];

static void assert_moments(double mean, double sd, double tol_mean, double tol_sd)
{
    assert_near(stats_mean(x, DRAWS), mean, tol_mean);
    assert_near(stats_sd(x, DRAWS), sd, tol_sd);
}

/* Tolerances: 5 standard errors of 200,000 draws. */
static void continuous_draws(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 2026);
    for (int i = 0; i < DRAWS; i++) x[i] = stats_draw_exponential(&p, 3);
    assert_moments(3, 3, 0.034, 0.05);
    assert_true(stats_min(x, DRAWS) >= 0);
    assert_near(stats_median(x, DRAWS), 2.0794, 0.034);
    for (int i = 0; i < DRAWS; i++) x[i] = stats_draw_normal(&p, -2, 0.5);
    assert_moments(-2, 0.5, 0.0056, 0.004);
    assert_near(stats_quantile(x, DRAWS, 0.975), -2 + 0.5 * 1.95996, 0.015);
    for (int i = 0; i < DRAWS; i++) x[i] = stats_draw_lognormal(&p, stats_log(38), 0.3);
    assert_near(stats_median(x, DRAWS), 38, 0.16);
    assert_near(stats_mean(x, DRAWS), 39.749, 0.14);
    for (int i = 0; i < DRAWS; i++) x[i] = stats_draw_gamma(&p, 4, 2.5);
    assert_moments(10, 5, 0.056, 0.06);
    for (int i = 0; i < DRAWS; i++) x[i] = stats_draw_gamma(&p, 0.5, 2);
    assert_moments(1, 1.41421, 0.016, 0.03);
}

static void poisson_moments(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 99);
    const double means[] = {0.2, 7, 29.5, 30, 1000, 1e7, 1e14};
    for (size_t k = 0; k < sizeof means / sizeof *means; k++) {
        double sd = sqrt(means[k]);
        for (int i = 0; i < DRAWS; i++) x[i] = ((double)stats_draw_poisson(&p, means[k]) - means[k]) / sd;
        assert_moments(0, 1, 0.0112, 0.012);
    }
    assert_true(stats_draw_poisson(&p, 0) == 0 && stats_draw_poisson(&p, NAN) == 0);
}

/* Chi-square against the exact chances, mean 40 (the rejection method): 45 cells, 99.9 % point about 80. */
static void poisson_fits_its_distribution(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 123);
    int seen[120] = {0};
    for (int i = 0; i < DRAWS; i++) {
        uint64_t k = stats_draw_poisson(&p, 40);
        assert_true(k < 120);
        seen[k]++;
    }
    double chi = 0;
    for (uint64_t k = 18; k <= 62; k++) {
        double want = DRAWS * stats_exp((double)k * stats_log(40) - 40 - stats_log_factorial(k));
        chi += (seen[k] - want) * (seen[k] - want) / want;
    }
    assert_true(chi < 80 && chi > 15);
}

static void normal_cdf_and_quantile(void **state)
{
    (void)state;
    static const struct { double z, cdf; } known[] = {
        {-10, 7.61985302416052607e-24}, {-3, 0.00134989803163009453}, {-1, 0.158655253931457051},
        {0.5, 0.691462461274013104},    {2, 0.977249868051820793},    {5, 0.999999713348428121},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_near(stats_normal_cdf(known[i].z) / known[i].cdf, 1, 1e-13);
    static const struct { double q, z; } points[] = {
        {1e-300, -37.0470962993611992}, {1e-10, -6.3613409024040562}, {0.025, -1.95996398454005421},
        {0.3, -0.524400512708040816},   {0.75, 0.674489750196081743}, {0.999, 3.09023230616781328},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        assert_near(stats_normal_quantile(points[i].q) / points[i].z, 1, 1e-13);
    assert_true(stats_normal_quantile(0.5) == 0 && stats_normal_quantile(0) == -INFINITY);
    assert_true(stats_normal_quantile(1) == INFINITY && isnan(stats_normal_quantile(-0.1)));
    assert_true(stats_normal_cdf(-INFINITY) == 0 && stats_normal_cdf(INFINITY) == 1 && isnan(stats_normal_cdf(NAN)));
    for (double q = 0.001; q < 1; q += 0.001) assert_near(stats_normal_cdf(stats_normal_quantile(q)), q, 1e-14);
}

static void log_factorials(void **state)
{
    (void)state;
    assert_true(stats_log_factorial(0) == 0 && stats_log_factorial(1) == 0);
    assert_near(stats_log_factorial(20), 42.33561646075348503, 1e-12);
    assert_near(stats_log_factorial(1000), 5912.1281784881633489, 1e-9);
    assert_near(stats_log_factorial(UINT64_C(1000000000000)) / 26631021115943.282657, 1, 1e-15);
}

/* The simulator's runs are named by their seed: another draw from the same seed would be another run. */
static void draws_never_change(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 5);
    uint64_t digest = 0;
    for (int i = 0; i < 20000; i++) {
        double got[9];
        got[0] = stats_draw_exponential(&p, 3);  /* one after the other: the order of draws counts */
        got[1] = stats_draw_normal(&p, 1, 2);
        got[2] = stats_draw_lognormal(&p, 3, 0.5);
        got[3] = stats_draw_gamma(&p, 0.7, 2);
        got[4] = stats_draw_gamma(&p, 30, 0.1);
        got[5] = (double)stats_draw_poisson(&p, 12);
        got[6] = (double)stats_draw_poisson(&p, 5e4);
        got[7] = stats_normal_cdf(i / 2000.0 - 5);
        got[8] = stats_normal_quantile((i + 0.5) / 20000);
        for (size_t k = 0; k < sizeof got / sizeof *got; k++) {
            uint64_t bits;
            memcpy(&bits, &got[k], sizeof bits);
            digest = (digest ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
            digest ^= digest >> 29;
        }
    }
    if (digest != DIGEST) fail_msg("digest %#llx", (unsigned long long)digest);
}

static void many_normals_are_the_same_normals(void **state)
{
    (void)state;
    struct prng one, many;
    prng_seed(&one, 6);
    many = one;
    for (unsigned n = 0; n < 200; n++) {
        double all[200];
        stats_draw_normals(&many, all, n);
        for (unsigned i = 0; i < n; i++) assert_true(all[i] == stats_draw_normal(&one, 0, 1));
        assert_memory_equal(&one, &many, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continuous_draws),
        cmocka_unit_test(poisson_moments),
        cmocka_unit_test(poisson_fits_its_distribution),
        cmocka_unit_test(normal_cdf_and_quantile),
        cmocka_unit_test(log_factorials),
        cmocka_unit_test(draws_never_change),
        cmocka_unit_test(many_normals_are_the_same_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
