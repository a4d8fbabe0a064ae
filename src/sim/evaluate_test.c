#include "sim/score.h"

#include "support/test.h"

static uint32_t bits(const char *a, const char *b)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    return 1u << (contender_find(a) - all) | 1u << (contender_find(b) - all);
}

static void evaluate(const char *yaml, uint32_t who, struct evaluate_result *ret)
{
    struct evaluate_options o = {.who = who};
    evaluate_world(yaml, strlen(yaml), "folder/w.yaml", &o, ret);
}

static void a_broken_file_is_told_by_its_place(void **state)
{
    (void)state;
    struct evaluate_result r;
    evaluate("scenario: x\nworld: fluid\nduration: 30m\nfaults:\n  - {kind: lod, at: 10m}\n", 0, &r);
    assert_true(r.broken);
    assert_non_null(strstr(r.why, "folder/w.yaml:5:"));
    evaluate("scenario: x\nworld: script\nduration: 30m\n", 0, &r);
    assert_true(r.broken);
    assert_non_null(strstr(r.why, "world: fluid or plant"));
    evaluate("scenario: x\nparts: [{duration: 1m}, {duration: 1m}]\n", 0, &r);
    assert_true(r.broken);
    evaluate("scenario: x\nworld: fluid\nduration: 30m\npolicy: no-such.yaml\n", 0, &r);
    assert_true(r.broken);
    assert_non_null(strstr(r.why, "no-such.yaml"));
    evaluate("]", 0, &r);
    assert_true(r.broken);
    evaluate("", 0, &r);
    assert_true(r.broken);
}

static void a_world_without_history_gets_one(void **state)
{
    (void)state;
    struct evaluate_result r;
    unsigned n;
    const struct contender *all = contender_list(&n);
    evaluate("scenario: load-12\nworld: fluid\nduration: 40m\n"
             "faults: [{kind: load, at: 10m, size: 1.05}, {kind: kernel, at: 10m, size: 1.06}]\n", bits("trimtab", "naive"), &r);
    assert_false(r.broken);
    assert_string_equal(r.family, "load");
    assert_string_equal(r.name, "load-12");
    assert_int_equal(strlen(r.policy), 64);
    const struct conduct *trimtab = &r.conduct[contender_find("trimtab") - all];
    const struct conduct *naive = &r.conduct[contender_find("naive") - all];
    assert_true(trimtab->ran && naive->ran && !r.conduct[0].ran);
    assert_true(trimtab->restored);
    assert_true(trimtab->degraded_min <= naive->degraded_min + 10);
}

static void the_bound_of_a_rare_event(void **state)
{
    (void)state;
    assert_near(score_poisson_high(0), 2.995732, 1e-5);     /* -ln 0.05 */
    assert_near(score_poisson_high(1), 4.743865, 1e-5);
    assert_near(score_poisson_high(10), 16.962219, 1e-5);   /* half of the 95 % point of chi-square with 22 degrees */
}

static struct evaluate_result made(const char *family, enum label label, uint32_t acts, bool kept, bool restored)
{
    bool degraded = label != LABEL_CLEAN && label != LABEL_QUIET;
    struct evaluate_result r = {.label = label, .degraded = degraded, .years = 1, .block_sd = 0.05};
    snprintf(r.family, sizeof r.family, "%s", family);
    r.conduct[4] = (struct conduct){.ran = true, .acts = acts, .kept = kept, .restored = restored, .detect_s = 60, .restore_s = 600,
                                    .undone_s = NAN, .degraded_min = 20, .slo_min = 5, .replica_h = 26};
    return r;
}

static void rates_are_of_what_they_say(void **state)
{
    (void)state;
    struct evaluate_result all[] = {
        made("a", LABEL_TUNABLE, 1, true, true), made("a", LABEL_TUNABLE, 1, false, false),
        made("b", LABEL_INCURABLE, 0, false, false), made("b", LABEL_INCURABLE, 2, true, false),
        made("b", LABEL_SELF_HEALING, 1, false, true), made("c", LABEL_CLEAN, 3, true, false),
        made("c", LABEL_QUIET, 0, false, false),
    };
    struct score s;
    score_of(all, 7, 4, 4, NULL, &s);
    assert_int_equal(s.runs, 7);
    assert_int_equal(s.recovered.n, 1);
    assert_int_equal(s.recovered.of, 2);
    assert_near(s.recovered_low, 0.0945, 1e-3);
    assert_int_equal(s.first_acts_incurable.n, 1);
    assert_int_equal(s.first_acts_incurable.of, 2);
    assert_int_equal(s.second_acts_incurable.n, 1);
    assert_int_equal(s.placebo_kept.of, 1);
    assert_int_equal(s.placebo_kept.n, 1);
    assert_int_equal(s.self_healing_kept.n, 0);
    assert_int_equal(s.self_healing_kept.of, 1);
    assert_int_equal(s.quiet_acts.of, 1);
    assert_int_equal(s.clean_acts, 3);
    assert_near(s.wrong, 3000, 1e-9);
    assert_near(s.slo_minutes, 5, 1e-9);
    assert_near(s.regret, 20, 1e-9);
    score_of(all, 7, 4, 4, "b", &s);
    assert_int_equal(s.runs, 3);
    assert_true(isnan(s.wrong));
    score_of(all, 7, 0, 4, NULL, &s);
    assert_int_equal(s.runs, 0);
}

static void json_has_every_key(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "\"trimtab\":", "\"hpa\":", "\"aimd\":", "\"naive\":", "\"nothing\":", "\"recovered\":{\"n\":1,\"of\":1", "\"low\":",
        "\"first_acts_incurable\":", "\"second_acts_incurable\":", "\"placebo_kept\":", "\"self_healing_kept\":",
        "\"wrong_per_1000_service_years\":", "\"flips\":", "\"slo_minutes\":", "\"detect_delay_s\":", "\"recover_s\":",
        "\"harm_minutes\":", "\"regret\":", "\"replica_hours\":", "\"families\":{\"a\":{", "\"policy\":", "\"errors\":[]",
    };
    struct evaluate_result one = made("a", LABEL_TUNABLE, 1, true, true);
    struct score_list l = {.all = &one, .n = 1, .command = "x"};
    struct buf b = BUF_INIT;
    score_json(&l, &b);
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!strstr(buf_text(&b), keys[i])) fail_msg("no %s in %s", keys[i], buf_text(&b));
    }
    buf_clear(&b);
    score_table(&l, &b);
    assert_non_null(strstr(buf_text(&b), "MISSED"));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_file_is_told_by_its_place),
        cmocka_unit_test(a_world_without_history_gets_one),
        cmocka_unit_test(the_bound_of_a_rare_event),
        cmocka_unit_test(rates_are_of_what_they_say),
        cmocka_unit_test(json_has_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
