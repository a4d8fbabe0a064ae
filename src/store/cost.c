/* What the points take: counted, not estimated. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
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

static enum status count_series(sqlite3 *db, struct store_cost *all, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct store_cost *c;
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(db, "SELECT layer, count(*) FROM series GROUP BY layer", &st, e);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW)
        if (layer_of(st, all, &c)) c->series = (uint64_t)sqlite3_column_int64(st, 1);
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "counting series", e);
    sqlite3_finalize(st);
    return rc;
}

struct layers { uint8_t *of; uint64_t n; };   /* by series; LAYER_COUNT: of a newer version */

static enum status read_layers(sqlite3 *db, struct layers *ret, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int64_t max = 0;
    int step = SQLITE_DONE;
    enum status rc = store_sql_int(db, "SELECT coalesce(max(id), 0) FROM series", &max, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(db, "SELECT layer, id FROM series", &st, e);
    if (rc != STATUS_OK) return rc;
    ret->n = (uint64_t)max + 1;
    ret->of = malloc(ret->n);
    CHECK_MEMORY(ret->of);
    memset(ret->of, LAYER_COUNT, ret->n);
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        enum layer layer;
        const char *word = (const char *)sqlite3_column_text(st, 0);
        int64_t id = sqlite3_column_int64(st, 1);
        if (word && layer_parse(word, &layer) && id >= 0 && (uint64_t)id < ret->n) ret->of[id] = (uint8_t)layer;
    }
    sqlite3_finalize(st);
    return step == SQLITE_DONE ? STATUS_OK : store_sql_fail(db, "counting series", e);
}

static enum status count_recent(sqlite3 *db, struct store_cost *all, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct layers layers = {0};
    struct store_rows rows = {0};
    int step = SQLITE_DONE;
    enum status rc = read_layers(db, &layers, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(db, "SELECT bytes FROM recent", &st, e);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        size_t len;
        const void *bytes = store_sql_blob(st, 0, &len);
        rows.n = 0;
        (void)store_rows_read(&rows, bytes, len, NULL);   /* damaged: holds nothing */
        for (uint32_t i = 0; i < rows.n; i++) {
            const struct store_row *r = &rows.at[i];
            if (r->series >= layers.n || layers.of[r->series] == LAYER_COUNT) continue;
            struct store_cost *c = &all[layers.of[r->series]];
            c->row_points++;
            stretch(c, r->at, r->at);
        }
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "counting points", e);
    sqlite3_finalize(st);
    store_rows_free(&rows);
    free(layers.of);
    return rc;
}

static enum status count_blocks(sqlite3 *db, struct store_cost *all, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct store_cost *c;
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(db, "SELECT layer, sum(points), sum(length(bytes)), min(first), max(last) FROM packed"
                                           " GROUP BY layer", &st, e);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        if (!layer_of(st, all, &c)) continue;
        c->block_points = (uint64_t)sqlite3_column_int64(st, 1);
        c->block_bytes = (uint64_t)sqlite3_column_int64(st, 2);
        stretch(c, sqlite3_column_int64(st, 3), sqlite3_column_int64(st, 4));
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "counting blocks", e);
    sqlite3_finalize(st);
    return rc;
}

enum status store_cost_count(sqlite3 *db, struct store_cost *ret, uint64_t *ret_file_bytes, struct err *e)
{
    int64_t pages = 0, size = 0;
    for (int i = 0; i < LAYER_COUNT; i++) ret[i] = (struct store_cost){.first = STORE_NO_TIME, .last = STORE_NO_TIME};
    enum status rc = count_series(db, ret, e);
    if (rc == STATUS_OK) rc = count_recent(db, ret, e);
    if (rc == STATUS_OK) rc = count_blocks(db, ret, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "PRAGMA page_count", &pages, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "PRAGMA page_size", &size, e);
    *ret_file_bytes = (uint64_t)(pages * size);
    return rc;
}
