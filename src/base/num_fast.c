#include "base/num_fast.h"

#include "base/num_table.h"

__extension__ typedef unsigned __int128 uint128;

/* floor(log2(10^k)) for every k of the table (num_table.py checks each). */
static int floor_log2_pow10(int k) { return (k * 217706) >> 16; }

bool num_fast_double(uint64_t w, int64_t exp10, double *ret)
{
    if (w == 0 || exp10 < POW10_FIRST) {  /* 2^64 * 1e-343 is below half of the smallest double */
        *ret = 0;
        return true;
    }
    if (exp10 > 308) {
        *ret = __builtin_inf();
        return true;
    }
    int k = (int)exp10, zeros = __builtin_clzll(w);
    w <<= zeros;
    /* 64 x 128 bits; the lowest 64 of the 192 only count as zero or not. */
    uint128 low = (uint128)w * pow10_table[k - POW10_FIRST].low;
    uint128 high = (uint128)w * pow10_table[k - POW10_FIRST].high + (uint64_t)(low >> 64);
    int exp2 = floor_log2_pow10(k) + 1 - zeros;
    if (!(high >> 127)) {
        high <<= 1;
        exp2--;
    }
    uint64_t top = (uint64_t)(high >> 64), rest = (uint64_t)high;
    bool sticky = true;
    if (k >= 0 && k <= 55) {
        sticky = rest || (uint64_t)low;  /* the power is exact, and so is this */
    } else if (rest >= UINT64_MAX - 3) {
        /* The power was cut, so the true product lies strictly above, by less than 2 before the shift: here it
         * may reach into `top`. */
        return false;
    }
    *ret = num_join(top, exp2, sticky);
    return true;
}

/* floor(g * c / 2^127) where g is a power of ten of 126 bits, with the last bit set when anything was cut off
 * ("round to odd"), so that later comparisons with even numbers come out as if exact. */
static uint64_t scale_to_odd(uint128 g, uint64_t c)
{
    uint128 product = (g >> 64) * c + (((uint128)(uint64_t)g * c) >> 64);
    uint64_t whole = (uint64_t)(product >> 63);
    return whole | (((uint64_t)product << 1) != 0);
}

/* After R. Giulietti, "The Schubfach way to render doubles" (2021): with 10^k chosen so that the interval that
 * reads back as v is between 2 and 20 steps of 10^k wide, the shortest number in it is one of two multiples of
 * 10^(k + 1), or else one of the two multiples of 10^k around v. All in quarters of 10^k. */
struct num_digits num_fast_shortest(double v)
{
    struct num_binary b = num_split(v);
    uint64_t c = b.mantissa, odd = c & 1;
    /* At a power of two the neighbour below is half as far as the one above. */
    bool lopsided = c == UINT64_C(1) << 52 && b.exp2 > -1074;
    int k = (int)(((int64_t)b.exp2 * 1262611 - (lopsided ? 524031 : 0)) >> 22);  /* floor(log10(width of interval)) */
    int shift = b.exp2 + floor_log2_pow10(-k) + 2;
    const uint64_t high = pow10_table[-k - POW10_FIRST].high, low = pow10_table[-k - POW10_FIRST].low;
    uint128 g = (((uint128)high << 64 | low) >> 2) + 1;
    uint64_t lower = scale_to_odd(g, (4 * c - 2 + lopsided) << shift) + odd;  /* an odd mantissa loses ties */
    uint64_t middle = scale_to_odd(g, (4 * c) << shift);
    uint64_t upper = scale_to_odd(g, (4 * c + 2) << shift) - odd;

    uint64_t s = middle / 4;
    if (s >= 10) {
        uint64_t down = s / 10, up = down + 1;
        bool down_in = lower <= 40 * down, up_in = 40 * up <= upper;
        if (down_in != up_in) return (struct num_digits){down_in ? down : up, k + 1};
    }
    bool down_in = lower <= 4 * s, up_in = 4 * (s + 1) <= upper;
    if (down_in != up_in) return (struct num_digits){down_in ? s : s + 1, k};
    uint64_t half = 4 * s + 2;
    bool take_down = middle < half || (middle == half && s % 2 == 0);
    return (struct num_digits){take_down ? s : s + 1, k};
}
