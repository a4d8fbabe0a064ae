/* Many series of one source packed into one block of bytes. Exact: what comes out is what went in, to the last bit. What
 * is the same in all series (the times of one page) or never changes takes a few bytes; the rest goes through number.h
 * and zstd, whose checksums are checked before a value is believed. */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/enums.h"

#define STORE_PACK_ROWS_MAX (UINT32_C(1) << 20)      /* of one series in one block */
#define STORE_PACK_COLUMNS_MAX (UINT32_C(1) << 17)

/* One series: rows in strictly ascending time. */
struct store_column {
    uint64_t id;
    uint32_t rows;            /* 1 or more */
    const int64_t *at;        /* the same pointer in several columns: told once */
    const double *value;      /* any bits; of unknown rows: not kept, NaN when read */
    const uint32_t *n;        /* NULL: 0 in all */
    const uint8_t *why;       /* enum unknown_why; NULL: all known */
};

/* Keeps its memory from block to block. */
struct store_packer;
struct store_packer *store_packer_new(void);
void store_packer_free(struct store_packer *p);      /* takes NULL */
/* `extra`: bytes of the caller's that go into the block as they are (names). At most COLUMNS_MAX columns. */
void store_pack(struct store_packer *p, struct buf *out, const struct store_column *columns, uint32_t n, const void *extra,
                size_t extra_len);

/* Reading. The block's bytes have to stay; all memory is the arena's. */
struct store_unpacker;
/* NULL: damaged, or over the arena's limit. */
struct store_unpacker *store_unpack_open(struct arena *a, const void *bytes, size_t len);
void store_unpack_close(struct store_unpacker *u);   /* takes NULL; before the arena goes */
uint32_t store_unpack_count(const struct store_unpacker *u);
const void *store_unpack_extra(const struct store_unpacker *u, size_t *ret_len);
/* The next column; its arrays live until the next call. `only` NULL: each; else columns of other numbers are passed over.
 * false: the end, or damage: see `failed`. */
bool store_unpack_next(struct store_unpacker *u, const uint64_t *only, struct store_column *ret);
bool store_unpack_failed(const struct store_unpacker *u);

/* A reason by its word; MISSING for a word that a newer version wrote. */
enum unknown_why store_why_of(const char *word, size_t len);

#endif
