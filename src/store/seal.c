/* Points older than two hours are packed into blocks, one a source, layer and window of two hours; whatever is older than
 * its layer is kept goes, by whole blocks, and leaves its hours (coarse.c). */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"
#include "store/internal.h"

#define SOURCES_AT_ONCE 10              /* a transaction: points go on coming in between */
#define RECORDS_AT_ONCE 4096            /* of a source: bounds the memory after a long break */
#define LATE (15 * US_PER_MIN)          /* how long a window stays open for late points */

int64_t store_window_of(int64_t at)
{
    int64_t rest = at % STORE_WINDOW_US;
    if (rest < 0) rest += STORE_WINDOW_US;
    return at < INT64_MIN + rest ? INT64_MIN : at - rest;
}

struct series_layer { uint64_t id; enum layer layer; };

struct seal {
    struct store_metrics *m;
    sqlite3_stmt *layers, *read, *drop, *put_recent, *old, *put, *read_old, *drop_one, *drop_old;
    struct store_packer *packer;
    struct store_rows rows, window;     /* read of this source; of the window at hand */
    struct store_rows later;            /* read with them, and too young to be packed */
    int64_t last_id;                    /* of the newest record read */
    struct series_layer *series;        /* of this source, by id */
    uint32_t series_n, series_cap;
    struct buf bytes;
    struct arena arena;
};

static enum status prepare(struct seal *s, struct err *e)
{
    const struct { sqlite3_stmt **st; const char *sql; } all[] = {
        {&s->layers, "SELECT id, layer FROM series WHERE service = (SELECT service FROM sources WHERE id = ?) ORDER BY id"},
        {&s->read, "SELECT id, bytes FROM recent WHERE source = ? AND first < ? ORDER BY id LIMIT ?"},
        {&s->drop, "DELETE FROM recent WHERE source = ? AND first < ? AND id <= ?"},
        {&s->put_recent, STORE_PUT_RECENT},
        {&s->old, "SELECT bytes FROM packed WHERE source = ? AND layer = ? AND first = ?"},
        {&s->put, "INSERT OR REPLACE INTO packed (source, layer, first, last, points, bytes) VALUES (?, ?, ?, ?, ?, ?)"},
        {&s->read_old, "SELECT rowid, bytes FROM packed WHERE source = ? AND layer = ? AND first < ? ORDER BY first LIMIT 1"},
        {&s->drop_one, "DELETE FROM packed WHERE rowid = ?"},
        {&s->drop_old, "DELETE FROM packed WHERE source = ? AND layer = 'coarse' AND first < ?"},
    };
    enum status rc = STATUS_OK;
    s->packer = store_packer_new();
    for (size_t i = 0; rc == STATUS_OK && i < ARRAY_LEN(all); i++)
        rc = store_sql_prepare(s->m->db, all[i].sql, all[i].st, e);
    return rc;
}

static void finish(struct seal *s)
{
    sqlite3_stmt *const all[] = {s->layers, s->read,     s->drop,     s->put_recent, s->old,
                                 s->put,    s->read_old, s->drop_one, s->drop_old};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) sqlite3_finalize(all[i]);
    store_packer_free(s->packer);
    store_rows_free(&s->rows);
    store_rows_free(&s->window);
    store_rows_free(&s->later);
    free(s->series);
    buf_free(&s->bytes);
    arena_free(&s->arena);
}

/* ---- what is there ---- */

static enum status read_layers(struct seal *s, int64_t source, struct err *e)
{
    int step;
    s->series_n = 0;
    sqlite3_bind_int64(s->layers, 1, source);
    while ((step = sqlite3_step(s->layers)) == SQLITE_ROW) {
        if (s->series_n == s->series_cap) {
            s->series_cap = s->series_cap ? 2 * s->series_cap : 64;
            s->series = realloc(s->series, s->series_cap * sizeof *s->series);
            CHECK_MEMORY(s->series);
        }
        struct series_layer *x = &s->series[s->series_n++];
        const char *word = (const char *)sqlite3_column_text(s->layers, 1);
        *x = (struct series_layer){(uint64_t)sqlite3_column_int64(s->layers, 0), LAYER_REQUEST};
        if (word) (void)layer_parse(word, &x->layer);   /* a layer of a newer version is kept as the longest of ours */
    }
    sqlite3_reset(s->layers);
    return step == SQLITE_DONE ? STATUS_OK : store_sql_fail(s->m->db, "listing series", e);
}

static enum layer layer_of(const struct seal *s, uint64_t series)
{
    uint32_t low = 0, high = s->series_n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->series[middle].id < series) low = middle + 1;
        else high = middle;
    }
    return low < s->series_n && s->series[low].id == series ? s->series[low].layer : LAYER_REQUEST;
}

/* Records that begin before `open`, oldest put first. A damaged one cannot be mended and is left out. */
static enum status read_recent(struct seal *s, int64_t source, int64_t open, uint32_t *ret_n, struct err *e)
{
    int step = SQLITE_DONE;
    s->rows.n = s->later.n = 0;
    sqlite3_bind_int64(s->read, 1, source);
    sqlite3_bind_int64(s->read, 2, open);
    sqlite3_bind_int64(s->read, 3, RECORDS_AT_ONCE);
    for (*ret_n = 0; (step = sqlite3_step(s->read)) == SQLITE_ROW; ++*ret_n) {
        size_t len;
        const void *bytes = store_sql_blob(s->read, 1, &len);
        if (len == 0 && store_sql_no_memory(s->read)) break;
        s->last_id = sqlite3_column_int64(s->read, 0);
        (void)store_rows_read(&s->rows, bytes, len, NULL);
    }
    sqlite3_reset(s->read);
    if (step != SQLITE_DONE) return store_sql_fail(s->m->db, "reading points to pack", e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->rows.n; i++) {
        if (s->rows.at[i].at >= open) *store_rows_add(&s->later) = s->rows.at[i];
        else s->rows.at[n++] = s->rows.at[i];
    }
    s->rows.n = n;
    return STATUS_OK;
}

/* ---- one block ---- */

static void bind_block(sqlite3_stmt *st, int64_t source, enum layer layer, int64_t at)
{
    sqlite3_bind_int64(st, 1, source);
    sqlite3_bind_text(st, 2, layer_name(layer), -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 3, at);
}

/* Late points join the block that is there already; at the same time the later put counts. A damaged block cannot be
 * mended: the points that are there replace it. One that cannot be read now may be good. */
static enum status join_old(struct seal *s, int64_t source, enum layer layer, int64_t window, struct err *e)
{
    enum status rc = STATUS_OK;
    bind_block(s->old, source, layer, window);
    int step = sqlite3_step(s->old);
    size_t len = 0;
    const void *bytes = step == SQLITE_ROW ? store_sql_blob(s->old, 0, &len) : NULL;
    if (step != SQLITE_ROW && step != SQLITE_DONE) rc = store_sql_fail(s->m->db, "reading the block to join", e);
    else if (step == SQLITE_ROW && len == 0 && store_sql_no_memory(s->old))
        rc = err_set(e, STATUS_MEMORY, "no memory to pack points");
    else if (bytes) (void)store_rows_unpack(&s->window, &s->arena, bytes, len, NULL);
    sqlite3_reset(s->old);
    return rc;
}

static bool too_long(const struct store_rows *r)
{
    for (uint32_t i = 0, run = 0; i < r->n; i++) {
        run = i && r->at[i].series == r->at[i - 1].series ? run + 1 : 1;
        if (run > STORE_PACK_ROWS_MAX) return true;
    }
    return false;
}

static enum status write_block(struct seal *s, int64_t source, enum layer layer, int64_t window, struct err *e)
{
    int64_t last = INT64_MIN;
    store_rows_sort(&s->window);
    if (too_long(&s->window)) return err_set(e, STATUS_LIMIT, "more than a million points of one signal in two hours: not packed");
    for (uint32_t i = 0; i < s->window.n; i++) last = s->window.at[i].at > last ? s->window.at[i].at : last;
    buf_clear(&s->bytes);
    store_rows_pack(s->packer, &s->bytes, s->window.at, s->window.n);
    if (!buf_ok(&s->bytes)) return err_set(e, STATUS_LIMIT, "a block of points is larger than 256 MiB");
    bind_block(s->put, source, layer, window);
    sqlite3_bind_int64(s->put, 4, last);
    sqlite3_bind_int64(s->put, 5, s->window.n);
    sqlite3_bind_blob64(s->put, 6, s->bytes.data, s->bytes.len, SQLITE_STATIC);
    return store_sql_run(s->put, "writing a block of points", e);
}

static int64_t oldest_window(const struct store_rows *r)
{
    int64_t at = r->at[0].at;
    for (uint32_t i = 1; i < r->n; i++) at = r->at[i].at < at ? r->at[i].at : at;
    return store_window_of(at);
}

/* All of the oldest window, layer by layer; they leave `rows`. */
static enum status seal_window(struct seal *s, int64_t source, struct err *e)
{
    enum status rc = STATUS_OK;
    int64_t window = oldest_window(&s->rows);
    for (int layer = 0; rc == STATUS_OK && layer < LAYER_COUNT; layer++) {
        uint32_t n = 0;
        s->window.n = 0;
        for (uint32_t i = 0; i < s->rows.n; i++) {
            const struct store_row *r = &s->rows.at[i];
            bool ours = store_window_of(r->at) == window && layer_of(s, r->series) == (enum layer)layer;
            if (ours) *store_rows_add(&s->window) = *r;
            else s->rows.at[n++] = *r;
        }
        s->rows.n = n;
        if (s->window.n == 0) continue;
        rc = join_old(s, source, (enum layer)layer, window, e);
        if (rc == STATUS_OK) rc = write_block(s, source, (enum layer)layer, window, e);
    }
    return rc;
}

/* ---- a source ---- */

static enum status drop_recent(struct seal *s, int64_t source, int64_t open, struct err *e)
{
    enum status rc = STATUS_OK;
    sqlite3_bind_int64(s->drop, 1, source);
    sqlite3_bind_int64(s->drop, 2, open);
    sqlite3_bind_int64(s->drop, 3, s->last_id);
    rc = store_sql_run(s->drop, "removing packed points", e);
    if (rc == STATUS_OK && s->later.n) rc = store_put_recent(s->put_recent, source, s->later.at, s->later.n, e);
    return rc;
}

/* The oldest block of a layer that begins before `before` becomes hours; *ret_any: there was one. A damaged one just goes. */
static enum status age_block(struct seal *s, int64_t source, enum layer layer, int64_t before, bool *ret_any, struct err *e)
{
    enum status rc = STATUS_OK;
    bind_block(s->read_old, source, layer, before);
    int step = sqlite3_step(s->read_old);
    *ret_any = step == SQLITE_ROW;
    if (step == SQLITE_ROW) {
        size_t len;
        const void *bytes = store_sql_blob(s->read_old, 1, &len);
        s->window.n = 0;
        if (len == 0 && store_sql_no_memory(s->read_old)) rc = err_set(e, STATUS_MEMORY, "no memory to read old points");
        else (void)store_rows_unpack(&s->window, &s->arena, bytes, len, NULL);
        sqlite3_bind_int64(s->drop_one, 1, sqlite3_column_int64(s->read_old, 0));
    } else if (step != SQLITE_DONE) {
        rc = store_sql_fail(s->m->db, "reading old points", e);
    }
    sqlite3_reset(s->read_old);
    if (rc != STATUS_OK || !*ret_any) return rc;
    if (s->window.n) rc = store_coarse_keep(s->m->db, s->packer, source, &s->window, e);
    return rc == STATUS_OK ? store_sql_run(s->drop_one, "removing old points", e) : rc;
}

static enum status drop_old(struct seal *s, int64_t source, int64_t now, struct err *e)
{
    enum status rc = STATUS_OK;
    for (int layer = 0; layer < LAYER_COUNT; layer++) {
        int64_t before = now - layer_kept_days((enum layer)layer) * US_PER_DAY - STORE_WINDOW_US;
        bool any = true;
        while (rc == STATUS_OK && any) rc = age_block(s, source, (enum layer)layer, before, &any, e);
    }
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(s->drop_old, 1, source);
    sqlite3_bind_int64(s->drop_old, 2, now - (STORE_COARSE_DAYS + 1) * US_PER_DAY);
    return store_sql_run(s->drop_old, "removing old points", e);
}

static enum status keep_source(struct seal *s, int64_t source, int64_t now, struct err *e)
{
    int64_t open = store_window_of(now - LATE);
    uint32_t n = RECORDS_AT_ONCE;
    enum status rc = read_layers(s, source, e);
    while (rc == STATUS_OK && n == RECORDS_AT_ONCE) {
        rc = read_recent(s, source, open, &n, e);
        if (n == 0) break;
        while (rc == STATUS_OK && s->rows.n) rc = seal_window(s, source, e);
        if (rc == STATUS_OK) rc = drop_recent(s, source, open, e);
    }
    return rc == STATUS_OK ? drop_old(s, source, now, e) : rc;
}

static enum status keep_some(struct seal *s, sqlite3_stmt *list, int64_t now, uint32_t *ret_n, struct err *e)
{
    enum status rc = STATUS_OK;
    sqlite3_bind_int64(list, 1, s->m->retain_next);
    sqlite3_bind_int64(list, 2, SOURCES_AT_ONCE);
    for (*ret_n = 0; rc == STATUS_OK && sqlite3_step(list) == SQLITE_ROW; ++*ret_n) {
        s->m->retain_next = sqlite3_column_int64(list, 0);
        rc = keep_source(s, s->m->retain_next, now, e);
    }
    return rc;
}

enum status store_write_retain(struct store_metrics *m, const struct store_job *job, bool *ret_more, struct err *e)
{
    struct seal s = {.m = m};
    sqlite3_stmt *list = NULL;
    uint32_t n = 0;
    enum status rc = prepare(&s, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(m->db, "SELECT id FROM sources WHERE id > ? ORDER BY id LIMIT ?", &list, e);
    if (rc == STATUS_OK) rc = keep_some(&s, list, job->at, &n, e);
    *ret_more = rc == STATUS_OK && n == SOURCES_AT_ONCE;
    if (!*ret_more) m->retain_next = 0;
    sqlite3_finalize(list);
    finish(&s);
    return rc;
}
