/* The number half of base/buf.h: never the locale, always exact rounding. */
#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/num_big.h"
#include "base/num_exact.h"

void buf_double(struct buf *b, double v)
{
    char text[NUM_TEXT_MAX];
    buf_add(b, text, num_print(text, v));
}

static bool put_special(struct buf *b, double v)
{
    if (v - v == 0) return false;
    buf_puts(b, v != v ? "NaN" : v > 0 ? "+Inf" : "-Inf");
    return true;
}

/* A whole number mantissa * 2^exp2 that may need more than 64 bits. */
static void put_whole(struct buf *b, struct num_binary v)
{
    char text[320];  /* the largest double has 309 digits */
    size_t at = sizeof text;
    struct big n;
    big_set(&n, v.mantissa);
    big_shift_left(&n, (unsigned)v.exp2);
    while (n.n) {
        uint32_t part = big_div_small(&n, 1000000000);
        for (int i = 0; i < 9; i++, part /= 10) text[--at] = (char)('0' + part % 10);
    }
    while (at < sizeof text - 1 && text[at] == '0') at++;
    buf_add(b, text + at, sizeof text - at);
}

/* round(v * 10^digits), ties to even, for v < 2^53 with an exponent below zero. */
static unsigned __int128 scale_small(struct num_binary v, uint64_t pow10)
{
    unsigned drop = (unsigned)-v.exp2;
    if (drop > 127) return 0;  /* below 2^-74: no half of the ninth decimal */
    unsigned __int128 wide = (unsigned __int128)v.mantissa * pow10;
    unsigned __int128 q = wide >> drop, rest = wide - (q << drop), half = (unsigned __int128)1 << (drop - 1);
    return q + (rest > half || (rest == half && (q & 1)));
}

void buf_fixed(struct buf *b, double v, int digits)
{
    CHECK(digits >= 0 && digits <= 9);
    if (put_special(b, v)) return;
    uint64_t pow10 = 1;
    for (int i = 0; i < digits; i++) pow10 *= 10;
    struct num_binary split = num_split(__builtin_fabs(v));
    uint64_t fraction = 0;
    if (split.exp2 >= 0) {
        if (v < 0) buf_putc(b, '-');
        put_whole(b, split);
    } else {
        unsigned __int128 q = scale_small(split, pow10);
        if (v < 0 && q) buf_putc(b, '-');
        buf_u64(b, (uint64_t)(q / pow10));
        fraction = (uint64_t)(q % pow10);
    }
    if (digits) buf_putc(b, '.');
    while (digits-- > 0) {
        pow10 /= 10;
        buf_putc(b, (char)('0' + fraction / pow10 % 10));
    }
}

/* 1240 -> 1,240 */
static void put_grouped(struct buf *b, uint64_t v)
{
    if (v >= 1000) {
        put_grouped(b, v / 1000);
        buf_printf(b, ",%03u", (unsigned)(v % 1000));
    } else {
        buf_u64(b, v);
    }
}

void buf_sig3(struct buf *b, double v)
{
    if (put_special(b, v)) return;
    if (v == 0) {
        buf_putc(b, '0');
        return;
    }
    if (v < 0) buf_putc(b, '-');
    struct num_digits d = num_exact_digits(__builtin_fabs(v), 3);
    if (d.exp10 >= 0 && d.exp10 <= 12) {
        for (; d.exp10 > 0; d.exp10--) d.digits *= 10;
        put_grouped(b, d.digits);
        return;
    }
    char text[NUM_TEXT_MAX];
    buf_add(b, text, num_lay_out(text, d));
}
