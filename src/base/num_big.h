/* Whole numbers of up to BIG_WORDS * 32 bits, on the stack. Private to base: the exact side of num.c. */
#ifndef BASE_NUM_BIG_H
#define BASE_NUM_BIG_H

#include <stdbool.h>
#include <stdint.h>

/* The largest number met: 770 decimal digits (2,558 bits) against a power of five of 2,545 bits, both
 * shifted by at most 128. Growth beyond the array is our own bug and fails a CHECK. */
enum { BIG_WORDS = 96 };

struct big {
    unsigned n;  /* words in use; the top one is not zero */
    uint32_t w[BIG_WORDS];
};

void big_set(struct big *b, uint64_t v);
void big_mul_add(struct big *b, uint32_t factor, uint32_t add);
void big_mul_pow5(struct big *b, unsigned power);
void big_shift_left(struct big *b, unsigned bits);
unsigned big_bits(const struct big *b);  /* position of the highest set bit, from 1; 0 for zero */
int big_compare(const struct big *a, const struct big *b);
/* b = b / divisor; returns the remainder. */
uint32_t big_div_small(struct big *b, uint32_t divisor);

/* floor(num / den), which must be below 2^64; leaves the remainder in num and destroys den.
 * *ret_half: -1, 0, +1 as the remainder is below, at or above half of den. */
uint64_t big_divide(struct big *num, struct big *den, int *ret_half);

#endif
