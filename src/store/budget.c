/* The disk that metrics.db may take. Over it the oldest points go, whatever signal they are of, until there is room. */
#include "base/text.h"
#include "store/internal.h"

#define BLOCKS_AT_ONCE "16"
#define RECORDS_AT_ONCE "64"
#define WAL_BYTES (UINT64_C(8) << 20)      /* the write-ahead file is part of the budget */

static enum status pages(struct store_metrics *m, const char *pragma, uint64_t *ret, struct err *e)
{
    int64_t n = 0;
    enum status rc = store_sql_int(m->db, pragma, &n, e);
    *ret = (uint64_t)n;
    return rc;
}

struct use { uint64_t page, all, free; };   /* bytes; pages; of them unused */

static enum status count_use(struct store_metrics *m, struct use *u, struct err *e)
{
    enum status rc = pages(m, "PRAGMA page_size", &u->page, e);
    if (rc == STATUS_OK) rc = pages(m, "PRAGMA page_count", &u->all, e);
    if (rc == STATUS_OK) rc = pages(m, "PRAGMA freelist_count", &u->free, e);
    return rc;
}

static void count_out(struct store_metrics *m, uint64_t points, int64_t last)
{
    atomic_fetch_add(&m->evicted, points);
    if (last > atomic_load(&m->evicted_to)) atomic_store(&m->evicted_to, last);
}

/* Deletes with a statement that returns what it deleted. */
static enum status evict(struct store_metrics *m, const char *sql, bool packed, uint64_t *ret_n, struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct store_rows rows = {0};
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(m->db, sql, &st, e);
    *ret_n = 0;
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        size_t len;
        ++*ret_n;
        rows.n = 0;
        if (!packed) {
            const void *bytes = store_sql_blob(st, 1, &len);
            (void)store_rows_read(&rows, bytes, len, NULL);
        }
        count_out(m, packed ? (uint64_t)sqlite3_column_int64(st, 1) : rows.n, sqlite3_column_int64(st, 0));
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(m->db, "making room within the disk budget", e);
    sqlite3_finalize(st);
    store_rows_free(&rows);
    return rc;
}

static enum status evict_some(struct store_metrics *m, uint64_t *ret_n, struct err *e)
{
    enum status rc = evict(m, "DELETE FROM packed WHERE rowid IN (SELECT rowid FROM packed ORDER BY first LIMIT " BLOCKS_AT_ONCE ")"
                              " RETURNING last, points", true, ret_n, e);
    if (rc != STATUS_OK || *ret_n) return rc;
    return evict(m, "DELETE FROM recent WHERE id IN (SELECT id FROM recent ORDER BY id LIMIT " RECORDS_AT_ONCE ")"
                    " RETURNING last, bytes", false, ret_n, e);
}

enum status store_keep_budget(struct store_metrics *m, struct err *e)
{
    uint64_t budget = atomic_load(&m->budget), n = 1;
    struct use u = {0};
    enum status rc = count_use(m, &u, e);
    uint64_t limit = budget - (budget / 4 < WAL_BYTES ? budget / 4 : WAL_BYTES);
    bool over = budget && (u.all - u.free) * u.page > limit;
    while (rc == STATUS_OK && over && n) {
        rc = evict_some(m, &n, e);
        if (rc == STATUS_OK) rc = count_use(m, &u, e);
        over = (u.all - u.free) * u.page > limit - limit / 32;
    }
    /* A budget that was made smaller: what is free goes back to the system. */
    if (rc == STATUS_OK && budget && u.all * u.page > limit && u.free) {
        rc = store_sql_exec(m->db, "PRAGMA incremental_vacuum", "giving disk back", e);
        if (rc == STATUS_OK) rc = count_use(m, &u, e);
    }
    atomic_store(&m->used, (u.all - u.free) * u.page);
    return rc;
}
