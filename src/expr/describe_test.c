#include "expr/expr.h"

#include "support/rules.h"

static struct expr_use use_of(struct rules *r, const char *text)
{
    struct expr_use use;
    expr_describe(rules_compile(r, text), &use);
    return use;
}

static void independent_views(void **state)
{
    (void)state;
    static const struct { const char *rule; unsigned views, signals; } rows[] = {
        {"latency_p99 > 1.15 * baseline(latency_p99)", 1, 1},
        {"latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250", 2, 2},
        {"latency_p99 > 80 ms", 1, 1},
        {"latency_p99 > 80 ms and latency_p99 > 1.15 * baseline(latency_p99)", 2, 1},
        {"latency_p99 > 80 ms and latency_p99 > 90 ms", 1, 1},
        {"zscore(latency_p99) > 3 and latency_p99 > 1.15 * baseline(latency_p99)", 2, 1},
        {"drift(latency_p99) > 15%", 1, 1},
        {"drift(latency_p99) > 15% and latency_p99 > 1.2 * profile(latency_p99)", 1, 1},  /* one anchor */
        {"drift(latency_p99) > 15% and (drift(feature_fetch_ms) > 10% or drift(queue_depth) > 10%)", 2, 3},
        {"latency_p99 > 1.15 * baseline(latency_p99) or queue_depth > 250", 1, 2},         /* either alone opens it */
        {"latency_p99 > 80 ms and (queue_depth > 250 or true)", 1, 2},
        {"not (latency_p99 < 80 ms or queue_depth < 250)", 2, 2},
        {"not (latency_p99 < 80 ms and queue_depth < 250)", 1, 2},
        {"score(latency_p99) > 1 and week_ago(latency_p99) * 1.2 < latency_p99", 2, 1},
        {"slope(latency_p99, 1h) > 5 ms and stddev(latency_p99, 5m) > 2 * stddev(latency_p99, 1h)", 2, 1},
        {"age(deploy) < 30m", 0, 0},
        {"latency_p99 > 80 ms and changed(batch_max, 1h)", 1, 1},
        {"queue_depth > 3 * baseline(latency_p99) / 1 ms", 2, 2},
        {"true", 0, 0},
        /* More ways than are kept: the weakest ones are. */
        {"(queue_depth > 1 or gpu_util > 1 or cache_hit > 1 or throughput > 1 /s or mem_rss_mb > 1 MB or cpu_pct > 1 %) and "
         "(latency_p99 > 1 ms or net_io > 1 MB/s or gpu_power > 1 W)", 2, 9},
        {"((latency_p99 > 1 ms and net_io > 1 MB/s and gpu_power > 1 W) or startup_time > 1 s) and (queue_depth > 1 or "
         "gpu_util > 1 or cache_hit > 1 or throughput > 1 /s or mem_rss_mb > 1 MB or cpu_pct > 1 % or drift(queue_depth) > 1 or "
         "drift(gpu_util) > 1 or drift(cache_hit) > 1)", 2, 10},
    };
    struct rules *r = rules_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct expr_use use = use_of(r, rows[i].rule);
        if (use.view_count != rows[i].views) print_error("%s: %u\n", rows[i].rule, use.view_count);
        assert_int_equal(use.view_count, rows[i].views);
        assert_int_equal(use.signal_count, rows[i].signals);
    }
    rules_free(r);
}

static void names_what_it_uses(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    struct expr_use use = use_of(r, "latency_p99 > 80 ms and drift(queue_depth) > 10% and "
                                    "gpu_util < batch_max / 100 and changed(batch_delay, 1h) and age(deploy) < 30m");
    assert_true(expr_use_has(&use, 0) && expr_use_has(&use, 1) && expr_use_has(&use, 2));
    assert_false(expr_use_has(&use, 3));
    assert_int_equal(use.knobs, 3);
    assert_true(use.uses_age_deploy);
    assert_int_equal(use.views, 1u << VIEW_OBJECTIVE | 1u << VIEW_DRIFT);
    assert_false(use_of(r, "age(config) < 30m").uses_age_deploy);
    rules_free(r);
}

static void constants(void **state)
{
    (void)state;
    static const struct { const char *rule; enum tri value; } rows[] = {
        {"true", TRI_TRUE},
        {"1 > 2", TRI_FALSE},
        {"90 s == 1m30s", TRI_TRUE},
        {"queue_depth > 250 or true", TRI_TRUE},
        {"queue_depth > 250 and 80 ms > 1 s", TRI_FALSE},
        {"gpu_util > 0.7 and gpu_util < 0.5", TRI_FALSE},
        {"gpu_util > 70% and queue_depth > 250 and 0.5 > gpu_util", TRI_FALSE},
        {"gpu_util > 0.7 and gpu_util < 0.7", TRI_FALSE},
        {"gpu_util >= 0.7 and gpu_util <= 0.7", TRI_UNKNOWN},
        {"gpu_util >= 0.7 and gpu_util < 0.7", TRI_FALSE},
        {"latency_p99 > 1 s and latency_p99 < 80 ms", TRI_FALSE},
        {"latency_p99 == 5 ms and latency_p99 > 6 ms", TRI_FALSE},
        {"latency_p99 > 80 ms or latency_p99 <= 0.08 s", TRI_TRUE},
        {"latency_p99 > 80 ms or latency_p99 < 0.08 s", TRI_UNKNOWN},
        {"not (latency_p99 <= 80 ms or latency_p99 > 70 ms)", TRI_FALSE},
        {"0.7 <= gpu_util and 0.5 >= gpu_util", TRI_FALSE},
        {"0.7 < gpu_util and 0.7 == gpu_util", TRI_FALSE},
        {"not (gpu_util >= 0.7 or gpu_util < 0.7)", TRI_FALSE},
        {"not gpu_util >= 0.7 and not not gpu_util > 0.8", TRI_FALSE},
        {"not (gpu_util != 0.7) and gpu_util > 0.8", TRI_FALSE},
        {"not (gpu_util == 0.7) and gpu_util >= 0.7", TRI_UNKNOWN},
        {"gpu_util > 0.5 and gpu_util < 0.7", TRI_UNKNOWN},
        {"gpu_util > 0.7 or gpu_util < 0.5", TRI_UNKNOWN},
        {"gpu_util > 0.7 and cache_hit < 0.5", TRI_UNKNOWN},
        {"slope(latency_p99, 10m) > 0 and slope(latency_p99, 1h) < 0", TRI_UNKNOWN},
        {"slope(latency_p99, 60m) > 0 and slope(latency_p99, 1h) < 0", TRI_FALSE},
        {"not (gpu_util > 0.7 and gpu_util < 0.5)", TRI_TRUE},
        {"(gpu_util > 0.7 and gpu_util < 0.5) or queue_depth > 250", TRI_UNKNOWN},
    };
    struct rules *r = rules_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct expr_use use = use_of(r, rows[i].rule);
        if (use.constant_value != rows[i].value) print_error("%s: %s\n", rows[i].rule, tri_name(use.constant_value));
        assert_int_equal(use.constant_value, rows[i].value);
        assert_int_equal(use.constant, rows[i].value != TRI_UNKNOWN);
    }
    rules_free(r);
}

static void known_and_unknown_signals(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    const struct expr *e = rules_compile(r, "latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250 and "
                                            "feature_fetch_ms > 9 ms and age(deploy) > 1h");
    uint16_t unknown;
    rules_set(r, FN_VALUE, "latency_p99", 40);
    rules_set(r, FN_VALUE, "queue_depth", 300);
    rules_unknown(r, FN_BASELINE, "latency_p99", WHY_WARMING);
    assert_int_equal(expr_known_signals(e, &r->evidence, &unknown), 1);
    assert_int_equal(unknown, 2);
    enum unknown_why why = WHY_KNOWN;
    assert_int_equal(expr_first_unknown(e, &r->evidence, &why), 0);
    assert_int_equal(why, WHY_WARMING);
    rules_set(r, FN_BASELINE, "latency_p99", 38);
    rules_unknown(r, FN_VALUE, "feature_fetch_ms", WHY_STALE);
    assert_int_equal(expr_first_unknown(e, &r->evidence, &why), 3);
    assert_int_equal(why, WHY_STALE);
    rules_set(r, FN_VALUE, "feature_fetch_ms", 6);
    assert_int_equal(expr_first_unknown(e, &r->evidence, &why), NO_INDEX);
    assert_int_equal(expr_known_signals(e, &r->evidence, &unknown), 3);
    assert_int_equal(unknown, 0);
    rules_free(r);
}

static void margin_and_reference(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    rules_set(r, FN_VALUE, "latency_p99", 46.8);
    rules_set(r, FN_BASELINE, "latency_p99", 38.1);
    rules_set(r, FN_VALUE, "queue_depth", 320);
    rules_set(r, FN_DRIFT, "latency_p99", 0.2);
    const struct expr *e = rules_compile(r, "queue_depth > 250 and latency_p99 > 1.15 * baseline(latency_p99)");
    double value = 0, limit = 0;
    assert_true(expr_margin(e, &r->evidence, 0, &value, &limit));
    assert_near(value, 46.8, 1e-12);
    assert_near(limit, 43.815, 1e-12);
    assert_true(expr_reference(e, &r->evidence, 0, &value, &limit));
    assert_near(limit, 38.1, 1e-12);                          /* 46.8 is 22.8 % over it: outside a dead band of 10 % */
    assert_true(expr_margin(e, &r->evidence, 1, &value, &limit));
    assert_near(limit, 250, 0);
    assert_false(expr_margin(e, &r->evidence, 2, &value, &limit));
    e = rules_compile(r, "drift(latency_p99) > 15% and drift(queue_depth) > 10%");
    assert_true(expr_reference(e, &r->evidence, 0, &value, &limit));
    assert_near(value, 1.2, 1e-12);
    assert_near(limit, 1, 0);
    assert_false(expr_margin(e, &r->evidence, 1, &value, &limit));       /* unknown */
    e = rules_compile(r, "latency_p99 > 80 ms or latency_p99 > 0.04 s");
    assert_true(expr_margin(e, &r->evidence, 0, &value, &limit));        /* the branch that holds */
    assert_near(limit, 40, 1e-12);
    e = rules_compile(r, "2 * (queue_depth - 60) > 500");
    assert_true(expr_margin(e, &r->evidence, 1, &value, &limit));
    assert_near(value, 520, 1e-9);
    e = rules_compile(r, "not latency_p99 < 40 ms");
    assert_false(expr_margin(e, &r->evidence, 0, &value, &limit));
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_views),
        cmocka_unit_test(names_what_it_uses),
        cmocka_unit_test(constants),
        cmocka_unit_test(known_and_unknown_signals),
        cmocka_unit_test(margin_and_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
