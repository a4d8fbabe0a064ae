#include "adapt/remote_write.h"

#include "support/test.h"

static struct remote_label label(const char *name, const char *value)
{
    return (struct remote_label){name, value, (uint32_t)strlen(name), (uint32_t)strlen(value)};
}

/* Worked out by hand from the protobuf encoding: labels sorted by name, an empty value left out. */
static void one_series_in_bytes(void **state)
{
    (void)state;
    static const unsigned char want[] = {
        0x0a, 36,                                                    /* timeseries, 36 bytes */
        0x0a, 13, 0x0a, 8, '_', '_', 'n', 'a', 'm', 'e', '_', '_', 0x12, 1, 'm',
        0x0a, 6, 0x0a, 1, 'a', 0x12, 1, 'b',
        0x12, 11, 0x09, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0x10, 5,       /* 1.5 at 5 ms */
    };
    struct remote_label labels[] = {label("z", ""), label("a", "b"), label("__name__", "m")};
    struct buf b = BUF_INIT;
    remote_add(&b, labels, 3, 1.5, 5);
    assert_int_equal(b.len, sizeof want);
    assert_memory_equal(b.data, want, sizeof want);
    buf_free(&b);
}

static void lengths_and_times_take_more_than_a_byte(void **state)
{
    (void)state;
    char text[301] = "";
    memset(text, 'x', 300);
    struct remote_label labels[] = {label("__name__", text)};
    struct buf b = BUF_INIT;
    remote_add(&b, labels, 1, 0, INT64_C(1700000000000));
    const unsigned char *p = (const unsigned char *)b.data;
    static const unsigned char head[] = {0x0a, 0xce, 0x02, 0x0a, 0xb9, 0x02, 0x0a, 8};   /* 334 = 0x14e, 313 = 0x139 */
    static const unsigned char tail[] = {0x10, 0x80, 0xd0, 0x95, 0xff, 0xbc, 0x31};
    assert_memory_equal(p, head, sizeof head);
    assert_memory_equal(p + b.len - sizeof tail, tail, sizeof tail);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_series_in_bytes),
        cmocka_unit_test(lengths_and_times_take_more_than_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
