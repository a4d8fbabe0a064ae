#include "base/num.h"

#include <string.h>

#include "base/num_exact.h"

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

size_t num_parse(const char *s, size_t len, double *ret)
{
    size_t at = 0;
    bool negative = len && s[0] == '-';
    if (len && (s[0] == '-' || s[0] == '+')) at++;
    struct num_decimal d = {.digits = s + at};
    size_t whole = at;
    while (at < len && is_digit(s[at])) at++;
    whole = at - whole;
    size_t fraction = 0;
    if (at < len && s[at] == '.') {
        size_t dot = at++;
        while (at < len && is_digit(s[at])) at++;
        fraction = at - dot - 1;
    }
    if (whole + fraction == 0) {
        size_t start = (size_t)(d.digits - s);
        size_t n = parse_word(s + start, len - start, negative, ret);
        return n ? start + n : 0;
    }
    d.len = (size_t)(s + at - d.digits);
    d.exp10 = -(int64_t)fraction;
    at += parse_exponent(s + at, len - at, &d.exp10);
    double v = num_exact_double(&d);
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
