#include "base/prng.h"

#include <stddef.h>

#include "base/check.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void prng_seed(struct prng *p, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_LEN(p->s); i++) p->s[i] = splitmix(&seed);
}

void prng_fork(struct prng *child, const struct prng *parent, const char *purpose)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);  /* FNV-1a of the name */
    for (const char *c = purpose; *c; c++) h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < ARRAY_LEN(parent->s); i++) {
        h ^= parent->s[i];
        h = splitmix(&h);
    }
    prng_seed(child, h);
}

uint64_t prng_below(struct prng *p, uint64_t n)
{
    CHECK(n > 0);
    uint64_t surplus = (UINT64_MAX - n + 1) % n;  /* 2^64 mod n: so many draws would favour small results */
    for (;;) {
        unsigned __int128 wide = (unsigned __int128)prng_u64(p) * n;
        if ((uint64_t)wide >= surplus) return (uint64_t)(wide >> 64);
    }
}

double prng_between(struct prng *p, double lo, double hi)
{
    return lo + (hi - lo) * prng_unit(p);
}
