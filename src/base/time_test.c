#include "base/time.h"

#include "base/buf.h"
#include "support/test.h"

static struct buf b;

static const char *people(struct span d)
{
    buf_clear(&b);
    span_print(&b, d);
    return buf_text(&b);
}

static const char *config(struct span d)
{
    buf_clear(&b);
    span_print_config(&b, d);
    return buf_text(&b);
}

static const char *wall(int64_t us)
{
    buf_clear(&b);
    wall_print(&b, (struct wall){us});
    return buf_text(&b);
}

static void instants_saturate(void **state)
{
    (void)state;
    struct instant t = {5}, last = {INT64_MAX - 1};
    assert_true(instant_add(t, SPAN_S(1)).us == 1000005);
    assert_true(instant_sub(t, SPAN_S(1)).us == -999995);
    assert_true(instant_add(INSTANT_NEVER, SPAN_S(-1)).us == INT64_MAX);
    assert_true(instant_sub(INSTANT_NONE, SPAN_S(-1)).us == INT64_MIN);
    assert_true(instant_add(last, SPAN_S(1)).us == last.us);
    assert_true(instant_sub((struct instant){INT64_MIN + 1}, SPAN_S(1)).us == INT64_MIN + 1);
    assert_true(instant_sub(t, (struct span){INT64_MIN}).us == INT64_MAX - 1);
    assert_true(instant_since(t, (struct instant){2}).us == 3);
    assert_true(instant_since(t, INSTANT_NONE).us == INT64_MAX);
    assert_true(instant_since(t, INSTANT_NEVER).us == INT64_MIN);
    assert_true(instant_since(last, (struct instant){-9}).us == INT64_MAX);
}

static void spans_for_people(void **state)
{
    (void)state;
    assert_string_equal(people(SPAN_MS(350)), "350 ms");
    assert_string_equal(people((struct span){350}), "0.35 ms");
    assert_string_equal(people(SPAN_S(45)), "45 s");
    assert_string_equal(people(SPAN_MS(1500)), "1.5 s");
    assert_string_equal(people(SPAN_S(400)), "6:40");
    assert_string_equal(people(SPAN_MIN(130)), "2 h 10 min");
    assert_string_equal(people(SPAN_HOUR(4)), "4 h");
    assert_string_equal(people(SPAN_HOUR(76)), "3 d 4 h");
    assert_string_equal(people(SPAN_DAY(14)), "14 d");
    assert_string_equal(people((struct span){0}), "0 s");
    assert_string_equal(people(SPAN_S(-90)), "-1:30");
}

static void durations_parse(void **state)
{
    (void)state;
    struct span d;
    assert_int_equal(span_parse("1y2w3d4h5m6s7ms", 15, &d), 15);
    assert_true(d.us == 365 * US_PER_DAY + 17 * US_PER_DAY + 4 * US_PER_HOUR + 5 * US_PER_MIN + 6007 * US_PER_MS);
    assert_int_equal(span_parse("5m]", 3, &d), 2);
    assert_true(d.us == 5 * US_PER_MIN);
    assert_int_equal(span_parse("500ms", 5, &d), 5);
    assert_int_equal(span_parse("500ms", 4, &d), 4);  /* only "500m" is there */
    assert_int_equal(span_parse("0", 1, &d), 1);
    assert_true(d.us == 0);
    assert_int_equal(span_parse("5m1h", 4, &d), 2);
    assert_int_equal(span_parse("5m5m", 4, &d), 2);
    assert_int_equal(span_parse("5", 1, &d), 0);
    assert_int_equal(span_parse("m", 1, &d), 0);
    assert_int_equal(span_parse("", 0, &d), 0);
    assert_int_equal(span_parse("00", 2, &d), 0);
    assert_int_equal(span_parse("300000y", 7, &d), 0);
    assert_int_equal(span_parse("99999999999999999999s", 21, &d), 0);
}

static void durations_print_back(void **state)
{
    (void)state;
    const char *const texts[] = {"0s", "500ms", "5m", "1d2h", "1y", "2w", "8d", "1h30m", "1m1s1ms"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct span d;
        unsigned len = (unsigned)strlen(texts[i]);
        assert_int_equal(span_parse(texts[i], len, &d), len);
        assert_string_equal(config(d), texts[i]);
    }
}

static void walls_print(void **state)
{
    (void)state;
    assert_string_equal(wall(0), "1970-01-01T00:00:00.000Z");
    assert_string_equal(wall(INT64_C(1778580150000000)), "2026-05-12T10:02:30.000Z");
    assert_string_equal(wall(-1), "1969-12-31T23:59:59.999Z");
    assert_string_equal(wall(INT64_C(951782399999999)), "2000-02-28T23:59:59.999Z");
    assert_string_equal(wall(INT64_MIN), "-");
}

static void walls_parse(void **state)
{
    (void)state;
    struct wall t = {77};
    assert_true(wall_parse("2026-05-12T10:02:30.000Z", &t) && t.us == INT64_C(1778580150000000));
    assert_true(wall_parse("2026-05-12 12:02:30.25+02:00", &t) && t.us == INT64_C(1778580150250000));
    assert_true(wall_parse("2026-05-12T05:32:30-04:30", &t) && t.us == INT64_C(1778580150000000));
    assert_true(wall_parse("2026-05-12", &t) && t.us == INT64_C(1778544000000000));
    assert_true(wall_parse("2024-02-29", &t));
    assert_true(wall_parse("1778580150.1234567", &t) && t.us == INT64_C(1778580150123456));
    assert_true(wall_parse("-1.5", &t) && t.us == -1500000);
    t.us = 77;
    const char *const bad[] = {"", "2026", "2026-13-01", "2023-02-29", "2026-05-12T10:02:30", "2026-05-12T24:00:00Z",
                               "2026-05-12T10:02:60Z", "2026-05-12T10:02:30.Z", "2026-05-12T10:02:30Zx", "12:00",
                               "2026-05-12T10:02:30+2:00", "99999999999999", "1e9", "-", "1778580150.", "tomorrow"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (i != 1) assert_false(wall_parse(bad[i], &t));
    assert_true(t.us == 77);
    assert_true(wall_parse(bad[1], &t) && t.us == 2026 * US_PER_S);
}

static void civil_dates(void **state)
{
    (void)state;
    assert_true(civil_days(1970, 1, 1) == 0 && civil_days(2000, 3, 1) == 11017 && civil_days(1, 1, 1) == -719162);
    struct civil c = wall_civil((struct wall){INT64_C(1778580150000000)}, 8 * 3600);
    assert_true(c.year == 2026 && c.month == 5 && c.day == 12 && c.hour == 18 && c.minute == 2 && c.second == 30);
    assert_int_equal(c.weekday, 1);  /* a Tuesday */
    assert_int_equal(c.yday, 131);
    c = wall_civil((struct wall){0}, -3600);
    assert_true(c.year == 1969 && c.month == 12 && c.day == 31 && c.hour == 23 && c.weekday == 2 && c.yday == 364);
}

/* Every day of 800 years follows the one before. */
static void calendar_is_continuous(void **state)
{
    (void)state;
    struct civil last = wall_civil((struct wall){civil_days(1599, 12, 31) * US_PER_DAY}, 0);
    for (int64_t d = civil_days(1600, 1, 1); d < civil_days(2400, 1, 1); d++) {
        struct civil c = wall_civil((struct wall){d * US_PER_DAY}, 0);
        assert_true(civil_days(c.year, c.month, c.day) == d);
        assert_int_equal(c.weekday, (last.weekday + 1) % 7);
        assert_true(c.yday == last.yday + 1 || (c.yday == 0 && c.month == 1 && c.day == 1));
        last = c;
    }
}

static int drop(void **state)
{
    (void)state;
    buf_free(&b);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_saturate),    cmocka_unit_test(spans_for_people),
        cmocka_unit_test(durations_parse),      cmocka_unit_test(durations_print_back),
        cmocka_unit_test(walls_print),          cmocka_unit_test(walls_parse),
        cmocka_unit_test(civil_dates),          cmocka_unit_test(calendar_is_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
