/* Signal points, baseline state, policy revisions: putting and reading. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"
#include "store/internal.h"

static enum status series_id(struct store_metrics *m, const struct store_point *p, int64_t *ret, struct err *e)
{
    for (int pass = 0; pass < 2; pass++) {
        sqlite3_bind_text(m->get_series, 1, p->service, -1, SQLITE_STATIC);
        sqlite3_bind_text(m->get_series, 2, p->signal, -1, SQLITE_STATIC);
        bool found = sqlite3_step(m->get_series) == SQLITE_ROW;
        if (found) *ret = sqlite3_column_int64(m->get_series, 0);
        sqlite3_reset(m->get_series);
        if (found) return STATUS_OK;
        sqlite3_bind_text(m->put_series, 1, p->service, -1, SQLITE_STATIC);
        sqlite3_bind_text(m->put_series, 2, p->signal, -1, SQLITE_STATIC);
        sqlite3_bind_text(m->put_series, 3, layer_name(p->layer), -1, SQLITE_STATIC);
        enum status rc = store_sql_run(m->put_series, "adding a series", e);
        if (rc != STATUS_OK) return rc;
    }
    return store_sql_fail(m->db, "finding a series", e);
}

static enum status put_point(struct store_metrics *m, const struct store_point *p, struct err *e)
{
    int64_t id = 0;
    enum status rc = series_id(m, p, &id, e);
    if (rc != STATUS_OK) return rc;
    bool known = p->why == WHY_KNOWN && !isnan(p->value);
    sqlite3_bind_int64(m->put_point, 1, id);
    sqlite3_bind_int64(m->put_point, 2, p->at);
    if (known) sqlite3_bind_double(m->put_point, 3, p->value);
    sqlite3_bind_int64(m->put_point, 4, p->n);
    if (!known)
        sqlite3_bind_text(m->put_point, 5, unknown_name(p->why == WHY_KNOWN ? WHY_NAN : p->why), -1, SQLITE_STATIC);
    return store_sql_run(m->put_point, "writing a point", e);
}

enum status store_write_points(struct store_metrics *m, const struct store_job *job, struct err *e)
{
    enum status rc = STATUS_OK;
    for (uint32_t i = 0; rc == STATUS_OK && i < job->n; i++) rc = put_point(m, &job->points[i], e);
    return rc;
}

/* X(ID, word, interval, days). */
static int days_kept(enum layer l)
{
#define X(id, word, interval, days) [LAYER_##id] = days,
    static const int days_of[] = {LAYER_TABLE(X)};
#undef X
    return days_of[l];
}

/* Series by series, because points lie in that order: nothing that stays is read. */
static enum status retain_series(sqlite3_stmt *del, int64_t id, int64_t before, struct err *e)
{
    sqlite3_bind_int64(del, 1, id);
    sqlite3_bind_int64(del, 2, before);
    return store_sql_run(del, "removing old points", e);
}

enum status store_write_retain(struct store_metrics *m, const struct store_job *job, struct err *e)
{
    sqlite3_stmt *all = NULL, *del = NULL;
    enum status rc = store_sql_prepare(m->db, "SELECT id, layer FROM series", &all, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(m->db, "DELETE FROM points WHERE series = ? AND at < ?", &del, e);
    while (rc == STATUS_OK && sqlite3_step(all) == SQLITE_ROW) {
        enum layer layer;
        const char *word = (const char *)sqlite3_column_text(all, 1);
        if (word && layer_parse(word, &layer))
            rc = retain_series(del, sqlite3_column_int64(all, 0), job->at - days_kept(layer) * US_PER_DAY, e);
    }
    sqlite3_finalize(all);
    sqlite3_finalize(del);
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
        buf_add(out, bytes ? bytes : "", (size_t)sqlite3_column_bytes(st, 0));
        *ret_at = sqlite3_column_int64(st, 1);
        if (!buf_ok(out)) rc = err_set(e, STATUS_MEMORY, "no memory to read what was kept for %s", name);
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

struct gather { struct store_step step; double sum; bool any; };

static enum unknown_why why_of(const char *word)
{
    for (int i = 0; word && i < WHY_COUNT; i++)
        if (strcmp(word, unknown_name((enum unknown_why)i)) == 0) return (enum unknown_why)i;
    return WHY_MISSING;
}

static void begin_step(struct gather *g, int64_t at)
{
    *g = (struct gather){.step = {.at = at, .mean = NAN, .min = NAN, .max = NAN, .last = NAN}, .any = true};
}

/* Columns: at, value, why. */
static void add_point(struct gather *g, sqlite3_stmt *st)
{
    struct store_step *step = &g->step;
    if (sqlite3_column_type(st, 1) == SQLITE_NULL) {
        step->unknown++;
        step->why = why_of((const char *)sqlite3_column_text(st, 2));
        return;
    }
    double v = sqlite3_column_double(st, 1);
    g->sum += v;
    step->known++;
    step->last = v;
    step->mean = g->sum / step->known;
    if (!(step->min <= v)) step->min = v;
    if (!(step->max >= v)) step->max = v;
}

static int64_t step_start(int64_t at, int64_t from, int64_t step_us)
{
    return step_us > 0 ? from + (at - from) / step_us * step_us : at;
}

enum status store_points_range(struct store *s, const char *service, const char *signal, int64_t from, int64_t to,
                               int64_t step_us, const struct store_step_sink *sink, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    sqlite3_stmt *st = NULL;
    struct gather g = {0};
    bool go_on = true;
    int row;
    enum status rc =
        store_sql_prepare(s->metrics->reader,
                          "SELECT at, value, why FROM points WHERE series ="
                          " (SELECT id FROM series WHERE service = ? AND signal = ?) AND at >= ? AND at < ?"
                          " ORDER BY at",
                          &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_text(st, 1, service, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, signal, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 3, from);
    sqlite3_bind_int64(st, 4, to);
    while (go_on && (row = sqlite3_step(st)) == SQLITE_ROW) {
        int64_t at = step_start(sqlite3_column_int64(st, 0), from, step_us);
        if (g.any && at != g.step.at) go_on = sink->step(sink->arg, &g.step);
        if (!g.any || at != g.step.at) begin_step(&g, at);
        add_point(&g, st);
    }
    if (go_on && row != SQLITE_DONE) rc = store_sql_fail(s->metrics->reader, "reading points", e);
    if (rc == STATUS_OK && go_on && g.any) sink->step(sink->arg, &g.step);
    sqlite3_finalize(st);
    return rc;
}
