#include "sim/oracle.h"

#include "config/load.h"
#include "sim/part.h"
#include "support/test.h"

/* The policy's knobs without replicas where `alone`, so that a world can be small. */
static void ask(const char *yaml, struct oracle *ret)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct arena a = ARENA_INIT;
    struct err e = {0};
    const struct scenario *s = scenario_parse(&a, yaml, strlen(yaml), "test.yaml", &d);
    assert_non_null(s);
    struct policy *p = part_policy(&s->parts[0], NULL, &d);
    assert_non_null(p);
    struct oracle_world w = {.part = &s->parts[0], .service = &p->services[0], .seed = s->seed, .tick = p->tick};
    assert_int_equal(oracle_ask(&w, ret, &e), STATUS_OK);
    config_free(p);
    arena_free(&a);
    config_diagnostics_free(&d);
}

static void more_load_on_slower_kernels_is_tunable(void **state)
{
    (void)state;
    struct oracle a, b;
    static const char yaml[] = "scenario: x\nworld: fluid\nduration: 30m\n"
                               "faults: [{kind: load, at: 10m, size: 1.05}, {kind: kernel, at: 10m, size: 1.06}]\n";
    ask(yaml, &a);
    assert_string_equal(oracle_label_name(a.label), "tunable");
    assert_true(a.t0 >= 20 && a.t0 <= 24);            /* 10 min and a little */
    assert_int_equal(a.n, a.t0 + 150);                /* run on to 75 min after it */
    assert_true(a.best_late < 1.15 * a.usual.p99_ms);
    assert_true(a.late > 1.5 * a.usual.p99_ms);
    assert_non_null(strstr(a.best, "batch_max up"));
    assert_true(a.scaling_cures);
    ask(yaml, &b);
    assert_memory_equal(a.nothing, b.nothing, a.n * sizeof *a.nothing);
    assert_string_equal(a.best, b.best);
    assert_true(a.best_late == b.best_late && a.replays == b.replays);
    oracle_free(&a);
    oracle_free(&b);
}

static void a_slow_upstream_behind_a_full_cache_is_incurable(void **state)
{
    (void)state;
    struct oracle o;
    ask("scenario: x\nworld: fluid\nduration: 30m\nplant: {rate: 12000, feature_cache_mb: 8192}\n"
        "faults: [{kind: upstream, at: 10m, size: 8}]\n", &o);
    assert_string_equal(oracle_label_name(o.label), "incurable");
    assert_false(o.scaling_cures);
    oracle_free(&o);
}

static void what_ends_soon_heals_by_itself(void **state)
{
    (void)state;
    struct oracle o;
    ask("scenario: x\nworld: fluid\nduration: 1h\nfaults: [{kind: kernel, at: 10m, until: 22m, size: 1.3}]\n", &o);
    assert_string_equal(oracle_label_name(o.label), "self-healing");
    oracle_free(&o);
}

static void a_short_blip_is_not_the_onset_of_what_comes_later(void **state)
{
    (void)state;
    struct oracle o;
    ask("scenario: x\nworld: fluid\nduration: 3h\n"
        "faults: [{kind: kernel, at: 10m, until: 22m, size: 1.3}, {kind: load, at: 100m, size: 1.1}]\n", &o);
    assert_true(o.t0 >= 200 && o.t0 <= 204);
    assert_string_equal(oracle_label_name(o.label), "tunable");
    oracle_free(&o);
}

static void a_release_is_a_persons_matter(void **state)
{
    (void)state;
    struct oracle o;
    ask("scenario: x\nworld: fluid\nduration: 30m\nfaults: [{kind: release, at: 10m, size: 1.3, version: v2}]\n", &o);
    assert_string_equal(oracle_label_name(o.label), "incurable");
    assert_true(o.release);
    assert_true(o.best_late < 0.9 * o.late);          /* a knob would help: the rule forbids it */
    oracle_free(&o);
}

static void without_harm_there_is_nothing_to_cure(void **state)
{
    (void)state;
    struct oracle o;
    ask("scenario: x\nworld: fluid\nduration: 30m\nfaults: [{kind: load, at: 10m, size: 0.9}]\n", &o);
    assert_string_equal(oracle_label_name(o.label), "quiet");
    oracle_free(&o);
    ask("scenario: x\nworld: fluid\nduration: 30m\n", &o);
    assert_string_equal(oracle_label_name(o.label), "clean");
    assert_near(o.usual.p99_ms, 37.8, 1.5);
    assert_near(o.knobs_end[0], 32, 0);
    oracle_free(&o);
}

/* The hour of a trace by hand: ref 10, window 20 ticks of 30 s. */
static void restored_means_it_stays(void **state)
{
    (void)state;
    double p99[200], ref[200];
    struct oracle o = {.t0 = 10, .n = 200, .ref = ref};
    struct oracle_hour h;
    for (int i = 0; i < 200; i++) {
        ref[i] = 10;
        p99[i] = i < 10 ? 10 : i < 60 ? 20 : 11;
    }
    oracle_hour(&o, p99, SPAN_S(30), ORACLE_HOUR, &h);
    assert_true(h.restored);
    assert_int_equal(h.restored_at, 60);
    assert_near(h.degraded_min, 25, 1e-9);
    assert_near(h.late, 11, 1e-9);
    p99[125] = INFINITY;                              /* one bad tick does not count */
    oracle_hour(&o, p99, SPAN_S(30), ORACLE_HOUR, &h);
    assert_true(h.restored);
    for (int i = 118; i < 130; i++) p99[i] = 20;
    oracle_hour(&o, p99, SPAN_S(30), ORACLE_HOUR, &h);
    assert_false(h.restored);                         /* worse again before the hour ends */
    o.promised = 20;
    oracle_hour(&o, p99, SPAN_S(30), ORACLE_HOUR, &h);
    assert_true(h.restored && !h.normal);             /* but no worse than was promised */
    assert_int_equal(h.restored_at, 10);
    assert_near(h.degraded_min, 31, 1e-9);            /* degraded it was all the same */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_load_on_slower_kernels_is_tunable),
        cmocka_unit_test(a_slow_upstream_behind_a_full_cache_is_incurable),
        cmocka_unit_test(what_ends_soon_heals_by_itself),
        cmocka_unit_test(a_short_blip_is_not_the_onset_of_what_comes_later),
        cmocka_unit_test(a_release_is_a_persons_matter),
        cmocka_unit_test(without_harm_there_is_nothing_to_cure),
        cmocka_unit_test(restored_means_it_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
