#include "support/test.h"

#include "base/buf.h"
#include "execute/execute.h"

static struct knob_value value(const char *text)
{
    struct knob_value v = {0};
    assert_true(knob_value_set(&v, text, (unsigned)strlen(text)));
    return v;
}

static void test_a_grown_cache_settles_when_it_is_full(void **state)
{
    (void)state;
    struct service_def s = {.timing = timing_defaults()};
    struct knob_def k = {.class = CLASS_CACHE, .unit = UNIT_MB};
    struct knob_value from = value("512"), to = value("1024");
    /* 512 MB at 2,000 req/s x 15 % misses x 4,096 B = 512e6 / 1,228,800 = 416.67 s: the 7 min of loop.md */
    assert_near(span_seconds(execute_settle(&s, &k, &from, &to, 300, 4096)), 416.6667, 0.001);
    assert_int_equal(execute_settle(&s, &k, &to, &from, 300, 4096).us, SPAN_MIN(2).us);   /* shrinking fills nothing */
    assert_int_equal(execute_settle(&s, &k, &from, &to, 0, 4096).us, SPAN_MIN(2).us);
    assert_int_equal(execute_settle(&s, &k, &from, &to, NAN, 4096).us, SPAN_MIN(2).us);
    assert_int_equal(execute_settle(&s, &k, &from, &to, 1, 4096).us, SPAN_MIN(30).us);
    assert_int_equal(execute_settle(&s, &k, &from, &to, 1e6, 4096).us, SPAN_MIN(2).us);
    k.unit = UNIT_ONE;                                                                    /* counted in items */
    struct knob_value many = value("90512");
    assert_near(span_seconds(execute_settle(&s, &k, &from, &many, 300, 0)), 300, 0.001);
    k.class = CLASS_BATCH;
    k.settle = SPAN_S(45);
    assert_int_equal(execute_settle(&s, &k, &from, &to, 1, 1).us, SPAN_S(45).us);
}

static void expect_by_hand(const struct service_def *s, const struct knob_def *k, const char *text, const char *want)
{
    struct knob_value v = value(text);
    struct buf b = BUF_INIT;
    execute_by_hand(&b, s, k, &v);
    assert_string_equal(buf_text(&b), want);
    buf_free(&b);
}

static void test_by_hand_http_shows_no_secret(void **state)
{
    (void)state;
    struct target_def targets[] = {{.instance = "10.0.0.1:8000"}, {.instance = "10.0.0.2:8000"}};
    struct service_def s = {.name = "embed", .targets = targets, .target_count = 2};
    struct knob_def k = {.name = "batch_max", .write = {.kind = ACCESS_HTTP, .method = "PUT", .url = "http://{instance}/config",
        .headers = {"If-Match: {version}", "X-API-Key: hunter2"}, .header_count = 2, .body = "{\"batch_max\": {value}}",
        .secret_file = "/etc/trimtab/token", .per_instance = true}};
    expect_by_hand(&s, &k, "32",
        "curl -fsS -X PUT -H 'If-Match: <version>' -H 'X-API-Key: <secret>'"
        " -H \"Authorization: Bearer $(cat '/etc/trimtab/token')\""
        " --data-binary '{\"batch_max\": 32}' 'http://10.0.0.1:8000/config'\n"
        "curl -fsS -X PUT -H 'If-Match: <version>' -H 'X-API-Key: <secret>'"
        " -H \"Authorization: Bearer $(cat '/etc/trimtab/token')\""
        " --data-binary '{\"batch_max\": 32}' 'http://10.0.0.2:8000/config'");
}

static void test_by_hand_file_quotes_for_the_shell(void **state)
{
    (void)state;
    struct service_def s = {.name = "embed"};
    struct knob_def k = {.name = "batch_max", .write = {.kind = ACCESS_FILE, .path = "/srv/o'brien/batch"}};
    expect_by_hand(&s, &k, "$(rm -rf /)'", "printf %s '$(rm -rf /)'\\''' > '/srv/o'\\''brien/batch'");
    k.write.path = "/srv/c.json";
    k.write.pointer = "/batch/max";
    expect_by_hand(&s, &k, "64", "edit '/srv/c.json': set '/batch/max' to '64'");
    k.write.kind = ACCESS_NONE;
    expect_by_hand(&s, &k, "64", "set batch_max of embed to '64' where it is kept: no way to write it is configured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_grown_cache_settles_when_it_is_full),
        cmocka_unit_test(test_by_hand_http_shows_no_secret),
        cmocka_unit_test(test_by_hand_file_quotes_for_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
