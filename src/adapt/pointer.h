/* JSON pointers (RFC 6901) into a foreign document: one value out as its text, one value in. */
#ifndef ADAPT_POINTER_H
#define ADAPT_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/value.h"

#define POINTER_DOCUMENT_MAX ((size_t)1 << 20)

/* pointer "" or NULL: the whole text, without blanks around it, whether it is JSON or not. A string gives its content, anything
 * else its JSON text. false: not JSON, nothing there, or too long for a knob; `why` says so. */
bool pointer_get(const char *text, size_t len, const char *pointer, struct knob_value *ret, char why[160]);
/* The document with the value at `pointer` replaced: a string stays a string, anything else is read as JSON. "" or
 * NULL: the bytes themselves. false as above, and when the place does not exist: a write never adds. */
bool pointer_set(const char *text, size_t len, const char *pointer, const char *bytes, size_t bytes_len, struct buf *out,
                 char why[160]);

#endif
