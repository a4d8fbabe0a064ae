/* One look at a page of metrics, for commands. */
#ifndef APP_PAGE_FETCH_H
#define APP_PAGE_FETCH_H

#include "base/buf.h"
#include "base/status.h"

/* Appends the page behind an http(s) address, or a file ("-": standard input), at most 16 MiB of it. */
enum status page_fetch(const char *from, struct buf *out, struct err *e);
/* The answer to a GET of any address, at most `limit` bytes; 2xx only. */
enum status page_get(const char *url, size_t limit, struct buf *out, struct err *e);

#endif
