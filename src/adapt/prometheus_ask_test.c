#include "adapt/prometheus_ask.h"

#include <math.h>

#include "support/test.h"

#define BEGAN ((struct instant){INT64_C(1000000000)})

static const struct signal_def signals[] = {
    {.name = "p99", .ask_text = "1000 * p99{a=\"b c\"}", .newest_text = "min(t)", .requests_text = "sum(n) * 60",
     .is_quantile = true},
    {.name = "queue", .ask_text = "queue"},
};
static const uint16_t batch[] = {0, 1};

static void now(const char *body, long http, struct point out[2], struct prometheus_answer *a)
{
    prometheus_read_now(body, strlen(body), http, signals, batch, 2, BEGAN, out, a);
}

static void a_batch_is_one_union_with_marks(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    prometheus_ask(&b, signals, batch, 2, SPAN_S(5), NULL);
    assert_non_null(strstr(buf_text(&b), "query=label_replace%28%281000%20%2A%20p99%7Ba%3D%22b%20c%22%7D%29%2C%20"
                                         "%22trimtab%22%2C%20%22v0%22"));
    assert_non_null(strstr(buf_text(&b), "%20or%20label_replace%28%28min%28t%29%29%2C%20%22trimtab%22%2C%20%22t0%22"));
    assert_non_null(strstr(buf_text(&b), "%22n0%22"));
    assert_non_null(strstr(buf_text(&b), "%22v1%22"));
    assert_null(strstr(buf_text(&b), "%22t1%22"));
    assert_non_null(strstr(buf_text(&b), "&timeout=5.000"));
    buf_clear(&b);
    struct prometheus_span range = {{INT64_C(1700000000000000)}, {INT64_C(1700000600500000)}, SPAN_S(30)};
    prometheus_ask(&b, signals, batch, 2, SPAN_S(5), &range);
    assert_null(strstr(buf_text(&b), "%22n0%22"));
    assert_non_null(strstr(buf_text(&b), "&start=1700000000.000&end=1700000600.500&step=30.000"));
    buf_free(&b);
}

static void values_ages_and_requests_are_told_apart(void **state)
{
    (void)state;
    struct point p[2];
    struct prometheus_answer a;
    now("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":["
        "{\"metric\":{\"trimtab\":\"n0\"},\"value\":[1700000030.5,\"5999.6\"]},"
        "{\"metric\":{\"trimtab\":\"t0\"},\"value\":[1700000030.5,\"1700000020.5\"]},"
        "{\"metric\":{\"trimtab\":\"v0\",\"x\":\"y\"},\"value\":[1700000030.5,\"38.25\"]},"
        "{\"metric\":{\"trimtab\":\"v1\"},\"value\":[1700000030.5,\"140\"]}]}}", 200, p, &a);
    assert_true(a.ok);
    assert_near(p[0].value, 38.25, 0);
    assert_int_equal(p[0].n, 6000);
    assert_int_equal(p[0].at.us, BEGAN.us - 10000000);      /* ten seconds old when it was asked */
    assert_near(p[1].value, 140, 0);
    assert_int_equal(p[1].n, 0);
    assert_int_equal(p[1].at.us, BEGAN.us);
}

static void what_is_not_one_good_number_is_unknown(void **state)
{
    (void)state;
    struct point p[2];
    struct prometheus_answer a;
    now("{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v0\"},\"value\":[1,\"NaN\"]}]}}", 200, p, &a);
    assert_int_equal(p[0].why, WHY_LOW_TRAFFIC);            /* a quantile of nothing */
    assert_int_equal(p[1].why, WHY_MISSING);
    now("{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v1\"},\"value\":[1,\"+Inf\"]},"
        "{\"metric\":{\"trimtab\":\"v0\",\"i\":\"1\"},\"value\":[1,\"1\"]},"
        "{\"metric\":{\"trimtab\":\"v0\",\"i\":\"2\"},\"value\":[1,\"1\"]}]}}",
        200, p, &a);
    assert_int_equal(p[0].why, WHY_AMBIGUOUS);
    assert_int_equal(p[1].why, WHY_NAN);
    now("{\"status\":\"success\",\"warnings\":[\"store 2 is gone\"],\"data\":{\"result\":["
        "{\"metric\":{\"trimtab\":\"v1\"},\"value\":[1,\"140\"]}]}}", 200, p, &a);
    assert_true(a.ok);
    assert_int_equal(p[1].why, WHY_PARTIAL);
    assert_non_null(strstr(a.error, "store 2 is gone"));
}

static void hostile_answers_give_no_value(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "", "{", "[]", "null", "\"success\"", "{\"status\":\"success\"}", "{\"status\":1,\"data\":{\"result\":[]}}",
        "{\"status\":\"success\",\"data\":{\"result\":{}}}", "{\"status\":\"success\",\"data\":{\"result\":[1]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{},\"value\":[1,\"1\"]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v9\"},\"value\":[1,\"1\"]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v\"},\"value\":[1,\"1\"]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v0\"},\"value\":[1,1]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v0\"},\"value\":[\"1\",\"1\"]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v0\"},\"value\":[1,\"1x\"]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"trimtab\":\"v0\"},\"value\":[]}]}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct point p[2];
        struct prometheus_answer a;
        now(bodies[i], 200, p, &a);
        assert_false(a.ok);
        assert_false(a.refused);
        assert_true(a.error[0] != '\0');
        for (int k = 0; k < 2; k++) {
            assert_int_equal(p[k].why, WHY_SERVER);
            assert_true(isnan(p[k].value));
        }
    }
}

static void faults_of_a_query_differ_from_those_of_a_server(void **state)
{
    (void)state;
    struct point p[2];
    struct prometheus_answer a;
    now("{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"many-to-many\"}", 422, p, &a);
    assert_true(a.refused);
    assert_string_equal(a.error, "HTTP 422: many-to-many");
    now("<html>bad gateway</html>", 502, p, &a);
    assert_false(a.refused);
    assert_string_equal(a.error, "HTTP 502");
    now("{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"query timed out\"}", 503, p, &a);
    assert_false(a.refused);
}

struct rows { uint32_t n; double last; struct wall at; };

static void add(void *ctx, uint32_t place, struct wall at, double value)
{
    struct rows *r = ctx;
    r[place].n++;
    r[place].last = value;
    r[place].at = at;
}

static void a_past_comes_in_rows_that_rise(void **state)
{
    (void)state;
    static const char body[] =
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
        "{\"metric\":{\"trimtab\":\"v0\"},\"values\":[[1700000000,\"1\"],[1700000030,\"2\"],[1700000030,\"9\"],[5,\"9\"],"
        "[1700000060.5,\"3\"]]},"
        "{\"metric\":{\"trimtab\":\"v1\",\"i\":\"1\"},\"values\":[[1700000000,\"1\"]]},"
        "{\"metric\":{\"trimtab\":\"v1\",\"i\":\"2\"},\"values\":[[1700000000,\"1\"]]}]}}";
    struct rows r[2] = {0};
    struct prometheus_answer a;
    prometheus_read_range(body, sizeof body - 1, 200, 2, add, r, &a);
    assert_true(a.ok);
    assert_int_equal(r[0].n, 3);
    assert_near(r[0].last, 3, 0);
    assert_true(r[0].at.us == INT64_C(1700000060500000));
    assert_int_equal(r[1].n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_one_union_with_marks),
        cmocka_unit_test(values_ages_and_requests_are_told_apart),
        cmocka_unit_test(what_is_not_one_good_number_is_unknown),
        cmocka_unit_test(hostile_answers_give_no_value),
        cmocka_unit_test(faults_of_a_query_differ_from_those_of_a_server),
        cmocka_unit_test(a_past_comes_in_rows_that_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
