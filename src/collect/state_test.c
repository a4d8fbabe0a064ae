/* What a collector carries over time: releases, a new policy, saved bytes, what it forgets. */
#include "support/test.h"

#include "collect/test_bed.h"

static void releases_are_noticed(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(3, 1, q);
    struct release_seen r;
    for (uint16_t i = 0; i < 3; i++) feed(b, i, 10, "queue 1\nprocess_start_time_seconds 1000\n");
    collect_release(b->c, &r);
    assert_false(r.seen);
    feed(b, 0, 20, "queue 1\nprocess_start_time_seconds 2000\n");
    collect_release(b->c, &r);
    assert_false(r.seen);                      /* one of three: a crash, no release */
    feed(b, 1, 30, "queue 1\nprocess_start_time_seconds 2010\n");
    collect_release(b->c, &r);
    assert_true(r.seen);
    assert_true(r.at.us == at(30).us);
    collect_release(b->c, &r);
    assert_false(r.seen);
    collect_own_reload(b->c, at(3000));
    for (uint16_t i = 0; i < 3; i++) feed(b, i, 3010 + i, "queue 1\nprocess_start_time_seconds 9000\n");
    collect_release(b->c, &r);
    assert_false(r.seen);                      /* we did it */
    feed(b, 0, 3020, "queue 1\ninfo{model_version=\"v1\"} 1\n");
    collect_release(b->c, &r);
    assert_false(r.seen);
    feed(b, 0, 3030, "queue 1\ninfo{model_version=\"v2\"} 1\n");
    collect_release(b->c, &r);
    assert_true(r.seen);
    assert_string_equal(r.version, "v2");
    bed_free(b);
}

static void a_restart_loop_and_the_youngest_instance_are_seen(void **state)
{
    (void)state;
    const char *q[] = {"queue"};
    struct bed *b = bed_new(3, 1, q);
    assert_true(collect_youngest(b->c).us == WALL_NONE.us);
    for (uint16_t i = 0; i < 3; i++) feed(b, i, 10, "queue 1\nprocess_start_time_seconds 1000\n");
    feed(b, 0, 20, "queue 1\nprocess_start_time_seconds 1015\n");
    feed(b, 0, 200, "queue 1\nprocess_start_time_seconds 1190\n");
    assert_false(collect_restart_loop(b->c, at(210)));
    feed(b, 0, 400, "queue 1\nprocess_start_time_seconds 1390\n");
    assert_true(collect_restart_loop(b->c, at(410)));
    assert_true(collect_youngest(b->c).us == INT64_C(1390) * US_PER_S);
    assert_false(collect_restart_loop(b->c, at(1100)));    /* ten minutes of peace */
    bed_free(b);
}

static void reload_of_policy_keeps_samples(void **state)
{
    (void)state;
    const char *q1[] = {"rate(n_total[1m])", "gone"}, *q2[] = {"sum(rate(n_total[1m]))"};
    struct bed *b = bed_new(1, 2, q1);
    char page[64];
    for (int i = 0; i <= 6; i++) {
        snprintf(page, sizeof page, "n_total %d\ngone 1\n", i * 10);
        feed(b, 0, i * 10, page);
    }
    struct bed *n = bed_new(1, 1, q2);
    collect_adopt(n->c, b->c);
    assert_near(tick(n, 60).value, 1, 1e-9);
    feed(n, 0, 70, "n_total 70\n");
    assert_near(tick(n, 70).value, 1, 1e-9);
    collect_free(b->c);
    free(b);
    bed_free(n);
}

static void clone_behaves_like_its_original(void **state)
{
    (void)state;
    const char *q[] = {"sum(rate(n_total[1m]))", "avg(g)", "{job=\"x\"}"};
    struct bed *b = bed_new(3, 3, q);
    char page[200];
    for (int i = 0; i <= 20; i++) {
        for (uint16_t k = 0; k < 3; k++) {
            snprintf(page, sizeof page, "n_total{a=\"%d\"} %d\ng{pod=\"p%d\"} 0.%d\nother{job=\"x\"} 1\nzz bad\n", k,
                     i * 7 + k, i / 5, i + k);
            feed(b, k, i * 10 + k, page);
        }
        tick(b, i * 10 + 5);
    }
    struct buf saved = BUF_INIT;
    collect_save(b->c, &saved);
    struct bed *n = calloc(1, sizeof *n);
    *n = *b;
    n->c = collect_clone(b->c);
    assert_non_null(n->c);
    assert_true(collect_digest(n->c) == collect_digest(b->c));
    for (int i = 21; i < 30; i++) {
        for (uint16_t k = 0; k < 3; k++) {
            snprintf(page, sizeof page, "n_total{a=\"%d\"} %d\ng{pod=\"p%d\"} 0.%d\n", k, i * 7 + k, i / 5, i + k);
            feed(b, k, i * 10 + k, page);
            feed(n, k, i * 10 + k, page);
        }
        tick(b, i * 10 + 5);
        tick(n, i * 10 + 5);
        for (int k = 0; k < 2; k++) assert_true(b->out[k].value == n->out[k].value && b->out[k].at.us == n->out[k].at.us);
        assert_int_equal(b->out[2].why, n->out[2].why);
    }
    assert_true(collect_digest(n->c) == collect_digest(b->c));
    /* Cut or changed bytes are refused or harmless, never a crash. */
    for (size_t len = 0; len < saved.len; len += 13) {
        struct collect *c = collect_new(&b->s, collect_limits_default());
        assert_false(collect_load(c, saved.data, len));
        collect_free(c);
        c = collect_new(&b->s, collect_limits_default());
        char old = saved.data[len];
        saved.data[len] = (char)(old ^ 0x41);
        (void)collect_load(c, saved.data, saved.len);
        saved.data[len] = old;
        collect_free(c);
    }
    buf_free(&saved);
    collect_free(n->c);
    free(n);
    bed_free(b);
}

static void old_series_are_forgotten(void **state)
{
    (void)state;
    const char *q[] = {"count(x)"};
    struct bed *b = bed_new(1, 1, q);
    char page[64];
    size_t at_100 = 0;
    for (int i = 0; i < 2000; i++) {
        snprintf(page, sizeof page, "x{pod=\"p%d\"} 1\n", i);
        feed(b, 0, i * 10, page);
        if (i == 200) at_100 = collect_bytes(b->c);
    }
    assert_near(tick(b, 19990).value, 1, 0);
    assert_true(collect_bytes(b->c) < at_100 * 3);
    bed_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_are_noticed),
        cmocka_unit_test(a_restart_loop_and_the_youngest_instance_are_seen),
        cmocka_unit_test(reload_of_policy_keeps_samples),
        cmocka_unit_test(clone_behaves_like_its_original),
        cmocka_unit_test(old_series_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
