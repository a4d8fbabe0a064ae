#include "stats/shift.h"

#include "base/prng.h"
#include "stats/dist.h"
#include "support/test.h"

static const double before[8] = {38.2, 38.9, 37.7, 39.4, 38.0, 38.8, 37.9, 39.1};
static const double after[8] = {33.9, 34.8, 33.2, 35.6, 34.1, 33.0, 34.4, 35.0};
static double scratch[STATS_SHIFT_MAX * STATS_SHIFT_MAX];

/* Counted by listing every order of the points; those of 20 and more by the recursion over the last point. */
static void ranks_are_exact(void **state)
{
    (void)state;
    static const struct { size_t n, m, rank; } known[] = {
        {3, 3, 0}, {4, 4, 1}, {5, 5, 3}, {5, 9, 8}, {8, 8, 14}, {10, 10, 24}, {2, 12, 2}, {1, 40, 1},
        {20, 20, 128}, {20, 30, 201}, {25, 25, 212}, {10, 40, 120}, {1, 1, 0}, {0, 9, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(stats_shift_rank(known[i].n, known[i].m, scratch), known[i].rank);
        assert_int_equal(stats_shift_rank(known[i].m, known[i].n, scratch), known[i].rank);
    }
    /* Normal beyond 50 points: at most the exact rank (318 and 922), never a narrower interval. */
    assert_int_equal(stats_shift_rank(30, 30, scratch), 317);
    assert_int_equal(stats_shift_rank(60, 40, scratch), 921);
}

static void shift_by_hand(void **state)
{
    (void)state;
    struct stats_shift s = stats_shift(before, 8, after, 8, scratch);
    assert_near(s.d, -4.2, 1e-12);
    assert_near(s.lo, -5.0, 1e-12);
    assert_near(s.hi, -3.3, 1e-12);
    s = stats_shift(before, 3, after, 3, scratch);
    assert_true(s.lo == -INFINITY && s.hi == INFINITY && s.d < -4);
    s = stats_shift(before, 0, after, 8, scratch);
    assert_true(isnan(s.d) && isnan(s.lo) && isnan(s.hi));
    const double bad[] = {1, NAN, 2, 3};
    s = stats_shift(before, 8, bad, 4, scratch);
    assert_true(isnan(s.d) && isnan(s.hi));
}

static void lag1_by_hand(void **state)
{
    (void)state;
    const double wave[] = {1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 5, 4, 3, 2, 1, 1, 2, 3, 3, 2};
    assert_near(stats_lag1(wave, 20), 0.8188877755511021, 1e-12);
    assert_near(stats_lag1_two(wave, 10, wave + 10, 10), 0.9, 0);  /* 0.942, limited */
    const double saw[] = {1, 2, 1, 2, 1, 2, 1, 2}, flat[] = {3, 3, 3, 3, 3, 3, 3};
    assert_true(stats_lag1(saw, 8) == 0);
    assert_true(stats_lag1(flat, 7) == 0);
    assert_true(stats_lag1(saw, 5) == 0.9 && stats_lag1(NULL, 0) == 0.9);
    assert_near(stats_widening(0.6), 2, 1e-12);
    assert_true(stats_widening(0) == 1);
}

static void blocks_are_widened(void **state)
{
    (void)state;
    double r;
    const double walk[] = {1, 2, 3, 4, 5, 5, 4, 3, 2, 1};   /* the line through it is level */
    struct stats_shift plain = stats_shift(walk, 10, walk, 10, scratch);
    struct stats_shift wide = stats_shift_blocks(walk, 10, walk, 10, scratch, &r);
    assert_true(r > 0.5 && wide.d == plain.d);
    assert_near((wide.hi - wide.d) / (plain.hi - plain.d), stats_widening(r), 1e-12);
    assert_near((wide.d - wide.lo) / (plain.d - plain.lo), stats_widening(r), 1e-12);
}

/* Before: 60 and 10 more with each block, to and fro by 4; after: 40. */
static void a_climb_is_not_correlation(void **state)
{
    (void)state;
    double worse[10], cured[20], line[10];
    for (int i = 0; i < 10; i++) {
        line[i] = 60 + 10 * i;
        worse[i] = line[i] + (i % 2 ? 4 : -4);
    }
    for (int i = 0; i < 20; i++) cured[i] = i % 2 ? 40.1 : 39.9;
    assert_true(stats_lag1_two(worse, 10, cured, 20) > 0.6);
    assert_true(stats_lag1_climb(worse, 10, cured, 20) == 0);
    assert_true(stats_lag1_climb(line, 10, cured, 20) == 0);
    assert_true(stats_lag1_climb(line, 5, cured, 6) == 0.9);
}

static void ar1(struct prng *p, double *x, size_t n, double r)
{
    x[0] = stats_draw_normal(p, 0, 1);
    for (size_t i = 1; i < n; i++) x[i] = r * x[i - 1] + stats_draw_normal(p, 0, sqrt(1 - r * r));
}

/* The share of intervals that miss a true shift of 0: at most 5 % for independent points, and far less with the
 * widening than without where points depend on one another. */
static void interval_keeps_its_promise(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 4);
    int missed = 0, missed_plain = 0, missed_wide = 0;
    const int rounds = 2000;
    double a[40], b[20];
    for (int i = 0; i < rounds; i++) {
        ar1(&p, a, 40, 0);
        ar1(&p, b, 20, 0);
        struct stats_shift s = stats_shift(a, 40, b, 20, scratch);
        missed += s.lo > 0 || s.hi < 0;
        ar1(&p, a, 40, 0.6);
        ar1(&p, b, 20, 0.6);
        s = stats_shift(a, 40, b, 20, scratch);
        missed_plain += s.lo > 0 || s.hi < 0;
        s = stats_shift_blocks(a, 40, b, 20, scratch, NULL);
        missed_wide += s.lo > 0 || s.hi < 0;
    }
    print_message("missed: independent %d, r = 0.6 plain %d, widened %d of %d\n", missed, missed_plain, missed_wide,
                  rounds);
    assert_in_range(missed, 60, 130);
    assert_true(missed_plain > 400);
    assert_true(missed_wide < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_exact),    cmocka_unit_test(shift_by_hand),
        cmocka_unit_test(lag1_by_hand),       cmocka_unit_test(blocks_are_widened),
        cmocka_unit_test(a_climb_is_not_correlation),
        cmocka_unit_test(interval_keeps_its_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
