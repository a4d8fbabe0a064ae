/* Secrets stand in files that only their owner can read; they are read at each use and never kept or logged. */
#ifndef ADAPT_SECRET_H
#define ADAPT_SECRET_H

#include <stddef.h>

#include "base/status.h"

#define SECRET_MAX 4096

/* The file's one line without its newline. DENIED: readable by others; INVALID: empty, too long, not one line of
 * printable text; NOT_FOUND, IO. The error names the file, never its content. */
enum status secret_read(const char *path, char out[SECRET_MAX], struct err *e);

#endif
