/* Recurring windows: every field, both sides of every edge, and the nights on which the clock jumps. */
#include "model/freeze.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "support/test.h"

static struct arena arena;

static const struct zone *zone(const char *name)
{
    static uint8_t bytes[ZONE_BYTES_MAX];
    static struct zone kept[8];
    static unsigned n;
    char path[200];
    struct err e;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        print_message("skipped: no %s on this machine (package tzdata)\n", path);
        skip();
        return NULL;
    }
    size_t len = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    struct zone *z = &kept[n++ % 8];
    assert_int_equal(zone_parse(&arena, name, bytes, len, z, &e), STATUS_OK);
    return z;
}

static struct wall at(const char *text)
{
    struct wall w;
    assert_true(wall_parse(text, &w));
    return w;
}

static struct freeze_def window(const struct time_interval *v)
{
    return (struct freeze_def){.name = "w", .author = "", .comment = "", .until = WALL_NONE, .zone = &zone_utc,
                               .intervals = v, .interval_n = v != NULL};
}

static void check(const struct freeze_def *f, const char *when, bool in_force)
{
    if (freeze_in_force(f, at(when)) != in_force) fail_msg("at %s it is %s", when, in_force ? "not in force" : "in force");
}

static void check_change(const struct freeze_def *f, const char *from, const char *next)
{
    struct wall got = freeze_change(f, at(from));
    struct buf b = BUF_INIT;
    wall_print(&b, got);
    if (got.us != (next ? at(next).us : WALL_NONE.us))
        fail_msg("after %s: %s, expected %s", from, buf_text(&b), next ? next : "never");
    buf_free(&b);
}

/* Office hours in Shanghai, which is 8 h ahead of UTC. */
static void times_and_weekdays_in_a_zone(void **state)
{
    (void)state;
    struct freeze_range office = {9 * 60, 17 * 60};
    struct time_interval v = {.times = &office, .time_n = 1, .weekdays = 0x1f, .zone = zone("Asia/Shanghai")};
    struct freeze_def f = window(&v);
    check(&f, "2026-05-11T00:59:59Z", false);
    check(&f, "2026-05-11T01:00:00Z", true);          /* Monday 09:00 */
    check(&f, "2026-05-11T08:59:59Z", true);
    check(&f, "2026-05-11T09:00:00Z", false);         /* 17:00 does not belong to it */
    check(&f, "2026-05-16T02:00:00Z", false);         /* Saturday */
    check_change(&f, "2026-05-11T03:00:00Z", "2026-05-11T09:00:00Z");
    check_change(&f, "2026-05-15T09:00:00Z", "2026-05-18T01:00:00Z");   /* over the weekend */
}

static void days_months_and_years(void **state)
{
    (void)state;
    struct freeze_range last_three = {-3, -1}, years = {2026, 2027};
    struct time_interval v = {.days = &last_three, .day_n = 1, .years = &years, .year_n = 1, .months = 1u << 1 | 1u << 10,
                              .zone = &zone_utc};
    struct freeze_def f = window(&v);
    check(&f, "2026-02-25T23:59:59Z", false);
    check(&f, "2026-02-26T00:00:00Z", true);
    check(&f, "2026-02-28T23:59:59Z", true);
    check(&f, "2026-03-01T00:00:00Z", false);
    check(&f, "2026-03-31T12:00:00Z", false);         /* March is not named */
    check(&f, "2026-11-28T00:00:00Z", true);
    check(&f, "2028-02-28T00:00:00Z", false);         /* nor is 2028 */
    struct freeze_range thirtieth = {30, 31}, all = {1, -1};
    struct time_interval w = {.days = &thirtieth, .day_n = 1, .zone = &zone_utc}, x = {.days = &all, .day_n = 1, .zone = &zone_utc};
    f = window(&w);
    check(&f, "2026-02-28T12:00:00Z", false);         /* begins after the month's end */
    check(&f, "2026-04-30T12:00:00Z", true);
    check(&f, "2026-05-01T12:00:00Z", false);
    f = window(&x);
    check(&f, "2026-02-28T12:00:00Z", true);
}

/* 02:00 to 03:00 in Berlin does not come on 29 March and comes twice on 25 October. */
static void summer_time(void **state)
{
    (void)state;
    struct freeze_range night = {2 * 60, 3 * 60}, half = {150, 210};
    struct time_interval v = {.times = &night, .time_n = 1, .zone = zone("Europe/Berlin")};
    struct freeze_def f = window(&v);
    check(&f, "2026-03-28T01:30:00Z", true);
    check(&f, "2026-03-29T00:59:59Z", false);
    check(&f, "2026-03-29T01:00:00Z", false);         /* 03:00 at once */
    check_change(&f, "2026-03-28T02:00:00Z", "2026-03-30T00:00:00Z");
    check(&f, "2026-10-24T23:59:59Z", false);
    check(&f, "2026-10-25T00:00:00Z", true);          /* 02:00, summer time */
    check(&f, "2026-10-25T00:59:59Z", true);
    check(&f, "2026-10-25T01:30:00Z", true);          /* 02:30 again */
    check(&f, "2026-10-25T02:00:00Z", false);
    check_change(&f, "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z");
    struct time_interval w = {.times = &half, .time_n = 1, .zone = v.zone};   /* 02:30 to 03:30: begins inside the hour left out */
    f = window(&w);
    check_change(&f, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z");
    check_change(&f, "2026-03-29T01:10:00Z", "2026-03-29T01:30:00Z");
    check_change(&f, "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z");         /* its first 02:30 */
    check_change(&f, "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z");         /* the clock goes back to 02:00 */
    check_change(&f, "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z");
}

static void until_and_services(void **state)
{
    (void)state;
    struct freeze_def f = window(NULL);
    check(&f, "2026-05-11T00:00:00Z", true);          /* no interval: always */
    check_change(&f, "2026-05-11T00:00:00Z", NULL);
    f.until = at("2026-05-12T00:00:00Z");
    check(&f, "2026-05-11T23:59:59Z", true);
    check(&f, "2026-05-12T00:00:00Z", false);
    check_change(&f, "2026-05-11T00:00:00Z", "2026-05-12T00:00:00Z");
    check_change(&f, "2026-05-12T00:00:00Z", NULL);
    const char *names[] = {"a", "b"};
    assert_true(freeze_covers(&f, "z"));
    f.services = names;
    f.service_n = 2;
    assert_true(freeze_covers(&f, "b"));
    assert_false(freeze_covers(&f, "z"));
}

static void words(void **state)
{
    (void)state;
    enum freeze_kind k = FREEZE_KIND_FREEZE;
    assert_true(freeze_kind_parse("maintenance", &k));
    assert_string_equal(freeze_kind_name(k), "maintenance");
    assert_false(freeze_kind_parse("Freeze", &k));
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_weekdays_in_a_zone), cmocka_unit_test(days_months_and_years), cmocka_unit_test(summer_time),
        cmocka_unit_test(until_and_services), cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
