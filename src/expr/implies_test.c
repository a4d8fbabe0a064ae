#include "expr/expr.h"

#include "support/rules.h"

static void who_implies_whom(void **state)
{
    (void)state;
    static const struct { const char *a, *b; bool forth, back; } rows[] = {
        /* The rows for late features of spec section 4: the second is never reached behind the first. */
        {"feature_fetch_ms > 1.5 * baseline(feature_fetch_ms) and cache_hit < 0.9 * baseline(cache_hit)",
         "feature_fetch_ms > 1.5 * baseline(feature_fetch_ms)", true, false},
        {"gpu_util > 0.9", "gpu_util > 70%", true, false},
        {"gpu_util > 0.7", "gpu_util >= 0.7", true, false},
        {"gpu_util == 0.7", "gpu_util >= 0.7", true, false},
        {"gpu_util == 0.7", "gpu_util > 0.7", false, false},
        {"gpu_util < 0.4", "gpu_util <= 0.5", true, false},
        {"gpu_util < 0.5", "gpu_util > 0.4", false, false},
        {"gpu_util < 0.4", "cache_hit < 0.5", false, false},
        {"gpu_util != 0.4", "gpu_util < 0.5", false, false},
        {"queue_depth > 250 and gpu_util > 0.7", "gpu_util > 0.7 and queue_depth > 250", true, true},
        {"queue_depth > 250", "queue_depth > 100 or gpu_util > 0.7", true, false},
        {"slope(latency_p99, 60m) > 0", "slope(latency_p99, 1h) > 0 ms", true, true},
        {"slope(latency_p99, 10m) > 0", "slope(latency_p99, 1h) > 0", false, false},
        {"not changed(batch_max, 1h)", "not changed(batch_max, 60m)", true, true},
        {"changed(batch_max, 1h)", "not changed(batch_max, 1h)", false, false},
        {"latency_p99 > 2 * startup_time", "latency_p99 > 2 * startup_time and true", false, true},
        {"latency_p99 + startup_time > 1 s", "latency_p99 + startup_time > 900 ms", true, false},
        {"-queue_depth < -300", "-queue_depth < -250", true, false},
        {"age(deploy) < 30m", "age(config) < 30m", false, false},
        {"queue_depth > batch_max", "queue_depth > 2 * batch_max", false, false},
    };
    struct rules *r = rules_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct expr *a = rules_compile(r, rows[i].a), *b = rules_compile(r, rows[i].b);
        bool forth = expr_implies(a, b), back = expr_implies(b, a);
        if (forth != rows[i].forth || back != rows[i].back) print_error("%s / %s: %d %d\n", rows[i].a, rows[i].b, forth, back);
        assert_int_equal(forth, rows[i].forth);
        assert_int_equal(back, rows[i].back);
        assert_true(expr_implies(a, a));
    }
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_implies_whom)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
