/* Points of one series packed into bytes, column by column: times as differences of differences, values as what changed
 * in their bits, reasons in runs. Exact: what comes out is what went in, to the last bit. */
#ifndef STORE_BLOCK_H
#define STORE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/enums.h"

#define STORE_BLOCK_ROWS_MAX 65536

struct store_row {
    int64_t at;
    double value;             /* NaN unless known */
    uint32_t n;
    enum unknown_why why;
};

/* Rows in strictly ascending time, 1 to STORE_BLOCK_ROWS_MAX of them. */
void store_block_pack(struct buf *out, const struct store_row *rows, uint32_t n);
/* false: damaged, or out of memory; nothing is returned then. */
bool store_block_unpack(struct arena *a, const void *bytes, size_t len, struct store_row **ret, uint32_t *ret_n);


#endif
