/* What is refused, where and with which hint; what is known of a query before it runs. */
#include "promql/promql.h"
#include "support/test.h"

static struct arena arena;

static void refuses_with_place_and_hint(void **state)
{
    (void)state;
    static const struct { const char *text, *error, *hint; unsigned line, col; } cases[] = {
        {"sum(a", "',' or ')' expected, but the expression ends", "", 1, 6},
        {"rate(a)", "rate takes a range here, not a vector", "give it a range: [5m]", 1, 6},
        {"rat(a[5m])", "rat is not a function of the supported PromQL", "did you mean rate?", 1, 1},
        {"a +\n  b[5m]", "+ takes scalars and vectors, not a range", "", 2, 3},
        {"1 > 2", "a comparison of two scalars needs bool", "write > bool", 1, 1},
        {"a and 1", "and works on two vectors", "", 1, 1},
        {"{a=\"\"}", "this selects every series", "name a metric, or add a matcher that the empty text does not pass", 1, 1},
        {"{a=~\".*\"}", "this selects every series", "name a metric, or add a matcher that the empty text does not pass", 1, 1},
        {"a{b==\"c\"}", "one of = != =~ !~ expected, not '=='", "a label is matched with a single =", 1, 4},
        {"a{b=~\"(\"}", "regular expression refused: it is not a regular expression", "", 1, 6},
        {"a{b=~\"(?=x)\"}",
         "regular expression refused: look-around, back references and possessive repeats do not exist in PromQL", "", 1, 6},
        {"a[0s]", "the duration must be greater than 0", "", 1, 3},
        {"sum(a)[5m]", "only a selector can have a range", "a range of any other expression is a subquery: [5m:30s]", 1, 7},
        {"(a + b) offset 5m", "offset stands after a selector or a subquery only", "", 1, 9},
        {"a $ b", "this character has no meaning here", "", 1, 3},
        {"\"abc", "the text's closing quote is missing", "", 1, 1},
        {"topk(a)", "topk takes 2 arguments, not 1", "", 1, 1},
        {"histogram_quantile(a, 0.9)", "histogram_quantile takes a scalar here, not a vector", "", 1, 20},
        {"round(a, 1, 2)", "round takes no more than 2 arguments", "", 1, 13},
        {"clamp(a, 1)", "clamp needs a scalar as argument 3", "", 1, 1},
        {"", "an expression expected, but the expression ends", "", 1, 1},
        {"a b", "an operator or the end expected, not 'b'", "", 1, 3},
        {"5q", "neither a number nor a duration such as 5m", "", 1, 1},
        {"sum by (a) (b) group_left c", "an operator or the end expected, not 'group_left'", "", 1, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pq_error e;
        const struct pq *q = pq_compile(&arena, cases[i].text, strlen(cases[i].text), &e);
        if (q) print_error("accepted: %s\n", cases[i].text);
        assert_null(q);
        assert_string_equal(e.text, cases[i].error);
        assert_string_equal(e.hint, cases[i].hint);
        assert_int_equal(e.pos.line, cases[i].line);
        assert_int_equal(e.pos.col, cases[i].col);
        arena_free(&arena);
    }
}

static void refuses_what_is_too_large(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    struct pq_error e;
    for (int i = 0; i < 100; i++) buf_putc(&b, '(');
    assert_null(pq_compile(&arena, b.data, b.len, &e));
    assert_string_equal(e.text, "the expression is nested deeper than 64");
    buf_clear(&b);
    buf_puts(&b, "a");
    for (int i = 0; i < 1000; i++) buf_puts(&b, "+1");
    assert_null(pq_compile(&arena, b.data, b.len, &e));
    assert_string_equal(e.text, "the expression is too large: more than 512 parts");
    buf_clear(&b);
    for (int i = 0; i < 9000; i++) buf_putc(&b, ' ');
    assert_null(pq_compile(&arena, b.data, b.len, &e));
    assert_string_equal(e.text, "the expression is longer than 8192 bytes");
    assert_null(pq_compile(&arena, "a\0b", 3, &e));
    assert_string_equal(e.text, "a NUL byte");
    buf_free(&b);
    arena_free(&arena);
}

static const struct pq *compiled(const char *text)
{
    struct pq_error e;
    const struct pq *q = pq_compile(&arena, text, strlen(text), &e);
    if (!q) print_error("%s\n", e.text);
    assert_non_null(q);
    return q;
}

static void tells_reach_range_and_names(void **state)
{
    (void)state;
    assert_true(pq_reach(compiled("a")).us == SPAN_MIN(5).us);
    assert_true(pq_reach(compiled("rate(a[1m])")).us == SPAN_MIN(1).us);
    assert_true(pq_reach(compiled("a offset 10m")).us == SPAN_MIN(15).us);
    assert_true(pq_reach(compiled("max_over_time(rate(a[1m])[30m:1m] offset 1h)")).us == SPAN_MIN(91).us);
    assert_true(pq_reach(compiled("1 + 2")).us == 0);
    assert_true(pq_range(compiled("sum(rate(a[1m])) / sum(rate(b[5m]))")).us == SPAN_MIN(5).us);
    assert_true(pq_range(compiled("a")).us == 0);
    assert_int_equal(pq_type(compiled("scalar(a)")), PQ_SCALAR);
    assert_int_equal(pq_type(compiled("a[5m]")), PQ_MATRIX);
    const char *names[4];
    assert_int_equal(pq_metric_names(compiled("a + b{c=\"d\"} + a + {e=\"f\"}"), names, 4), 3);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "b");
    assert_null(names[2]);
    double q;
    assert_true(pq_quantile(compiled("histogram_quantile(0.99, sum by (le) (rate(a_bucket[1m]))) * 1000"), &q));
    assert_near(q, 0.99, 0);
    assert_true(pq_quantile(compiled("max(a{quantile=\"0.95\"})"), &q));
    assert_near(q, 0.95, 0);
    assert_false(pq_quantile(compiled("sum(rate(a[1m]))"), &q));
    struct buf b = BUF_INIT;
    pq_print(&b, compiled("sum  by (le)\n (rate( a_bucket{x='  y'}[1m]))  # why"));
    assert_string_equal(buf_text(&b), "sum by (le) (rate( a_bucket{x='  y'}[1m]))");
    buf_free(&b);
    arena_free(&arena);
}

/* docs/promql.md names each function and aggregation there is. */
static void documentation_is_complete(void **state)
{
    (void)state;
    static char text[1 << 16];
    char word[80];
    FILE *f = fopen(SOURCE_DIR "/docs/promql.md", "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    for (uint32_t i = 0; pq_function(i); i++) {
        snprintf(word, sizeof word, "`%s`", pq_function(i));
        if (!strstr(text, word)) print_error("docs/promql.md does not name %s\n", word);
        assert_non_null(strstr(text, word));
    }
    for (uint32_t i = 0; pq_aggregation(i); i++) {
        snprintf(word, sizeof word, "`%s`", pq_aggregation(i));
        assert_non_null(strstr(text, word));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_with_place_and_hint),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(tells_reach_range_and_names),
        cmocka_unit_test(documentation_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
