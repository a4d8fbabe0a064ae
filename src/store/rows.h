/* Points as they come, one short record a put: kept so for up to two hours, until they are packed (pack.h). */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/enums.h"
#include "store/pack.h"

struct store_row {
    uint64_t series;
    int64_t at;
    double value;             /* NaN unless known */
    uint32_t n;
    uint8_t why;              /* enum unknown_why */
    uint32_t turn;            /* of two rows at the same time the one with the higher turn counts */
};

/* Rows that grow. */
struct store_rows { struct store_row *at; uint32_t n, cap; };
void store_rows_free(struct store_rows *r);
struct store_row *store_rows_add(struct store_rows *r);      /* zeroed */
/* By series, then time; of several at one time the last turn stays. */
void store_rows_sort(struct store_rows *r);

void store_rows_write(struct buf *out, const struct store_row *rows, uint32_t n);
/* Appends the rows of a record, each with a higher turn than all before; `only` NULL: of all series. false: damaged; nothing
 * is appended then. */
bool store_rows_read(struct store_rows *r, const void *bytes, size_t len, const uint64_t *only);

/* The same to and from a block: rows sorted as above, n > 0. */
void store_rows_pack(struct store_packer *p, struct buf *out, const struct store_row *rows, uint32_t n);
/* With turn 0. false: damaged; nothing is appended then. */
bool store_rows_unpack(struct store_rows *r, struct arena *a, const void *bytes, size_t len, const uint64_t *only);

#endif
