#include "expr/expr.h"

#include "support/rules.h"

/* Truth tables: F, T and U stand for a condition that is false, true, unknown. */
static void kleene(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    rules_set(r, FN_VALUE, "queue_depth", 100);
    static const char *const word[] = {"queue_depth > 250", "queue_depth < 250", "gpu_util > 0.7"};
    static const enum tri value[] = {TRI_FALSE, TRI_TRUE, TRI_UNKNOWN};
    static const enum tri and_table[3][3] = {{TRI_FALSE, TRI_FALSE, TRI_FALSE},
                                             {TRI_FALSE, TRI_TRUE, TRI_UNKNOWN},
                                             {TRI_FALSE, TRI_UNKNOWN, TRI_UNKNOWN}};
    static const enum tri or_table[3][3] = {{TRI_FALSE, TRI_TRUE, TRI_UNKNOWN},
                                            {TRI_TRUE, TRI_TRUE, TRI_TRUE},
                                            {TRI_UNKNOWN, TRI_TRUE, TRI_UNKNOWN}};
    static const enum tri not_table[3] = {TRI_TRUE, TRI_FALSE, TRI_UNKNOWN};
    char text[200];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rules_eval(r, word[i]), value[i]);
        snprintf(text, sizeof text, "not %s", word[i]);
        assert_int_equal(rules_eval(r, text), not_table[i]);
        for (int k = 0; k < 3; k++) {
            snprintf(text, sizeof text, "%s and %s", word[i], word[k]);
            assert_int_equal(rules_eval(r, text), and_table[i][k]);
            snprintf(text, sizeof text, "%s or %s", word[i], word[k]);
            assert_int_equal(rules_eval(r, text), or_table[i][k]);
        }
    }
    rules_free(r);
}

static void set_reference_values(struct rules *r)
{
    rules_set(r, FN_VALUE, "latency_p99", 46.8);
    rules_set(r, FN_BASELINE, "latency_p99", 38.1);
    rules_set(r, FN_WEEK_AGO, "latency_p99", 39);
    rules_set(r, FN_SCORE, "latency_p99", 1.4);
    rules_set(r, FN_VALUE, "queue_depth", 320);
    rules_set(r, FN_VALUE, "gpu_util", 0.78);
    rules_set(r, FN_VALUE, "throughput", 160);
    rules_set(r, FN_VALUE, "mem_rss_mb", 2048);
    rules_set(r, FN_VALUE, "cpu_pct", 85);
    rules_set(r, FN_VALUE, "startup_time", 90);
    rules_set(r, FN_VALUE, "net_io", 12);
    rules_set(r, FN_VALUE, "batch-fill", 0.9);
    rules_set(r, FN_KNOB, "batch_max", 32);
    rules_set(r, FN_KNOB, "batch_delay", 5);
    rules_set_window(r, FN_MEAN, "latency_p99", SPAN_MIN(5), 44);
    rules_set_window(r, FN_CHANGED, "batch_max", SPAN_HOUR(24), 0);
}

/* Each row worked out by hand from the values above. */
static void worked_out_by_hand(void **state)
{
    (void)state;
    static const struct { const char *rule; enum tri expected; } rows[] = {
        {"latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250", TRI_TRUE},   /* 46.8 > 43.815 */
        {"latency_p99 > 1.25 * baseline(latency_p99)", TRI_FALSE},                        /* 47.625 */
        {"latency_p99 / baseline(latency_p99) > 1.2", TRI_TRUE},                          /* 1.2283 */
        {"latency_p99 / baseline(latency_p99) > 122%", TRI_TRUE},
        {"latency_p99 / baseline(latency_p99) - 1 > 23%", TRI_FALSE},
        {"latency_p99 - baseline(latency_p99) >= 8.7 ms", TRI_FALSE},   /* 46.8 - 38.1 is 8.699999999999996 */
        {"latency_p99 >= 0.0465 s", TRI_TRUE},
        {"0.0465 s <= latency_p99", TRI_TRUE},
        {"latency_p99 == 46800 us", TRI_TRUE},
        {"latency_p99 != 46.8 ms", TRI_FALSE},
        {"latency_p99 > week_ago(latency_p99) * 120%", TRI_FALSE},                        /* 46.8 > 46.8 */
        {"score(latency_p99) > 1", TRI_TRUE},
        {"mean(latency_p99, 5m) < 45 ms", TRI_TRUE},
        {"mean(latency_p99, 300s) < 45 ms", TRI_TRUE},
        {"queue_depth / throughput > 1.9 s", TRI_TRUE},                                   /* 2 s of waiting */
        {"queue_depth / throughput > 2 s", TRI_FALSE},
        {"throughput * latency_p99 > 7", TRI_TRUE},                                       /* 7.488 in the house */
        {"throughput * latency_p99 > 7.5", TRI_FALSE},
        {"net_io * 1m > 0.7 GB", TRI_TRUE},                                               /* 720 MB */
        {"mem_rss_mb / net_io < 3m", TRI_TRUE},                                           /* 170.7 s */
        {"mem_rss_mb / 1h > 0.5 MB/s", TRI_TRUE},                                         /* 0.5689 */
        {"mem_rss_mb > 2 GB", TRI_TRUE},
        {"mem_rss_mb + 1 GB > 3000 MB", TRI_TRUE},
        {"1 GB + mem_rss_mb > 3.1 GB", TRI_FALSE},
        {"cpu_pct > 80%", TRI_TRUE},
        {"cpu_pct > 0.8 ratio", TRI_TRUE},
        {"cpu_pct > gpu_util", TRI_TRUE},                                                 /* 85 % > 0.78 */
        {"gpu_util > cpu_pct", TRI_FALSE},
        {"1 - gpu_util < 25%", TRI_TRUE},
        {"gpu_util > 70%", TRI_TRUE},
        {"gpu_util > 0.7", TRI_TRUE},
        {"startup_time > 1m20s", TRI_TRUE},
        {"startup_time == 1m30s", TRI_TRUE},
        {"startup_time < 90000 ms", TRI_FALSE},
        {"queue_depth > 0.85 * batch_max", TRI_TRUE},
        {"batch_delay < 0.2 * latency_p99", TRI_TRUE},                                    /* 5 < 9.36 */
        {"latency_p99 > 0", TRI_TRUE},
        {"-latency_p99 < 0 ms", TRI_TRUE},
        {"latency_p99-batch_delay>41ms", TRI_TRUE},                                       /* a minus, no name */
        {"batch-fill > 0.85", TRI_TRUE},                                                  /* a name */
        {"batch-fill-0.1 > 0.79", TRI_TRUE},
        {"changed(batch_max, 24h)", TRI_FALSE},
        {"not changed(batch_max, 1d)", TRI_TRUE},
        {"queue_depth - 20 - 100 == 200", TRI_TRUE},                                      /* from the left */
        {"queue_depth / 4 / 2 == 40", TRI_TRUE},
        {"queue_depth == 20 + 30 * 10", TRI_TRUE},
        {"queue_depth == (2 + 30) * 10", TRI_TRUE},
        {"not queue_depth > 1 or gpu_util > 0.7", TRI_TRUE},
        {"gpu_util > 0.7 or gpu_util > 0.9 and queue_depth > 999", TRI_TRUE},
        {"(gpu_util > 0.7 or gpu_util > 0.9) and queue_depth > 999", TRI_FALSE},
        {"true and not false", TRI_TRUE},
        {"latency_p99 / batch_max < 1.47 ms", TRI_TRUE},                                  /* 1.4625 */
        {"cpu_pct / batch_max > 2.6%", TRI_TRUE},                                         /* 2.656 */
    };
    struct rules *r = rules_new();
    set_reference_values(r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum tri got = rules_eval(r, rows[i].rule);
        if (got != rows[i].expected) print_error("%s: %s\n", rows[i].rule, tri_name(got));
        assert_int_equal(got, rows[i].expected);
    }
    rules_free(r);
}

/* A number that cannot be told makes the rule unknown, not false: invariant 7. */
static void what_cannot_be_told_is_unknown(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    set_reference_values(r);
    assert_int_equal(rules_eval(r, "feature_fetch_ms > 3 ms"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "feature_fetch_ms + latency_p99 > 3 ms"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "feature_fetch_ms * 0 < 3 ms"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "feature_fetch_ms == feature_fetch_ms"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "feature_fetch_ms != 3 ms"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "changed(batch_delay, 1h)"), TRI_UNKNOWN);
    rules_set(r, FN_VALUE, "throughput", 0);
    assert_int_equal(rules_eval(r, "queue_depth / throughput > 1 s"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "queue_depth / throughput <= 1 s"), TRI_UNKNOWN);
    rules_set(r, FN_VALUE, "throughput", NAN);
    assert_int_equal(rules_eval(r, "throughput < 10 /s"), TRI_UNKNOWN);
    rules_set(r, FN_VALUE, "mem_rss_mb", 1e308);
    assert_int_equal(rules_eval(r, "mem_rss_mb * 10 > 1 MB"), TRI_UNKNOWN);
    assert_int_equal(rules_eval(r, "mem_rss_mb / 0.0001 > 1 MB"), TRI_UNKNOWN);
    rules_free(r);
}

/* After a reload the table may be older than the rule. */
static void a_table_without_the_reading_is_unknown(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    struct needs none = {0};
    rules_set(r, FN_VALUE, "queue_depth", 320);
    const struct expr *e = rules_compile(r, "queue_depth > 250");
    assert_int_equal(expr_eval(e, &r->evidence), TRI_TRUE);
    r->evidence.needs = &none;
    assert_int_equal(expr_eval(e, &r->evidence), TRI_UNKNOWN);
    rules_free(r);
}

static void readings_are_shared(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    rules_compile(r, "latency_p99 > 1.15 * baseline(latency_p99)");
    rules_compile(r, "latency_p99 > 2 * baseline(latency_p99) or slope(latency_p99, 10m) > 5 ms");
    assert_int_equal(r->def.needs.n, 3);
    rules_compile(r, "slope(latency_p99, 600s) > 5 ms or slope(latency_p99, 11m) > 5 ms");
    assert_int_equal(r->def.needs.n, 4);
    assert_string_equal(expr_text(rules_compile(r, "gpu_util > 0.7")), "gpu_util > 0.7");
    rules_free(r);
}

/* What scenario R1 of loop.md section 7 turns on. */
static void reference_scenario(void **state)
{
    (void)state;
    static const struct { double gpu; enum tri compute, host; } rows[] = {
        {0.78, TRI_TRUE, TRI_FALSE}, {0.60, TRI_FALSE, TRI_FALSE}, {0.45, TRI_FALSE, TRI_TRUE},
    };
    struct rules *r = rules_new();
    set_reference_values(r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        rules_set(r, FN_VALUE, "gpu_util", rows[i].gpu);
        assert_int_equal(rules_eval(r, "gpu_util > 0.7"), rows[i].compute);
        assert_int_equal(rules_eval(r, "gpu_util < 0.5"), rows[i].host);
    }
    rules_set(r, FN_VALUE, "latency_p99", 43.8);
    assert_int_equal(rules_eval(r, "latency_p99 > 1.15 * baseline(latency_p99)"), TRI_FALSE);
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kleene),
        cmocka_unit_test(worked_out_by_hand),
        cmocka_unit_test(what_cannot_be_told_is_unknown),
        cmocka_unit_test(a_table_without_the_reading_is_unknown),
        cmocka_unit_test(readings_are_shared),
        cmocka_unit_test(reference_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
