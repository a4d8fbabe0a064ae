#include "base/num.h"

#include <string.h>

#include "base/check.h"
#include "base/num_fast.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t word_matches(const char *s, size_t len, const char *lower)
{
    size_t n = strlen(lower);
    if (n > len) return 0;
    for (size_t i = 0; i < n; i++)
        if ((s[i] | 0x20) != lower[i]) return 0;
    return n;
}

/* NaN, Inf, Infinity; `s` stands behind the sign. */
static size_t parse_word(const char *s, size_t len, bool negative, double *ret)
{
    size_t n = word_matches(s, len, "nan");
    double v = __builtin_nan("");
    if (!n) {
        v = __builtin_inf();
        n = word_matches(s, len, "infinity");
        if (!n) n = word_matches(s, len, "inf");
    }
    if (n) *ret = negative ? -v : v;
    return n;
}

/* Reads "e[+-]digits" at s; 0 when it is not an exponent. Saturates far beyond any double. */
static size_t parse_exponent(const char *s, size_t len, int64_t *exp10)
{
    size_t at = 0;
    if (len == 0 || (s[0] | 0x20) != 'e') return 0;
    at++;
    bool negative = at < len && s[at] == '-';
    if (at < len && (s[at] == '-' || s[at] == '+')) at++;
    if (at >= len || !is_digit(s[at])) return 0;
    int64_t e = 0;
    for (; at < len && is_digit(s[at]); at++)
        if (e < 100000000) e = e * 10 + (s[at] - '0');
    *exp10 += negative ? -e : e;
    return at;
}

/* Significant digits behind leading zeros and the point: their number, and the first 19 as a whole number. */
static size_t first_19(const struct num_decimal *d, uint64_t *ret_w)
{
    size_t n = 0;
    uint64_t w = 0;
    for (size_t i = 0; i < d->len; i++) {
        if (d->digits[i] == '.' || (n == 0 && d->digits[i] == '0')) continue;
        if (n++ < 19) w = w * 10 + (uint64_t)(d->digits[i] - '0');
    }
    *ret_w = w;
    return n;
}

/* More than 19 digits: decided by the first 19 when the next larger 19 give the same double. */
static double long_number(const struct num_decimal *d)
{
    uint64_t w;
    size_t n = first_19(d, &w);
    double low, high;
    int64_t exp10 = d->exp10 + (n > 19 ? (int64_t)(n - 19) : 0);
    if (num_fast_double(w, exp10, &low)) {
        if (n <= 19) return low;
        if (num_fast_double(w + 1, exp10, &high) && low == high) return low;
    }
    return num_exact_double(d);
}

/* The value of the text, whose digits read as the whole number w unless there are more than 19. */
static double value_of(const struct num_decimal *d, size_t digits, uint64_t w)
{
    static const double pow10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int64_t most = ARRAY_LEN(pow10) - 1;
    if (digits > 19) return long_number(d);
    /* Both operands exact, so the one operation rounds once and correctly. */
    if (w <= UINT64_C(1) << 53 && d->exp10 >= -most && d->exp10 <= most)
        return d->exp10 < 0 ? (double)w / pow10[-d->exp10] : (double)w * pow10[d->exp10];
    double v;
    return num_fast_double(w, d->exp10, &v) ? v : num_exact_double(d);
}

/* Runs over digits, adding them to w (which wraps beyond 19: the caller counts). */
static size_t take_digits(const char *s, size_t at, size_t len, uint64_t *w)
{
    uint64_t sum = *w;
    for (; at < len && is_digit(s[at]); at++) sum = sum * 10 + (uint64_t)(s[at] - '0');
    *w = sum;
    return at;
}

size_t num_parse(const char *s, size_t len, double *ret)
{
    bool negative = len && s[0] == '-';
    size_t start = len && (s[0] == '-' || s[0] == '+');
    uint64_t w = 0;
    size_t at = take_digits(s, start, len, &w);
    size_t digits = at - start, fraction = 0;
    if (at < len && s[at] == '.') {
        size_t dot = at;
        at = take_digits(s, at + 1, len, &w);
        fraction = at - dot - 1;
        digits += fraction;
    }
    if (digits == 0) {
        size_t n = parse_word(s + start, len - start, negative, ret);
        return n ? start + n : 0;
    }
    struct num_decimal d = {s + start, at - start, -(int64_t)fraction};
    if (at < len && (s[at] | 0x20) == 'e') at += parse_exponent(s + at, len - at, &d.exp10);
    double v = value_of(&d, digits, w);
    *ret = negative ? -v : v;
    return at;
}

bool num_parse_all(const char *s, size_t len, double *ret)
{
    double v;
    size_t n = num_parse(s, len, &v);
    if (n == 0 || n != len) return false;
    *ret = v;
    return true;
}

bool num_parse_u64(const char *s, size_t len, uint64_t *ret)
{
    uint64_t v = 0;
    if (len == 0) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(s[i])) return false;
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *ret = v;
    return true;
}

bool num_parse_i64(const char *s, size_t len, int64_t *ret)
{
    bool negative = len && s[0] == '-';
    uint64_t v;
    if (!num_parse_u64(s + negative, len - negative, &v)) return false;
    if (v > (uint64_t)INT64_MAX + negative) return false;
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
