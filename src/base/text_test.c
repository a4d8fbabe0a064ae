#include "base/text.h"

#include "support/test.h"

static void position_counts_lines_and_bytes(void **state)
{
    (void)state;
    const char *text = "a: 1\nbc: 2\n";
    struct text_pos p = text_pos_at(text, 0);
    assert_true(p.line == 1 && p.col == 1);
    p = text_pos_at(text, 6);
    assert_true(p.line == 2 && p.col == 2);
    p = text_pos_at(text, 999);
    assert_true(p.line == 3 && p.col == 1);
}

static void nearest_word(void **state)
{
    (void)state;
    const char *const words[] = {"queue_depth", "kernel_ms", "latency_p99", "fetch_ms"};
    assert_string_equal(text_nearest("kernel_sm", words, 4), "kernel_ms");
    assert_string_equal(text_nearest("latency99", words, 4), "latency_p99");
    assert_string_equal(text_nearest("fetch_ms", words, 4), "fetch_ms");
    assert_null(text_nearest("gpu", words, 4));
    assert_null(text_nearest("x", (const char *const[]){"y"}, 1));
    assert_null(text_nearest("kernel_ms", NULL, 0));
    const char *const pair[] = {"ab", "abcd"};
    assert_string_equal(text_nearest("abc", pair, 2), "ab");
}

static void copy_says_when_it_cut(void **state)
{
    (void)state;
    char dst[4];
    assert_true(text_copy(dst, sizeof dst, "abc"));
    assert_false(text_copy(dst, sizeof dst, "abcd"));
    assert_string_equal(dst, "abc");
    assert_false(text_copy(dst, 0, ""));
}

static void names(void **state)
{
    (void)state;
    assert_true(text_is_name("feature-cache_2", 63));
    assert_true(text_is_name("a", 1));
    assert_false(text_is_name("ab", 1));
    assert_false(text_is_name("", 63));
    assert_false(text_is_name(NULL, 63));
    assert_false(text_is_name("2a", 63));
    assert_false(text_is_name("A", 63));
    assert_false(text_is_name("a b", 63));
}

static void equality_and_prefix(void **state)
{
    (void)state;
    assert_true(text_eq(NULL, NULL));
    assert_false(text_eq(NULL, ""));
    assert_true(text_eq("a", "a"));
    assert_true(text_starts("queue", "que"));
    assert_false(text_starts("qu", "que"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(position_counts_lines_and_bytes),
        cmocka_unit_test(nearest_word),
        cmocka_unit_test(copy_says_when_it_cut),
        cmocka_unit_test(names),
        cmocka_unit_test(equality_and_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
