/* Points that an earlier version kept as one row a point become records, once. */
#include <math.h>
#include <string.h>

#include "store/internal.h"

#define AT_ONCE 500u                    /* rows of a record */

static struct store_row row_at(sqlite3_stmt *st)
{
    struct store_row r = {.series = (uint64_t)sqlite3_column_int64(st, 1), .at = sqlite3_column_int64(st, 2), .value = NAN,
                          .n = (uint32_t)sqlite3_column_int64(st, 4)};
    const char *why = (const char *)sqlite3_column_text(st, 5);
    if (sqlite3_column_type(st, 3) != SQLITE_NULL) r.value = sqlite3_column_double(st, 3);
    else r.why = (uint8_t)(why ? store_why_of(why, strlen(why)) : WHY_MISSING);
    return r;
}

static enum status adopt_rows(sqlite3 *db, sqlite3_stmt *read, sqlite3_stmt *put, struct err *e)
{
    enum status rc = STATUS_OK;
    struct store_rows rows = {0};
    int64_t source = 0;
    int step = SQLITE_DONE;
    while (rc == STATUS_OK && (step = sqlite3_step(read)) == SQLITE_ROW) {
        if (rows.n && (sqlite3_column_int64(read, 0) != source || rows.n == AT_ONCE)) {
            rc = store_put_recent(put, source, rows.at, rows.n, e);
            rows.n = 0;
        }
        source = sqlite3_column_int64(read, 0);
        *store_rows_add(&rows) = row_at(read);
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(db, "reading points of an earlier version", e);
    if (rc == STATUS_OK && rows.n) rc = store_put_recent(put, source, rows.at, rows.n, e);
    store_rows_free(&rows);
    return rc;
}

static enum status adopt(sqlite3 *db, struct err *e)
{
    sqlite3_stmt *read = NULL, *put = NULL;
    enum status rc = store_sql_exec(db, "INSERT OR IGNORE INTO sources (service) SELECT DISTINCT service FROM series",
                                    "adding sources", e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(db, "SELECT o.id, p.series, p.at, p.value, p.n, p.why FROM points p JOIN series s ON s.id = p.series"
                                   " JOIN sources o ON o.service = s.service ORDER BY p.series, p.at", &read, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(db, STORE_PUT_RECENT, &put, e);
    if (rc == STATUS_OK) rc = adopt_rows(db, read, put, e);
    sqlite3_finalize(read);
    sqlite3_finalize(put);
    if (rc == STATUS_OK) rc = store_sql_exec(db, "DELETE FROM points", "removing points of an earlier version", e);
    return rc;
}

enum status store_adopt_points(sqlite3 *db, struct err *e)
{
    int64_t any = 0;
    enum status rc = store_sql_int(db, "SELECT EXISTS (SELECT 1 FROM points)", &any, e);
    if (rc != STATUS_OK || !any) return rc;
    rc = store_sql_exec(db, "BEGIN IMMEDIATE", "taking over points", e);
    if (rc == STATUS_OK) rc = adopt(db, e);
    if (rc == STATUS_OK) rc = store_sql_exec(db, "COMMIT", "taking over points", e);
    if (rc != STATUS_OK && !sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}
