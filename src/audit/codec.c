#include "audit/codec.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

/* Characters that change how the text around them is shown. */
static bool needs_escape(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f
           || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The bit of every field that each record has. */
#define REQUIRED (UINT64_C(1) << RF_SEQ | UINT64_C(1) << RF_AT | UINT64_C(1) << RF_KIND)

static void put_unicode(struct buf *out, uint32_t c)
{
    static const char hex[] = "0123456789abcdef";
    buf_puts(out, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4) buf_putc(out, hex[c >> shift & 15]);
}

/* false: not valid UTF-8. */
static bool put_text(struct buf *out, const char *s)
{
    size_t len = strlen(s), plain = 0;
    buf_putc(out, '"');
    for (size_t at = 0; at < len;) {
        uint32_t c = 0;
        unsigned n = utf8_next(s + at, len - at, &c);
        if (n == 0) return false;
        bool quote = c == '"' || c == '\\';
        if (quote || needs_escape(c)) {
            buf_add(out, s + plain, at - plain);
            plain = at + (quote ? 0 : n);
            if (quote) buf_putc(out, '\\');
            else put_unicode(out, c);
        }
        at += n;
    }
    buf_add(out, s + plain, len - plain);
    buf_putc(out, '"');
    return true;
}

static void put_hex(struct buf *out, const uint8_t bytes[32])
{
    static const char hex[] = "0123456789abcdef";
    buf_putc(out, '"');
    for (int i = 0; i < 32; i++) {
        buf_putc(out, hex[bytes[i] >> 4]);
        buf_putc(out, hex[bytes[i] & 15]);
    }
    buf_putc(out, '"');
}

static bool put_value(struct buf *out, const struct record *r, enum record_field f)
{
    switch (record_field_type(f)) {
    case RT_NAME:
        return put_text(out, record_kind_name(r->kind));
    case RT_TEXT:
        return put_text(out, r->v[f].text);
    case RT_HEX32:
        put_hex(out, r->v[f].hex32);
        return true;
    case RT_U64:
    case RT_I64:
        buf_putc(out, '"');
        if (record_field_type(f) == RT_U64) buf_u64(out, r->v[f].u64);
        else buf_i64(out, r->v[f].i64);
        buf_putc(out, '"');
        return true;
    }
    return false;
}

static enum status encode_fields(struct buf *out, const struct record *r, struct err *e)
{
    uint64_t present = r->present | UINT64_C(1) << RF_KIND;
    char before = '{';
    for (unsigned i = 0; i < RF_COUNT; i++) {
        enum record_field f = (enum record_field)i;
        if (!(present >> i & 1)) continue;
        buf_putc(out, before);
        buf_putc(out, '"');
        buf_puts(out, record_field_key(f));
        buf_puts(out, "\":");
        before = ',';
        if (!put_value(out, r, f))
            return err_set(e, STATUS_INVALID, "the field %s of a record %s is not valid UTF-8", record_field_key(f),
                           record_kind_name(r->kind));
    }
    buf_putc(out, '}');
    return STATUS_OK;
}

enum status audit_encode(struct buf *out, const struct record *r, struct err *e)
{
    size_t start = out->len;
    if (!record_has(r, RF_SEQ) || !record_has(r, RF_AT))
        return err_set(e, STATUS_INVALID, "a record %s without sequence number or time", record_kind_name(r->kind));
    enum status rc = encode_fields(out, r, e);
    if (rc == STATUS_OK && !buf_ok(out)) rc = err_set(e, STATUS_MEMORY, "no memory for a record");
    if (rc == STATUS_OK && out->len - start > RECORD_BYTES_MAX)
        rc = err_set(e, STATUS_LIMIT, "a record %s has %zu bytes; at most %d: put long evidence in by hash",
                     record_kind_name(r->kind), out->len - start, RECORD_BYTES_MAX);
    if (rc != STATUS_OK && buf_ok(out)) out->len = start;
    return rc;
}

struct scan { struct arena *arena; const char *s; size_t len, at; struct err *e; };

static enum status wrong(struct scan *s, size_t at, const char *why)
{
    return err_set(s->e, STATUS_CORRUPT, "offset %zu: %s", at, why);
}

static bool take(struct scan *s, char c)
{
    if (s->at >= s->len || s->s[s->at] != c) return false;
    s->at++;
    return true;
}

/* Four lower-case hex digits of a character that must be escaped. 0: they are not that. */
static uint32_t take_unicode(struct scan *s)
{
    uint32_t c = 0;
    if (s->len - s->at < 4) return 0;
    for (int i = 0; i < 4; i++) {
        char d = s->s[s->at + (size_t)i];
        if (d >= '0' && d <= '9') c = c << 4 | (uint32_t)(d - '0');
        else if (d >= 'a' && d <= 'f') c = c << 4 | (uint32_t)(d - 'a' + 10);
        else return 0;
    }
    s->at += 4;
    return needs_escape(c) ? c : 0;
}

/* All characters that need \uXXXX lie below U+10000, so three bytes are enough. */
static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

/* After a backslash. */
static enum status take_escape(struct scan *s, char *out, size_t *n)
{
    size_t at = s->at - 1;
    if (take(s, '"')) out[(*n)++] = '"';
    else if (take(s, '\\')) out[(*n)++] = '\\';
    else if (take(s, 'u')) {
        uint32_t c = take_unicode(s);
        if (c == 0) return wrong(s, at, "this escape is not the canonical form of any character");
        *n += put_utf8(out + *n, c);
    } else {
        return wrong(s, at, "this escape is not the canonical form of any character");
    }
    return STATUS_OK;
}

static enum status take_char(struct scan *s, char *out, size_t *n)
{
    uint32_t c = 0;
    if (s->at >= s->len) return wrong(s, s->at, "the record ends inside a string");
    if (take(s, '\\')) return take_escape(s, out, n);
    unsigned size = utf8_next(s->s + s->at, s->len - s->at, &c);
    if (size == 0) return wrong(s, s->at, "not valid UTF-8");
    if (needs_escape(c)) return wrong(s, s->at, "a control character that is not escaped");
    memcpy(out + *n, s->s + s->at, size);
    *n += size;
    s->at += size;
    return STATUS_OK;
}

/* A JSON string, unescaped and terminated. Unescaping never makes it longer. */
static enum status take_string(struct scan *s, const char **ret, size_t *ret_len)
{
    size_t n = 0;
    if (!take(s, '"')) return wrong(s, s->at, "expected a string in double quotes");
    const char *quote = memchr(s->s + s->at, '"', s->len - s->at);
    size_t room = s->len - s->at;
    if (quote && (quote == s->s + s->at || quote[-1] != '\\')) room = (size_t)(quote - (s->s + s->at));
    char *out = arena_alloc(s->arena, room + 1);
    if (!out) return err_set(s->e, STATUS_MEMORY, "no memory for a record of %zu bytes", s->len);
    while (!take(s, '"')) {
        enum status rc = take_char(s, out, &n);
        if (rc != STATUS_OK) return rc;
    }
    *ret = out;
    *ret_len = n;
    return STATUS_OK;
}

static bool find_field(const char *key, enum record_field *ret)
{
    for (unsigned i = 0; i < RF_COUNT; i++) {
        if (strcmp(key, record_field_key((enum record_field)i)) != 0) continue;
        *ret = (enum record_field)i;
        return true;
    }
    return false;
}

/* Keys stand in table order, so a double key and a wrong order are the same thing: not after the last one. */
static enum status take_key(struct scan *s, const struct record *r, enum record_field *ret)
{
    const char *key;
    size_t n, at = s->at;
    enum status rc = take_string(s, &key, &n);
    if (rc != STATUS_OK) return rc;
    if (!find_field(key, ret))
        return err_set(s->e, STATUS_CORRUPT, "offset %zu: unknown key \"%.40s\"", at, key);
    if (r->present >> *ret & 1)
        return err_set(s->e, STATUS_CORRUPT, "offset %zu: the key \"%s\" stands twice", at, key);
    if (r->present >> *ret != 0)
        return err_set(s->e, STATUS_CORRUPT, "offset %zu: the key \"%s\" stands after a key that it must precede", at,
                       key);
    return take(s, ':') ? STATUS_OK : wrong(s, s->at, "expected ':'");
}

/* The number, when its text is the one that we would print. */
static bool number_of(const char *text, size_t len, enum record_type type, union record_value *ret)
{
    size_t sign = type == RT_I64 && len > 1 && text[0] == '-';
    if (len - sign > 1 && text[sign] == '0') return false;
    if (sign && text[1] == '0') return false;
    return type == RT_U64 ? num_parse_u64(text, len, &ret->u64) : num_parse_i64(text, len, &ret->i64);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_of(struct arena *a, const char *text, size_t len, union record_value *ret)
{
    uint8_t *bytes = len == 64 ? arena_alloc(a, 32) : NULL;
    for (size_t i = 0; bytes && i < 32; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    ret->hex32 = bytes;
    return bytes != NULL;
}

static enum status take_value(struct scan *s, struct record *r, enum record_field f)
{
    const char *text;
    size_t n, at = s->at;
    enum status rc = take_string(s, &text, &n);
    if (rc != STATUS_OK) return rc;
    switch (record_field_type(f)) {
    case RT_NAME:
        if (!record_kind_parse(text, &r->kind))
            return err_set(s->e, STATUS_CORRUPT, "offset %zu: unknown kind \"%.40s\"", at, text);
        r->v[f].text = record_kind_name(r->kind);
        break;
    case RT_TEXT:
        r->v[f].text = text;
        break;
    case RT_HEX32:
        if (!hex_of(s->arena, text, n, &r->v[f])) return wrong(s, at, "expected 64 lower-case hex digits");
        break;
    case RT_U64:
    case RT_I64:
        if (!number_of(text, n, record_field_type(f), &r->v[f])) return wrong(s, at, "not a canonical whole number");
        break;
    }
    r->present |= UINT64_C(1) << f;
    return STATUS_OK;
}

static enum status take_pairs(struct scan *s, struct record *r)
{
    do {
        enum record_field f = RF_COUNT;
        enum status rc = take_key(s, r, &f);
        if (rc == STATUS_OK) rc = take_value(s, r, f);
        if (rc != STATUS_OK) return rc;
    } while (take(s, ','));
    return STATUS_OK;
}

enum status audit_decode(struct arena *a, const char *bytes, size_t len, struct record *ret, struct err *e)
{
    struct scan s = {.arena = a, .s = bytes, .len = len, .e = e};
    struct record r = {0};
    if (len > RECORD_BYTES_MAX) return wrong(&s, RECORD_BYTES_MAX, "the record is longer than 65,535 bytes");
    if (!take(&s, '{')) return wrong(&s, 0, "expected '{'");
    enum status rc = take_pairs(&s, &r);
    if (rc != STATUS_OK) return rc;
    if (!take(&s, '}')) return wrong(&s, s.at, "expected ',' or '}'");
    if (s.at != len) return wrong(&s, s.at, "bytes after the end of the record");
    if ((r.present & REQUIRED) != REQUIRED) return wrong(&s, len, "seq, at or kind is missing");
    *ret = r;
    return STATUS_OK;
}
