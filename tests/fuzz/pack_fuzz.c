/* Blocks and records of points: whatever is read as one packs, and reads again as the same points. */
#include <stdlib.h>
#include <string.h>

#include "store/number.h"
#include "store/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(const struct store_row *a, const struct store_row *b)
{
    return a->series == b->series && a->at == b->at && a->n == b->n && a->why == b->why
           && (a->why != WHY_KNOWN || memcmp(&a->value, &b->value, sizeof a->value) == 0);
}

static void check(struct store_rows *rows)
{
    struct store_packer *p = store_packer_new();
    struct buf block = BUF_INIT, record = BUF_INIT;
    struct store_rows again[2] = {{0}, {0}};
    struct arena a = ARENA_INIT;
    store_rows_sort(rows);
    if (rows->n) {
        store_rows_pack(p, &block, rows->at, rows->n);
        store_rows_write(&record, rows->at, rows->n);
        if (!store_rows_unpack(&again[0], &a, block.data, block.len, NULL)) abort();
        if (!store_rows_read(&again[1], record.data, record.len, NULL)) abort();
    }
    for (int k = 0; k < 2; k++) {
        if (again[k].n != rows->n) abort();
        for (uint32_t i = 0; i < rows->n; i++)
            if (!same(&rows->at[i], &again[k].at[i])) abort();
        store_rows_free(&again[k]);
    }
    store_packer_free(p);
    buf_free(&block);
    buf_free(&record);
    arena_free(&a);
}

/* zstd's checksum lets no changed block through, so the fuzzer's bytes are also taken as a record with its sum put right. */
static bool read_mended(struct store_rows *rows, const uint8_t *data, size_t size)
{
    struct buf b = BUF_INIT;
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < size; i++) sum = (sum ^ data[i]) * 16777619u;
    buf_add(&b, data, size);
    buf_le32(&b, sum);
    bool good = store_rows_read(rows, b.data, b.len, NULL);
    buf_free(&b);
    return good;
}

/* Behind the checksum: the three streams of columns, cut from the bytes. What is read packs and reads again. */
static void read_columns(const uint8_t *data, size_t size)
{
    uint8_t copy[3][300] = {{0}};
    double x[256], y[256];
    int64_t scratch[256];
    if (size < 3) return;
    uint32_t n = 1 + data[0] % 250u;
    size_t head = data[1] * (size - 3) / 255, symbols = data[2] * (size - 3 - head) / 255, bits = size - 3 - head - symbols;
    if (head > 256 || symbols > 256 || bits > 256) return;
    memcpy(copy[0], data + 3, head);
    memcpy(copy[1], data + 3 + head, symbols);
    memcpy(copy[2], data + 3 + head + symbols, bits);
    struct number_in in = {{copy[0], head, 0}, {copy[1], symbols, 0}, {copy[2], bits, 0}, false}, skip = in;
    while (number_get_doubles(&in, x, n, scratch)) {
        struct number_out out = {0};
        if (!number_skip_doubles(&skip, n) || skip.head.at != in.head.at || skip.bits.at != in.bits.at) abort();
        number_put_doubles(&out, x, n);
        memset(number_room(&out.bits, 16), 0, 16);
        struct number_in again = {{out.head.p, out.head.len, 0}, {out.symbols.p, out.symbols.len, 0}, {out.bits.p, out.bits.len, 0},
                                  false};
        if (!number_get_doubles(&again, y, n, scratch) || memcmp(x, y, n * sizeof *x) != 0) abort();
        number_out_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store_rows rows = {0};
    struct arena a = {.limit = (size_t)256 << 20};
    if (store_rows_unpack(&rows, &a, data, size, NULL)) check(&rows);
    rows.n = 0;
    if (read_mended(&rows, data, size)) check(&rows);
    read_columns(data, size);
    store_rows_free(&rows);
    arena_free(&a);
    return 0;
}
