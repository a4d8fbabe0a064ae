/* Number text <-> double without locale and without libc's strtod; exact (correctly rounded). */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUM_TEXT_MAX 32  /* bytes enough for num_print including NUL */

/* Reads a decimal number at the start of `s`: [+-]digits[.digits][e[+-]digits], where the digits on one side of
 * the point may be absent ("5.", ".5"), or (any case) NaN, Inf, Infinity with an optional sign. Takes the longest
 * such prefix ("1e" reads "1"). Correctly rounded to nearest even; overflow gives infinity.
 * Returns bytes read, 0 when there is no number (then *ret is untouched). Reads at most `len` bytes, needs no NUL. */
size_t num_parse(const char *s, size_t len, double *ret);
/* The whole of `s` must be a number. */
bool num_parse_all(const char *s, size_t len, double *ret);
/* Shortest decimal that num_parse reads back as the same double; of several, the nearest. "1e+21" and "1e-7" and
 * beyond carry an exponent, everything between does not. "NaN", "+Inf", "-Inf", "-0". Returns the length. */
size_t num_print(char out[NUM_TEXT_MAX], double v);
/* Strict unsigned decimal, no sign, no leading '+', fails on overflow. The whole of `s` must match. */
bool num_parse_u64(const char *s, size_t len, uint64_t *ret);
/* The same with an optional '-'. */
bool num_parse_i64(const char *s, size_t len, int64_t *ret);

#endif
