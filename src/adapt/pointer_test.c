#include "adapt/pointer.h"

#include "support/test.h"

static void expect_get(const char *doc, const char *pointer, const char *want)
{
    struct knob_value v = {0};
    char why[160] = "";
    assert_true(pointer_get(doc, strlen(doc), pointer, &v, why));
    assert_int_equal(strlen(want), v.len);
    assert_memory_equal(want, v.bytes, v.len);
}

static void expect_no(const char *doc, const char *pointer, const char *want_why)
{
    struct knob_value v = {0};
    char why[160] = "";
    assert_false(pointer_get(doc, strlen(doc), pointer, &v, why));
    assert_non_null(strstr(why, want_why));
    assert_int_equal(0, v.len);
}

/* The examples of RFC 6901 section 5, as far as they are scalars, and the escapes. */
static void reads_places(void **state)
{
    (void)state;
    const char *doc = "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"m~n\":8,\"x\":{\"0\":7},\"t\":true,\"r\":0.50,"
                      "\"big\":9007199254740993}";
    expect_get(doc, "/foo/0", "bar");
    expect_get(doc, "/", "0");
    expect_get(doc, "/a~1b", "1");
    expect_get(doc, "/c%d", "2");
    expect_get(doc, "/m~0n", "8");
    expect_get(doc, "/x/0", "7");
    expect_get(doc, "/t", "true");
    expect_get(doc, "/r", "0.5");
    expect_get(doc, "/big", "9007199254740993");
    expect_get(doc, "/foo", "[\"bar\",\"baz\"]");
}

static void refuses_what_is_not_there(void **state)
{
    (void)state;
    expect_no("{\"a\":[1]}", "/b", "nothing at /b");
    expect_no("{\"a\":[1]}", "/a/1", "nothing at");
    expect_no("{\"a\":[1]}", "/a/00", "nothing at");
    expect_no("{\"a\":[1]}", "/a/-", "nothing at");
    expect_no("{\"a\":1}", "/a/b", "nothing at");
    expect_no("{\"a\":1", "/a", "not JSON: line 1");
    expect_no("{\"a\":1,\"a\":2}", "/a", "duplicate");
    expect_no("<html>", "/a", "not JSON");
    expect_no("", "", "empty");
    expect_no(" \r\n", NULL, "empty");
}

static void whole_text_is_trimmed(void **state)
{
    (void)state;
    expect_get(" 32\r\n", "", "32");
    expect_get("fast mode\n", NULL, "fast mode");
}

static void long_values_are_refused(void **state)
{
    (void)state;
    char doc[400] = "{\"a\":\"", why[160];
    struct knob_value v = {0};
    memset(doc + 6, 'x', 300);
    strcpy(doc + 306, "\"}");
    assert_false(pointer_get(doc, strlen(doc), "/a", &v, why));
    assert_non_null(strstr(why, "300 bytes"));
}

static void expect_set(const char *doc, const char *pointer, const char *bytes, const char *back)
{
    struct buf out = BUF_INIT;
    char why[160] = "";
    assert_true(pointer_set(doc, strlen(doc), pointer, bytes, strlen(bytes), &out, why));
    expect_get(buf_text(&out), pointer, back);
    buf_free(&out);
}

static void writes_places(void **state)
{
    (void)state;
    expect_set("{\"a\":{\"b\":32,\"c\":[1,2]}}", "/a/b", "64", "64");
    expect_set("{\"a\":{\"b\":32,\"c\":[1,2]}}", "/a/c/1", "5", "5");
    expect_set("{\"a\":\"32\"}", "/a", "he said \"64\"", "he said \"64\"");
    expect_set("{\"a\":false}", "/a", "true", "true");
}

static void never_adds_a_place(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    char why[160] = "";
    assert_false(pointer_set("{\"a\":1}", 7, "/b", "2", 1, &out, why));
    assert_false(pointer_set("{\"a\":1}", 7, "/a", "not json", 8, &out, why));
    assert_int_equal(0, out.len);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_places),          cmocka_unit_test(refuses_what_is_not_there),
        cmocka_unit_test(whole_text_is_trimmed), cmocka_unit_test(long_values_are_refused),
        cmocka_unit_test(writes_places),         cmocka_unit_test(never_adds_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
