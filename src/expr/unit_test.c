/* The matrix of units: one signal of each dimension against each other and against each kind of literal. */
#include "expr/unit.h"

#include "support/rules.h"

static const char *const names[] = {"queue_depth", "gpu_util", "cpu_pct", "latency_p99", "mem_rss_mb", "throughput",
                                    "net_io", "gpu_power"};
static const char *const literals[] = {"250", "0", "70 %", "0.7 ratio", "80 ms", "2 GB", "10 /s", "5 MB/s", "90 W"};

/* '+' compiles, '-' does not. Rows are names; columns names, then literals. */
static const char *const matrix[][2] = {
    {"++------", "++-+-----"},   /* a plain number: %, too, is a mistake beside it */
    {"+++-----", "++++-----"},
    {"-++-----", "-+++-----"},   /* %: a bare number would be ambiguous */
    {"---+----", "-+--+----"},
    {"----+---", "-+---+---"},
    {"-----+--", "-+----+--"},
    {"------+-", "-+-----+-"},
    {"-------+", "-+------+"},
};

static void check_text(struct rules *r, const char *text, char expected)
{
    char got = rules_try(r, text) ? '+' : '-';
    if (got != expected) print_error("%s: %c\n", text, got);
    assert_int_equal(got, expected);
}

/* Comparison both ways round, sum and difference all follow the same rule. */
static void check(struct rules *r, const char *left, const char *right, char expected)
{
    char text[200];
    snprintf(text, sizeof text, "%s > %s", left, right);
    check_text(r, text, expected);
    snprintf(text, sizeof text, "%s <= %s", right, left);
    check_text(r, text, expected);
    snprintf(text, sizeof text, "%s + %s != 0", left, right);
    check_text(r, text, expected);
    snprintf(text, sizeof text, "%s - %s == 0", right, left);
    check_text(r, text, expected);
}

static void who_meets_whom(void **state)
{
    (void)state;
    struct rules *r = rules_new();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        for (size_t k = 0; k < ARRAY_LEN(names); k++) check(r, names[i], names[k], matrix[i][0][k]);
        for (size_t k = 0; k < ARRAY_LEN(literals); k++) check(r, names[i], literals[k], matrix[i][1][k]);
    }
    rules_free(r);
}

static void conversion_factors_are_whole(void **state)
{
    (void)state;
    static const struct { enum unit from, to; double factor; bool divide; } rows[] = {
        {UNIT_MS, UNIT_S, 1000, true},       {UNIT_S, UNIT_MS, 1000, false},   {UNIT_US, UNIT_DAY, 86400e6, true},
        {UNIT_PERCENT, UNIT_RATIO, 100, true}, {UNIT_GB, UNIT_MB, 1000, false}, {UNIT_HOUR, UNIT_MIN, 60, false},
        {UNIT_MS, UNIT_MS, 1, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double factor;
        assert_int_equal(expr_unit_factor(rows[i].from, rows[i].to, &factor), rows[i].divide);
        assert_near(factor, rows[i].factor, 0);
    }
}

static void products_and_quotients(void **state)
{
    (void)state;
    static const struct { const char *rule; char compiles; } rows[] = {
        {"1.15 * latency_p99 > 80 ms", '+'},   {"latency_p99 * 115% > 80 ms", '+'},
        {"gpu_util * latency_p99 > 80 ms", '+'}, {"queue_depth * latency_p99 > 80 ms", '+'},
        {"cpu_pct * latency_p99 > 80 ms", '+'},
        {"latency_p99 * throughput > 5", '+'}, {"throughput * latency_p99 > 5 ms", '-'},
        {"net_io * latency_p99 > 5 MB", '+'},  {"latency_p99 * latency_p99 > 5 ms", '-'},
        {"mem_rss_mb * throughput > 5 MB", '-'}, {"gpu_power * latency_p99 > 5 W", '-'},
        {"latency_p99 / 2 > 80 ms", '+'},      {"2 / latency_p99 > 80 /s", '+'},
        {"queue_depth / throughput > 2 s", '+'}, {"queue_depth / latency_p99 > 5 /s", '+'},
        {"mem_rss_mb / net_io > 10 s", '+'},   {"mem_rss_mb / latency_p99 > 10 MB/s", '+'},
        {"mem_rss_mb / throughput > 10 s", '-'}, {"latency_p99 / gpu_power > 1", '-'},
        {"gpu_util / latency_p99 > 1 /s", '-'}, {"latency_p99 / startup_time > 5%", '+'},
        {"cpu_pct / 2 > 40%", '+'},            {"cpu_pct / gpu_util > 1.2", '+'},
        {"latency_p99 / batch_max > 1 ms", '+'}, {"cpu_pct / batch_max > 1%", '+'},
        {"queue_depth / batch_max > 0.85", '+'}, {"latency_p99 / latency_p99 > 1 ms", '-'},
    };
    struct rules *r = rules_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char got = rules_try(r, rows[i].rule) ? '+' : '-';
        if (got != rows[i].compiles) print_error("%s: %c %s\n", rows[i].rule, got, r->error.text);
        assert_int_equal(got, rows[i].compiles);
    }
    rules_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_meets_whom),
        cmocka_unit_test(conversion_factors_are_whole),
        cmocka_unit_test(products_and_quotients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
