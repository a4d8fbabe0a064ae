/* Zones against values known from their laws; damaged files never pass and never crash. */
#include "base/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "support/test.h"

#define FOLDER "/usr/share/zoneinfo/"

static size_t slurp(const char *name, uint8_t *out)
{
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    size_t n = fread(out, 1, ZONE_BYTES_MAX, f);
    fclose(f);
    return n;
}

static struct zone load(struct arena *a, const char *name)
{
    static uint8_t bytes[ZONE_BYTES_MAX];
    struct zone z = {0};
    struct err e;
    size_t n = slurp(name, bytes);
    if (n == 0) {
        print_message("skipped: no %s%s on this machine (package tzdata)\n", FOLDER, name);
        skip();
    }
    if (zone_parse(a, name, bytes, n, &z, &e) != STATUS_OK) fail_msg("%s: %s", name, e.text);
    return z;
}

static struct wall at(const char *text)
{
    struct wall w;
    assert_true(wall_parse(text, &w));
    return w;
}

static void check_offset(const struct zone *z, const char *when, int minutes)
{
    int got = zone_offset(z, at(when)) / 60;
    if (got != minutes) fail_msg("%s at %s: %d minutes, expected %d", z->name, when, got, minutes);
}

/* Central Europe: the last Sundays of March and October, at 01:00 UTC, now and in the far future. */
static void berlin_summer_time(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct zone z = load(&a, "Europe/Berlin");
    check_offset(&z, "2026-03-29T00:59:59Z", 60);
    check_offset(&z, "2026-03-29T01:00:00Z", 120);
    check_offset(&z, "2026-10-25T00:59:59Z", 120);
    check_offset(&z, "2026-10-25T01:00:00Z", 60);
    check_offset(&z, "2077-03-28T00:59:59Z", 60);
    check_offset(&z, "2077-03-28T01:00:00Z", 120);
    check_offset(&z, "2077-10-31T00:59:59Z", 120);
    check_offset(&z, "2077-10-31T01:00:00Z", 60);
    arena_free(&a);
}

/* The south has summer over the turn of the year; Lord Howe moves by half an hour; China and Nepal never; New York in 1970. */
static void other_places(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct zone sydney = load(&a, "Australia/Sydney"), howe = load(&a, "Australia/Lord_Howe");
    struct zone shanghai = load(&a, "Asia/Shanghai"), nepal = load(&a, "Asia/Kathmandu"), york = load(&a, "America/New_York");
    check_offset(&sydney, "2050-01-01T00:00:00Z", 660);
    check_offset(&sydney, "2050-07-01T00:00:00Z", 600);
    check_offset(&howe, "2050-01-01T00:00:00Z", 660);
    check_offset(&howe, "2050-07-01T00:00:00Z", 630);
    check_offset(&shanghai, "2026-07-01T00:00:00Z", 480);
    check_offset(&shanghai, "1988-07-01T00:00:00Z", 540);      /* China had summer time until 1991 */
    check_offset(&nepal, "2026-01-01T00:00:00Z", 345);
    check_offset(&york, "1970-06-01T00:00:00Z", -240);
    check_offset(&york, "2026-11-01T05:59:59Z", -240);
    check_offset(&york, "2026-11-01T06:00:00Z", -300);
    arena_free(&a);
}

static void check_local(const struct zone *z, int y, int mo, int d, int h, int mi, const char *utc)
{
    struct wall got = zone_local(z, civil_days(y, mo, d), h * 3600 + mi * 60);
    struct buf b = BUF_INIT;
    wall_print(&b, got);
    if (got.us != at(utc).us) fail_msg("%02d:%02d is %s, expected %s", h, mi, buf_text(&b), utc);
    buf_free(&b);
}

static void hours_left_out_and_hours_twice(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct zone z = load(&a, "Europe/Berlin");
    check_local(&z, 2026, 3, 29, 1, 59, "2026-03-29T00:59:00Z");
    check_local(&z, 2026, 3, 29, 2, 30, "2026-03-29T01:00:00Z");     /* left out */
    check_local(&z, 2026, 3, 29, 3, 0, "2026-03-29T01:00:00Z");
    check_local(&z, 2026, 10, 25, 1, 59, "2026-10-24T23:59:00Z");
    check_local(&z, 2026, 10, 25, 2, 30, "2026-10-25T01:30:00Z");    /* twice: the second */
    check_local(&z, 2026, 10, 25, 3, 0, "2026-10-25T02:00:00Z");
    check_local(&z, 2026, 7, 1, 12, 0, "2026-07-01T10:00:00Z");
    check_local(&zone_utc, 2026, 7, 1, 12, 0, "2026-07-01T12:00:00Z");
    arena_free(&a);
}

static void next_changes(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct zone z = load(&a, "Europe/Berlin"), s = load(&a, "Asia/Shanghai");
    assert_int_equal(zone_next_change(&z, at("2026-05-01T00:00:00Z")).us, at("2026-10-25T01:00:00Z").us);
    assert_int_equal(zone_next_change(&z, at("2076-12-31T00:00:00Z")).us, at("2077-03-28T01:00:00Z").us);
    assert_int_equal(zone_next_change(&s, at("2026-05-01T00:00:00Z")).us, WALL_NONE.us);
    assert_int_equal(zone_next_change(&zone_utc, at("2026-05-01T00:00:00Z")).us, WALL_NONE.us);
    arena_free(&a);
}

/* A file of our own, version 1: one change, from -1 h to +2 h at 1000 s. */
static size_t small(uint8_t *out, char version)
{
    static const uint8_t body[] = {0, 0, 3, 232, 1, 255, 255, 241, 240, 0, 0, 0, 0, 28, 32, 1, 0, 'A', 0};
    memset(out, 0, 44);
    memcpy(out, "TZif", 4);
    out[4] = (uint8_t)version;
    out[35] = 1;
    out[39] = 2;
    out[43] = 2;
    memcpy(out + 44, body, sizeof body);
    return 44 + sizeof body;
}

static void version_one(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct zone z;
    struct err e;
    uint8_t bytes[128];
    size_t n = small(bytes, 0);
    assert_int_equal(zone_parse(&a, "Small", bytes, n, &z, &e), STATUS_OK);
    assert_int_equal(zone_offset(&z, (struct wall){999 * US_PER_S}), -3600);
    assert_int_equal(zone_offset(&z, (struct wall){1000 * US_PER_S}), 7200);
    assert_int_equal(zone_offset(&z, at("2050-01-01T00:00:00Z")), 7200);
    bytes[48] = 2;                                    /* a type that is not there */
    assert_int_equal(zone_parse(&a, "Small", bytes, n, &z, &e), STATUS_INVALID);
    arena_free(&a);
}

/* Cut at each byte, and with each byte changed: refused or harmless. */
static void damaged_files(void **state)
{
    (void)state;
    static uint8_t whole[ZONE_BYTES_MAX];
    size_t n = slurp("Europe/Berlin", whole);
    if (n == 0) skip();
    for (size_t cut = 0; cut < n; cut++) {
        struct arena a = ARENA_INIT;
        struct zone z;
        struct err e;
        uint8_t *copy = malloc(cut ? cut : 1);        /* exactly as long: the sanitizer sees a step beyond */
        assert_non_null(copy);
        memcpy(copy, whole, cut);
        assert_int_equal(zone_parse(&a, "Cut", copy, cut, &z, &e), STATUS_INVALID);
        free(copy);
        arena_free(&a);
    }
    for (size_t i = 0; i < n; i++) {
        struct arena a = ARENA_INIT;
        struct zone z;
        struct err e;
        whole[i] ^= 0xff;
        if (zone_parse(&a, "Changed", whole, n, &z, &e) == STATUS_OK) (void)zone_local(&z, 20600, 9000);
        whole[i] ^= 0xff;
        arena_free(&a);
    }
}

static void names(void **state)
{
    (void)state;
    assert_true(zone_name_good("Asia/Shanghai"));
    assert_true(zone_name_good("America/Argentina/Buenos_Aires"));
    assert_true(zone_name_good("Etc/GMT+8"));
    assert_false(zone_name_good("../../etc/shadow"));
    assert_false(zone_name_good("/etc/localtime"));
    assert_false(zone_name_good("Asia//Shanghai"));
    assert_false(zone_name_good(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(berlin_summer_time), cmocka_unit_test(other_places),
        cmocka_unit_test(hours_left_out_and_hours_twice), cmocka_unit_test(next_changes),
        cmocka_unit_test(version_one), cmocka_unit_test(damaged_files), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
