#include "store/pack.h"

#include "base/prng.h"
#include "support/test.h"

#define ROWS 2000

static int64_t at[ROWS];
static double value[ROWS];
static uint32_t requests[ROWS];
static uint8_t why[ROWS];

static void times(uint32_t n, int64_t step)
{
    for (uint32_t i = 0; i < n; i++) at[i] = INT64_C(1778580000000000) + i * step;
}

static void pack(struct buf *out, const struct store_column *c, uint32_t n, const char *extra)
{
    struct store_packer *p = store_packer_new();
    store_pack(p, out, c, n, extra, strlen(extra));
    store_packer_free(p);
    assert_true(buf_ok(out));
}

static void compare(const struct store_column *got, const struct store_column *want)
{
    assert_int_equal(got->id, want->id);
    assert_int_equal(got->rows, want->rows);
    for (uint32_t i = 0; i < want->rows; i++) {
        bool known = !want->why || want->why[i] == WHY_KNOWN;
        assert_int_equal(got->at[i], want->at[i]);
        assert_int_equal(got->n[i], want->n ? want->n[i] : 0);
        assert_int_equal(got->why ? got->why[i] : WHY_KNOWN, want->why ? want->why[i] : WHY_KNOWN);
        if (known) assert_memory_equal(&got->value[i], &want->value[i], sizeof(double));
        else assert_true(isnan(got->value[i]));
    }
}

/* Packs, reads all back, reads each alone; returns the bytes. */
static size_t round_trip(const struct store_column *c, uint32_t n)
{
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct store_column got;
    size_t len;
    pack(&out, c, n, "names");
    struct store_unpacker *u = store_unpack_open(&a, out.data, out.len);
    assert_non_null(u);
    assert_int_equal(store_unpack_count(u), n);
    assert_memory_equal(store_unpack_extra(u, &len), "names", 5);
    assert_int_equal(len, 5);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(store_unpack_next(u, NULL, &got));
        compare(&got, &c[i]);
    }
    assert_false(store_unpack_next(u, NULL, &got));
    assert_false(store_unpack_failed(u));
    store_unpack_close(u);
    for (uint32_t i = 0; i < n; i++) {
        u = store_unpack_open(&a, out.data, out.len);
        assert_true(store_unpack_next(u, &c[i].id, &got));
        compare(&got, &c[i]);
        assert_false(store_unpack_next(u, &c[i].id, &got));
        assert_false(store_unpack_failed(u));
        store_unpack_close(u);
    }
    len = out.len;
    arena_free(&a);
    buf_free(&out);
    return len;
}

static size_t one(uint32_t rows)
{
    const struct store_column c = {.id = 7, .rows = rows, .at = at, .value = value};
    return round_trip(&c, 1);
}

static double from_bits(uint64_t b)
{
    double v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* Every kind of double, also side by side with decimals. */
static void test_extremes(void **state)
{
    (void)state;
    const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, from_bits(0x7ff0000000000002), from_bits(0xfff8000000000123),
                          5e-324, -5e-324, 2.2250738585072009e-308, 1.7976931348623157e308, -1.7976931348623157e308, 0.1,
                          9007199254740993.0, 1e22, 1e23, 123456789.125, -1, 1e-9, 9.3e18, -9.3e18};
    enum { N = sizeof odd / sizeof *odd };
    times(ROWS, 10000000);
    memcpy(value, odd, sizeof odd);
    one(N);
    for (uint32_t i = 0; i < N; i++) {
        value[0] = odd[i];
        one(1);
        for (uint32_t k = 0; k < N; k++) {
            value[1] = odd[k];
            one(2);
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) value[i] = i % 400 == 3 ? odd[i / 400] : 0.25 * i;
    one(ROWS);
    at[0] = INT64_MIN;
    at[1] = -1;
    at[2] = 0;
    at[3] = INT64_MAX;
    one(4);
}

/* Shapes that metrics have, with what they may take: constants, regular times and steady counters are nearly free. */
static void test_size(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 1);
    times(ROWS, 10000000);
    for (uint32_t i = 0; i < ROWS; i++) value[i] = 17;
    assert_true(one(ROWS) < 110);
    for (uint32_t i = 0; i < ROWS; i++) value[i] = 4096.0 * i;
    assert_true(one(ROWS) < 125);
    for (uint32_t i = 0; i < ROWS; i++) value[i] = 1e6 + 37.0 * i + (double)prng_below(&p, 16);
    assert_true(one(ROWS) < ROWS * 6 / 8);                      /* differences of two draws: 4.7 bits */
    for (uint32_t i = 0; i < ROWS; i++) value[i] = 4096.0 * (double)(100000 + prng_below(&p, 256));
    print_message("%zu\n", one(ROWS));
    assert_true(one(ROWS) < ROWS * 17 / 16 + 150);             /* 8 bits of news a sample, after the common factor */
    for (uint32_t i = 0; i < ROWS; i++) value[i] = (double)prng_below(&p, 1000) / 1000;
    assert_true(one(ROWS) < ROWS * 11 / 8);
    double sum = 0;
    for (uint32_t i = 0; i < ROWS; i++) value[i] = sum += (double)prng_below(&p, 1000) / 1000;   /* drifts off the decimals */
    assert_true(one(ROWS) < ROWS * 2);
    for (uint32_t i = 0; i < ROWS; i++) value[i] = prng_unit(&p);
    assert_true(one(ROWS) < ROWS * 8 + 100);                    /* noise cannot be packed, and is not made larger */
    for (uint32_t i = 0; i < ROWS; i++) at[i] += (int64_t)prng_below(&p, 4096), value[i] = 1;
    assert_true(one(ROWS) < ROWS * 14 / 8);
}

static void test_reasons_and_counts(void **state)
{
    (void)state;
    times(ROWS, 30000000);
    struct store_column c[2] = {{.id = 3, .rows = ROWS, .at = at, .value = value, .n = requests, .why = why},
                                {.id = 2, .rows = 10, .at = at + 5, .value = value, .why = why}};
    for (uint32_t i = 0; i < ROWS; i++) {
        value[i] = i / 8.0;
        requests[i] = i % 7 ? 100 + i : UINT32_MAX;
        why[i] = (uint8_t)(i % 5 ? WHY_KNOWN : i % WHY_COUNT);
    }
    round_trip(c, 2);
    memset(why, WHY_STALE, sizeof why);
    round_trip(c, 2);
    assert_int_equal(store_why_of("stale", 5), WHY_STALE);
    assert_int_equal(store_why_of("of a later version", 18), WHY_MISSING);
}

/* Many columns of chance: their forms, lengths and lines of time. */
static void test_many(void **state)
{
    (void)state;
    enum { COLUMNS = 60, EACH = 300 };
    static double v[COLUMNS][EACH];
    static int64_t t[COLUMNS][EACH];
    struct store_column c[COLUMNS];
    struct prng p;
    prng_seed(&p, 2);
    for (int round = 0; round < 20; round++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            uint64_t form = prng_below(&p, 7);
            for (uint32_t i = 0; i < EACH; i++) {
                t[k][i] = i * INT64_C(1000000) + (k % 3 ? 0 : k * 1000);
                double u = prng_unit(&p);
                v[k][i] = form == 0   ? from_bits(prng_u64(&p))
                          : form == 1 ? floor(u * 100)
                          : form == 2 ? rint(u * 1e6) / 1e3 + i
                          : form == 3 ? (u < 0.02 ? NAN : 5)
                          : form == 4 ? (i ? v[k][i - 1] : 0) + u
                          : form == 5 ? (u < 0.5 ? -0.0 : 1e300)
                                      : rint(u * 10) * 1e17;
            }
            c[k] = (struct store_column){.id = k % 2 ? k * 1000 : UINT64_MAX - k, .at = t[k], .value = v[k],
                                         .rows = 1 + (uint32_t)prng_below(&p, EACH)};
        }
        round_trip(c, COLUMNS);
    }
}

static const struct store_column *wanted;

static bool reads(struct arena *a, const void *bytes, size_t len)
{
    struct store_column c;
    uint32_t k = 0;
    arena_reset(a);
    struct store_unpacker *u = store_unpack_open(a, bytes, len);
    if (!u) return false;
    while (store_unpack_next(u, NULL, &c)) compare(&c, &wanted[k++]);
    bool good = !store_unpack_failed(u);
    store_unpack_close(u);
    return good;
}

/* Cut at every byte, a bit wrong at every place: never read as something else. */
static void test_damage(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    times(ROWS, 10000000);
    for (uint32_t i = 0; i < ROWS; i++) value[i] = i * i % 97;
    const struct store_column c[2] = {{.id = 1, .rows = 400, .at = at, .value = value},
                                      {.id = 2, .rows = 300, .at = at, .value = value}};
    pack(&out, c, 2, "a\nb");
    wanted = c;
    assert_true(reads(&a, out.data, out.len));
    for (size_t cut = 0; cut < out.len; cut++) assert_false(reads(&a, out.data, cut));
    for (size_t i = 0; i < out.len; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            out.data[i] = (char)(out.data[i] ^ 1 << bit);
            (void)reads(&a, out.data, out.len);   /* a bit that zstd does not use may be another one: then all is as it was */
            out.data[i] = (char)(out.data[i] ^ 1 << bit);
        }
    buf_putc(&out, 0);
    assert_false(reads(&a, out.data, out.len));
    assert_false(reads(&a, "\2\1\1", 3));
    arena_free(&a);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_size), cmocka_unit_test(test_reasons_and_counts),
        cmocka_unit_test(test_many), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
