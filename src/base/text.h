/* Small text helpers used by config, expr, promql and the CLI alike. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Position in a source text, both from 1; col counts bytes. 0 = unknown. */
struct text_pos { unsigned line, col; };
struct text_pos text_pos_at(const char *text, size_t offset);

/* "did you mean": the candidate nearest to `word` (Damerau-Levenshtein, at most len/3 + 1 edits and
 * fewer than the word has letters; words over 64 bytes match nothing), or NULL. The first of equals wins. */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);
/* Copies at most cap - 1 bytes and terminates. false when it did not fit (then the copy is cut). */
bool text_copy(char *dst, size_t cap, const char *src);
bool text_eq(const char *a, const char *b);                    /* NULL-safe */
bool text_starts(const char *s, const char *prefix);
/* [a-z][a-z0-9-_]* with at most `max` bytes: names of services, signals, knobs, causes. */
bool text_is_name(const char *s, size_t max);

#endif
