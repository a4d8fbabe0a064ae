/* Windows that people open: what is answered, what is listed, what the log brings back. What they hold back is in
 * tests/scenario/gates/windows.yaml. */
#include "support/test.h"

#include "loop/test_bench.h"

static void ask(struct bench *b, uint16_t service, enum command_verb verb, const char *id, struct span length, enum role role)
{
    struct event e = {.kind = EVENT_COMMAND, .service = service,
                      .u.command = {.verb = verb, .id = 1, .by = "li.wei", .via = "cli", .role = role, .action = id,
                                    .reason = "load test"}};
    if (length.us) e.u.command.until = (struct wall){bench_wall(b).us + length.us};
    buf_clear(&b->replies);
    bench_event(b, &e);
}

static uint32_t listed(const struct bench *b, struct arena *a, struct window_view **ret)
{
    uint32_t n;
    arena_reset(a);
    loop_windows(b->loop, a, ret, &n);
    return n;
}

static void opened_listed_ended(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    struct arena a = ARENA_INIT;
    struct window_view *w;
    bench_start(b);
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_OPERATOR);
    assert_string_equal(buf_text(&b->replies), "ok: open\n");
    ask(b, ALL_SERVICES, COMMAND_MAINTENANCE, NULL, SPAN_MIN(30), ROLE_OPERATOR);
    assert_int_equal(listed(b, &a, &w), 2);
    assert_string_equal(w[0].id, "w1");
    assert_string_equal(w[0].services[0], "text-embed");
    assert_string_equal(w[0].by, "li.wei");
    assert_string_equal(w[0].comment, "load test");
    assert_int_equal(w[1].service_n, 0);
    assert_int_equal(w[1].kind, FREEZE_KIND_MAINTENANCE);
    const struct record *r = bench_last(b, RECORD_MAINTENANCE);
    assert_string_equal(record_get_text(r, RF_WINDOW_ID), "w2");
    assert_string_equal(record_get_text(r, RF_SERVICE), "");
    assert_int_equal(record_get_i64(r, RF_EXPIRY, 0), bench_wall(b).us + SPAN_MIN(30).us);
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);
    struct service_view v;
    loop_view(b->loop, 0, &a, &v);
    assert_true(v.frozen && v.maintenance);
    assert_non_null(strstr(v.frozen_why, "freeze w1 by li.wei until 2026-05-12 02:00 UTC: load test"));
    ask(b, ALL_SERVICES, COMMAND_WINDOW_END, "w2", (struct span){0}, ROLE_OPERATOR);
    assert_int_equal(listed(b, &a, &w), 1);
    ask(b, ALL_SERVICES, COMMAND_WINDOW_END, "w1", (struct span){0}, ROLE_OPERATOR);
    assert_int_equal(loop_control(b->loop, 0)->frozen, 0);
    arena_free(&a);
    bench_free(b);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    bench_start(b);
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_VIEWER);
    assert_non_null(strstr(buf_text(&b->replies), "operator"));
    ask(b, 0, COMMAND_FREEZE, NULL, (struct span){-1}, ROLE_ADMIN);
    assert_non_null(strstr(buf_text(&b->replies), "not in the future"));
    ask(b, ALL_SERVICES, COMMAND_WINDOW_END, "w7", (struct span){0}, ROLE_ADMIN);
    assert_non_null(strstr(buf_text(&b->replies), "no window with that id"));
    for (unsigned i = 0; i < 64; i++) ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_ADMIN);
    assert_string_equal(buf_text(&b->replies), "ok: open\n");
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_ADMIN);
    assert_non_null(strstr(buf_text(&b->replies), "64 windows are open already"));
    bench_run(b, SPAN_HOUR(3));                        /* they end by themselves, and make room */
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_ADMIN);
    assert_string_equal(buf_text(&b->replies), "ok: open\n");
    assert_string_equal(record_get_text(bench_last(b, RECORD_FREEZE), RF_WINDOW_ID), "w65");
    bench_free(b);
}

/* The number of a window is never given twice, and what was ended stays ended. */
static void the_log_brings_them_back(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    struct arena a = ARENA_INIT;
    struct window_view *w;
    bench_start(b);
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(2), ROLE_ADMIN);
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(4), ROLE_ADMIN);
    ask(b, ALL_SERVICES, COMMAND_WINDOW_END, "w1", (struct span){0}, ROLE_ADMIN);
    bench_restart(b, SPAN_MIN(5));
    bench_run(b, SPAN_MIN(2));
    assert_int_equal(listed(b, &a, &w), 1);
    assert_string_equal(w[0].id, "w2");
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);
    ask(b, 0, COMMAND_MAINTENANCE, NULL, SPAN_HOUR(1), ROLE_ADMIN);
    assert_string_equal(record_get_text(bench_last(b, RECORD_MAINTENANCE), RF_WINDOW_ID), "w3");
    struct loop *copy = loop_clone(b->loop);
    assert_non_null(copy);
    assert_true(loop_digest(copy) == loop_digest(b->loop));
    loop_free(copy);
    arena_free(&a);
    bench_free(b);
}

/* Set back by an hour, the clock would let it last longer; set forward, end it sooner. Neither by more than both agree on. */
static void two_clocks(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    bench_start(b);
    bench_run(b, SPAN_MIN(5));
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(1), ROLE_ADMIN);
    b->start.us += 50 * US_PER_MIN;
    bench_run(b, SPAN_MIN(30));
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);    /* over by the new time, not by the old one */
    bench_run(b, SPAN_MIN(31));
    assert_int_equal(loop_control(b->loop, 0)->frozen, 0);
    bench_free(b);
}

/* Set forward while the daemon was down: the record is younger than the wall clock says, so its window is not over yet. */
static void two_clocks_over_a_restart(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    b->ages = true;
    bench_start(b);
    bench_run(b, SPAN_MIN(5));
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_HOUR(1), ROLE_ADMIN);
    b->start.us += 2 * US_PER_HOUR;
    bench_restart(b, SPAN_MIN(10));
    bench_run(b, SPAN_MIN(20));
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);
    bench_run(b, SPAN_MIN(31));
    assert_int_equal(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW, 0);
    bench_free(b);
}

static const struct freeze_range night[] = {{120, 150}};          /* 02:00 to 02:30 */
static const struct time_interval at_night = {.times = night, .time_n = 1, .zone = &zone_utc};
static const struct freeze_def nightly = {.kind = FREEZE_KIND_MAINTENANCE, .name = "nightly-copy", .author = "wang",
    .comment = "", .until = {INT64_MAX}, .intervals = &at_night, .interval_n = 1, .zone = &zone_utc};
static const struct freeze_def *nights[] = {&nightly};

/* A window of the configuration: set forward beyond its end, the clock does not end it, for a day. */
static void a_configured_window_and_two_clocks(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    b->service.freezes = nights;
    b->service.freeze_count = 1;
    bench_start(b);
    bench_run(b, SPAN_MIN(125));
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);
    b->start.us += 50 * US_PER_MIN;
    bench_run(b, SPAN_MIN(20));                        /* 02:25 by the old time, 03:15 by the new one */
    assert_true(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW);
    bench_run(b, SPAN_MIN(10));
    assert_int_equal(loop_control(b->loop, 0)->frozen & FREEZE_WINDOW, 0);
    bench_free(b);
}

/* One notice a window, not one a service or a tick. */
static void people_are_told(void **state)
{
    (void)state;
    struct bench *b = bench_new(MODE_AUTO);
    bench_start(b);
    ask(b, 0, COMMAND_FREEZE, NULL, SPAN_MIN(30), ROLE_OPERATOR);
    assert_string_equal(buf_text(&b->notices),
                        "freeze: nothing is changed\nfreeze w1 by li.wei until 2026-05-12 00:30 UTC: load test\n");
    buf_clear(&b->notices);
    ask(b, ALL_SERVICES, COMMAND_WINDOW_END, "w1", (struct span){0}, ROLE_OPERATOR);
    assert_string_equal(buf_text(&b->notices), "a window was ended\nw1 by li.wei\n");
    buf_clear(&b->notices);
    b->service.freezes = nights;
    b->service.freeze_count = 1;
    bench_run(b, SPAN_MIN(119));
    assert_null(strstr(buf_text(&b->notices), "maintenance"));
    buf_clear(&b->notices);
    bench_run(b, SPAN_MIN(90));
    assert_string_equal(buf_text(&b->notices), "maintenance: nothing is changed or learned\n"
                                               "maintenance nightly-copy by wang until 2026-05-12 02:30 UTC\n");
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_listed_ended), cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_log_brings_them_back), cmocka_unit_test(two_clocks),
        cmocka_unit_test(two_clocks_over_a_restart), cmocka_unit_test(people_are_told),
        cmocka_unit_test(a_configured_window_and_two_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
