#include "support/test.h"

#include "decide/decide.h"

#define MONDAY 1
#define SUNDAY (1 << 6)
#define EVERY_DAY 0x7f

static struct wall at(const char *text)
{
    struct wall w;
    assert_true(wall_parse(text, &w));
    return w;
}

static bool open_at(const struct window_def *w, uint16_t n, const char *text)
{
    struct service_def s = {.windows = (struct window_def *)w, .window_count = n};
    return decide_window_open(&s, at(text));
}

static void expect_change(const struct window_def *w, uint16_t n, const char *now, const char *want)
{
    struct service_def s = {.windows = (struct window_def *)w, .window_count = n};
    struct wall next = decide_window_change(&s, at(now));
    assert_true(next.us == at(want).us);
}

/* 2026-05-11 is a Monday. */
static void test_a_window_holds_from_its_first_minute_to_before_its_last(void **state)
{
    (void)state;
    const struct window_def w = {.weekdays = MONDAY, .from_min = 120, .to_min = 300};
    assert_false(open_at(&w, 1, "2026-05-11T01:59:59Z"));
    assert_true(open_at(&w, 1, "2026-05-11T02:00:00Z"));
    assert_true(open_at(&w, 1, "2026-05-11T04:59:59Z"));
    assert_false(open_at(&w, 1, "2026-05-11T05:00:00Z"));
    assert_false(open_at(&w, 1, "2026-05-12T03:00:00Z"));
    expect_change(&w, 1, "2026-05-11T02:00:00Z", "2026-05-11T05:00:00Z");
    expect_change(&w, 1, "2026-05-11T05:00:00Z", "2026-05-18T02:00:00Z");   /* a whole week ahead */
}

static void test_without_windows_it_is_always_open(void **state)
{
    (void)state;
    struct service_def s = {0};
    assert_true(decide_window_open(&s, at("2026-05-11T00:00:00Z")));
    assert_true(decide_window_change(&s, at("2026-05-11T00:00:00Z")).us == WALL_NONE.us);
}

static void test_the_weekday_is_that_of_the_zone(void **state)
{
    (void)state;
    /* Monday 00:00 to 06:00 in UTC+8 is Sunday 16:00 to 22:00 UTC. */
    const struct window_def east = {.weekdays = MONDAY, .from_min = 0, .to_min = 360, .offset_s = 8 * 3600};
    assert_false(open_at(&east, 1, "2026-05-10T15:59:59Z"));
    assert_true(open_at(&east, 1, "2026-05-10T16:00:00Z"));
    assert_true(open_at(&east, 1, "2026-05-10T21:59:59Z"));
    assert_false(open_at(&east, 1, "2026-05-10T22:00:00Z"));
    assert_false(open_at(&east, 1, "2026-05-11T03:00:00Z"));
    expect_change(&east, 1, "2026-05-10T12:00:00Z", "2026-05-10T16:00:00Z");
    /* Sunday 20:00 to 24:00 in UTC-5:30 is Monday 01:30 to 05:30 UTC. */
    const struct window_def west = {.weekdays = SUNDAY, .from_min = 1200, .to_min = 1440, .offset_s = -19800};
    assert_true(open_at(&west, 1, "2026-05-11T01:30:00Z"));
    assert_true(open_at(&west, 1, "2026-05-11T05:29:59Z"));
    assert_false(open_at(&west, 1, "2026-05-11T05:30:00Z"));
    assert_false(open_at(&west, 1, "2026-05-10T20:00:00Z"));
}

static void test_midnight(void **state)
{
    (void)state;
    const struct window_def two[] = {{.weekdays = SUNDAY, .from_min = 1320, .to_min = 1440},
                                     {.weekdays = MONDAY, .from_min = 0, .to_min = 120}};
    assert_true(open_at(two, 2, "2026-05-10T23:59:59Z"));
    assert_true(open_at(two, 2, "2026-05-11T00:00:00Z"));
    assert_false(open_at(two, 2, "2026-05-11T02:00:00Z"));
    expect_change(two, 2, "2026-05-10T23:00:00Z", "2026-05-11T02:00:00Z");   /* midnight between them is no edge */
    const struct window_def over = {.weekdays = SUNDAY, .from_min = 1320, .to_min = 120};
    assert_true(open_at(&over, 1, "2026-05-10T22:00:00Z"));
    assert_true(open_at(&over, 1, "2026-05-11T01:59:59Z"));
    assert_false(open_at(&over, 1, "2026-05-11T02:00:00Z"));
    assert_false(open_at(&over, 1, "2026-05-10T01:00:00Z"));                 /* Saturday is not in it */
    const struct window_def all = {.weekdays = EVERY_DAY, .from_min = 0, .to_min = 1440};
    struct service_def s = {.windows = (struct window_def *)&all, .window_count = 1};
    assert_true(decide_window_open(&s, at("2026-05-11T00:00:00Z")));
    assert_true(decide_window_change(&s, at("2026-05-11T00:00:00Z")).us == WALL_NONE.us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_window_holds_from_its_first_minute_to_before_its_last),
        cmocka_unit_test(test_without_windows_it_is_always_open),
        cmocka_unit_test(test_the_weekday_is_that_of_the_zone),
        cmocka_unit_test(test_midnight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
