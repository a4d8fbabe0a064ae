/* Columns of numbers as small symbols: the step before the entropy coder of zstd. Exact for every double, to the bit: NaN
 * with its payload, the two zeros, infinities, the smallest numbers.
 *
 * A column of integers is divided by what its differences have in common and predicted from the value before (or not at
 * all, or from the two before); what is left goes out as one symbol of a byte, which names its size to a quarter of an
 * octave, and the bits below that, raw. A column of doubles is such a column of integers if its values are decimals
 * (m / 10^e, what people and most programs write), else one of their bits. */
#ifndef STORE_NUMBER_H
#define STORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow; without memory the process ends (base/check.h). */
struct number_bytes { uint8_t *p; size_t len, cap; };
void number_free(struct number_bytes *b);
/* Room for n more bytes, not yet counted. */
uint8_t *number_room(struct number_bytes *b, size_t n);
void number_varint(struct number_bytes *b, uint64_t v);
void number_signed(struct number_bytes *b, int64_t v);

/* The three streams of a block: how columns were packed, symbols, and bits below the symbols. */
struct number_out {
    struct number_bytes head, symbols, bits;
    int64_t *whole, *rest;           /* scratch for one column */
    uint64_t *left;
    uint32_t cap;
};
void number_out_free(struct number_out *o);
void number_put_ints(struct number_out *o, const int64_t *x, uint32_t n);
void number_put_doubles(struct number_out *o, const double *x, uint32_t n);

struct number_part { const uint8_t *p; size_t len, at; };
/* `bits.p` has to be readable for 16 bytes after its end. */
struct number_in { struct number_part head, symbols, bits; bool failed; };
uint64_t number_get_varint(struct number_in *in);
int64_t number_get_signed(struct number_in *in);
/* false: damaged. Both read what one put wrote; `scratch` has room for n. */
bool number_get_ints(struct number_in *in, int64_t *x, uint32_t n);
bool number_get_doubles(struct number_in *in, double *x, uint32_t n, int64_t *scratch);
/* Passes over a column without making its numbers. */
bool number_skip_ints(struct number_in *in, uint32_t n);
bool number_skip_doubles(struct number_in *in, uint32_t n);

#endif
