#include "adapt/fetch_body.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define CHUNK 65536u

void fetch_body_begin(struct fetch_body *b, size_t max_wire, size_t max_body, const char *want_header)
{
    *b = (struct fetch_body){.max_wire = max_wire, .max_body = max_body, .want_header = want_header, .failed = FETCH_ANSWER};
    b->bytes.limit = max_body + 1;
}

void fetch_body_free(struct fetch_body *b)
{
    if (b->zip_open) inflateEnd(&b->zip);
    b->zip_open = false;
    buf_free(&b->bytes);
}

PRINTF_LIKE(3, 4) static bool fail(struct fetch_body *b, enum fetch_outcome outcome, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(b->error, sizeof b->error, fmt, ap);
    va_end(ap);
    b->failed = outcome;
    return false;
}

/* Value of the header `name` in a line, trimmed; NULL when the line is another one. */
static const char *value_of(const char *line, size_t len, const char *name, size_t *ret_len)
{
    size_t n = strlen(name);
    if (len <= n || line[n] != ':' || strncasecmp(line, name, n) != 0) return NULL;
    size_t from = n + 1, to = len;
    while (from < to && (line[from] == ' ' || line[from] == '\t')) from++;
    while (to > from && (line[to - 1] == '\r' || line[to - 1] == '\n' || line[to - 1] == ' ')) to--;
    *ret_len = to - from;
    return line + from;
}

static bool keep(char *out, size_t cap, const char *value, size_t len)
{
    if (len >= cap) return false;
    memcpy(out, value, len);
    out[len] = '\0';
    return true;
}

bool fetch_body_header(struct fetch_body *b, const char *line, size_t len)
{
    size_t n;
    const char *v;
    b->header_bytes += len;
    if (b->header_bytes > FETCH_HEADER_MAX)
        return fail(b, FETCH_TOO_LARGE, "the answer's headers are over %zu KiB", FETCH_HEADER_MAX >> 10);
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {   /* a 100 may stand before the real one */
        b->content_type[0] = b->wanted[0] = b->encoding[0] = '\0';
        b->zipped = false;
        return true;
    }
    if ((v = value_of(line, len, "Content-Type", &n))) (void)keep(b->content_type, sizeof b->content_type, v, n);
    if ((v = value_of(line, len, "Content-Encoding", &n)) && !keep(b->encoding, sizeof b->encoding, v, n))
        return fail(b, FETCH_GARBAGE, "the answer's Content-Encoding is too long");
    if (b->want_header && (v = value_of(line, len, b->want_header, &n)) && !keep(b->wanted, sizeof b->wanted, v, n))
        return fail(b, FETCH_TOO_LARGE, "the answer's %.40s is longer than %zu bytes", b->want_header, sizeof b->wanted - 1);
    return true;
}

static bool begin_zip(struct fetch_body *b)
{
    if (b->encoding[0] == '\0' || strcasecmp(b->encoding, "identity") == 0) return true;
    if (strcasecmp(b->encoding, "gzip") != 0 && strcasecmp(b->encoding, "x-gzip") != 0)
        return fail(b, FETCH_GARBAGE, "the answer is encoded as '%.20s', which was not asked for", b->encoding);
    if (inflateInit2(&b->zip, 15 + 16) != Z_OK) return fail(b, FETCH_GARBAGE, "out of memory while unzipping");
    b->zipped = b->zip_open = true;
    return true;
}

static bool add_plain(struct fetch_body *b, const void *data, size_t len)
{
    if (b->bytes.len + len > b->max_body)
        return fail(b, FETCH_TOO_LARGE, "the page is over %zu KiB unzipped", b->max_body >> 10);
    if (b->zipped && b->bytes.len + len > FETCH_RATIO_FROM && (b->bytes.len + len) / FETCH_RATIO_MAX > b->wire)
        return fail(b, FETCH_TOO_LARGE, "the page unzips to more than %d times its size", FETCH_RATIO_MAX);
    buf_add(&b->bytes, data, len);
    return buf_ok(&b->bytes) || fail(b, FETCH_TOO_LARGE, "out of memory for the page");
}

static bool unzip(struct fetch_body *b, const void *data, size_t len)
{
    unsigned char out[CHUNK];
    b->zip.next_in = (unsigned char *)(uintptr_t)data;
    b->zip.avail_in = (unsigned)len;
    while (b->zip.avail_in > 0) {
        if (b->zip_ended) return fail(b, FETCH_GARBAGE, "bytes follow the end of the compressed page");
        b->zip.next_out = out;
        b->zip.avail_out = CHUNK;
        unsigned before = b->zip.avail_in;
        int rc = inflate(&b->zip, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return fail(b, FETCH_GARBAGE, "the compressed page is broken: %s", b->zip.msg ? b->zip.msg : "bad stream");
        size_t made = CHUNK - b->zip.avail_out;
        if (made > 0 && !add_plain(b, out, made)) return false;
        if (rc == Z_STREAM_END) b->zip_ended = true;
        if (made == 0 && b->zip.avail_in == before && rc != Z_STREAM_END) break;
    }
    return true;
}

bool fetch_body_data(struct fetch_body *b, const void *data, size_t len)
{
    if (b->failed != FETCH_ANSWER) return false;
    if (b->wire == 0 && !begin_zip(b)) return false;
    b->wire += len;
    if (b->wire > b->max_wire) return fail(b, FETCH_TOO_LARGE, "the page is over %zu KiB on the wire", b->max_wire >> 10);
    return b->zipped ? unzip(b, data, len) : add_plain(b, data, len);
}

bool fetch_body_end(struct fetch_body *b)
{
    if (b->failed != FETCH_ANSWER) return false;
    if (b->zipped && !b->zip_ended) return fail(b, FETCH_GARBAGE, "the compressed page ends in the middle");
    return true;
}
