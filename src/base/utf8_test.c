#include "base/utf8.h"

#include "support/test.h"

static bool valid(const char *s) { return utf8_valid(s, strlen(s)); }

static void valid_and_invalid_sequences(void **state)
{
    (void)state;
    assert_true(valid(""));
    assert_true(valid("p99 \xe5\xbb\xb6\xe8\xbf\x9f \xf0\x9f\x98\x80"));
    assert_true(valid("\xf4\x8f\xbf\xbf"));         /* U+10FFFF */
    assert_false(valid("\xf4\x90\x80\x80"));        /* U+110000 */
    assert_false(valid("\xc0\xaf"));                /* overlong '/' */
    assert_false(valid("\xe0\x80\xaf"));            /* overlong in three */
    assert_false(valid("\xf0\x80\x80\xaf"));        /* overlong in four */
    assert_false(valid("\xed\xa0\x80"));            /* surrogate */
    assert_false(valid("\x80"));
    assert_false(valid("a\xe4\xb8"));               /* cut */
    uint32_t c = 0;
    assert_int_equal(utf8_next("\xe4\xb8\xad", 3, &c), 3);
    assert_int_equal(c, 0x4e2d);
    assert_int_equal(utf8_next("\xe4\xb8\xad", 2, &c), 0);
    assert_int_equal(utf8_next("", 0, &c), 0);
}

static void columns(void **state)
{
    (void)state;
    assert_int_equal(utf8_columns("abc", 3), 3);
    assert_int_equal(utf8_columns("\xe5\xbb\xb6\xe8\xbf\x9f", 6), 4);
    assert_int_equal(utf8_columns("e\xcc\x81", 3), 1);
    assert_int_equal(utf8_columns("\xff\xfe", 2), 2);
    assert_int_equal(utf8_columns("\xf0\x9f\x98\x80", 4), 2);
}

static void cut_keeps_whole_sequences(void **state)
{
    (void)state;
    const char *s = "a\xe4\xb8\xad" "b";
    assert_int_equal(utf8_cut(s, 5, 9), 5);
    assert_int_equal(utf8_cut(s, 5, 4), 4);
    assert_int_equal(utf8_cut(s, 5, 3), 1);
    assert_int_equal(utf8_cut(s, 5, 2), 1);
    assert_int_equal(utf8_cut(s, 5, 1), 1);
    assert_int_equal(utf8_cut(s, 5, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_and_invalid_sequences),
        cmocka_unit_test(columns),
        cmocka_unit_test(cut_keeps_whole_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
