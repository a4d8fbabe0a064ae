/* A block: version, lengths of three zstd frames, the frames: how the columns were packed, symbols, bits. */
#include "store/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/check.h"
#include "store/number.h"
#include "store/pack_inside.h"

#define LEVEL 6

struct store_packer {
    struct number_out out;
    ZSTD_CCtx *zstd;
    struct number_bytes squeezed;
    double *known;            /* values of the known rows of a column */
    int64_t *counts;
    uint32_t cap;
    const int64_t *line[STORE_PACK_LINES];   /* times told so far */
    uint32_t line_rows[STORE_PACK_LINES], lines;
};

struct store_packer *store_packer_new(void)
{
    struct store_packer *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    p->zstd = ZSTD_createCCtx();
    CHECK_MEMORY(p->zstd);
    (void)ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    return p;
}

void store_packer_free(struct store_packer *p)
{
    if (!p) return;
    number_out_free(&p->out);
    number_free(&p->squeezed);
    (void)ZSTD_freeCCtx(p->zstd);
    free(p->known);
    free(p->counts);
    free(p);
}

static void room_for(struct store_packer *p, uint32_t rows)
{
    if (rows <= p->cap) return;
    p->cap = rows;
    p->known = realloc(p->known, rows * sizeof *p->known);
    p->counts = realloc(p->counts, rows * sizeof *p->counts);
    CHECK_MEMORY(p->known && p->counts);
}

/* Times: the number of a line that was told before, or a new line. */
static void put_times(struct store_packer *p, const struct store_column *c)
{
    for (uint32_t i = 0; i < p->lines; i++) {
        bool same = p->line_rows[i] == c->rows &&
                    (p->line[i] == c->at || memcmp(p->line[i], c->at, c->rows * sizeof *c->at) == 0);
        if (!same) continue;
        number_varint(&p->out.head, i);
        return;
    }
    uint32_t place = p->lines < STORE_PACK_LINES ? p->lines++ : STORE_PACK_LINES - 1;
    p->line[place] = c->at;
    p->line_rows[place] = c->rows;
    number_varint(&p->out.head, STORE_PACK_LINES + place);
    number_varint(&p->out.head, c->rows);
    number_put_ints(&p->out, c->at, c->rows);
}

/* Reasons in runs, by their words: numbers of reasons may change between versions. Returns how many rows are known. */
static uint32_t put_whys(struct store_packer *p, const struct store_column *c)
{
    uint32_t known = 0, run;
    if (!c->why) {
        number_varint(&p->out.head, 0);
        return c->rows;
    }
    for (uint32_t i = 0; i < c->rows; i += run) {
        const char *word = unknown_name((enum unknown_why)c->why[i]);
        size_t len = strlen(word);
        for (run = 1; i + run < c->rows && c->why[i + run] == c->why[i];) run++;
        if (c->why[i] == WHY_KNOWN) known += run;
        number_varint(&p->out.head, run);
        number_varint(&p->out.head, len);
        memcpy(number_room(&p->out.head, len), word, len);
        p->out.head.len += len;
    }
    return known;
}

static void put_column(struct store_packer *p, const struct store_column *c, uint64_t last_id)
{
    CHECK(c->rows >= 1 && c->rows <= STORE_PACK_ROWS_MAX);
    room_for(p, c->rows);
    number_signed(&p->out.head, (int64_t)(c->id - last_id));
    put_times(p, c);
    uint32_t known = put_whys(p, c), k = 0;
    for (uint32_t i = 0; i < c->rows; i++) p->counts[i] = c->n ? c->n[i] : 0;
    number_put_ints(&p->out, p->counts, c->rows);
    if (known == c->rows) {
        number_put_doubles(&p->out, c->value, known);
        return;
    }
    for (uint32_t i = 0; i < c->rows; i++)
        if (c->why[i] == WHY_KNOWN) p->known[k++] = c->value[i];
    number_put_doubles(&p->out, p->known, known);
}

static size_t squeeze(struct store_packer *p, const struct number_bytes *in)
{
    size_t bound = ZSTD_compressBound(in->len);
    size_t n = ZSTD_compress2(p->zstd, number_room(&p->squeezed, bound), bound, in->p, in->len);
    CHECK(!ZSTD_isError(n));               /* only for want of memory or room, and there is room */
    p->squeezed.len += n;
    return n;
}

void store_pack(struct store_packer *p, struct buf *out, const struct store_column *columns, uint32_t n, const void *extra,
                size_t extra_len)
{
    struct number_bytes front = {0};
    CHECK(n <= STORE_PACK_COLUMNS_MAX);
    p->out.head.len = p->out.symbols.len = p->out.bits.len = p->squeezed.len = 0;
    p->lines = 0;
    number_varint(&p->out.head, n);
    number_varint(&p->out.head, extra_len);
    if (extra_len) memcpy(number_room(&p->out.head, extra_len), extra, extra_len);
    p->out.head.len += extra_len;
    for (uint32_t i = 0; i < n; i++) put_column(p, &columns[i], i ? columns[i - 1].id : 0);
    size_t head = squeeze(p, &p->out.head), symbols = squeeze(p, &p->out.symbols);
    squeeze(p, &p->out.bits);
    number_varint(&front, STORE_PACK_VERSION);
    number_varint(&front, head);
    number_varint(&front, symbols);
    buf_add(out, front.p, front.len);
    buf_add(out, p->squeezed.p, p->squeezed.len);
    number_free(&front);
}
