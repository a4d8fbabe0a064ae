/* One audit record <-> its canonical JSON bytes. One record has exactly one byte form, so that its hash means the
 * record.
 *
 *   {"seq":"7","at":"1778580150000000","kind":"INTENT","service":"embed",...}
 *
 * Keys in the order of model/record.def, absent fields left out, no blanks. U64 and I64 as decimal strings (an I64 may
 * begin with '-'; no leading zeros, no "-0"), HEX32 as 64 lower-case hex digits, NAME as its table word, TEXT as a JSON
 * string of valid UTF-8. In strings exactly these are escaped: '"' and '\' by a backslash; control characters, line and
 * paragraph separators and the marks that turn the direction of writing as \uXXXX in lower hex, so that no record can
 * paint over a terminal or show its words in another order. */
#ifndef AUDIT_CODEC_H
#define AUDIT_CODEC_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "model/record.h"

/* Appends the bytes. A record must have seq, at and kind.
 * INVALID: one of these is missing, or a text is not valid UTF-8. LIMIT: over RECORD_BYTES_MAX; `out` is then as
 * before. */
enum status audit_encode(struct buf *out, const struct record *r, struct err *e);

/* Strict: takes exactly what audit_encode writes, so encoding the result gives the same bytes. Texts live in the arena.
 * CORRUPT: "offset N: why"; *ret untouched. */
enum status audit_decode(struct arena *a, const char *bytes, size_t len, struct record *ret, struct err *e);

#endif
