/* The little-endian half of base/buf.h: saved state must read the same on every machine. */
#include <string.h>

#include "base/buf.h"

static void put_le(struct buf *b, uint64_t v, unsigned size)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < size; i++) bytes[i] = (unsigned char)(v >> (8 * i));
    buf_add(b, bytes, size);
}

void buf_le8(struct buf *b, uint8_t v) { put_le(b, v, 1); }
void buf_le32(struct buf *b, uint32_t v) { put_le(b, v, 4); }
void buf_le64(struct buf *b, uint64_t v) { put_le(b, v, 8); }

void buf_le_double(struct buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_le(b, bits, 8);
}

void buf_le_bytes(struct buf *b, const void *p, size_t len)
{
    if (len > UINT32_MAX) {
        b->failed = true;
        return;
    }
    buf_le32(b, (uint32_t)len);
    buf_add(b, p, len);
}

static const uint8_t *take(struct reader *r, size_t size)
{
    if (r->failed || size > r->len - r->at) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *p = r->p + r->at;
    r->at += size;
    return p;
}

static uint64_t get_le(struct reader *r, unsigned size)
{
    const uint8_t *p = take(r, size);
    uint64_t v = 0;
    for (unsigned i = 0; p && i < size; i++) v |= (uint64_t)p[i] << (8 * i);
    return v;
}

uint8_t read_le8(struct reader *r) { return (uint8_t)get_le(r, 1); }
uint32_t read_le32(struct reader *r) { return (uint32_t)get_le(r, 4); }
uint64_t read_le64(struct reader *r) { return get_le(r, 8); }

double read_le_double(struct reader *r)
{
    uint64_t bits = get_le(r, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

const uint8_t *read_le_bytes(struct reader *r, size_t *ret_len)
{
    size_t len = read_le32(r);
    const uint8_t *p = take(r, len);
    *ret_len = p ? len : 0;
    return p;
}
