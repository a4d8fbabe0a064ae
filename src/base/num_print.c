/* num_print: how digits are laid out. */
#include <string.h>

#include "base/num.h"
#include "base/num_fast.h"

static size_t put_text(char *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len + 1);
    return len;
}

static size_t put_exponent(char *out, int e)
{
    size_t at = 0;
    out[at++] = 'e';
    out[at++] = e < 0 ? '-' : '+';
    unsigned v = (unsigned)(e < 0 ? -e : e);
    if (v >= 100) out[at++] = (char)('0' + v / 100);
    if (v >= 10) out[at++] = (char)('0' + v / 10 % 10);
    out[at++] = (char)('0' + v % 10);
    return at;
}

static size_t put_zeros(char *out, int n)
{
    memset(out, '0', (size_t)n);
    return (size_t)n;
}

/* text[0..n) times 10^exp10, n digits without leading or trailing zeros. */
static size_t lay_out(char *out, const char *text, int n, int exp10)
{
    int point = n + exp10;  /* digits before the point */
    size_t at = 0;
    if (point > 21 || point < -5) {
        out[at++] = text[0];
        if (n > 1) {
            out[at++] = '.';
            memcpy(out + at, text + 1, (size_t)n - 1);
            at += (size_t)n - 1;
        }
        return at + put_exponent(out + at, point - 1);
    }
    if (point <= 0) {
        at += put_text(out, "0.");
        at += put_zeros(out + at, -point);
    }
    int whole = point < 0 ? 0 : point < n ? point : n;
    memcpy(out + at, text, (size_t)whole);
    at += (size_t)whole;
    if (exp10 > 0) at += put_zeros(out + at, exp10);
    if (point > 0 && whole < n) out[at++] = '.';
    memcpy(out + at, text + whole, (size_t)(n - whole));
    return at + (size_t)(n - whole);
}

size_t num_lay_out(char *out, struct num_digits d)
{
    char text[20];
    size_t start = sizeof text;
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exp10++;
    }
    for (uint64_t q = d.digits; q; q /= 10) text[--start] = (char)('0' + q % 10);
    size_t len = lay_out(out, text + start, (int)(sizeof text - start), d.exp10);
    out[len] = '\0';
    return len;
}

/* What most settings and counts are; their digits are the shortest there are. */
static size_t print_small_whole(char *out, uint32_t v)
{
    char text[10];
    size_t start = sizeof text, len;
    for (; v; v /= 10) text[--start] = (char)('0' + v % 10);
    len = sizeof text - start;
    memcpy(out, text + start, len);
    out[len] = '\0';
    return len;
}

size_t num_print(char out[NUM_TEXT_MAX], double v)
{
    if (v != v) return put_text(out, "NaN");
    size_t at = 0;
    if (__builtin_signbit(v)) {
        out[at++] = '-';
        v = -v;
    }
    if (v == 0) return at + put_text(out + at, "0");
    if (v < 1e9 && v == (double)(uint32_t)v) return at + print_small_whole(out + at, (uint32_t)v);
    if (v > 0x1.fffffffffffffp+1023) return put_text(out, at ? "-Inf" : "+Inf");
    return at + num_lay_out(out + at, num_fast_shortest(v));
}
