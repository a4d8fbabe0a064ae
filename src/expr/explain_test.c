#include "expr/expr.h"

#include "support/rules.h"

/* The values of scenario R1. */
static struct rules *reference(void)
{
    struct rules *r = rules_new();
    rules_set(r, FN_VALUE, "latency_p99", 46.8);
    rules_set(r, FN_BASELINE, "latency_p99", 38.1);
    rules_set(r, FN_PROFILE, "latency_p99", 38);
    rules_set(r, FN_DRIFT, "latency_p99", 0.182);
    rules_set(r, FN_ZSCORE, "latency_p99", 4.25);
    rules_set(r, FN_VALUE, "queue_depth", 320);
    rules_set(r, FN_BASELINE, "queue_depth", 140);
    rules_set(r, FN_VALUE, "gpu_util", 0.78);
    rules_set(r, FN_VALUE, "startup_time", 0.9);
    rules_set(r, FN_VALUE, "mem_rss_mb", 12345);
    rules_set(r, FN_KNOB, "batch_max", 32);
    rules_set(r, FN_KNOB, "batch_delay", 5);
    rules_set(r, FN_AGE, "deploy", 30 * 86400.0);
    rules_set_window(r, FN_SLOPE, "latency_p99", SPAN_MIN(10), -3.25);
    rules_set_window(r, FN_STDDEV, "latency_p99", SPAN_MIN(5), 2);
    rules_set_window(r, FN_STDDEV, "latency_p99", SPAN_HOUR(1), 0.5);
    rules_set_window(r, FN_CHANGED, "batch_max", SPAN_HOUR(1), 1);
    return r;
}

static void one_line_each(void **state)
{
    (void)state;
    static const struct { const char *rule, *said; } rows[] = {
        {"latency_p99 > 1.15 * baseline(latency_p99)",
         "latency_p99 46.8 ms > 1.15 * baseline 38.1 ms = 43.8 ms: true"},
        {"latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250",
         "latency_p99 46.8 ms > 1.15 * baseline 38.1 ms = 43.8 ms: true and queue_depth 320 > 250: true"},
        {"gpu_util < 0.5", "gpu_util 0.78 < 0.5: false"},
        {"gpu_util > 70%", "gpu_util 0.78 > 70%: true"},
        {"latency_p99 > 0.9 s", "latency_p99 46.8 ms > 0.9 s: false"},
        {"startup_time > 80 ms", "startup_time 0.9 s > 80 ms: true"},
        {"drift(latency_p99) > 15%", "drift(latency_p99) 18.2 % > 15%: true"},
        {"zscore(latency_p99) > 3", "zscore(latency_p99) 4.25 > 3: true"},
        {"latency_p99 > profile(latency_p99)", "latency_p99 46.8 ms > profile 38 ms: true"},
        {"queue_depth > 2 * baseline(latency_p99) / 1 ms",
         "queue_depth 320 > 2 * baseline(latency_p99) 38.1 ms / 1 ms = 76.2: true"},
        {"slope(latency_p99, 10m) < 0 ms", "slope(latency_p99, 10m) -3.25 ms < 0 ms: true"},
        {"slope(latency_p99, 10m) < 0", "slope(latency_p99, 10m) -3.25 ms < 0: true"},
        {"stddev(latency_p99, 5m) > 3 * stddev(latency_p99, 1h)",
         "stddev(latency_p99, 5m) 2 ms > 3 * stddev(latency_p99, 1h) 0.5 ms = 1.5 ms: true"},
        {"changed(batch_max, 1h)", "changed(batch_max, 1h): true"},
        {"not changed(batch_max, 1h)", "not (changed(batch_max, 1h): true): false"},
        {"queue_depth > 0.85 * batch_max", "queue_depth 320 > 0.85 * batch_max 32 = 27.2: true"},
        {"mem_rss_mb > 8 GB", "mem_rss_mb 12,300 MB > 8 GB: true"},
        {"true", "always: true"},
        {"gpu_util > 0.9 or (queue_depth > 250 and latency_p99 > 80 ms)",
         "gpu_util 0.78 > 0.9: false or (queue_depth 320 > 250: true and latency_p99 46.8 ms > 80 ms: false)"},
        {"(gpu_util > 0.9 or queue_depth > 250) and latency_p99 > 80 ms",
         "(gpu_util 0.78 > 0.9: false or queue_depth 320 > 250: true) and latency_p99 46.8 ms > 80 ms: false"},
        {"2 * (latency_p99 - 6 ms) > 80 ms", "2 * (latency_p99 46.8 ms - 6 ms) = 81.6 ms > 80 ms: true"},
        {"latency_p99 - (10 ms - 2 ms) > 30 ms", "latency_p99 46.8 ms - (10 ms - 2 ms) = 38.8 ms > 30 ms: true"},
        {"-queue_depth < -(2 + 3)", "-queue_depth 320 = -320 < -(2 + 3) = -5: true"},
    };
    struct rules *r = reference();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) rules_assert_explained(r, rows[i].rule, rows[i].said);
    rules_free(r);
}

static void ages_read_like_ages(void **state)
{
    (void)state;
    struct rules *r = reference();
    rules_assert_explained(r, "age(deploy) < 30m", "age(deploy) 30 d < 30m: false");
    rules_set(r, FN_AGE, "deploy", 754);
    rules_assert_explained(r, "age(deploy) < 30m", "age(deploy) 12:34 < 30m: true");
    rules_free(r);
}

/* Two sides that differ must not look equal. */
static void close_calls_show_all_digits(void **state)
{
    (void)state;
    struct rules *r = reference();
    rules_set(r, FN_VALUE, "latency_p99", 80.04);
    rules_assert_explained(r, "latency_p99 > 80 ms", "latency_p99 80.04 ms > 80 ms: true");
    rules_set(r, FN_VALUE, "latency_p99", 80);
    rules_assert_explained(r, "latency_p99 > 80 ms", "latency_p99 80 ms > 80 ms: false");
    rules_free(r);
}

static void unknown_says_why(void **state)
{
    (void)state;
    struct rules *r = reference();
    rules_unknown(r, FN_VALUE, "feature_fetch_ms", WHY_STALE);
    rules_set(r, FN_BASELINE, "feature_fetch_ms", 6.1);
    rules_assert_explained(r, "feature_fetch_ms > 1.5 * baseline(feature_fetch_ms)",
                           "feature_fetch_ms unknown (the newest sample is older than three intervals) > "
                           "1.5 * baseline 6.1 ms = 9.15 ms: unknown");
    rules_unknown(r, FN_BASELINE, "queue_depth", WHY_WARMING);
    rules_assert_explained(r, "queue_depth > 2 * baseline(queue_depth)",
                           "queue_depth 320 > 2 * baseline unknown (too little history yet): unknown");
    rules_assert_explained(r, "age(replica) < 7m",
                           "age(replica) unknown (no sample of it in the last page) < 7m: unknown");
    rules_set(r, FN_VALUE, "feature_fetch_ms", INFINITY);
    rules_assert_explained(r, "feature_fetch_ms > 9 ms",
                           "feature_fetch_ms unknown (the target reports NaN or infinity) > 9 ms: unknown");
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_each),
        cmocka_unit_test(ages_read_like_ages),
        cmocka_unit_test(close_calls_show_all_digits),
        cmocka_unit_test(unknown_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
