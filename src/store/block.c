#include "store/block.h"
#include "store/pack.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

#define VERSION 1

static void put_varint(struct buf *out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) buf_le8(out, (uint8_t)(v | 0x80));
    buf_le8(out, (uint8_t)v);
}

/* Small numbers of either sign become small numbers. */
static uint64_t zigzag(uint64_t v) { return v << 1 ^ (v >> 63 ? UINT64_MAX : 0); }
static uint64_t unzigzag(uint64_t v) { return v >> 1 ^ (v & 1 ? UINT64_MAX : 0); }

static uint64_t get_varint(struct reader *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = read_le8(in);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    in->failed = true;
    return 0;
}

/* All arithmetic is on unsigned numbers: it wraps there and back. */
static void pack_times(struct buf *out, const struct store_row *rows, uint32_t n)
{
    uint64_t last = 0, step = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t now = (uint64_t)rows[i].at - last;
        put_varint(out, zigzag(now - step));
        step = i ? now : 0;   /* the first is no step */
        last = (uint64_t)rows[i].at;
    }
}

static bool unpack_times(struct reader *in, struct store_row *rows, uint32_t n)
{
    uint64_t last = 0, step = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t now = unzigzag(get_varint(in)) + step;
        last += now;
        step = i ? now : 0;
        rows[i].at = (int64_t)last;
        if (i && rows[i].at <= rows[i - 1].at) return false;
    }
    return !in->failed;
}

static void pack_whys(struct buf *out, const struct store_row *rows, uint32_t n)
{
    for (uint32_t i = 0, run; i < n; i += run) {
        const char *word = unknown_name(rows[i].why);
        for (run = 1; i + run < n && rows[i + run].why == rows[i].why;) run++;
        put_varint(out, run);
        buf_le_bytes(out, word, strlen(word));
    }
}

static bool unpack_whys(struct reader *in, struct store_row *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        size_t len = 0;
        uint64_t run = get_varint(in);
        const uint8_t *word = read_le_bytes(in, &len);
        if (in->failed || run == 0 || run > n - i) return false;
        enum unknown_why why = store_why_of((const char *)word, len);
        for (; run > 0; run--) rows[i++].why = why;
    }
    return true;
}

static void pack_counts(struct buf *out, const struct store_row *rows, uint32_t n)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        put_varint(out, zigzag(rows[i].n - last));
        last = rows[i].n;
    }
}

static bool unpack_counts(struct reader *in, struct store_row *rows, uint32_t n)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        last += unzigzag(get_varint(in));
        if (last > UINT32_MAX) return false;
        rows[i].n = (uint32_t)last;
    }
    return !in->failed;
}

/* Bits that differ from the value before: one byte that says how many zero bytes stand in front (high half) and how
 * many bytes follow (low half), then these, the most significant first. */
static void pack_value(struct buf *out, uint64_t changed)
{
    unsigned front = 0, back = 0;
    if (changed == 0) {
        buf_le8(out, 0);
        return;
    }
    while (changed >> (56 - 8 * front) == 0) front++;
    while ((changed >> (8 * back) & 0xff) == 0) back++;
    unsigned size = 8 - front - back;
    buf_le8(out, (uint8_t)(front << 4 | size));
    for (unsigned i = size; i-- > 0;) buf_le8(out, (uint8_t)(changed >> (8 * (back + i))));
}

static uint64_t unpack_value(struct reader *in)
{
    uint8_t head = read_le8(in);
    unsigned front = head >> 4, size = head & 15;
    uint64_t v = 0;
    if (head == 0) return 0;
    if (size == 0 || front + size > 8) {
        in->failed = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) v = v << 8 | read_le8(in);
    return v << (8 * (8 - front - size));
}

static void pack_values(struct buf *out, const struct store_row *rows, uint32_t n)
{
    uint64_t last = 0, bits;
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i].why != WHY_KNOWN) continue;
        memcpy(&bits, &rows[i].value, sizeof bits);
        pack_value(out, bits ^ last);
        last = bits;
    }
}

static bool unpack_values(struct reader *in, struct store_row *rows, uint32_t n)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        rows[i].value = NAN;
        if (rows[i].why != WHY_KNOWN) continue;
        last ^= unpack_value(in);
        memcpy(&rows[i].value, &last, sizeof last);
        if (isnan(rows[i].value)) return false;   /* a known value is a number */
    }
    return !in->failed;
}

void store_block_pack(struct buf *out, const struct store_row *rows, uint32_t n)
{
    CHECK(n >= 1 && n <= STORE_BLOCK_ROWS_MAX);
    buf_le8(out, VERSION);
    put_varint(out, n);
    pack_times(out, rows, n);
    pack_whys(out, rows, n);
    pack_counts(out, rows, n);
    pack_values(out, rows, n);
}

bool store_block_unpack(struct arena *a, const void *bytes, size_t len, struct store_row **ret, uint32_t *ret_n)
{
    struct reader in = {.p = bytes, .len = len};
    if (read_le8(&in) != VERSION) return false;
    uint64_t n = get_varint(&in);
    /* Each row has a byte of its time at least, so this bounds the memory by the input. */
    if (in.failed || n == 0 || n > STORE_BLOCK_ROWS_MAX || n > len) return false;
    struct store_row *rows = ARENA_NEW_N(a, n, struct store_row);
    uint32_t count = (uint32_t)n;
    if (!rows || !unpack_times(&in, rows, count) || !unpack_whys(&in, rows, count) || !unpack_counts(&in, rows, count)
        || !unpack_values(&in, rows, count) || in.at != len)
        return false;
    *ret = rows;
    *ret_n = count;
    return true;
}
