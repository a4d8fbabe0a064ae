#include "store/block.h"

#include "base/prng.h"
#include "support/test.h"

static void round_trip(const struct store_row *rows, uint32_t n, size_t *ret_len)
{
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct store_row *back = NULL;
    uint32_t m = 0;
    store_block_pack(&out, rows, n);
    assert_true(buf_ok(&out));
    assert_true(store_block_unpack(&a, out.data, out.len, &back, &m));
    assert_int_equal(m, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(back[i].at, rows[i].at);
        assert_int_equal(back[i].n, rows[i].n);
        assert_int_equal(back[i].why, rows[i].why);
        if (rows[i].why == WHY_KNOWN) assert_memory_equal(&back[i].value, &rows[i].value, sizeof(double));
        else assert_true(isnan(back[i].value));
    }
    if (ret_len) *ret_len = out.len;
    arena_free(&a);
    buf_free(&out);
}

static void test_by_hand(void **state)
{
    (void)state;
    struct store_row rows[] = {{1000, 1.0, 5, WHY_KNOWN}, {1010, 1.0, 5, WHY_KNOWN}, {1020, NAN, 0, WHY_STALE},
                               {1031, 2.0, 7, WHY_KNOWN}};
    static const unsigned char want[] = {
        1, 4,                                  /* version, rows */
        0xd0, 0x0f, 20, 0, 2,                  /* 1000; step 10; the same; one more */
        2, 5, 0, 0, 0, 'k', 'n', 'o', 'w', 'n', 1, 5, 0, 0, 0, 's', 't', 'a', 'l', 'e',
        1, 5, 0, 0, 0, 'k', 'n', 'o', 'w', 'n',
        10, 0, 9, 14,                          /* +5, 0, -5, +7 */
        0x02, 0x3f, 0xf0, 0, 0x02, 0x7f, 0xf0, /* 3ff0..., the same, 3ff0 ^ 4000 */
    };
    struct buf out = BUF_INIT;
    store_block_pack(&out, rows, 4);
    assert_int_equal(out.len, sizeof want);
    assert_memory_equal(out.data, want, sizeof want);
    buf_free(&out);
    round_trip(rows, 4, NULL);
}

static void test_extremes(void **state)
{
    (void)state;
    struct store_row rows[] = {
        {INT64_MIN, -0.0, UINT32_MAX, WHY_KNOWN},
        {INT64_MIN + 1, INFINITY, 0, WHY_KNOWN},
        {-1, -INFINITY, 1, WHY_KNOWN},
        {0, 5e-324, UINT32_MAX, WHY_KNOWN},
        {INT64_MAX, 1.7976931348623157e308, 0, WHY_KNOWN},
    };
    round_trip(rows, 5, NULL);
    round_trip(rows, 1, NULL);
    for (int why = 1; why < WHY_COUNT; why++) rows[1].why = (enum unknown_why)why, round_trip(rows, 5, NULL);
}

/* Two hours of a noisy signal every 10 s, scraped with jitter. */
static void test_size(void **state)
{
    (void)state;
    static struct store_row rows[720];
    struct prng p;
    size_t len = 0;
    prng_seed(&p, 1);
    for (unsigned i = 0; i < 720; i++)
        rows[i] = (struct store_row){1778580000000000 + i * INT64_C(10000000) + (int64_t)prng_below(&p, 2000),
                                     38.1 + prng_unit(&p), 900 + (uint32_t)prng_below(&p, 200), WHY_KNOWN};
    round_trip(rows, 720, &len);
    print_message("%.1f bytes a point with noise in every bit\n", (double)len / 720);
    assert_true(len < 720 * 12);
    for (unsigned i = 0; i < 720; i++) rows[i].value = 32, rows[i].n = 0, rows[i].at = i * INT64_C(10000000);
    round_trip(rows, 720, &len);
    assert_true(len < 720 * 4);
}

/* Nothing that is not exactly a block is read as one. */
static void test_damage(void **state)
{
    (void)state;
    struct store_row rows[] = {{1000, 1.5, 5, WHY_KNOWN}, {1010, 2.5, 5, WHY_RESET}, {1020, 3.25, 6, WHY_KNOWN}};
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct store_row *back = NULL;
    uint32_t n = 0;
    store_block_pack(&out, rows, 3);
    for (size_t cut = 0; cut < out.len; cut++) assert_false(store_block_unpack(&a, out.data, cut, &back, &n));
    for (size_t at = 0; at < out.len; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            out.data[at] = (char)(out.data[at] ^ 1 << bit);
            if (store_block_unpack(&a, out.data, out.len, &back, &n))
                for (uint32_t i = 1; i < n; i++) assert_true(back[i].at > back[i - 1].at);
            out.data[at] = (char)(out.data[at] ^ 1 << bit);
            arena_reset(&a);
        }
    buf_putc(&out, 0);
    assert_false(store_block_unpack(&a, out.data, out.len, &back, &n));
    assert_false(store_block_unpack(&a, "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, &back, &n));
    assert_false(store_block_unpack(&a, "\1\0", 2, &back, &n));
    arena_free(&a);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_extremes), cmocka_unit_test(test_size),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
