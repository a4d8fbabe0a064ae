/* The shipped scenarios come out as told, each with a negative control, and one seed is one run. */
#include "support/test.h"

#include "sim/naive.h"
#include "sim/run.h"

static char *run_bytes(const char *bytes, size_t len, const char *name, uint64_t seed)
{
    struct arena a = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf out = BUF_INIT, diagnostics = BUF_INIT;
    struct err e = {0};
    const struct scenario *s = scenario_parse(&a, bytes, len, name, &d);
    struct run_options o = {.has_seed = seed != 0, .seed = seed, .json = true};
    if (!s || run_scenario(s, &o, &out, &d, &e) != STATUS_OK) {
        config_print_diagnostics(&diagnostics, &d, true);
        print_error("%s\n%s\n", e.text, buf_text(&diagnostics));
        fail();
    }
    config_diagnostics_free(&d);
    arena_free(&a);
    buf_free(&diagnostics);
    return buf_take(&out, NULL);
}

static char *run(const char *name, uint64_t seed)
{
    size_t len;
    const char *bytes = scenario_shipped(name, &len);
    assert_non_null(bytes);
    return run_bytes(bytes, len, name, seed);
}

static unsigned count(const char *json, const char *part)
{
    unsigned n = 0;
    for (const char *p = strstr(json, part); p; p = strstr(p + 1, part)) n++;
    return n;
}

static void expect(const char *json, const char *part, unsigned times)
{
    unsigned n = count(json, part);
    if (n != times) fail_msg("%u times %s, expected %u", n, part, times);
}

/* R1 exactly: the plan from the second bad tick on (86460 s is the second), the write when there is evidence. R2 in bands. */
static void test_reference(void **state)
{
    (void)state;
    char *json = run("reference", 0);
    const char *second = strstr(json, "\"state\":\"open\",\"decision\":\"noop\",\"reason\":\"evidence-before\"");
    assert_non_null(second);
    while (second[-1] != '\n') second--;
    static const char second_bad_tick[] = "{\"part\":\"R1\",\"t\":86460.";
    assert_memory_equal(second, second_bad_tick, sizeof second_bad_tick - 1);
    const char *plan = strstr(second, "\"knob\":\"batch_max\",\"from\":32,\"to\":64,\"cause\":\"compute-bound\"");
    assert_true(plan && plan < strchr(second, '\n'));
    expect(json, "\"record\":\"INTENT\"", 2);
    expect(json, "\"record\":\"APPLIED\"", 2);
    expect(json, "\"verdict\":\"effective\",\"outcome\":\"keep\"", 1);
    expect(json, "\"verdict\":\"ineffective\"", 0);
    assert_non_null(strstr(json, "\"knobs\":{\"batch_max\":64,"));
    free(json);
}

static void test_the_naive_engine_says_noop_on_its_first_sample(void **state)
{
    (void)state;
    struct naive n;
    naive_init(&n);
    struct naive_signals first = {46.8, 320, 0.78, 32, 13};
    assert_int_equal(naive_step(&n, &first).kind, DECISION_NOOP);
}

static void test_without_the_fault_nothing_happens(void **state)
{
    (void)state;
    static const char clean[] = "scenario: clean\nworld: plant\npolicy: reference\nmode: auto\nhistory: 3d\nduration: 20m\n";
    char *json = run_bytes(clean, sizeof clean - 1, "clean", 3);
    expect(json, "\"record\":\"INCIDENT\"", 0);
    expect(json, "\"record\":\"INTENT\"", 0);
    assert_non_null(strstr(json, "\"writes\":0"));
    free(json);
}

static void test_reference_ineffective(void **state)
{
    (void)state;
    char *json = run("reference-ineffective", 0);
    const char *first = strstr(json, "\"record\":\"INTENT\"");
    assert_non_null(first);
    unsigned tries = 0;
    for (const char *p = first; p; p = strstr(p + 1, "\"record\":\"INTENT\"")) {
        const char *end = strchr(p, '\n'), *batch = strstr(p, "\"knob\":\"batch_max\"");
        tries += batch && batch < end;
    }
    assert_int_equal(tries, 2);
    assert_non_null(strstr(json, "\"reason\":\"cooling\""));
    assert_non_null(strstr(json, "\"knobs\":{\"batch_max\":32,"));
    expect(json, "\"verdict\":\"effective\"", 0);
    free(json);
}

static void test_upstream(void **state)
{
    (void)state;
    char *json = run("upstream", 0);
    expect(json, "\"record\":\"INTENT\"", 1);
    expect(json, "\"verdict\":\"ineffective\",\"outcome\":\"undo\"", 1);
    expect(json, "\"record\":\"UNDONE\"", 1);
    assert_non_null(strstr(json, "\"record\":\"HANDOVER\","
                                  "\"symptom\":\"latency-degraded\",\"action\":null,\"reason\":\"advice-only\","
                                  "\"cause\":\"upstream-data\""));
    assert_non_null(strstr(json, "\"knobs\":{\"batch_max\":32,"));
    free(json);
}

static void test_wobble(void **state)
{
    (void)state;
    char *json = run("wobble", 0);
    assert_non_null(strstr(json, "\"writes\":1,"));
    expect(json, "\"outcome\":\"keep\"", 1);
    assert_non_null(strstr(json, "\"knobs\":{\"batch_max\":64,"));
    free(json);
}

static void test_release(void **state)
{
    (void)state;
    char *json = run("release", 0);
    assert_non_null(strstr(json, "\"writes\":0,"));
    assert_non_null(strstr(json, "\"reason\":\"advice-only\",\"cause\":\"recent-release\""));
    free(json);
}

static void test_creep(void **state)
{
    (void)state;
    char *json = run("creep", 0);
    assert_non_null(strstr(json, "latency-creep"));
    expect(json, "\"record\":\"INTENT\"", 0);
    free(json);
}

static struct run_result expectations(const char *bytes, size_t len, struct buf *out)
{
    struct arena a = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct err e = {0};
    struct run_options o = {0};
    struct run_result r = {0, 0};
    const struct scenario *s = scenario_parse(&a, bytes, len, "policy.yaml", &d);
    assert_non_null(s);
    assert_int_equal(run_expectations(s, &o, "policy.yaml", out, &r, &d, &e), STATUS_OK);
    config_diagnostics_free(&d);
    arena_free(&a);
    return r;
}

static void test_policy_tests_pass_and_can_fail(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, out = BUF_INIT;
    FILE *f = fopen(SOURCE_DIR "/examples/tests/reference.yaml", "r");
    char piece[4096];
    assert_non_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;) buf_add(&text, piece, n);
    fclose(f);
    struct run_result r = expectations(text.data, text.len, &out);
    assert_string_equal(buf_text(&out), "");
    assert_int_equal(r.passed, 6);
    assert_int_equal(r.failed, 0);
    char *to = strstr(text.data, "to: 64");
    assert_non_null(to);
    to[4] = '9';
    r = expectations(text.data, text.len, &out);
    assert_int_equal(r.failed, 1);
    assert_non_null(strstr(buf_text(&out), "to: expected 94, got 64"));
    buf_free(&text);
    buf_free(&out);
}

/* What stands in the file holds for both parts; the second says otherwise for one series. */
static void test_the_first_write_of_each_part(void **state)
{
    (void)state;
    static const char text[] =
        "scenario: first\nworld: script\nmode: auto\nduration: 24h10m\n"
        "knobs: {batch_max: 32, concurrency: 28, feature_cache_mb: 2048, replicas: 13, placebo: 1}\n"
        "series: {latency_p99: 38x2880 46.8x60, queue_depth: 140x2880 320x60, gpu_util: 0.65x2880 0.78x60,\n"
        "  feature_fetch_ms: 6.2x2940, cache_hit: 0.84x2940, throughput: 21000x2940, batch_size: 30x2940, gpu_memory: 0.45x2940}\n"
        "parts:\n"
        "  - {name: busy, first_write: batch_max up}\n"
        "  - {name: between, first_write: none, series: {gpu_util: 0.6x2940}}\n"
        "  - {name: wrong, first_write: batch_max down}\n"
        "  - {name: none at all, first_write: none}\n";
    struct buf out = BUF_INIT;
    struct run_result r = expectations(text, sizeof text - 1, &out);
    assert_int_equal(r.passed, 2);
    assert_int_equal(r.failed, 2);
    assert_non_null(strstr(buf_text(&out), "wrong, first write: expected batch_max down, got batch_max up"));
    assert_non_null(strstr(buf_text(&out), "none at all, first write: expected none, got batch_max up"));
    buf_free(&out);
}

static void test_one_seed_is_one_run(void **state)
{
    (void)state;
    static const char two_minutes[] =
        "scenario: short\nworld: plant\npolicy: reference\nmode: auto\nhistory: 2d\nduration: 2m\n"
        "faults:\n  - {kind: load, at: 30s, size: 1.05}\n";
    char *a = run_bytes(two_minutes, sizeof two_minutes - 1, "short", 7);
    char *b = run_bytes(two_minutes, sizeof two_minutes - 1, "short", 7);
    char *c = run_bytes(two_minutes, sizeof two_minutes - 1, "short", 8);
    assert_string_equal(a, b);
    assert_string_not_equal(strstr(a, "\"digest\""), strstr(c, "\"digest\""));
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_the_naive_engine_says_noop_on_its_first_sample),
        cmocka_unit_test(test_without_the_fault_nothing_happens),
        cmocka_unit_test(test_reference_ineffective),
        cmocka_unit_test(test_upstream),
        cmocka_unit_test(test_wobble),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_creep),
        cmocka_unit_test(test_policy_tests_pass_and_can_fail),
        cmocka_unit_test(test_the_first_write_of_each_part),
        cmocka_unit_test(test_one_seed_is_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
