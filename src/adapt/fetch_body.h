/* The answer as it comes in: headers and body under their caps, unzipped on the way. Inside adapt only. */
#ifndef ADAPT_FETCH_BODY_H
#define ADAPT_FETCH_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "adapt/fetch.h"
#include "base/buf.h"

struct fetch_body {
    size_t max_wire, max_body;
    size_t wire, header_bytes;
    const char *want_header;           /* borrowed */
    char content_type[128], wanted[512], encoding[32];
    struct buf bytes;
    bool zipped, zip_ended, zip_open;
    z_stream zip;
    enum fetch_outcome failed;         /* FETCH_ANSWER: nothing wrong so far */
    char error[200];
};

void fetch_body_begin(struct fetch_body *b, size_t max_wire, size_t max_body, const char *want_header);
void fetch_body_free(struct fetch_body *b);
/* One header line with its line end, the status line included. false: stop. */
bool fetch_body_header(struct fetch_body *b, const char *line, size_t len);
bool fetch_body_data(struct fetch_body *b, const void *data, size_t len);
/* After the last byte: an unfinished compressed stream is garbage. */
bool fetch_body_end(struct fetch_body *b);

#endif
