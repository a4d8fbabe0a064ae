/* Pages in, points out: the whole stage. Every number below is worked out by hand. */
#include "support/test.h"

#include "collect/test_bed.h"

static void gauges_sum_over_instances(void **state)
{
    (void)state;
    const char *q[] = {"sum(queue)", "max(util) * 100"};
    struct bed *b = bed_new(2, 2, q);
    feed(b, 0, 10, "# TYPE queue gauge\nqueue{model=\"m\"} 120\nutil 0.5\n");
    feed(b, 1, 11, "queue{model=\"m\"} 80\nutil 0.75\n");
    struct point p = tick(b, 12);
    assert_int_equal(p.why, WHY_KNOWN);
    assert_near(p.value, 200, 0);
    assert_near(b->out[1].value, 75, 0);
    assert_true(p.at.us == at(11).us);
    assert_true(b->due[0]);
    tick(b, 13);
    assert_false(b->due[0]);
    bed_free(b);
}

/* 10 requests a second, 90 % of them under 50 ms: p95 lies half way in the next bucket. */
static void rate_and_quantile_from_histogram(void **state)
{
    (void)state;
    const char *q[] = {"histogram_quantile(0.95, sum by (le) (rate(lat_bucket[1m])))", "sum(rate(lat_count[1m]))"};
    struct bed *b = bed_new(1, 2, q);
    for (int i = 0; i <= 12; i++) {
        char page[400];
        int n = 1000 + i * 100;
        snprintf(page, sizeof page,
                 "lat_bucket{le=\"0.05\"} %d\nlat_bucket{le=\"0.1\"} %d\nlat_bucket{le=\"+Inf\"} %d\nlat_count %d\n",
                 900 + i * 90, n, n, n);
        feed(b, 0, i * 10, page);
    }
    struct point p = tick(b, 120);
    assert_int_equal(p.why, WHY_KNOWN);
    assert_near(p.value, 0.075, 1e-12);
    assert_int_equal(p.n, 600);
    assert_near(b->out[1].value, 10, 1e-9);
    assert_true(collect_bytes(b->c) > 1000);
    bed_free(b);
}

static void series_that_vanishes_is_missing(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(1, 1, q);
    feed(b, 0, 10, "queue 5\n");
    assert_near(tick(b, 10).value, 5, 0);
    feed(b, 0, 20, "other 5\n");
    assert_int_equal(tick(b, 20).why, WHY_MISSING);
    feed(b, 0, 30, "queue NaN\n");
    assert_int_equal(tick(b, 30).why, WHY_NAN);
    down(b, 0, 40);
    assert_int_equal(tick(b, 40).why, WHY_SCRAPE);
    assert_int_equal(b->report.outcome, PAGE_DOWN);
    bed_free(b);
}

static void quiet_target_goes_stale_after_three_intervals(void **state)
{
    (void)state;
    const char *q[] = {"queue", "vector(1)"};
    struct bed *b = bed_new(1, 2, q);
    feed(b, 0, 10, "queue 5\n");
    assert_int_equal(tick(b, 40).why, WHY_KNOWN);
    assert_int_equal(tick(b, 50).why, WHY_STALE);
    bed_free(b);
}

static void two_thirds_of_the_instances_are_enough(void **state)
{
    (void)state;
    const char *q[] = {"sum(queue)"};
    struct bed *b = bed_new(3, 1, q);
    for (uint16_t i = 0; i < 3; i++) feed(b, i, 10, "queue 5\n");
    assert_near(tick(b, 10).value, 15, 0);
    feed(b, 0, 50, "queue 6\n");
    feed(b, 1, 50, "queue 7\n");
    assert_near(tick(b, 50).value, 13, 0);     /* the third one's old sample takes no part */
    feed(b, 0, 90, "queue 6\n");
    assert_int_equal(tick(b, 90).why, WHY_INSTANCES);
    uint16_t up, all;
    collect_instances(b->c, at(90), &up, &all);
    assert_int_equal(up, 1);
    assert_int_equal(all, 3);
    bed_free(b);
}

/* One server and two exporters beside it: they are not counted, and their restarts are nobody's release. */
static void exporters_are_not_counted(void **state)
{
    (void)state;
    const char *q[] = {"sum(queue)", "max(gpu)"};
    struct bed *b = bed_new(3, 2, q);
    struct release_seen r;
    uint16_t up, all;
    b->s.exporter_count = 2;
    feed(b, 0, 10, "queue 5\nprocess_start_time_seconds 100\n");
    for (uint16_t i = 1; i < 3; i++) feed(b, i, 10, "gpu 0.5\nprocess_start_time_seconds 100\n");
    tick(b, 10);
    assert_near(b->out[1].value, 0.5, 0);
    collect_release(b->c, &r);
    feed(b, 0, 50, "queue 6\nprocess_start_time_seconds 100\n");
    for (uint16_t i = 1; i < 3; i++) feed(b, i, 50, "gpu 0.5\nprocess_start_time_seconds 1780000045\n");
    collect_release(b->c, &r);
    assert_false(r.seen);
    feed(b, 0, 90, "queue 7\nprocess_start_time_seconds 100\n");
    assert_near(tick(b, 90).value, 7, 0);      /* a third of the targets, all of the instances */
    assert_int_equal(b->out[1].why, WHY_MISSING);
    collect_instances(b->c, at(90), &up, &all);
    assert_int_equal(up, 1);
    assert_int_equal(all, 1);
    feed(b, 0, 130, "queue 8\nprocess_start_time_seconds 1780000125\n");
    collect_release(b->c, &r);
    assert_true(r.seen);
    bed_free(b);
}

static void broken_line_makes_its_own_series_unknown(void **state)
{
    (void)state;
    const char *q[] = {"queue", "depth"};
    struct bed *b = bed_new(1, 2, q);
    feed(b, 0, 10, "queue 5\ndepth x5\n...\n");
    assert_near(tick(b, 10).value, 5, 0);
    assert_int_equal(b->out[1].why, WHY_BROKEN);
    assert_int_equal(b->report.outcome, PAGE_OK);
    assert_int_equal(b->report.broken_lines, 2);
    assert_int_equal(b->report.first_broken_line, 2);
    assert_string_equal(b->report.error, "line 2: depth: not a number");
    feed(b, 0, 20, "queue 5\ndepth 4\n");
    tick(b, 20);
    assert_near(b->out[1].value, 4, 0);
    /* The same line broken when it was expected, then a line of which only the name is known. */
    feed(b, 0, 30, "queue 5\ndepth 4z\n");
    tick(b, 30);
    assert_int_equal(b->out[1].why, WHY_BROKEN);
    feed(b, 0, 40, "queue 5\ndepth{a=\"b 4\n");
    tick(b, 40);
    assert_int_equal(b->out[1].why, WHY_BROKEN);
    assert_int_equal(b->out[0].why, WHY_KNOWN);
    bed_free(b);
}

static void broken_series_that_is_gone_taints_nothing(void **state)
{
    (void)state;
    const char *q[] = {"sum(queue)"};
    struct bed *b = bed_new(1, 1, q);
    feed(b, 0, 10, "queue{m=\"a\"} 1\nqueue{m=\"b\"} 2\n");
    assert_near(tick(b, 10).value, 3, 0);
    feed(b, 0, 20, "queue{m=\"a\"} 1\nqueue{m=\"b\"} oops\n");
    assert_int_equal(tick(b, 20).why, WHY_BROKEN);     /* 1 would be a partial truth */
    feed(b, 0, 30, "queue{m=\"a\"} 1\n");
    assert_near(tick(b, 30).value, 1, 0);
    bed_free(b);
}

static void duplicate_series_is_broken(void **state)
{
    (void)state;
    const char *q[] = {"queue", "depth"};
    struct bed *b = bed_new(1, 2, q);
    for (int i = 1; i <= 2; i++) {
        feed(b, 0, i * 10, "queue 5\ndepth 1\nqueue 6\n");
        assert_int_equal(tick(b, i * 10).why, WHY_BROKEN);
        assert_near(b->out[1].value, 1, 0);
        assert_string_equal(b->report.error, "line 3: queue: this series stands twice on the page, with two values");
    }
    feed(b, 0, 30, "queue 5\ndepth 1\nqueue 5\n");         /* printed twice, no contradiction */
    assert_near(tick(b, 30).value, 5, 0);
    assert_int_equal(b->report.broken_lines, 0);
    bed_free(b);
}

static void own_timestamps_count(void **state)
{
    (void)state;
    const char *q[] = {"cpu"};
    struct bed *b = bed_new(1, 1, q);
    char page[100];
    snprintf(page, sizeof page, "cpu 3 %lld\n", (long long)(WALL0 / 1000 + 2000));
    feed(b, 0, 10, page);                      /* taken at second 2 */
    struct point p = tick(b, 10);
    assert_near(p.value, 3, 0);
    assert_true(p.at.us == at(2).us);
    assert_int_equal(tick(b, 36).why, WHY_STALE);
    snprintf(page, sizeof page, "cpu 3 %lld\n", (long long)(WALL0 / 1000 + 3600000));
    feed(b, 0, 50, page);                      /* a clock an hour ahead */
    assert_int_equal(tick(b, 50).why, WHY_CLOCK);
    bed_free(b);
}

static void page_over_a_limit_is_unknown_as_a_whole(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(1, 1, q);
    struct buf big = BUF_INIT;
    buf_puts(&big, "queue 5\nx{a=\"");
    for (int i = 0; i < 1000000; i++) buf_putc(&big, 'y');
    buf_puts(&big, "\"} 1\n");
    feed(b, 0, 10, big.data);
    assert_int_equal(b->report.outcome, PAGE_TOO_LARGE);
    assert_string_equal(b->report.error, "line 2: a label's value is over the limit");
    assert_int_equal(tick(b, 10).why, WHY_LIMIT);
    buf_clear(&big);
    buf_puts(&big, "queue 5\n");
    for (int i = 0; i < 1000000; i++) buf_printf(&big, "s{i=\"%d\"} 1\n", i);
    size_t before = collect_bytes(b->c);
    feed(b, 0, 20, big.data);
    assert_int_equal(b->report.outcome, PAGE_TOO_LARGE);
    assert_true(collect_bytes(b->c) < before + 4096);
    assert_int_equal(tick(b, 20).why, WHY_LIMIT);
    buf_free(&big);
    feed(b, 0, 30, "queue 5\n");
    assert_near(tick(b, 30).value, 5, 0);
    bed_free(b);
}

static void garbage_with_200_is_a_failed_scrape(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(1, 1, q);
    feed(b, 0, 10, "<html>\n<head><title>It works!</title></head>\n<body>queue 5</body>\n</html>\n");
    assert_int_equal(b->report.outcome, PAGE_GARBAGE);
    assert_int_equal(tick(b, 10).why, WHY_SCRAPE);
    struct collect_target t;
    collect_target(b->c, 0, &t);
    assert_false(t.up);
    assert_string_equal(t.error, "line 1: a metric's name expected");
    bed_free(b);
}

static void up_follows_the_scrapes(void **state)
{
    (void)state;
    const char *q[] = {"sum(up)"};
    struct bed *b = bed_new(3, 1, q);
    for (uint16_t i = 0; i < 3; i++) feed(b, i, 10, "x 1\n");
    assert_near(tick(b, 10).value, 3, 0);
    feed(b, 0, 20, "x 1\n");
    feed(b, 1, 20, "x 1\n");
    down(b, 2, 20);
    assert_near(tick(b, 20).value, 2, 0);
    bed_free(b);
}

static void more_than_one_series_is_ambiguous(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(1, 1, q);
    feed(b, 0, 10, "queue{m=\"a\"} 1\nqueue{m=\"b\"} 2\n");
    assert_int_equal(tick(b, 10).why, WHY_AMBIGUOUS);
    bed_free(b);
}

static void sentinel_is_no_value(void **state)
{
    (void)state;
    const char *q[] = {"avg(hit) * 100"};
    struct bed *b = bed_new(1, 1, q);
    b->signals[0].has_sentinel = true;
    b->signals[0].sentinel = -1;
    feed(b, 0, 10, "hit{m=\"a\"} -1\nhit{m=\"b\"} 0.5\n");
    assert_int_equal(tick(b, 10).why, WHY_SENTINEL);
    feed(b, 0, 20, "hit{m=\"a\"} 0.25\nhit{m=\"b\"} 0.5\n");
    assert_near(tick(b, 20).value, 37.5, 0);
    bed_free(b);
}

static void own_reload_makes_rates_unknown_for_one_range(void **state)
{
    (void)state;
    const char *q[] = {"rate(n_total[1m])", "queue"};
    struct bed *b = bed_new(1, 2, q);
    char page[64];
    for (int i = 0; i <= 30; i++) {
        snprintf(page, sizeof page, "n_total %d\nqueue 1\n", i < 12 ? i * 10 : (i - 12) * 10);
        if (i == 12) collect_own_reload(b->c, at(115));
        feed(b, 0, i * 10, page);
        struct point p = tick(b, i * 10);
        if (i == 11) assert_near(p.value, 1, 1e-9);
        if (i >= 12 && i <= 17) assert_int_equal(p.why, WHY_RESET);
        if (i == 18) assert_int_equal(p.why, WHY_KNOWN);
        assert_int_equal(b->out[1].why, WHY_KNOWN);
    }
    bed_free(b);
}

static void values_from_outside_are_judged_for_freshness(void **state)
{
    (void)state;
    struct bed *b = calloc(1, sizeof *b);
    b->signals[0] = (struct signal_def){.name = "s0", .interval = SPAN_S(10)};
    b->s = (struct service_def){.name = "svc", .signals = b->signals, .signal_count = 1};
    b->c = collect_new(&b->s, collect_limits_default());
    assert_int_equal(tick(b, 5).why, WHY_MISSING);
    collect_value(b->c, 0, (struct point){.at = at(10), .value = 42, .why = WHY_KNOWN});
    assert_near(tick(b, 20).value, 42, 0);
    assert_int_equal(tick(b, 41).why, WHY_STALE);
    collect_value(b->c, 0, (struct point){.at = at(42), .value = INFINITY, .why = WHY_KNOWN});
    assert_int_equal(tick(b, 42).why, WHY_NAN);
    bed_free(b);
}

static void openmetrics_page_without_end_is_cut_off(void **state)
{
    (void)state;
    const char *q[] = {"n_total"};
    struct bed *b = bed_new(1, 1, q);
    const char *text = "# TYPE n counter\nn_total 5\n";
    struct page p = {.at = at(10), .wall = wall(10), .outcome = PAGE_OK, .bytes = text, .len = strlen(text), .openmetrics = true};
    collect_page(b->c, &p, &b->report);
    assert_int_equal(b->report.outcome, PAGE_GARBAGE);
    text = "# TYPE n counter\nn_total 5\n# EOF\n";
    p.bytes = text;
    p.len = strlen(text);
    p.at = at(20);
    collect_page(b->c, &p, &b->report);
    assert_near(tick(b, 20).value, 5, 0);
    bed_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauges_sum_over_instances),
        cmocka_unit_test(rate_and_quantile_from_histogram),
        cmocka_unit_test(series_that_vanishes_is_missing),
        cmocka_unit_test(quiet_target_goes_stale_after_three_intervals),
        cmocka_unit_test(two_thirds_of_the_instances_are_enough),
        cmocka_unit_test(exporters_are_not_counted),
        cmocka_unit_test(broken_line_makes_its_own_series_unknown),
        cmocka_unit_test(broken_series_that_is_gone_taints_nothing),
        cmocka_unit_test(duplicate_series_is_broken),
        cmocka_unit_test(own_timestamps_count),
        cmocka_unit_test(page_over_a_limit_is_unknown_as_a_whole),
        cmocka_unit_test(garbage_with_200_is_a_failed_scrape),
        cmocka_unit_test(up_follows_the_scrapes),
        cmocka_unit_test(more_than_one_series_is_ambiguous),
        cmocka_unit_test(sentinel_is_no_value),
        cmocka_unit_test(own_reload_makes_rates_unknown_for_one_range),
        cmocka_unit_test(values_from_outside_are_judged_for_freshness),
        cmocka_unit_test(openmetrics_page_without_end_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
