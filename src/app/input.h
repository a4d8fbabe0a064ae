/* Whole files for commands. */
#ifndef APP_INPUT_H
#define APP_INPUT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"

/* Appends the file to `out`; "-" is standard input. NOT_FOUND, DENIED, IO; LIMIT: more than `limit` bytes. */
enum status input_read(const char *path, size_t limit, struct buf *out, struct err *e);
/* The first line only, without its end and blanks: tokens, addresses. INVALID: empty, or over 4 KiB. */
enum status input_line(const char *path, char *out, size_t cap, struct err *e);

#endif
