/* How answers are shown: -o json, yaml, wide, or a short table. */
#ifndef APP_OUTPUT_H
#define APP_OUTPUT_H

#include <jansson.h>

#include "app/command.h"
#include "base/buf.h"

enum output { OUTPUT_SHORT, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML };

/* From -o. false: said on stderr; end with EXIT_USAGE. */
bool output_of(const struct args *a, enum output *ret);
/* JSON or YAML of the value on stdout. false: the format is a table, nothing was printed. */
bool output_value(enum output o, const json_t *value);
void output_json(struct buf *b, const json_t *value, unsigned depth);
void output_yaml(struct buf *b, const json_t *value, unsigned depth);

/* ---- values for people; member functions take NULL and wrong types for absent ---- */
const char *text_of(const json_t *object, const char *key);              /* "" when absent */
bool is_true(const json_t *object, const char *key);
/* "46.8 ms", "78 %", "320"; "-" when null. */
void number_text(struct buf *b, const json_t *number, const char *unit);
/* "2026-05-12T10:02:30.000Z" as "10:02:30", with the date unless it is `day`'s. UTC. */
void clock_text(struct buf *b, const char *rfc3339, const char *day);
void age_text(struct buf *b, const json_t *seconds);

/* Colour only on a terminal, and never alone: the word stands there too. */
enum tone { TONE_PLAIN, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_FAINT };
bool output_colour(void);
enum tone output_tone(const char *word);    /* of a state, verdict, series state */

#endif
