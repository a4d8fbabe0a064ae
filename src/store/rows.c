#include "store/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "store/number.h"

#define VERSION 1u
#define SUM_BYTES 4u

void store_rows_free(struct store_rows *r)
{
    free(r->at);
    *r = (struct store_rows){0};
}

struct store_row *store_rows_add(struct store_rows *r)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        r->at = realloc(r->at, r->cap * sizeof *r->at);
        CHECK_MEMORY(r->at);
    }
    struct store_row *row = &r->at[r->n++];
    memset(row, 0, sizeof *row);
    return row;
}

static int compare(const void *a, const void *b)
{
    const struct store_row *x = a, *y = b;
    if (x->series != y->series) return x->series < y->series ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void store_rows_sort(struct store_rows *r)
{
    uint32_t n = 0;
    if (r->n == 0) return;
    qsort(r->at, r->n, sizeof *r->at, compare);
    for (uint32_t i = 0; i < r->n; i++) {
        bool replaced = i + 1 < r->n && r->at[i + 1].series == r->at[i].series && r->at[i + 1].at == r->at[i].at;
        if (!replaced) r->at[n++] = r->at[i];
    }
    r->n = n;
}

/* ---- records ---- */

static uint32_t check_sum(const uint8_t *p, size_t len)
{
    uint32_t h = 2166136261u;              /* FNV-1a */
    for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}

static void put_word(struct number_bytes *b, enum unknown_why why)
{
    const char *word = unknown_name(why);
    size_t len = strlen(word);
    number_varint(b, len);
    memcpy(number_room(b, len), word, len);
    b->len += len;
}

void store_rows_write(struct buf *out, const struct store_row *rows, uint32_t n)
{
    struct number_bytes b = {0};
    uint64_t series = 0;
    int64_t at = 0;
    number_varint(&b, VERSION);
    number_varint(&b, n);
    for (uint32_t i = 0; i < n; i++) {
        number_signed(&b, (int64_t)(rows[i].series - series));
        number_signed(&b, (int64_t)((uint64_t)rows[i].at - (uint64_t)at));
        number_varint(&b, (uint64_t)rows[i].n << 1 | (rows[i].why != WHY_KNOWN));
        if (rows[i].why != WHY_KNOWN) {
            put_word(&b, (enum unknown_why)rows[i].why);
        } else {
            memcpy(number_room(&b, 8), &rows[i].value, 8);
            b.len += 8;
        }
        series = rows[i].series;
        at = rows[i].at;
    }
    buf_add(out, b.p, b.len);
    buf_le32(out, check_sum(b.p, b.len));
    number_free(&b);
}

static bool read_value(struct number_in *in, struct store_row *row, bool unknown)
{
    size_t len = unknown ? (size_t)number_get_varint(in) : 8;
    if (in->failed || len > in->head.len - in->head.at) return false;
    const uint8_t *p = in->head.p + in->head.at;
    row->value = NAN;
    if (unknown) row->why = (uint8_t)store_why_of((const char *)p, len);
    else memcpy(&row->value, p, 8);
    in->head.at += len;
    return true;
}

static bool read_rows(struct number_in *in, struct store_rows *r, const uint64_t *only)
{
    uint64_t version = number_get_varint(in), n = number_get_varint(in), series = 0, at = 0;
    if (in->failed || version != VERSION) return false;
    for (uint64_t i = 0; i < n; i++) {
        struct store_row row = {.turn = 1 + r->n};
        row.series = series += (uint64_t)number_get_signed(in);
        row.at = (int64_t)(at += (uint64_t)number_get_signed(in));
        uint64_t count = number_get_varint(in);
        if (in->failed || count >> 1 > UINT32_MAX) return false;
        row.n = (uint32_t)(count >> 1);
        if (!read_value(in, &row, count & 1)) return false;
        if (!only || row.series == *only) *store_rows_add(r) = row;
    }
    return in->head.at == in->head.len;
}

bool store_rows_read(struct store_rows *r, const void *bytes, size_t len, const uint64_t *only)
{
    const uint8_t *p = bytes;
    uint32_t before = r->n;
    if (len < SUM_BYTES) return false;
    struct number_in in = {.head = {p, len - SUM_BYTES, 0}};
    struct reader sum = {.p = p + len - SUM_BYTES, .len = SUM_BYTES};
    bool good = read_le32(&sum) == check_sum(p, len - SUM_BYTES) && read_rows(&in, r, only);
    if (!good) r->n = before;
    return good;
}

/* ---- blocks ---- */

struct columns { int64_t *at; double *value; uint32_t *n; uint8_t *why; struct store_column *list; uint32_t count; };

static bool begins_column(const struct store_row *rows, uint32_t i)
{
    return i == 0 || rows[i].series != rows[i - 1].series;
}

static void make_columns(struct columns *c, const struct store_row *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        c->at[i] = rows[i].at;
        c->value[i] = rows[i].value;
        c->n[i] = rows[i].n;
        c->why[i] = rows[i].why;
        if (begins_column(rows, i))
            c->list[c->count++] = (struct store_column){.id = rows[i].series, .at = c->at + i, .value = c->value + i,
                                                        .n = c->n + i};
        struct store_column *last = &c->list[c->count - 1];
        last->rows++;
        if (rows[i].why != WHY_KNOWN) last->why = c->why + (last->at - c->at);
    }
}

void store_rows_pack(struct store_packer *p, struct buf *out, const struct store_row *rows, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += begins_column(rows, i);
    struct columns c = {.at = malloc(n * sizeof *c.at), .value = malloc(n * sizeof *c.value), .n = malloc(n * sizeof *c.n),
                        .why = malloc(n), .list = malloc(count * sizeof *c.list)};
    CHECK_MEMORY(c.at && c.value && c.n && c.why && c.list);
    make_columns(&c, rows, n);
    store_pack(p, out, c.list, c.count, NULL, 0);
    free(c.at);
    free(c.value);
    free(c.n);
    free(c.why);
    free(c.list);
}

bool store_rows_unpack(struct store_rows *r, struct arena *a, const void *bytes, size_t len, const uint64_t *only)
{
    uint32_t before = r->n;
    struct store_column c;
    arena_reset(a);
    struct store_unpacker *u = store_unpack_open(a, bytes, len);
    while (u && store_unpack_next(u, only, &c)) {
        for (uint32_t i = 0; i < c.rows; i++) {
            uint8_t why = c.why ? c.why[i] : (uint8_t)WHY_KNOWN;
            *store_rows_add(r) = (struct store_row){.series = c.id, .at = c.at[i], .value = c.value[i], .n = c.n ? c.n[i] : 0,
                                                    .why = why};
        }
    }
    bool good = u && !store_unpack_failed(u);
    store_unpack_close(u);
    if (!good) r->n = before;
    return good;
}
