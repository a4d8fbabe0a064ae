#include "base/buf.h"

#include "support/test.h"

static void text_grows(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    assert_string_equal(buf_text(&b), "");
    for (int i = 0; i < 1000; i++) buf_printf(&b, "%d%s", i % 10, ",");
    assert_true(buf_ok(&b));
    assert_int_equal(b.len, 2000);
    assert_memory_equal(b.data + 1990, "5,6,7,8,9,", 11);
    buf_clear(&b);
    buf_i64(&b, INT64_MIN);
    buf_putc(&b, ' ');
    buf_u64(&b, UINT64_MAX);
    assert_string_equal(b.data, "-9223372036854775808 18446744073709551615");
    buf_free(&b);
    buf_free(NULL);
}

static void limit_is_sticky(void **state)
{
    (void)state;
    struct buf b = {.limit = 8};
    buf_puts(&b, "12345");
    buf_puts(&b, "6789");
    assert_false(buf_ok(&b));
    buf_puts(&b, "6");
    assert_string_equal(buf_text(&b), "12345");
    assert_null(buf_take(&b, NULL));
    buf_clear(&b);
    buf_puts(&b, "12345678");
    assert_true(buf_ok(&b));
    size_t len;
    char *taken = buf_take(&b, &len);
    assert_string_equal(taken, "12345678");
    assert_int_equal(len, 8);
    free(taken);
    taken = buf_take(&b, &len);
    assert_string_equal(taken, "");
    free(taken);
    buf_free(&b);
}

static void json_strings(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    const char in[] = "a\"\\\n\x01\x7f\xe4\xb8\xad\xff\xe4\xb8z\0y";
    buf_json_string(&b, in, sizeof in - 1);
    assert_string_equal(b.data, "\"a\\\"\\\\\\n\\u0001\\u007f\xe4\xb8\xad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\\u0000y\"");
    buf_free(&b);
}

static jmp_buf back;
static void jump(const char *expr, const char *file, int line)
{
    (void)expr; (void)file; (void)line;
    longjmp(back, 1);
}

static void float_formats_are_refused(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    buf_printf(&b, "100%% of %s, %5zu g", "f", (size_t)3);
    assert_string_equal(b.data, "100% of f,     3 g");
    check_set_handler(jump);
    if (setjmp(back) == 0) {
        buf_printf(&b, "%-8.3f", 1.5);
        fail();
    }
    check_set_handler(NULL);
    buf_free(&b);
}

static void codec_round_trip(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    buf_le8(&b, 0xab);
    buf_le32(&b, 0x01020304);
    buf_le64(&b, UINT64_C(0x1122334455667788));
    buf_le_double(&b, -0.1);
    buf_le_bytes(&b, "xyz", 3);
    assert_memory_equal(b.data, "\xab\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11", 13);
    struct reader r = {(const uint8_t *)b.data, b.len, 0, false};
    assert_int_equal(read_le8(&r), 0xab);
    assert_int_equal(read_le32(&r), 0x01020304);
    assert_true(read_le64(&r) == UINT64_C(0x1122334455667788));
    assert_true(read_le_double(&r) == -0.1);
    size_t len;
    assert_memory_equal(read_le_bytes(&r, &len), "xyz", 3);
    assert_int_equal(len, 3);
    assert_false(r.failed);
    assert_int_equal(read_le8(&r), 0);
    assert_true(r.failed);
    r = (struct reader){(const uint8_t *)"\xff\xff\xff\xffz", 5, 0, false};
    assert_null(read_le_bytes(&r, &len));
    assert_true(r.failed && len == 0);
    assert_int_equal(read_le8(&r), 0);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(limit_is_sticky),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(float_formats_are_refused),
        cmocka_unit_test(codec_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
