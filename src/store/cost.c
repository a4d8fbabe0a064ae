/* What the points take: counted, not estimated. */
#include <string.h>

#include "base/text.h"
#include "store/block.h"
#include "store/files.h"
#include "store/history.h"
#include "store/internal.h"
#include "store/sql.h"

static bool layer_of(sqlite3_stmt *st, struct store_cost *all, struct store_cost **ret)
{
    enum layer layer;
    const char *word = (const char *)sqlite3_column_text(st, 0);
    if (!word || !layer_parse(word, &layer)) return false;
    *ret = &all[layer];
    return true;
}

static void stretch(struct store_cost *c, int64_t first, int64_t last)
{
    if (c->first == STORE_NO_TIME || first < c->first) c->first = first;
    if (c->last == STORE_NO_TIME || last > c->last) c->last = last;
}

static enum status count_rows(sqlite3 *db, struct store_cost *all, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct store_cost *c;
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(db, "SELECT s.layer, count(DISTINCT s.id), count(p.at), min(p.at), max(p.at) FROM series s"
                                           " LEFT JOIN points p ON p.series = s.id GROUP BY s.layer", &st, e);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        if (!layer_of(st, all, &c)) continue;
        c->series = (uint64_t)sqlite3_column_int64(st, 1);
        c->row_points = (uint64_t)sqlite3_column_int64(st, 2);
        if (c->row_points) stretch(c, sqlite3_column_int64(st, 3), sqlite3_column_int64(st, 4));
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "counting points", e);
    sqlite3_finalize(st);
    return rc;
}

static enum status count_blocks(sqlite3 *db, struct store_cost *all, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct arena a = ARENA_INIT;
    struct store_cost *c;
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(db, "SELECT s.layer, b.bytes FROM blocks b JOIN series s ON s.id = b.series", &st, e);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        struct store_row *rows;
        uint32_t n;
        size_t len = (size_t)sqlite3_column_bytes(st, 1);
        if (!layer_of(st, all, &c)) continue;
        arena_reset(&a);
        if (!store_block_unpack(&a, sqlite3_column_blob(st, 1), len, &rows, &n) || n == 0) continue;   /* damaged: holds nothing */
        c->block_points += n;
        c->block_bytes += len;
        stretch(c, rows[0].at, rows[n - 1].at);
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "counting blocks", e);
    sqlite3_finalize(st);
    arena_free(&a);
    return rc;
}

enum status store_cost_count(sqlite3 *db, struct store_cost *ret, uint64_t *ret_file_bytes, struct err *e)
{
    int64_t pages = 0, size = 0;
    for (int i = 0; i < LAYER_COUNT; i++) ret[i] = (struct store_cost){.first = STORE_NO_TIME, .last = STORE_NO_TIME};
    enum status rc = count_rows(db, ret, e);
    if (rc == STATUS_OK) rc = count_blocks(db, ret, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "PRAGMA page_count", &pages, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "PRAGMA page_size", &size, e);
    *ret_file_bytes = (uint64_t)(pages * size);
    return rc;
}
