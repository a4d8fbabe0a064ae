#include "adapt/template.h"

#include "support/test.h"

static const struct template_words words = {.value = "a \"b\"/ü", .value_len = 8, .old = "32", .old_len = 2,
                                            .instance = "10.0.0.1:80", .version = "\"7\""};

static void expect(const char *text, enum template_place place, const char *want)
{
    struct buf out = BUF_INIT;
    char why[160] = "";
    assert_true(template_expand(&out, text, place, &words, why));
    assert_string_equal(want, buf_text(&out));
    buf_free(&out);
}

static void expect_no(const char *text, enum template_place place, const struct template_words *w, const char *want_why)
{
    struct buf out = BUF_INIT;
    char why[160] = "";
    assert_false(template_expand(&out, text, place, w, why));
    assert_non_null(strstr(why, want_why));
    buf_free(&out);
}

static void each_place_has_its_encoding(void **state)
{
    (void)state;
    expect("http://{instance}/set?v={value}", TEMPLATE_URL, "http://10.0.0.1:80/set?v=a%20%22b%22%2F%C3%BC");
    expect("If-Match: {version}", TEMPLATE_HEADER, "If-Match: \"7\"");
    expect("{\"value\": \"{value}\", \"was\": {old}}", TEMPLATE_BODY, "{\"value\": \"a \\\"b\\\"/ü\", \"was\": 32}");
    expect("{\"q\\\"{\": {other}, \"v\": {old}}", TEMPLATE_BODY, "{\"q\\\"{\": {other}, \"v\": 32}");
    expect("{value}", TEMPLATE_BODY, "a \"b\"/ü");
}

static void a_value_cannot_break_out(void **state)
{
    (void)state;
    struct template_words w = {.value = "1\r\nX: y", .value_len = 7, .instance = "host/../x"};
    expect_no("X: {value}", TEMPLATE_HEADER, &w, "control character");
    expect_no("http://{instance}/", TEMPLATE_URL, &w, "not host:port");
    expect_no("{version}", TEMPLATE_BODY, &w, "{version} has no value");
}

static void knows_its_words(void **state)
{
    (void)state;
    assert_true(template_uses("a {version} b", "version"));
    assert_false(template_uses("a {versions} b", "version"));
    assert_false(template_uses(NULL, "version"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_has_its_encoding),
        cmocka_unit_test(a_value_cannot_break_out),
        cmocka_unit_test(knows_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
