/* Growable byte builder with a sticky error: append freely, check buf_ok() once. Always NUL-terminated. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"

struct buf {
    char *data;    /* NULL until the first append; use buf_text() for a C string */
    size_t len;
    size_t cap;
    size_t limit;  /* bytes; 0 = 256 MiB. An append beyond it fails and sets `failed` */
    bool failed;   /* over the limit; content up to then stays. Without memory the process ends (base/check.h) */
};

#define BUF_INIT ((struct buf){0})

void buf_free(struct buf *b);   /* takes NULL; leaves an empty, reusable buf */
void buf_clear(struct buf *b);  /* keeps the memory, drops content and error */
static inline bool buf_ok(const struct buf *b) { return !b->failed; }
static inline const char *buf_text(const struct buf *b) { return b->data ? b->data : ""; }
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);  /* a %f %g %e fails a CHECK: locale; use buf_double */
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
void buf_i64(struct buf *b, int64_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_double(struct buf *b, double v);            /* shortest text that reads back equal; NaN, +Inf, -Inf */
void buf_fixed(struct buf *b, double v, int digits); /* fixed decimals, 0..9, '.' always */
void buf_sig3(struct buf *b, double v);          /* three significant digits, for people: 46.8, 0.85, 1,240; no trailing zeros */
void buf_json_string(struct buf *b, const char *s, size_t len); /* quoted; invalid UTF-8 becomes U+FFFD */
/* Hands the bytes to the caller (free() them); b is empty afterwards. NULL when failed. */
char *buf_take(struct buf *b, size_t *ret_len);

/* Little-endian fixed-width codec for saved state. */
void buf_le8(struct buf *b, uint8_t v);
void buf_le32(struct buf *b, uint32_t v);
void buf_le64(struct buf *b, uint64_t v);
void buf_le_double(struct buf *b, double v);
void buf_le_bytes(struct buf *b, const void *p, size_t len); /* u32 length, then bytes */

/* Reader over saved bytes; sticky error, reads zero after it. */
struct reader { const uint8_t *p; size_t len, at; bool failed; };
uint8_t read_le8(struct reader *r);
uint32_t read_le32(struct reader *r);
uint64_t read_le64(struct reader *r);
double read_le_double(struct reader *r);
/* Points into the source; NULL and failed when the length runs past the end. */
const uint8_t *read_le_bytes(struct reader *r, size_t *ret_len);

#endif
