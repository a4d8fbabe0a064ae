/* Shared by the files of number.h only. */
#ifndef STORE_NUMBER_INSIDE_H
#define STORE_NUMBER_INSIDE_H

#include "store/number.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bits are written and read as little-endian words");

static inline int64_t wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* The bits of a double as an integer that grows with it; its own inverse. */
static inline int64_t number_ordered(uint64_t bits)
{
    return (int64_t)(bits >> 63 ? bits ^ INT64_MAX : bits);
}

/* Forms of a column of doubles. */
enum { NUMBER_SAME, NUMBER_DECIMAL, NUMBER_NEAR, NUMBER_BITS };
#define NUMBER_POW10 23u
extern const double number_pow10[NUMBER_POW10];     /* exact, all of them */

/* Room for n in the scratch of a column. */
void number_scratch(struct number_out *o, uint32_t n);
/* How a column of integers, n > 0, is written best, and about what it takes, in 1/16 bits. x may be o->whole. */
struct number_plan { bool same, low; unsigned order; int64_t base; uint64_t price; };
struct number_plan number_plan_of(struct number_out *o, const int64_t *x, uint32_t n);
void number_put_planned(struct number_out *o, const int64_t *x, uint32_t n, const struct number_plan *plan);
/* Both in one. */
void number_put_whole(struct number_out *o, const int64_t *x, uint32_t n);

#endif
