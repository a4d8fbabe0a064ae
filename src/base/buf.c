#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { FIRST_CAP = 256, DEFAULT_LIMIT = 256 << 20 };

void buf_free(struct buf *b)
{
    if (!b) return;
    free(b->data);
    size_t limit = b->limit;
    *b = (struct buf){.limit = limit};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data) b->data[0] = '\0';
}

/* Makes room for `more` bytes and the terminator. */
static bool reserve(struct buf *b, size_t more)
{
    if (b->failed) return false;
    size_t limit = b->limit ? b->limit : DEFAULT_LIMIT;
    if (b->len > limit || more > limit - b->len) goto fail;
    size_t need = b->len + more + 1;
    if (need <= b->cap) return true;
    size_t cap = b->cap ? b->cap : FIRST_CAP;
    while (cap < need) cap *= 2;
    char *data = realloc(b->data, cap);
    CHECK_MEMORY(data);                /* else each text that nobody asked buf_ok about would be cut short in silence */
    b->data = data;
    b->cap = cap;
    return true;
fail:
    b->failed = true;
    return false;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
    if (!reserve(b, len)) return;
    if (len) memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }
void buf_putc(struct buf *b, char c) { buf_add(b, &c, 1); }

/* %f and its kin follow the locale; one that slipped in must not reach an audit record. */
static bool has_float_format(const char *fmt)
{
    while ((fmt = strchr(fmt, '%'))) {
        fmt++;
        fmt += strspn(fmt, "-+ #0123456789.*'hljztLq");
        if (*fmt && strchr("fFeEgGaA", *fmt)) return true;
        if (*fmt) fmt++;
    }
    return false;
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    CHECK(!has_float_format(fmt));
    va_list again;
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, ap);
    if (len < 0) b->failed = true;
    else if (reserve(b, (size_t)len)) {
        vsnprintf(b->data + b->len, (size_t)len + 1, fmt, again);
        b->len += (size_t)len;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_u64(struct buf *b, uint64_t v)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    buf_add(b, text + at, sizeof text - at);
}

void buf_i64(struct buf *b, int64_t v)
{
    if (v < 0) buf_putc(b, '-');
    buf_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void json_escape(struct buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    switch (c) {
    case '"': buf_puts(b, "\\\""); break;
    case '\\': buf_puts(b, "\\\\"); break;
    case '\n': buf_puts(b, "\\n"); break;
    case '\r': buf_puts(b, "\\r"); break;
    case '\t': buf_puts(b, "\\t"); break;
    case '\b': buf_puts(b, "\\b"); break;
    case '\f': buf_puts(b, "\\f"); break;
    default:
        buf_puts(b, "\\u00");
        buf_putc(b, hex[c >> 4]);
        buf_putc(b, hex[c & 15]);
    }
}

/* Bytes from the start of `s` that JSON takes as they are. */
static size_t json_plain(const char *s, size_t len)
{
    size_t at = 0;
    while (at < len) {
        unsigned char c = (unsigned char)s[at];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) break;
        unsigned size = c < 0x80 ? 1 : utf8_next(s + at, len - at, NULL);
        if (size == 0) break;
        at += size;
    }
    return at;
}

void buf_json_string(struct buf *b, const char *s, size_t len)
{
    buf_putc(b, '"');
    size_t at = 0;
    while (at < len) {
        size_t plain = json_plain(s + at, len - at);
        buf_add(b, s + at, plain);
        at += plain;
        if (at == len) break;
        unsigned char c = (unsigned char)s[at++];
        if (c < 0x80) json_escape(b, c);
        else buf_puts(b, "\xef\xbf\xbd");
    }
    buf_putc(b, '"');
}

char *buf_take(struct buf *b, size_t *ret_len)
{
    if (!reserve(b, 0)) return NULL;
    char *data = b->data;
    data[b->len] = '\0';
    if (ret_len) *ret_len = b->len;
    *b = (struct buf){.limit = b->limit};
    return data;
}
