#include "support/test.h"

#include "sim/swarm.h"

static struct swarm_result run(uint64_t seed, struct buf *story)
{
    struct swarm_options o = {.seed = seed, .story = story};
    struct swarm_result r;
    struct err e = {0};
    assert_int_equal(swarm_run(&o, &r, &e), STATUS_OK);
    return r;
}

/* Invariant 16: the same seed is the same run, also after another one, and told or not. Seed 3 has one service and the real
 * store, seed 6 seven services and the real store. */
static void test_one_seed_is_one_run(void **state)
{
    (void)state;
    struct buf story = BUF_INIT, about = BUF_INIT;
    swarm_about(&(struct swarm_options){.seed = 6}, &about);
    assert_non_null(strstr(buf_text(&about), "7 services on 3 instances"));
    assert_non_null(strstr(buf_text(&about), "log in the real store"));
    struct swarm_result a = run(3, NULL), b = run(6, NULL), c = run(3, &story), d = run(6, NULL);
    assert_true(a.digest == c.digest && b.digest == d.digest);
    assert_true(a.events == c.events && a.records == c.records);
    assert_true(a.digest != b.digest);
    assert_non_null(strstr(buf_text(&story), "process 1 starts"));
    buf_free(&story);
    buf_free(&about);
}

/* A violation is found again with fewer faults, and the shorter list alone still shows it. */
static void test_shrink(void **state)
{
    (void)state;
    struct swarm_options o = {.sabotage = true};
    struct swarm_result r, again;
    struct err e = {0};
    do {
        o.seed++;
        assert_true(o.seed < 60);
        assert_int_equal(swarm_run(&o, &r, &e), STATUS_OK);
    } while (!r.violated);
    assert_non_null(strstr(r.what, "I3"));
    unsigned items = r.left;
    assert_int_equal(swarm_shrink(&o, &r, &e), STATUS_OK);
    assert_true(r.violated && r.left < items / 2);
    assert_int_equal(swarm_run(&o, &again, &e), STATUS_OK);
    assert_true(again.violated && again.digest == r.digest);
    assert_string_equal(again.what, r.what);
}

static void test_no_violation(void **state)
{
    (void)state;
    uint64_t writes = 0, undos = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct swarm_result r = run(seed, NULL);
        if (r.violated) print_error("seed %d: %s\n", (int)seed, r.what);
        assert_false(r.violated);
        writes += r.writes;
        undos += r.undos;
    }
    assert_true(writes >= 5 && undos >= 1);   /* else nothing was put to the test */
}

/* Leaving items out leaves the others where they were. */
static void test_only(void **state)
{
    (void)state;
    struct swarm_options o = {.seed = 5, .has_only = true};
    struct swarm_result r;
    struct err e = {0};
    struct buf all = BUF_INIT, one = BUF_INIT;
    swarm_list(&(struct swarm_options){.seed = 5}, &all);
    o.only[0] = 2;
    swarm_list(&o, &one);
    assert_non_null(strstr(buf_text(&all), buf_text(&one)));
    assert_int_equal(buf_text(&one)[0], '1');
    assert_int_equal(swarm_run(&o, &r, &e), STATUS_OK);
    assert_int_equal(r.left, 1);
    assert_true(r.items > 1);
    buf_free(&all);
    buf_free(&one);
}

static void test_draws_in_time(void **state)
{
    (void)state;
    unsigned seen[FAULTS_KINDS] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct faults f;
        faults_draw(&f, seed, SPAN_HOUR(12), 1);
        for (unsigned i = 0; i < f.n; i++) {
            assert_true(f.items[i].at.us >= 0 && f.items[i].at.us < 12 * US_PER_HOUR);
            seen[f.items[i].kind]++;
        }
    }
    for (unsigned k = 0; k < FAULTS_KINDS; k++) assert_true(seen[k] > 0);
}

static int done(void **state)
{
    (void)state;
    swarm_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_seed_is_one_run),
        cmocka_unit_test(test_shrink),
        cmocka_unit_test(test_no_violation),
        cmocka_unit_test(test_only),
        cmocka_unit_test(test_draws_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
