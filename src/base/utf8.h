/* UTF-8 checks for outside bytes. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence at s (1..4), 0 when invalid (overlong, surrogate, > U+10FFFF, cut). */
unsigned utf8_next(const char *s, size_t len, uint32_t *ret_codepoint);
bool utf8_valid(const char *s, size_t len);
/* Terminal columns: 2 for East Asian wide, 0 for combining, else 1. Invalid bytes count 1. */
unsigned utf8_columns(const char *s, size_t len);
/* Largest prefix length <= max that does not cut a sequence. */
size_t utf8_cut(const char *s, size_t len, size_t max);

#endif
