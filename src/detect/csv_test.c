/* Rows in, scores out: the core of `trimtab detect --csv`. */
#include "detect/csv.h"

#include "support/test.h"

static const struct wall begin = {1760313600 * US_PER_S};     /* Monday 2025-10-13T00:00:00Z */

static struct detect_csv_row feed(struct detect_csv *c, int64_t second, double value)
{
    struct detect_csv_row row;
    detect_csv_feed(c, (struct wall){begin.us + second * US_PER_S}, value, &row);
    return row;
}

/* 38 with a ripple that repeats every 7 rows. */
static double normal(int i) { return 38 + 0.1 * (i % 7); }

static void a_step_is_one_alarm(void **state)
{
    (void)state;
    struct detect_csv *c = detect_csv_new("p99", SPAN_MIN(5));
    struct detect_csv_row row;
    int i = 0, alarms = 0;
    for (; i < 600; i++) {
        row = feed(c, 300 * i, normal(i));
        if (i < 120) assert_int_equal(row.why, WHY_WARMING);
        if (row.score >= 0.5) alarms++;
    }
    assert_int_equal(alarms, 0);
    assert_int_equal(row.state, SERIES_NORMAL);
    assert_near(row.score, row.r / (1 + row.r), 1e-12);
    for (int k = 0; k < 30; k++, i++) {
        row = feed(c, 300 * i, normal(i) + 30);
        if (row.score >= 0.5) alarms++;
        if (k == 3) {
            assert_int_equal(row.state, SERIES_FIRING);
            struct buf b = BUF_INIT;
            detect_csv_say(&b, c, &row);
            assert_non_null(strstr(buf_text(&b), "p99"));
            buf_free(&b);
        }
    }
    assert_true(alarms >= 1 && alarms <= 3);
    for (int k = 0; k < 200; k++, i++) row = feed(c, 300 * i, normal(i));
    assert_int_equal(row.state, SERIES_NORMAL);
    detect_csv_free(c);
}

static void gaps_and_steps_back_are_unknown_rows(void **state)
{
    (void)state;
    struct detect_csv *c = detect_csv_new("x", SPAN_MIN(5));
    int i = 0;
    for (; i < 300; i++) feed(c, 300 * i, normal(i));
    struct detect_csv_row row = feed(c, 300 * i++, NAN);
    assert_int_equal(row.why, WHY_MISSING);
    assert_int_equal(row.state, SERIES_UNKNOWN);
    assert_true(isnan(row.score));
    row = feed(c, 300 * (i - 10), 900);
    assert_int_equal(row.why, WHY_CLOCK);
    assert_true(isnan(row.score));
    row = feed(c, 300 * i, normal(i));
    assert_true(row.score < 0.5);
    row = feed(c, 300 * (i + 2000), normal(i + 2000));         /* a week of nothing */
    assert_true(row.score < 0.5);
    detect_csv_free(c);
}

static void extreme_values_give_finite_scores(void **state)
{
    (void)state;
    const double wild[] = {0, -0.0, 1e308, -1e308, 5e-324, INFINITY, NAN, 1e6, -38};
    struct detect_csv *c = detect_csv_new("x", SPAN_MIN(1));
    for (int i = 0; i < 2000; i++) {
        struct detect_csv_row row = feed(c, 60 * i, i % 3 ? normal(i) : wild[(unsigned)i % ARRAY_LEN(wild)]);
        if (row.why == WHY_KNOWN) assert_true(row.score >= 0 && row.score <= 1);
        else assert_true(isnan(row.score));
    }
    detect_csv_free(c);
    c = detect_csv_new("still", SPAN_MIN(1));
    for (int i = 0; i < 2000; i++) assert_false(feed(c, 60 * i, 0).score >= 0.5);
    assert_true(feed(c, 60 * 2000, 1).score >= 0.5);           /* what never moved, moves */
    detect_csv_free(c);
}

static void short_steps_share_ticks_of_30_seconds(void **state)
{
    (void)state;
    struct detect_csv *c = detect_csv_new("x", SPAN_S(10));
    double last = NAN;
    int changes = 0;
    for (int i = 0; i < 900; i++) {
        struct detect_csv_row row = feed(c, 10 * i, normal(i) + (i % 11));
        if (row.why == WHY_KNOWN && row.score != last) changes++;
        if (row.why == WHY_KNOWN) last = row.score;
    }
    assert_true(changes > 100 && changes <= 181);              /* 300 ticks, the first 120 of them warming */
    detect_csv_free(c);
}

static void the_step_is_the_median_difference(void **state)
{
    (void)state;
    struct wall t[] = {{0}, {300}, {600}, {100}, {5000}, {5300}, {5600}};
    assert_int_equal(detect_csv_step(t, ARRAY_LEN(t)).us, 300);
    assert_int_equal(detect_csv_step(t, 1).us, 30 * US_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_one_alarm),
        cmocka_unit_test(gaps_and_steps_back_are_unknown_rows),
        cmocka_unit_test(extreme_values_give_finite_scores),
        cmocka_unit_test(short_steps_share_ticks_of_30_seconds),
        cmocka_unit_test(the_step_is_the_median_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
