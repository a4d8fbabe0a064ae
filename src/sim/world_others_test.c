/* People, reconcilers, clocks and broken scrapes beside the daemon: what the scenario says happens in the world. */
#include "support/test.h"

#include "sim/run.h"

static char *run(const char *head, const char *tail)
{
    struct arena a = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf text = BUF_INIT, out = BUF_INIT, said = BUF_INIT;
    struct err e = {0};
    buf_printf(&text, "scenario: x\npolicy: reference\nmode: auto\nhistory: 26h\n%s%s", head, tail);
    const struct scenario *s = scenario_parse(&a, buf_text(&text), text.len, "x", &d);
    struct run_options o = {.json = true};
    if (!s || run_scenario(s, &o, &out, &d, &e) != STATUS_OK) {
        config_print_diagnostics(&said, &d, true);
        buf_printf(&out, "REFUSED %s %s", e.text, buf_text(&said));
    }
    config_diagnostics_free(&d);
    arena_free(&a);
    buf_free(&text);
    buf_free(&said);
    return buf_take(&out, NULL);
}

static const char ill[] = "world: fluid\nduration: 40m\n"
                          "faults: [{kind: load, at: 10m, size: 1.05}, {kind: kernel, at: 10m, size: 1.06}]\n";

static void expect(const char *json, const char *part, bool is_there)
{
    if ((strstr(json, part) != NULL) != is_there) fail_msg("%s %s in:\n%s", part, is_there ? "is missing" : "must not be", json);
}

static void alone_it_acts_and_keeps(void **state)
{
    (void)state;
    char *json = run(ill, "");
    expect(json, "\"verdict\":\"effective\"", true);
    expect(json, "\"knobs\":{\"batch_max\":64,", true);
    free(json);
}

static void a_person_writes_after_the_record(void **state)
{
    (void)state;
    char *json = run(ill, "by_hand: [{after: APPLIED, at: 90s, knob: batch_max, value: \"48\"}]\n");
    expect(json, "\"record\":\"YIELDED\"", true);
    expect(json, "\"verdict\":\"effective\"", false);
    expect(json, "\"knobs\":{\"batch_max\":48,", true);
    free(json);
}

static void a_reconciler_puts_the_value_back(void **state)
{
    (void)state;
    char *json = run(ill, "reconcile: [{at: 10s, every: 3m, knob: batch_max, value: \"32\"}]\n");
    expect(json, "\"record\":\"APPLIED\"", true);
    expect(json, "\"record\":\"YIELDED\"", true);
    expect(json, "\"knobs\":{\"batch_max\":32,", true);
    free(json);
}

static void without_metrics_nothing_is_done(void **state)
{
    (void)state;
    char *json = run("world: fluid\nduration: 40m\nfaults: [{kind: load, at: 10m, size: 1.05}, "
                     "{kind: kernel, at: 10m, size: 1.06}, {kind: metrics-missing, at: 8m, until: 40m}]\n", "");
    expect(json, "\"record\":\"INTENT\"", false);
    free(json);
}

static void a_page_that_is_stuck_or_gone(void **state)
{
    (void)state;
    char *json = run("world: plant\nduration: 16m\nfaults: [{kind: load, at: 3m, size: 1.05}, {kind: kernel, at: 3m, size: 1.06}, "
                     "{kind: metrics-frozen, at: 2m, until: 16m}]\n", "");
    expect(json, "\"record\":\"INTENT\"", false);
    free(json);
    json = run("world: plant\nduration: 10m\nfaults: [{kind: metrics-nan, at: 2m, until: 3m}]\n", "");
    expect(json, "REFUSED metrics-nan needs world: fluid", true);
    free(json);
}

/* A step of the daemon's clock freezes it for three good ticks (row 51); it does not shorten a window. */
static void a_clock_step_is_survived(void **state)
{
    (void)state;
    char *json = run(ill, "clock: [{at: 20m, by: -3600}]\n");
    expect(json, "\"knobs\":{\"batch_max\":64,", true);
    free(json);
    json = run(ill, "clock: [{at: 20m, by: 1e9}]\n");
    expect(json, "REFUSED", true);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_it_acts_and_keeps),
        cmocka_unit_test(a_person_writes_after_the_record),
        cmocka_unit_test(a_reconciler_puts_the_value_back),
        cmocka_unit_test(without_metrics_nothing_is_done),
        cmocka_unit_test(a_page_that_is_stuck_or_gone),
        cmocka_unit_test(a_clock_step_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
