/* Exact conversions by whole-number arithmetic: the slow side of num.h. Private to base. */
#ifndef BASE_NUM_EXACT_H
#define BASE_NUM_EXACT_H

#include <stddef.h>
#include <stdint.h>

/* digits (one '.' may stand among them and is skipped) read as a whole number, times 10^exp10. */
struct num_decimal {
    const char *digits;
    size_t len;
    int64_t exp10;
};

/* The double nearest to `d`, ties to even, for any number of digits. */
double num_exact_double(const struct num_decimal *d);

/* The `n` (1..17) significant decimal digits nearest to a finite v > 0, ties to even, as a whole number:
 * v is about digits * 10^exp10. */
struct num_digits { uint64_t digits; int exp10; };
struct num_digits num_exact_digits(double v, unsigned n);

/* Writes digits * 10^exp10 (digits > 0, at most 17 of them) the way num_print does; returns the length. */
size_t num_lay_out(char *out, struct num_digits d);

/* mantissa * 2^exp2 for a finite v >= 0, mantissa < 2^53. */
struct num_binary { uint64_t mantissa; int exp2; };
struct num_binary num_split(double v);
/* The inverse with rounding: q * 2^exp2, q with its top bit set, `sticky` when bits were lost below q. */
double num_join(uint64_t q, int exp2, int sticky);

#endif
