#include "base/buf.h"
#include "base/prng.h"

#include "support/test.h"

static struct buf b;

static const char *fixed(double v, int digits)
{
    buf_clear(&b);
    buf_fixed(&b, v, digits);
    return buf_text(&b);
}

static const char *sig3(double v)
{
    buf_clear(&b);
    buf_sig3(&b, v);
    return buf_text(&b);
}

static void fixed_by_hand(void **state)
{
    (void)state;
    assert_string_equal(fixed(38.14, 1), "38.1");
    assert_string_equal(fixed(0.5, 0), "0");
    assert_string_equal(fixed(1.5, 0), "2");
    assert_string_equal(fixed(2.675, 2), "2.67");  /* the double is just below */
    assert_string_equal(fixed(-0.001, 2), "0.00");
    assert_string_equal(fixed(-1.25, 1), "-1.2");
    assert_string_equal(fixed(1e22, 2), "10000000000000000000000.00");
    assert_string_equal(fixed(1e-300, 9), "0.000000000");
    assert_string_equal(fixed(__builtin_inf(), 2), "+Inf");
    assert_string_equal(fixed(__builtin_nan(""), 2), "NaN");
}

static void fixed_equals_printf(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 3);
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = prng_u64(&p);
        if (i % 2) bits = (bits & ~(UINT64_C(0x7ff) << 52)) | ((uint64_t)(1023 - 40 + (int)prng_below(&p, 120)) << 52);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (v - v != 0) continue;
        int digits = (int)prng_below(&p, 10);
        char want[400];
        snprintf(want, sizeof want, "%.*f", digits, v);
        if (want[0] == '-' && strspn(want + 1, "0.") == strlen(want + 1)) memmove(want, want + 1, strlen(want));
        assert_string_equal(fixed(v, digits), want);
    }
}

static void sig3_by_hand(void **state)
{
    (void)state;
    assert_string_equal(sig3(46.83), "46.8");
    assert_string_equal(sig3(0.85), "0.85");
    assert_string_equal(sig3(1236), "1,240");
    assert_string_equal(sig3(1234567), "1,230,000");
    assert_string_equal(sig3(999.6), "1,000");
    assert_string_equal(sig3(100), "100");
    assert_string_equal(sig3(-2.0), "-2");
    assert_string_equal(sig3(0), "0");
    assert_string_equal(sig3(0.00012345), "0.000123");
    assert_string_equal(sig3(1.239e-9), "1.24e-9");
    assert_string_equal(sig3(1.239e30), "1.24e+30");
    assert_string_equal(sig3(5e-324), "4.94e-324");
    assert_string_equal(sig3(1.7976931348623157e308), "1.8e+308");
    assert_string_equal(sig3(-__builtin_inf()), "-Inf");
}

static int drop(void **state)
{
    (void)state;
    buf_free(&b);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_by_hand),
        cmocka_unit_test(fixed_equals_printf),
        cmocka_unit_test(sig3_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, drop);
}
