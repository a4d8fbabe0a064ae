/* Reading blocks. The bytes may be anything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/check.h"
#include "store/number.h"
#include "store/pack.h"
#include "store/pack_inside.h"

#define PAD 16                             /* that bits are read past their end (number.h) */

struct store_unpacker {
    struct arena *arena;
    struct number_in in;
    uint32_t count, seen;
    uint64_t id;
    const uint8_t *extra;
    size_t extra_len;
    int64_t *line[STORE_PACK_LINES];
    uint32_t line_rows[STORE_PACK_LINES], lines;
    uint32_t cap;                          /* rows that the arrays below have room for */
    double *values, *known;
    int64_t *counts, *scratch;
    uint32_t *n;
    uint8_t *why;
};

/* One frame into memory of its own. zstd says how much it holds before; it is bounded by what zstd can make of the bytes, so
 * a small block cannot claim much. */
static bool inflate_stream(struct arena *a, const uint8_t *p, size_t len, struct number_part *ret)
{
    unsigned long long size = ZSTD_getFrameContentSize(p, len);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > STORE_PACK_BYTES_MAX) return false;
    if (size > len * UINT64_C(50000) || ZSTD_findFrameCompressedSize(p, len) != len) return false;
    uint8_t *out = arena_alloc(a, (size_t)size + PAD);
    if (!out) return false;
    *ret = (struct number_part){out, (size_t)size, 0};
    return ZSTD_decompress(out, (size_t)size, p, len) == size;
}

static bool open_streams(struct store_unpacker *u, const uint8_t *bytes, size_t len)
{
    struct number_in front = {.head = {bytes, len, 0}};
    uint64_t version = number_get_varint(&front), head = number_get_varint(&front), symbols = number_get_varint(&front);
    size_t left = len - front.head.at;
    if (front.failed || version != STORE_PACK_VERSION || head > left || symbols > left - head) return false;
    const uint8_t *p = bytes + front.head.at;
    return inflate_stream(u->arena, p, (size_t)head, &u->in.head)
           && inflate_stream(u->arena, p + head, (size_t)symbols, &u->in.symbols)
           && inflate_stream(u->arena, p + head + symbols, left - (size_t)head - (size_t)symbols, &u->in.bits);
}

struct store_unpacker *store_unpack_open(struct arena *a, const void *bytes, size_t len)
{
    struct store_unpacker *u = ARENA_NEW(a, struct store_unpacker);
    if (!u) return NULL;
    u->arena = a;
    if (!open_streams(u, bytes, len)) return NULL;
    uint64_t count = number_get_varint(&u->in), extra = number_get_varint(&u->in);
    if (u->in.failed || count > STORE_PACK_COLUMNS_MAX || extra > u->in.head.len - u->in.head.at) return NULL;
    u->count = (uint32_t)count;
    u->extra = u->in.head.p + u->in.head.at;
    u->extra_len = (size_t)extra;
    u->in.head.at += u->extra_len;
    return u;
}

void store_unpack_close(struct store_unpacker *u)
{
    if (!u) return;
    for (uint32_t i = 0; i < STORE_PACK_LINES; i++) free(u->line[i]);
    free(u->values);
    free(u->known);
    free(u->counts);
    free(u->scratch);
    free(u->n);
    free(u->why);
    u->count = u->seen = 0;
}

uint32_t store_unpack_count(const struct store_unpacker *u) { return u->count; }
bool store_unpack_failed(const struct store_unpacker *u) { return u->in.failed; }

const void *store_unpack_extra(const struct store_unpacker *u, size_t *ret_len)
{
    *ret_len = u->extra_len;
    return u->extra;
}

static void room_for(struct store_unpacker *u, uint32_t rows)
{
    if (rows <= u->cap) return;
    u->cap = rows;
    u->values = realloc(u->values, rows * sizeof *u->values);
    u->known = realloc(u->known, rows * sizeof *u->known);
    u->counts = realloc(u->counts, rows * sizeof *u->counts);
    u->scratch = realloc(u->scratch, rows * sizeof *u->scratch);
    u->n = realloc(u->n, rows * sizeof *u->n);
    u->why = realloc(u->why, rows);
    CHECK_MEMORY(u->values && u->known && u->counts && u->scratch && u->n && u->why);
}

static bool new_line(struct store_unpacker *u, uint64_t place)
{
    uint64_t rows = number_get_varint(&u->in);
    /* A line takes a symbol a row, or is one row, or (all the same) not ascending. */
    if (u->in.failed || rows < 1 || rows > STORE_PACK_ROWS_MAX || rows > u->in.symbols.len - u->in.symbols.at + 2) return false;
    int64_t *line = realloc(u->line[place], (size_t)rows * sizeof *line);
    CHECK_MEMORY(line);
    u->line[place] = line;
    u->line_rows[place] = (uint32_t)rows;
    if (!number_get_ints(&u->in, line, (uint32_t)rows)) return false;
    for (uint64_t i = 1; i < rows; i++)
        if (line[i] <= line[i - 1]) return false;
    return true;
}

static bool get_times(struct store_unpacker *u, struct store_column *c)
{
    uint64_t place = number_get_varint(&u->in);
    if (place >= STORE_PACK_LINES) {
        place -= STORE_PACK_LINES;
        if (place >= STORE_PACK_LINES || place > u->lines) return false;
        if (!new_line(u, place)) return false;
        if (place == u->lines) u->lines++;
    }
    if (u->in.failed || place >= u->lines) return false;
    c->at = u->line[place];
    c->rows = u->line_rows[place];
    return true;
}

enum unknown_why store_why_of(const char *word, size_t len)
{
    for (int i = 0; i < WHY_COUNT; i++) {
        const char *name = unknown_name((enum unknown_why)i);
        if (strlen(name) == len && memcmp(name, word, len) == 0) return (enum unknown_why)i;
    }
    return WHY_MISSING;
}

static bool get_whys(struct store_unpacker *u, struct store_column *c, uint32_t *ret_known)
{
    uint64_t run = number_get_varint(&u->in);
    *ret_known = c->rows;
    c->why = NULL;
    if (run == 0) return !u->in.failed;
    *ret_known = 0;
    for (uint32_t i = 0;;) {
        uint64_t len = number_get_varint(&u->in);
        if (u->in.failed || run == 0 || run > c->rows - i || len > u->in.head.len - u->in.head.at) return false;
        enum unknown_why why = store_why_of((const char *)u->in.head.p + u->in.head.at, (size_t)len);
        u->in.head.at += (size_t)len;
        memset(u->why + i, (int)why, (size_t)run);
        if (why == WHY_KNOWN) *ret_known += (uint32_t)run;
        i += (uint32_t)run;
        if (i == c->rows) break;
        run = number_get_varint(&u->in);
    }
    c->why = u->why;
    return true;
}

static bool get_counts(struct store_unpacker *u, struct store_column *c)
{
    if (!number_get_ints(&u->in, u->counts, c->rows)) return false;
    for (uint32_t i = 0; i < c->rows; i++) {
        if (u->counts[i] < 0 || u->counts[i] > UINT32_MAX) return false;
        u->n[i] = (uint32_t)u->counts[i];
    }
    c->n = u->n;
    return true;
}

static bool get_values(struct store_unpacker *u, struct store_column *c, uint32_t known)
{
    bool all = known == c->rows;
    uint32_t k = 0;
    if (!number_get_doubles(&u->in, all ? u->values : u->known, known, u->scratch)) return false;
    for (uint32_t i = 0; !all && i < c->rows; i++) u->values[i] = u->why[i] == WHY_KNOWN ? u->known[k++] : (double)NAN;
    c->value = u->values;
    return true;
}

static bool get_column(struct store_unpacker *u, const uint64_t *only, struct store_column *c, bool *ret_wanted)
{
    uint32_t known;
    c->id = u->id += (uint64_t)number_get_signed(&u->in);
    if (!get_times(u, c)) return false;
    room_for(u, c->rows);
    if (!get_whys(u, c, &known)) return false;
    *ret_wanted = !only || *only == c->id;
    if (*ret_wanted) return get_counts(u, c) && get_values(u, c, known);
    return number_skip_ints(&u->in, c->rows) && number_skip_doubles(&u->in, known);
}

bool store_unpack_next(struct store_unpacker *u, const uint64_t *only, struct store_column *ret)
{
    bool wanted = false;
    struct store_column c = {0};
    while (!wanted && !u->in.failed && u->seen < u->count) {
        u->seen++;
        if (!get_column(u, only, &c, &wanted)) u->in.failed = true;
    }
    if (u->seen == u->count && !wanted && !u->in.failed)
        u->in.failed = u->in.head.at != u->in.head.len || u->in.symbols.at != u->in.symbols.len || u->in.bits.at != u->in.bits.len;
    if (!wanted || u->in.failed) return false;
    *ret = c;
    return true;
}
