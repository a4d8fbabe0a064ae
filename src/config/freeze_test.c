/* Freeze and maintenance windows of a file: what they become, and what is refused with which words. */
#include "config/load.h"

#include "support/test.h"

#define SERVICES                                                                                     \
    "services:\n"                                                                                    \
    "  - name: a\n    targets: [http://h:1/m]\n"                                                     \
    "    signals:\n      p: {layer: request, unit: ms, query: p99}\n"                                \
    "    symptoms:\n      late: {when: p > 80 ms, slo: true}\n"                                         \
    "  - name: b\n    targets: [http://h:2/m]\n"                                                     \
    "    signals:\n      p: {layer: request, unit: ms, query: p99}\n"                                \
    "    symptoms:\n      late: {when: p > 80 ms, slo: true}\n"

static struct policy *load(const char *text, struct config_diagnostics *d, struct buf *said)
{
    *d = CONFIG_DIAGNOSTICS_INIT;
    struct policy *p = config_load(text, strlen(text), "t.yaml", NULL, d);
    config_print_diagnostics(said, d, true);
    return p;
}

static struct wall at(const char *text)
{
    struct wall w;
    assert_true(wall_parse(text, &w));
    return w;
}

static void windows_as_alertmanager_writes_them(void **state)
{
    (void)state;
    struct config_diagnostics d;
    struct buf said = BUF_INIT;
    struct policy *p = load(
        "freeze:\n"
        "  - name: office\n"
        "    author: wang\n"
        "    comment: hands off\n"
        "    services: [b]\n"
        "    time_intervals:\n"
        "      - times:\n"
        "          - start_time: '09:00'\n"
        "            end_time: '17:00'\n"
        "        weekdays: ['monday:friday', Sunday]\n"
        "        days_of_month: ['1:5', '-3:-1']\n"
        "        months: ['november:december', '1:3', May]\n"
        "        years: ['2026:2027', '2030']\n"
        "        location: 'Asia/Shanghai'\n"
        "maintenance:\n"
        "  - name: move\n"
        "    zone: Asia/Shanghai\n"
        "    until: 2026-11-12\n" SERVICES, &d, &said);
    if (!p) fail_msg("%s", buf_text(&said));
    assert_int_equal(p->freeze_count, 2);
    const struct freeze_def *f = &p->freezes[0], *m = &p->freezes[1];
    assert_string_equal(f->author, "wang");
    assert_string_equal(f->comment, "hands off");
    const struct time_interval *v = &f->intervals[0];
    assert_int_equal(v->weekdays, 0x5f);                        /* Monday to Friday and Sunday */
    assert_int_equal(v->months, 0xc17);
    assert_int_equal(v->times[0].from, 540);
    assert_int_equal(v->times[0].to, 1020);
    assert_int_equal(v->days[1].from, -3);
    assert_int_equal(v->years[1].to, 2030);
    assert_true(freeze_in_force(f, at("2026-11-02T01:00:00Z")));   /* Monday 2 November, 09:00 there */
    assert_false(freeze_in_force(f, at("2026-11-02T00:59:00Z")));
    assert_int_equal(p->services[0].freeze_count, 1);           /* a: the maintenance alone */
    assert_ptr_equal(p->services[0].freezes[0], m);
    assert_int_equal(p->services[1].freeze_count, 2);
    assert_int_equal(m->kind, FREEZE_KIND_MAINTENANCE);
    assert_int_equal(m->until.us, at("2026-11-12T16:00:00Z").us);  /* midnight after that day, in Shanghai */
    config_free(p);
    config_diagnostics_free(&d);
    buf_free(&said);
}

static void check_refused(const char *window, const char *words)
{
    struct config_diagnostics d;
    struct buf said = BUF_INIT, text = BUF_INIT;
    buf_printf(&text, "freeze:\n  - name: w\n%s" SERVICES, window);
    struct policy *p = load(buf_text(&text), &d, &said);
    if (p || !strstr(buf_text(&said), words)) fail_msg("expected '%s' in:\n%s", words, buf_text(&said));
    config_diagnostics_free(&d);
    buf_free(&said);
    buf_free(&text);
}

#define INTERVAL(x) "    time_intervals:\n      - " x "\n"

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    check_refused("    zone: Asia/Shanghay\n", "there is no time zone 'Asia/Shanghay'");
    check_refused("    zone: ../../etc/passwd\n", "there is no time zone");
    check_refused("    services: [c]\n", "there is no service 'c'");
    check_refused("    until: tomorrow\n", "'tomorrow' is not a time");
    check_refused(INTERVAL("weekdays: ['friday:monday']"), "ends before it begins");
    check_refused(INTERVAL("weekdays: [someday]"), "'someday' is no day of the week");
    check_refused(INTERVAL("days_of_month: ['0']"), "'0' is no day of the month");
    check_refused(INTERVAL("days_of_month: ['-1:5']"), "ends before it begins");
    check_refused(INTERVAL("days_of_month: ['32']"), "no day of the month");
    check_refused(INTERVAL("months: ['13']"), "no month");
    check_refused(INTERVAL("years: [soon]"), "no year");
    check_refused(INTERVAL("times: [{start_time: '22:00', end_time: '06:00'}]"), "ends before it begins");
    check_refused(INTERVAL("{}"), "this interval is empty");
    check_refused(INTERVAL("weekday: [monday]"), "unknown key 'weekday'");
    check_refused("  - name: w\n", "a window 'w' stands on line 2 already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_as_alertmanager_writes_them),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
