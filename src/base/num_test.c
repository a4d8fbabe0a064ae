#include "base/num.h"
#include "base/prng.h"

#include "support/test.h"

static double parse(const char *s)
{
    double v = -12345;
    assert_true(num_parse_all(s, strlen(s), &v));
    return v;
}

static size_t read_of(const char *s)
{
    double v;
    return num_parse(s, strlen(s), &v);
}

static const char *print(double v)
{
    static char out[NUM_TEXT_MAX];
    size_t len = num_print(out, v);
    assert_int_equal(len, strlen(out));
    return out;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void grammar(void **state)
{
    (void)state;
    assert_int_equal(read_of(""), 0);
    assert_int_equal(read_of("-"), 0);
    assert_int_equal(read_of("."), 0);
    assert_int_equal(read_of("e5"), 0);
    assert_int_equal(read_of(" 1"), 0);
    assert_int_equal(read_of("5."), 2);
    assert_int_equal(read_of(".5x"), 2);
    assert_int_equal(read_of("1e"), 1);
    assert_int_equal(read_of("1e+"), 1);
    assert_int_equal(read_of("1.5e-3 170"), 6);
    assert_int_equal(read_of("0x10"), 1);
    assert_int_equal(read_of("+infinityx"), 9);
    assert_int_equal(read_of("-Info"), 4);
    assert_int_equal(read_of("nano"), 3);
    assert_int_equal(read_of(".nan"), 0);
    double v = 7;
    assert_false(num_parse_all("1 ", 2, &v));
    assert_true(v == 7);
    assert_int_equal(num_parse("123", 2, &v), 2);
    assert_true(v == 12);
}

static void values_by_hand(void **state)
{
    (void)state;
    assert_true(parse("0") == 0 && parse("42") == 42 && parse("-1.5") == -1.5);
    assert_true(same_bits(parse("-0"), -0.0));
    assert_true(parse("1e400") == INFINITY && parse("-1e400") == -INFINITY);
    assert_true(parse("1e-400") == 0 && parse("0e999999999999") == 0);
    assert_true(parse("1e99999999999999999999") == INFINITY);
    assert_true(isnan(parse("NaN")) && isinf(parse("+Inf")) && parse("-INFINITY") < 0);
    assert_true(same_bits(parse("2.2250738585072011e-308"), 0x0.fffffffffffffp-1022));
    assert_true(parse("9007199254740993") == 9007199254740992.0);       /* tie to even */
    assert_true(parse("9007199254740993.00000000000000001") == 9007199254740994.0);
    assert_true(parse("4.9406564584124654e-324") == 0x1p-1074);
    assert_true(parse("2.4703282292062327e-324") == 0);
    assert_true(parse("2.4703282292062328e-324") == 0x1p-1074);
    assert_true(parse("1.7976931348623158e308") == 0x1.fffffffffffffp1023);
    assert_true(parse("1.7976931348623159e308") == INFINITY);
    assert_true(parse("00000000000000000000000000000000000000001.25") == 1.25);
}

static void long_texts(void **state)
{
    (void)state;
    static char text[100000];
    memset(text, '0', sizeof text);
    text[0] = '1';
    double v;
    assert_true(num_parse_all(text, 300, &v) && v == 1e299);
    assert_true(num_parse_all(text, sizeof text, &v) && v == INFINITY);
    memcpy(text, "0.", 2);
    text[sizeof text - 1] = '1';
    assert_true(num_parse_all(text, sizeof text, &v) && v == 0);
    /* 1 + 2^-53 exactly is a tie and goes down to 1; one more digit, however far, lifts it. */
    size_t n = (size_t)snprintf(text, 100, "1.00000000000000011102230246251565404236316680908203125");
    assert_true(num_parse_all(text, n, &v) && v == 1);
    memset(text + n, '0', 5000);
    assert_true(num_parse_all(text, n + 5000, &v) && v == 1);
    text[n + 5000] = '1';
    assert_true(num_parse_all(text, n + 5001, &v) && v == 1 + 0x1p-52);
}

static void prints_by_hand(void **state)
{
    (void)state;
    assert_string_equal(print(0), "0");
    assert_string_equal(print(-0.0), "-0");
    assert_string_equal(print(NAN), "NaN");
    assert_string_equal(print(INFINITY), "+Inf");
    assert_string_equal(print(-INFINITY), "-Inf");
    assert_string_equal(print(0.1), "0.1");
    assert_string_equal(print(0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(print(38.1), "38.1");
    assert_string_equal(print(1200), "1200");
    assert_string_equal(print(-1234.5678), "-1234.5678");
    assert_string_equal(print(1e21), "1e+21");
    assert_string_equal(print(123456789012345680000.0), "123456789012345680000");
    assert_string_equal(print(0.000001), "0.000001");
    assert_string_equal(print(1.5e-7), "1.5e-7");
    assert_string_equal(print(5e-324), "5e-324");
    assert_string_equal(print(2.2250738585072014e-308), "2.2250738585072014e-308");
    assert_string_equal(print(1.7976931348623157e308), "1.7976931348623157e+308");
    assert_string_equal(print(0x1p-44), "5.684341886080802e-14");  /* nearest 16 digits ..801 do not read back */
    assert_string_equal(print(9007199254740993.0), "9007199254740992");
    assert_string_equal(print(-1.2345678901234567e-5), "-0.000012345678901234568");
}

/* A double from random bits; half of them in the range that metrics have. */
static double random_double(struct prng *p, unsigned i)
{
    uint64_t bits = prng_u64(p);
    if (i % 2) bits = (bits & ~(UINT64_C(0x7ff) << 52)) | ((1023 - 30 + prng_below(p, 80)) << 52);
    if (i % 16 == 2) bits &= ~UINT64_C(0) << prng_below(p, 53);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The significant digits of a printed number, zeros at both ends dropped. */
static size_t digits_of(const char *text, char *out)
{
    size_t n = 0, last = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
        out[n++] = *text;
        if (*text != '0') last = n;
    }
    out[last] = '\0';
    return last;
}

/* No text with one digit less reads back, and with as many digits the correctly rounded one is preferred. */
static void assert_shortest(const char *text, double v)
{
    char digits[40], other[40], other_digits[40];
    int n = (int)digits_of(text, digits);
    if (n > 1) {
        snprintf(other, sizeof other, "%.*e", n - 2, v);
        assert_false(strtod(other, NULL) == v);
    }
    snprintf(other, sizeof other, "%.*e", n - 1, v);
    if (strtod(other, NULL) != v) return;
    digits_of(other, other_digits);
    assert_string_equal(digits, other_digits);
}

#ifndef NUM_ROUNDS
#define NUM_ROUNDS 2000000
#endif

static void random_bits_against_libc(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 20260512);
    for (unsigned i = 0; i < NUM_ROUNDS; i++) {
        double v = random_double(&p, i), back;
        if (isnan(v)) continue;
        char text[64];
        size_t len = num_print(text, v);
        assert_true(num_parse_all(text, len, &back) && same_bits(v, back));
        if (isinf(v)) continue;
        assert_true(same_bits(strtod(text, NULL), v));
        if (v != 0) assert_shortest(text, v);
        len = (size_t)snprintf(text, sizeof text, "%.17g", v);
        assert_true(num_parse_all(text, len, &back) && same_bits(v, back));
    }
}

static void random_digits_against_libc(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 77);
    for (unsigned i = 0; i < NUM_ROUNDS; i++) {
        char text[64];
        size_t len = 0, digits = 1 + prng_below(&p, 30), dot = prng_below(&p, digits + 1);
        for (size_t k = 0; k < digits; k++) {
            if (k == dot) text[len++] = '.';
            text[len++] = (char)('0' + prng_below(&p, 10));
        }
        unsigned span = i % 3 == 1 ? 40 : 680;
        int low = i % 3 == 1 ? 20 : 350;
        if (i % 3) len += (size_t)snprintf(text + len, 8, "e%d", (int)prng_below(&p, span) - low);
        text[len] = '\0';
        double v;
        assert_int_equal(num_parse(text, len, &v), len);
        if (!same_bits(v, strtod(text, NULL))) fail_msg("%s reads as %a", text, v);
    }
}

/* Every power of two: there the interval that reads back is lopsided. */
static void powers_of_two(void **state)
{
    (void)state;
    for (int k = -1074; k < 1024; k++) {
        double v = ldexp(1, k), back;
        char text[NUM_TEXT_MAX];
        size_t len = num_print(text, v);
        assert_true(num_parse_all(text, len, &back) && back == v);
        assert_shortest(text, v);
    }
}

/* Exact midpoints of neighbouring doubles, and the texts just beside them: the hardest inputs. */
static void midpoints_against_libc(void **state)
{
    (void)state;
    struct prng p;
    prng_seed(&p, 5);
    for (unsigned i = 0; i < 20000; i++) {
        double v = fabs(random_double(&p, i));
        if (!(v < 1e300)) continue;
        double next = nextafter(v, INFINITY);
        long double middle = ((long double)v + next) / 2;
        static char text[1300];
        size_t len = (size_t)snprintf(text, sizeof text, "%.*Le", (int)(i % 3 ? 800 : 30), middle);
        double got;
        assert_int_equal(num_parse(text, len, &got), len);
        if (!same_bits(got, strtod(text, NULL))) fail_msg("%s", text);
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    uint64_t u = 5;
    int64_t i = 5;
    assert_true(num_parse_u64("18446744073709551615", 20, &u) && u == UINT64_MAX);
    assert_false(num_parse_u64("18446744073709551616", 20, &u));
    assert_false(num_parse_u64("+1", 2, &u));
    assert_false(num_parse_u64("", 0, &u));
    assert_false(num_parse_u64("1.0", 3, &u));
    assert_true(u == UINT64_MAX);
    assert_true(num_parse_i64("-9223372036854775808", 20, &i) && i == INT64_MIN);
    assert_false(num_parse_i64("-9223372036854775809", 20, &i));
    assert_true(num_parse_i64("9223372036854775807", 19, &i) && i == INT64_MAX);
    assert_false(num_parse_i64("9223372036854775808", 19, &i));
    assert_false(num_parse_i64("-", 1, &i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar),
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(long_texts),
        cmocka_unit_test(prints_by_hand),
        cmocka_unit_test(random_bits_against_libc),
        cmocka_unit_test(random_digits_against_libc),
        cmocka_unit_test(powers_of_two),
        cmocka_unit_test(midpoints_against_libc),
        cmocka_unit_test(whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
