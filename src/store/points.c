/* Putting signal points, baseline state and policy revisions; reading the last two. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "store/internal.h"

/* The number of a name, given when it is new. */
static enum status find_id(struct store_metrics *m, sqlite3_stmt *get, sqlite3_stmt *put, const struct store_point *p, int64_t *ret,
                           struct err *e)
{
    sqlite3_stmt *const both[] = {get, put};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            sqlite3_bind_text(both[i], 1, p->service, -1, SQLITE_STATIC);
            if (get == m->get_series) sqlite3_bind_text(both[i], 2, p->signal, -1, SQLITE_STATIC);
        }
        if (get == m->get_series) sqlite3_bind_text(put, 3, layer_name(p->layer), -1, SQLITE_STATIC);
        bool found = sqlite3_step(get) == SQLITE_ROW;
        if (found) *ret = sqlite3_column_int64(get, 0);
        sqlite3_reset(get);
        if (found) return STATUS_OK;
        enum status rc = store_sql_run(put, "adding a series", e);
        if (rc != STATUS_OK) return rc;
    }
    return store_sql_fail(m->db, "finding a series", e);
}

enum status store_put_recent(sqlite3_stmt *put, int64_t source, const struct store_row *rows, uint32_t n, struct err *e)
{
    struct buf bytes = BUF_INIT;
    int64_t first = rows[0].at, last = rows[0].at;
    for (uint32_t i = 1; i < n; i++) {
        first = rows[i].at < first ? rows[i].at : first;
        last = rows[i].at > last ? rows[i].at : last;
    }
    store_rows_write(&bytes, rows, n);
    sqlite3_bind_int64(put, 1, source);
    sqlite3_bind_int64(put, 2, first);
    sqlite3_bind_int64(put, 3, last);
    sqlite3_bind_blob64(put, 4, bytes.data, bytes.len, SQLITE_STATIC);
    enum status rc = buf_ok(&bytes) ? store_sql_run(put, "writing points", e)
                                    : err_set(e, STATUS_LIMIT, "too many points in one put");
    buf_free(&bytes);
    return rc;
}

/* Points of one service. */
static enum status put_run(struct store_metrics *m, const struct store_point *points, uint32_t n, struct err *e)
{
    struct store_rows rows = {0};
    int64_t source = 0, id = 0;
    enum status rc = find_id(m, m->get_source, m->put_source, points, &source, e);
    for (uint32_t i = 0; rc == STATUS_OK && i < n; i++) {
        const struct store_point *p = &points[i];
        rc = find_id(m, m->get_series, m->put_series, p, &id, e);
        enum unknown_why why = p->why == WHY_KNOWN && isnan(p->value) ? WHY_NAN : p->why;
        *store_rows_add(&rows) = (struct store_row){.series = (uint64_t)id, .at = p->at, .n = p->n, .why = (uint8_t)why,
                                                    .value = why == WHY_KNOWN ? p->value : (double)NAN};
    }
    if (rc == STATUS_OK) rc = store_put_recent(m->put_recent, source, rows.at, rows.n, e);
    store_rows_free(&rows);
    return rc;
}

enum status store_write_points(struct store_metrics *m, const struct store_job *job, struct err *e)
{
    enum status rc = STATUS_OK;
    for (uint32_t i = 0, n; rc == STATUS_OK && i < job->n; i += n) {
        const struct store_point *p = &job->points[i];
        for (n = 1; i + n < job->n && strcmp(p[n].service, p->service) == 0;) n++;
        rc = put_run(m, p, n, e);
    }
    return rc;
}

static enum status add_or_free(struct store *s, struct store_job *job, bool complete, struct err *e)
{
    if (complete) return store_metrics_add(s->metrics, job, e);
    store_job_free(job);
    return err_set(e, STATUS_MEMORY, "no memory to queue what metrics.db should keep");
}

enum status store_points_put(struct store *s, const struct store_point *points, uint32_t n, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_job *job = store_job_new(JOB_POINTS, e);
    if (!job) return STATUS_MEMORY;
    job->points = ARENA_NEW_N(&job->arena, n ? n : 1, struct store_point);
    job->n = n;
    bool ok = job->points != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        struct store_point *p = &job->points[i];
        *p = points[i];
        /* Points of one service stand together; their name is copied once. */
        p->service = i > 0 && points[i].service == points[i - 1].service ? job->points[i - 1].service
                                                                         : arena_strdup(&job->arena, points[i].service);
        p->signal = arena_strdup(&job->arena, points[i].signal);
        ok = p->service && p->signal;
    }
    return add_or_free(s, job, ok, e);
}

enum status store_retain(struct store *s, int64_t now, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_job *job = store_job_new(JOB_RETAIN, e);
    if (!job) return STATUS_MEMORY;
    job->at = now;
    return store_metrics_add(s->metrics, job, e);
}

static bool job_bytes(struct store_job *job, const char *name, const char *path, const void *bytes, size_t len)
{
    job->name = arena_strdup(&job->arena, name);
    job->path = arena_strdup(&job->arena, path);
    job->bytes = arena_strndup(&job->arena, bytes, len);
    job->len = len;
    return job->name && job->path && job->bytes;
}

enum status store_state_put(struct store *s, const char *service, int64_t at, const void *bytes, size_t len,
                            struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_job *job = store_job_new(JOB_STATE, e);
    if (!job) return STATUS_MEMORY;
    job->at = at;
    return add_or_free(s, job, job_bytes(job, service, "", bytes, len), e);
}

enum status store_policy_put(struct store *s, const char *revision, const char *path, const char *text, size_t len,
                             int64_t at, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_job *job = store_job_new(JOB_POLICY, e);
    if (!job) return STATUS_MEMORY;
    job->at = at;
    return add_or_free(s, job, job_bytes(job, revision, path, text, len), e);
}

/* One row by name: column 0 the bytes, column 1 a time. */
static enum status get_bytes(struct store *s, const char *sql, const char *name, int64_t *ret_at, struct buf *out,
                             struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(s->metrics->reader, sql, &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC);
    int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(st, 0);
        size_t n = (size_t)sqlite3_column_bytes(st, 0);
        if (bytes) buf_add(out, bytes, n);
        *ret_at = sqlite3_column_int64(st, 1);
        if (!buf_ok(out) || (!bytes && n > 0)) rc = err_set(e, STATUS_MEMORY, "no memory to read what was kept for %s", name);
    } else {
        rc = step == SQLITE_DONE ? err_set(e, STATUS_NOT_FOUND, "nothing was kept for %s", name)
                                 : store_sql_fail(s->metrics->reader, "reading", e);
    }
    sqlite3_finalize(st);
    return rc;
}

enum status store_state_get(struct store *s, const char *service, int64_t *ret_at, struct buf *out, struct err *e)
{
    return get_bytes(s, "SELECT bytes, saved FROM state WHERE service = ?", service, ret_at, out, e);
}

enum status store_policy_get(struct store *s, const char *revision, struct buf *out, struct err *e)
{
    int64_t at;
    return get_bytes(s, "SELECT text, loaded FROM policy WHERE revision = ?", revision, &at, out, e);
}

enum status store_policies(struct store *s, const struct store_policy_sink *sink, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    sqlite3_stmt *st = NULL;
    int step;
    enum status rc = store_sql_prepare(
        s->metrics->reader, "SELECT revision, path, loaded FROM policy ORDER BY loaded DESC, revision", &st, e);
    if (rc != STATUS_OK) return rc;
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        struct store_policy p = {(const char *)sqlite3_column_text(st, 0), (const char *)sqlite3_column_text(st, 1),
                                 sqlite3_column_int64(st, 2)};
        if (!sink->policy(sink->arg, &p)) break;
    }
    if (step != SQLITE_DONE && step != SQLITE_ROW) rc = store_sql_fail(s->metrics->reader, "reading policies", e);
    sqlite3_finalize(st);
    return rc;
}
