#include "base/num_exact.h"

#include <stdbool.h>
#include <string.h>

#include "base/num_big.h"

enum {
    DIGITS_KEPT = 769,  /* no midpoint of two doubles has more than 767 significant digits */
    EXP10_HUGE = 310,   /* 0.1e310 and above is infinite */
    EXP10_TINY = -330,  /* below 1e-330 is zero */
};

double num_join(uint64_t q, int exp2, int sticky)
{
    int drop = 11;                           /* 64 bits down to 53 */
    int top = exp2 + 63;                     /* value in [2^top, 2^(top + 1)) */
    if (top < -1022) drop += -1022 - top;    /* subnormal: fewer bits stay */
    if (drop > 64) return 0;                 /* below half of the smallest */
    uint64_t keep = drop == 64 ? 0 : q >> drop;
    uint64_t half = UINT64_C(1) << (drop - 1);
    uint64_t low = drop == 64 ? q : q & (2 * half - 1);
    if (low > half || (low == half && (sticky || (keep & 1)))) keep++;
    /* keep may have become 2^53 (or leave the subnormals): its carry runs into the exponent field, as it should. */
    uint64_t bits = top < -1022 ? keep : keep + ((uint64_t)(top + 1022) << 52);
    if (top > 1023 || bits >= UINT64_C(0x7ff) << 52) bits = UINT64_C(0x7ff) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct num_binary num_split(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int field = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (field == 0) return (struct num_binary){fraction, -1074};
    return (struct num_binary){fraction | UINT64_C(1) << 52, field - 1075};
}

/* Significant digits into `b`, leading zeros dropped; those beyond DIGITS_KEPT count only as "more than". */
static int64_t load_digits(struct big *b, const struct num_decimal *d, size_t *ret_kept)
{
    int64_t exp10 = d->exp10;
    size_t kept = 0;
    bool rest = false;
    big_set(b, 0);
    for (size_t i = 0; i < d->len; i++) {
        if (d->digits[i] == '.') continue;
        uint32_t digit = (uint32_t)(d->digits[i] - '0');
        if (kept == 0 && digit == 0) continue;
        if (kept < DIGITS_KEPT) {
            big_mul_add(b, 10, digit);
            kept++;
        } else {
            rest = rest || digit;
            exp10++;
        }
    }
    if (rest) {
        big_mul_add(b, 10, 1);
        exp10--;
        kept++;
    }
    *ret_kept = kept;
    return exp10;
}

double num_exact_double(const struct num_decimal *d)
{
    struct big num, den;
    size_t kept;
    int64_t exp10 = load_digits(&num, d, &kept);
    if (kept == 0) return 0;
    int64_t point = exp10 + (int64_t)kept;  /* value in [10^(point - 1), 10^point) */
    if (point > EXP10_HUGE) return __builtin_inf();
    if (point < EXP10_TINY) return 0;
    big_set(&den, 1);
    if (exp10 >= 0) big_mul_pow5(&num, (unsigned)exp10);
    else big_mul_pow5(&den, (unsigned)-exp10);

    /* Shift one of the two so that the quotient has 63 or 64 bits. */
    int shift = (int)big_bits(&den) + 63 - (int)big_bits(&num);
    if (shift > 0) big_shift_left(&num, (unsigned)shift);
    else big_shift_left(&den, (unsigned)-shift);
    int half;
    uint64_t q = big_divide(&num, &den, &half);
    int sticky = num.n != 0;
    int exp2 = (int)exp10 - shift;
    if (!(q >> 63)) {
        /* The bit shifted in is the next one of the quotient: 1 when the remainder is half or more. */
        q = q << 1 | (half >= 0);
        sticky = half > 0 || (half < 0 && sticky);
        exp2--;
    }
    return num_join(q, exp2, sticky);
}

static uint64_t pow10_u64(unsigned n)
{
    uint64_t p = 1;
    while (n--) p *= 10;
    return p;
}

/* round(v * 10^-exp10), ties to even; the result must be below 2^64. */
static uint64_t scaled(struct num_binary b, int exp10)
{
    struct big num, den;
    big_set(&num, b.mantissa);
    big_set(&den, 1);
    if (exp10 < 0) big_mul_pow5(&num, (unsigned)-exp10);
    else big_mul_pow5(&den, (unsigned)exp10);
    int exp2 = b.exp2 - exp10;
    if (exp2 >= 0) big_shift_left(&num, (unsigned)exp2);
    else big_shift_left(&den, (unsigned)-exp2);
    int half;
    uint64_t q = big_divide(&num, &den, &half);
    if (half > 0 || (half == 0 && (q & 1))) q++;
    return q;
}

struct num_digits num_exact_digits(double v, unsigned n)
{
    struct num_binary b = num_split(v);
    int bits = 64 - __builtin_clzll(b.mantissa) + b.exp2;  /* v in [2^(bits - 1), 2^bits) */
    /* floor(log10(2^(bits - 1))), exact over the range of double; the power of v itself may be one more. */
    int log10 = ((bits - 1) * 78913) >> 18;
    int exp10 = log10 - (int)n + 1;
    uint64_t q = scaled(b, exp10);
    if (q >= pow10_u64(n)) {
        exp10++;
        q = scaled(b, exp10);
    }
    if (q == pow10_u64(n)) {  /* 9.99 rounded up to 10.0 */
        q /= 10;
        exp10++;
    }
    return (struct num_digits){q, exp10};
}
