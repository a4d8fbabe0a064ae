/* xoshiro256** (Blackman and Vigna, public domain algorithm) seeded by splitmix64. The only source of
 * chance in simulator and tests; the core has none. Same seed, same stream, on every machine. */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stdint.h>

struct prng { uint64_t s[4]; };

void prng_seed(struct prng *p, uint64_t seed);
/* Independent stream for a named purpose, so that adding one draw in one place moves no other. */
void prng_fork(struct prng *child, const struct prng *parent, const char *purpose);
static inline uint64_t prng_u64(struct prng *p);
uint64_t prng_below(struct prng *p, uint64_t n);            /* uniform in [0, n); n > 0; unbiased */
static inline double prng_unit(struct prng *p);             /* uniform in [0, 1), 53 bits */
double prng_between(struct prng *p, double lo, double hi);
/* The others need log/exp/cos without libm: see stats/dist.h. */

static inline uint64_t prng_rotate_left(uint64_t x, unsigned k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t prng_u64(struct prng *p)
{
    uint64_t *s = p->s;
    uint64_t result = prng_rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = prng_rotate_left(s[3], 45);
    return result;
}

static inline double prng_unit(struct prng *p) { return (double)(prng_u64(p) >> 11) * 0x1p-53; }

#endif
