#include "stats/order.h"

#include "base/prng.h"
#include "support/test.h"

#define TEN {38.1, 37.4, 39.0, 38.6, 36.9, 38.3, 37.8, 38.9, 52.5, 38.0}

static void summaries_of_ten(void **state)
{
    (void)state;
    const double ten[10] = TEN;
    double x[10] = TEN, median;
    assert_near(stats_median(x, 10), 38.2, 1e-12);
    assert_near(stats_quantile(x, 10, 0.9), 40.35, 1e-12);
    assert_near(stats_quantile(x, 10, 0.25), 37.85, 1e-12);
    assert_true(stats_quantile(x, 10, 0) == 36.9 && stats_quantile(x, 10, 1) == 52.5);
    assert_near(stats_trimmed_mean(x, 10, 0.2), 38.283333333333333, 1e-12);
    assert_near(stats_trimmed_mean(x, 10, 0), 39.55, 1e-12);
    assert_near(stats_mad(x, 10, &median), 0.55, 1e-12);
    assert_near(median, 38.2, 1e-12);
    assert_near(stats_mean(ten, 10), 39.55, 1e-12);
    assert_near(stats_sd(ten, 10), 4.595952325446575, 1e-12);
    assert_near(stats_diff_sd(ten, 10), 5.029468715038951, 1e-12);
    assert_true(stats_min(ten, 10) == 36.9 && stats_max(ten, 10) == 52.5);
}

static void a_ramp_does_not_inflate_diff_sd(void **state)
{
    (void)state;
    const double ramp[] = {1, 3, 5, 7, 9, 11};
    assert_near(stats_diff_sd(ramp, 6), 0, 1e-12);
    assert_near(stats_sd(ramp, 6), 3.7416573867739413, 1e-12);
}

static void empty_single_and_nan(void **state)
{
    (void)state;
    double one[] = {7}, bad[] = {1, NAN, 3}, same[] = {5, 5, 5, 5};
    assert_true(isnan(stats_median(one, 0)) && isnan(stats_mean(one, 0)) && isnan(stats_mad(one, 0, NULL)));
    assert_true(isnan(stats_min(one, 0)) && isnan(stats_sd(one, 1)) && isnan(stats_trimmed_mean(one, 0, 0.1)));
    assert_true(stats_sum(one, 0) == 0 && stats_median(one, 1) == 7 && stats_quantile(one, 1, 0.3) == 7);
    assert_true(isnan(stats_median(bad, 3)) && isnan(stats_max(bad, 3)) && isnan(stats_nth(bad, 3, 0)));
    assert_true(isnan(stats_quantile(one, 1, 1.1)) && isnan(stats_quantile(one, 1, NAN)));
    assert_true(stats_mad(same, 4, NULL) == 0 && stats_sd(same, 4) == 0);
    double endless[] = {INFINITY, 1, INFINITY};
    assert_true(stats_median(endless, 3) == INFINITY);
}

static void sums_keep_what_plain_sums_lose(void **state)
{
    (void)state;
    const double x[] = {1e16, 1, 1, -1e16};
    assert_true(stats_sum(x, 4) == 2);
    assert_true(stats_clip(7, 6) == 6 && stats_clip(-7, 6) == -6 && stats_clip(2, 6) == 2);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void selection_agrees_with_sorting(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 11);
    double x[300], sorted[300], copy[300];
    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + prng_below(&p, 300), kinds = 1 + prng_below(&p, round % 2 ? 5 : 1000);
        for (size_t i = 0; i < n; i++) sorted[i] = x[i] = (double)prng_below(&p, kinds);
        qsort(sorted, n, sizeof *sorted, ascending);
        size_t k = prng_below(&p, n);
        memcpy(copy, x, sizeof x);
        assert_true(stats_nth(copy, n, k) == sorted[k]);
        for (size_t i = 0; i < n; i++) assert_true(i < k ? copy[i] <= copy[k] : copy[i] >= copy[k]);
        stats_sort(copy, n);
        assert_memory_equal(copy, sorted, n * sizeof *copy);
    }
}

/* Orders that make a careless selection quadratic must still end soon and right. */
static void hostile_orders(void **state)
{
    (void)state;
    enum { N = 200000 };
    double *x = malloc(N * sizeof *x);
    for (int shape = 0; shape < 4; shape++) {
        for (int i = 0; i < N; i++)
            x[i] = shape == 0 ? i : shape == 1 ? N - 1 - i : shape == 2 ? (i < N / 2 ? i : N - 1 - i) : 1;
        assert_near(stats_nth(x, N, N / 3), shape == 2 ? N / 6 : shape == 3 ? 1 : N / 3, 0.5);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_of_ten),
        cmocka_unit_test(a_ramp_does_not_inflate_diff_sd),
        cmocka_unit_test(empty_single_and_nan),
        cmocka_unit_test(sums_keep_what_plain_sums_lose),
        cmocka_unit_test(selection_agrees_with_sorting),
        cmocka_unit_test(hostile_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
