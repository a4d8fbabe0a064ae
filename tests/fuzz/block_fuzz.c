/* Packed points: whatever is read as a block packs and reads again as the same points. */
#include <stdlib.h>
#include <string.h>

#include "store/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct store_row *a, const struct store_row *b)
{
    return a->at == b->at && a->n == b->n && a->why == b->why
           && (a->why != WHY_KNOWN || memcmp(&a->value, &b->value, sizeof a->value) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct buf out = BUF_INIT;
    struct store_row *rows = NULL, *again = NULL;
    uint32_t n = 0, m = 0;
    if (store_block_unpack(&a, data, size, &rows, &n)) {
        store_block_pack(&out, rows, n);
        if (!store_block_unpack(&a, out.data, out.len, &again, &m) || m != n) abort();
        for (uint32_t i = 0; i < n; i++)
            if (!same(&rows[i], &again[i])) abort();
    }
    buf_free(&out);
    arena_free(&a);
    return 0;
}
