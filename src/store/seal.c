/* Points older than two hours are packed into blocks, one a series and window; whatever is older than its layer keeps
 * goes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"
#include "store/block.h"
#include "store/pack.h"
#include "store/internal.h"

#define SERIES_AT_ONCE 50               /* a transaction: points go on coming in between */
#define LATE (15 * US_PER_MIN)          /* how long a window stays open for late points */

int64_t store_window_of(int64_t at)
{
    int64_t rest = at % STORE_WINDOW_US;
    if (rest < 0) rest += STORE_WINDOW_US;
    return at < INT64_MIN + rest ? INT64_MIN : at - rest;
}

struct store_row store_row_at(sqlite3_stmt *st)
{
    struct store_row r = {.at = sqlite3_column_int64(st, 0), .value = NAN, .n = (uint32_t)sqlite3_column_int64(st, 2)};
    const char *why = (const char *)sqlite3_column_text(st, 3);
    if (sqlite3_column_type(st, 1) != SQLITE_NULL) r.value = sqlite3_column_double(st, 1);
    else r.why = why ? store_why_of(why, strlen(why)) : WHY_MISSING;
    return r;
}

struct rows { struct store_row *at; uint32_t n, cap; };

static bool add_row(struct rows *rows, const struct store_row *r)
{
    if (rows->n == rows->cap) {
        uint32_t cap = rows->cap ? 2 * rows->cap : 1024;
        struct store_row *grown = realloc(rows->at, cap * sizeof *grown);
        if (!grown) return false;
        rows->at = grown;
        rows->cap = cap;
    }
    rows->at[rows->n++] = *r;
    return true;
}

struct seal {
    struct store_metrics *m;
    sqlite3_stmt *windows, *read, *old, *put, *drop_rows, *drop_old_rows, *drop_old_blocks;
    struct rows rows, merged;
    struct buf bytes;
    struct arena arena;
};

static enum status prepare(struct seal *s, struct err *e)
{
    const struct { sqlite3_stmt **st; const char *sql; } all[] = {
        {&s->windows, "SELECT min(at) FROM points WHERE series = ? AND at >= ? AND at < ?"},
        {&s->read, "SELECT at, value, n, why FROM points WHERE series = ? AND at >= ? AND at < ? ORDER BY at"},
        {&s->old, "SELECT bytes FROM blocks WHERE series = ? AND first = ?"},
        {&s->put, "INSERT OR REPLACE INTO blocks (series, first, bytes) VALUES (?, ?, ?)"},
        {&s->drop_rows, "DELETE FROM points WHERE series = ? AND at >= ? AND at < ?"},
        {&s->drop_old_rows, "DELETE FROM points WHERE series = ? AND at < ?"},
        {&s->drop_old_blocks, "DELETE FROM blocks WHERE series = ? AND first < ?"},
    };
    enum status rc = STATUS_OK;
    for (size_t i = 0; rc == STATUS_OK && i < ARRAY_LEN(all); i++)
        rc = store_sql_prepare(s->m->db, all[i].sql, all[i].st, e);
    return rc;
}

static void finish(struct seal *s)
{
    sqlite3_stmt *const all[] = {s->windows,       s->read,           s->old, s->put, s->drop_rows,
                                 s->drop_old_rows, s->drop_old_blocks};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) sqlite3_finalize(all[i]);
    free(s->rows.at);
    free(s->merged.at);
    buf_free(&s->bytes);
    arena_free(&s->arena);
}

static void bind_range(sqlite3_stmt *st, int64_t series, int64_t from, int64_t to)
{
    sqlite3_bind_int64(st, 1, series);
    sqlite3_bind_int64(st, 2, from);
    sqlite3_bind_int64(st, 3, to);
}

static enum status read_rows(struct seal *s, int64_t series, int64_t window, struct err *e)
{
    int step;
    bool ok = true;
    s->rows.n = 0;
    bind_range(s->read, series, window, window + STORE_WINDOW_US);
    while (ok && (step = sqlite3_step(s->read)) == SQLITE_ROW) {
        struct store_row r = store_row_at(s->read);
        ok = add_row(&s->rows, &r);
    }
    sqlite3_reset(s->read);
    if (!ok) return err_set(e, STATUS_MEMORY, "no memory to pack points");
    return step == SQLITE_DONE ? STATUS_OK : store_sql_fail(s->m->db, "reading points to pack", e);
}

/* Late points join the block that is there already; at the same time the later one counts. */
static bool merge(struct seal *s, const struct store_row *old, uint32_t n)
{
    uint32_t i = 0;
    bool ok = true;
    s->merged.n = 0;
    for (uint32_t k = 0; ok && k < s->rows.n; k++) {
        for (; ok && i < n && old[i].at < s->rows.at[k].at; i++) ok = add_row(&s->merged, &old[i]);
        if (i < n && old[i].at == s->rows.at[k].at) i++;
        ok = ok && add_row(&s->merged, &s->rows.at[k]);
    }
    for (; ok && i < n; i++) ok = add_row(&s->merged, &old[i]);
    struct rows swap = s->rows;
    s->rows = s->merged;
    s->merged = swap;
    return ok;
}

static enum status join_old(struct seal *s, int64_t series, int64_t window, struct err *e)
{
    struct store_row *old = NULL;
    uint32_t n = 0;
    enum status rc = STATUS_OK;
    arena_reset(&s->arena);
    sqlite3_bind_int64(s->old, 1, series);
    sqlite3_bind_int64(s->old, 2, window);
    int step = sqlite3_step(s->old);
    size_t len = 0;
    const void *block = step == SQLITE_ROW ? store_sql_blob(s->old, 0, &len) : NULL;
    bool no_memory = block && len == 0 && store_sql_no_memory(s->old);
    /* A damaged block cannot be mended; the points that are there replace it. One that cannot be read now may be good. */
    if (step != SQLITE_ROW && step != SQLITE_DONE) rc = store_sql_fail(s->m->db, "reading the block to join", e);
    else if (no_memory || (block && store_block_unpack(&s->arena, block, len, &old, &n) && !merge(s, old, n)))
        rc = err_set(e, STATUS_MEMORY, "no memory to pack points");
    sqlite3_reset(s->old);
    return rc;
}

static enum status seal_window(struct seal *s, int64_t series, int64_t window, struct err *e)
{
    enum status rc = read_rows(s, series, window, e);
    if (rc == STATUS_OK) rc = join_old(s, series, window, e);
    if (rc != STATUS_OK || s->rows.n > STORE_BLOCK_ROWS_MAX) return rc;   /* so many points stay as they are */
    buf_clear(&s->bytes);
    store_block_pack(&s->bytes, s->rows.at, s->rows.n);
    if (!buf_ok(&s->bytes)) return err_set(e, STATUS_MEMORY, "no memory to pack points");
    sqlite3_bind_int64(s->put, 1, series);
    sqlite3_bind_int64(s->put, 2, window);
    sqlite3_bind_blob64(s->put, 3, s->bytes.data, s->bytes.len, SQLITE_STATIC);
    rc = store_sql_run(s->put, "writing a block of points", e);
    bind_range(s->drop_rows, series, window, window + STORE_WINDOW_US);
    return rc == STATUS_OK ? store_sql_run(s->drop_rows, "removing packed points", e) : rc;
}

/* Start of the first window with points in [from, to); false: there are none. */
static bool next_window(struct seal *s, int64_t series, int64_t from, int64_t to, int64_t *ret)
{
    bind_range(s->windows, series, from, to);
    bool found = sqlite3_step(s->windows) == SQLITE_ROW && sqlite3_column_type(s->windows, 0) != SQLITE_NULL;
    if (found) *ret = store_window_of(sqlite3_column_int64(s->windows, 0));
    sqlite3_reset(s->windows);
    return found;
}

static enum status keep_series(struct seal *s, int64_t series, enum layer layer, int64_t now, struct err *e)
{
    int64_t before = now - layer_kept_days(layer) * US_PER_DAY, open = store_window_of(now - LATE), window;
    sqlite3_bind_int64(s->drop_old_rows, 1, series);
    sqlite3_bind_int64(s->drop_old_rows, 2, before);
    enum status rc = store_sql_run(s->drop_old_rows, "removing old points", e);
    sqlite3_bind_int64(s->drop_old_blocks, 1, series);
    sqlite3_bind_int64(s->drop_old_blocks, 2, before - STORE_WINDOW_US);
    if (rc == STATUS_OK) rc = store_sql_run(s->drop_old_blocks, "removing old points", e);
    for (int64_t from = before; rc == STATUS_OK && next_window(s, series, from, open, &window);
         from = window + STORE_WINDOW_US)
        rc = seal_window(s, series, window, e);
    return rc;
}

static enum status keep_some(struct seal *s, sqlite3_stmt *list, int64_t now, uint32_t *ret_n, struct err *e)
{
    enum status rc = STATUS_OK;
    sqlite3_bind_int64(list, 1, s->m->retain_next);
    sqlite3_bind_int64(list, 2, SERIES_AT_ONCE);
    for (*ret_n = 0; rc == STATUS_OK && sqlite3_step(list) == SQLITE_ROW; ++*ret_n) {
        enum layer layer = LAYER_REQUEST;
        const char *word = (const char *)sqlite3_column_text(list, 1);
        if (word) (void)layer_parse(word, &layer);   /* a layer of a newer version is kept as the longest of ours */
        s->m->retain_next = sqlite3_column_int64(list, 0);
        rc = keep_series(s, s->m->retain_next, layer, now, e);
    }
    return rc;
}

enum status store_write_retain(struct store_metrics *m, const struct store_job *job, bool *ret_more, struct err *e)
{
    struct seal s = {.m = m};
    sqlite3_stmt *list = NULL;
    uint32_t n = 0;
    enum status rc = prepare(&s, e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(m->db, "SELECT id, layer FROM series WHERE id > ? ORDER BY id LIMIT ?", &list, e);
    if (rc == STATUS_OK) rc = keep_some(&s, list, job->at, &n, e);
    *ret_more = rc == STATUS_OK && n == SERIES_AT_ONCE;
    if (!*ret_more) m->retain_next = 0;
    sqlite3_finalize(list);
    finish(&s);
    return rc;
}
