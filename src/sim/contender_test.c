#include "sim/contender_inside.h"

#include "config/load.h"
#include "sim/part.h"
#include "support/test.h"

struct ring {                                    /* a world and what the oracle says of it */
    struct arena a;
    struct config_diagnostics d;
    struct policy *policy;
    struct oracle_world world;
    struct oracle oracle;
    struct contest contest;
};

static void enter(struct ring *r, const char *yaml)
{
    struct err e = {0};
    memset(r, 0, sizeof *r);
    r->a = ARENA_INIT;
    r->d = CONFIG_DIAGNOSTICS_INIT;
    const struct scenario *s = scenario_parse(&r->a, yaml, strlen(yaml), "test.yaml", &r->d);
    assert_non_null(s);
    r->policy = part_policy(&s->parts[0], NULL, &r->d);
    assert_non_null(r->policy);
    r->world = (struct oracle_world){.part = &s->parts[0], .service = &r->policy->services[0], .seed = 7, .tick = r->policy->tick};
    assert_int_equal(oracle_ask(&r->world, &r->oracle, &e), STATUS_OK);
    r->contest = (struct contest){.world = &r->world, .oracle = &r->oracle, .objective = 80};
}

static void leave(struct ring *r)
{
    oracle_free(&r->oracle);
    config_free(r->policy);
    arena_free(&r->a);
    config_diagnostics_free(&r->d);
}

static struct conduct run(struct ring *r, const char *who)
{
    struct conduct c;
    struct err e = {0};
    const struct contender *x = contender_find(who);
    assert_non_null(x);
    assert_int_equal(contender_run(x, &r->contest, &c, &e), STATUS_OK);
    assert_true(c.ran);
    return c;
}

static const char overload[] = "scenario: x\nworld: fluid\nhistory: 1d\nduration: 90m\n"
                               "faults: [{kind: load, at: 10m, size: 1.05}, {kind: kernel, at: 10m, size: 1.06}]\n";

static void doing_nothing_is_what_the_oracle_saw(void **state)
{
    (void)state;
    struct ring r;
    enter(&r, overload);
    struct conduct c = run(&r, "nothing");
    assert_int_equal(c.acts, 0);
    assert_false(c.restored);
    assert_false(c.kept);
    assert_near(c.harm_min, 0, 0);                /* the same chance, to the last bit */
    assert_near(c.degraded_min, 60, 2);
    assert_near(c.replica_h, 13 * 1.5, 0.01);
    assert_true(isnan(c.detect_s) && isnan(c.restore_s));
    leave(&r);
}

static void trimtab_raises_the_batch_once_and_keeps_it(void **state)
{
    (void)state;
    struct ring r;
    enter(&r, overload);
    struct conduct c = run(&r, "trimtab"), again = run(&r, "trimtab");
    assert_int_equal(c.acts, 1);
    assert_int_equal(c.judged_kept, 1);
    assert_int_equal(c.undos + c.flips, 0);
    assert_true(c.kept && c.restored);
    assert_true(c.detect_s >= 0 && c.detect_s <= 120);
    assert_true(c.degraded_min < 12);
    assert_memory_equal(&c, &again, sizeof c);
    leave(&r);
}

static void the_scaler_scales_and_the_limiter_swings(void **state)
{
    (void)state;
    struct ring r;
    enter(&r, overload);
    struct conduct hpa = run(&r, "hpa"), aimd = run(&r, "aimd");
    assert_true(hpa.acts >= 1 && hpa.restored && hpa.replica_h > 13 * 1.5);
    assert_true(hpa.restore_s >= 120);            /* a replica takes 2 to 7 minutes to start */
    assert_true(aimd.acts > 5 && !aimd.restored);
    leave(&r);
}

static void one_guard_less_is_one_field_of_the_policy(void **state)
{
    (void)state;
    unsigned n;
    const struct contender *all = contender_list(&n);
    assert_true(n >= 13 && n <= CONTENDERS_MAX);
    for (unsigned i = 0; i < n; i++) {
        assert_ptr_equal(contender_find(all[i].name), &all[i]);
        assert_true((all[i].without != NULL) == (strncmp(all[i].name, "without_", 8) == 0));
    }
    assert_null(contender_find("without_brain"));
}

static void a_change_against_the_last_one_is_a_flip(void **state)
{
    (void)state;
    struct conduct c = {0};
    struct acts a = {.c = &c};
    acts_forward(&a, 0, DIR_UP, (struct instant){0});
    acts_forward(&a, 1, DIR_DOWN, (struct instant){US_PER_MIN});        /* another knob */
    acts_forward(&a, 0, DIR_UP, (struct instant){US_PER_HOUR});
    assert_int_equal(c.flips, 0);
    acts_forward(&a, 0, DIR_DOWN, (struct instant){24 * US_PER_HOUR});
    assert_int_equal(c.flips, 1);                                       /* 23 h later */
    acts_undone(&a, 0, (struct instant){25 * US_PER_HOUR});
    acts_forward(&a, 0, DIR_UP, (struct instant){26 * US_PER_HOUR});
    assert_int_equal(c.flips, 1);                                       /* the other was taken back: no flip */
    acts_forward(&a, 0, DIR_DOWN, (struct instant){50 * US_PER_HOUR});
    assert_int_equal(c.flips, 1);                                       /* a day later */
    assert_int_equal(c.acts, 6);
    assert_int_equal(c.undos, 1);
    assert_near(c.undone_s, 25 * 3600, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doing_nothing_is_what_the_oracle_saw),
        cmocka_unit_test(trimtab_raises_the_batch_once_and_keeps_it),
        cmocka_unit_test(the_scaler_scales_and_the_limiter_swings),
        cmocka_unit_test(one_guard_less_is_one_field_of_the_policy),
        cmocka_unit_test(a_change_against_the_last_one_is_a_flip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
