#include "base/num_big.h"

#include "base/check.h"

static void push_word(struct big *b, uint32_t word)
{
    if (!word) return;
    CHECK(b->n < BIG_WORDS);
    b->w[b->n++] = word;
}

static void trim(struct big *b)
{
    while (b->n && b->w[b->n - 1] == 0) b->n--;
}

void big_set(struct big *b, uint64_t v)
{
    b->n = 2;
    b->w[0] = (uint32_t)v;
    b->w[1] = (uint32_t)(v >> 32);
    trim(b);
}

void big_mul_add(struct big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (unsigned i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * factor;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    push_word(b, (uint32_t)carry);
}

void big_mul_pow5(struct big *b, unsigned power)
{
    static const uint32_t pow5[] = {1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125,
                                    244140625, 1220703125};
    const unsigned most = ARRAY_LEN(pow5) - 1;
    for (; power >= most; power -= most) big_mul_add(b, pow5[most], 0);
    big_mul_add(b, pow5[power], 0);
}

void big_shift_left(struct big *b, unsigned bits)
{
    unsigned words = bits / 32, rest = bits % 32;
    if (b->n == 0) return;
    if (rest) big_mul_add(b, UINT32_C(1) << rest, 0);
    if (!words) return;
    CHECK(b->n + words <= BIG_WORDS);
    for (unsigned i = b->n; i-- > 0;) b->w[i + words] = b->w[i];
    for (unsigned i = 0; i < words; i++) b->w[i] = 0;
    b->n += words;
}

unsigned big_bits(const struct big *b)
{
    if (b->n == 0) return 0;
    return b->n * 32 - (unsigned)__builtin_clz(b->w[b->n - 1]);
}

int big_compare(const struct big *a, const struct big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (unsigned i = a->n; i-- > 0;)
        if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

uint32_t big_div_small(struct big *b, uint32_t divisor)
{
    uint64_t rest = 0;
    for (unsigned i = b->n; i-- > 0;) {
        rest = rest << 32 | b->w[i];
        b->w[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(b);
    return (uint32_t)rest;
}

/* a -= b, where a >= b. */
static void subtract(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;
    for (unsigned i = 0; i < a->n; i++) {
        uint64_t d = (uint64_t)a->w[i] - (i < b->n ? b->w[i] : 0) - borrow;
        a->w[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    trim(a);
}

static void halve(struct big *b)
{
    for (unsigned i = 0; i < b->n; i++)
        b->w[i] = b->w[i] >> 1 | (i + 1 < b->n ? b->w[i + 1] << 31 : 0);
    trim(b);
}

uint64_t big_divide(struct big *num, struct big *den, int *ret_half)
{
    uint64_t q = 0;
    big_shift_left(den, 63);
    for (unsigned bit = 64; bit-- > 0;) {
        if (big_compare(num, den) >= 0) {
            subtract(num, den);
            q |= UINT64_C(1) << bit;
        }
        if (bit) halve(den);
    }
    CHECK(big_compare(num, den) < 0);
    struct big twice = *num;
    big_shift_left(&twice, 1);
    *ret_half = big_compare(&twice, den);
    return q;
}
