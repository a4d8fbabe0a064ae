/* Writes JSON: commas and quotes by itself, every number finite. `key` is NULL inside an array and at the top. */
#ifndef API_EMIT_H
#define API_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/time.h"

struct emit { struct buf *out; bool more; };   /* more: a comma is due */

void emit_open(struct emit *e, const char *key, char bracket);   /* '{' or '[' */
void emit_close(struct emit *e, char bracket);
void emit_text(struct emit *e, const char *key, const char *value);          /* NULL: null */
void emit_text_or_null(struct emit *e, const char *key, const char *value);  /* "" too is null */
void emit_number(struct emit *e, const char *key, double value);             /* not finite: null */
void emit_int(struct emit *e, const char *key, int64_t value);
void emit_bool(struct emit *e, const char *key, bool value);
void emit_null(struct emit *e, const char *key);
void emit_wall(struct emit *e, const char *key, struct wall t);              /* RFC 3339; WALL_NONE: null */
void emit_seconds(struct emit *e, const char *key, struct span d);           /* whole milliseconds */

#endif
