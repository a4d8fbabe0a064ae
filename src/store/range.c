/* Reading points: packed ones and those still as they were put, merged by time. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/time.h"
#include "store/internal.h"

struct cursor {
    sqlite3 *db;
    sqlite3_stmt *blocks;
    int64_t from, to, source;
    uint64_t series;
    bool found;                      /* is there such a series? */
    struct arena arena;
    struct store_rows packed, recent;   /* of the present block; of all records */
    uint32_t i, k;                   /* how far they are read */
    bool blocks_end;                 /* a statement stepped after its end would begin again */
};

static enum status find_series(struct cursor *c, const char *service, const char *signal, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(c->db, "SELECT s.id, o.id, s.layer FROM series s JOIN sources o ON o.service = s.service"
                                              " WHERE s.service = ? AND s.signal = ?", &st, e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(c->db, "SELECT bytes, first FROM packed WHERE source = ? AND layer = ? AND first >= ? AND first < ?"
                                      " ORDER BY first", &c->blocks, e);
    if (rc == STATUS_OK) {
        sqlite3_bind_text(st, 1, service, -1, SQLITE_STATIC);
        sqlite3_bind_text(st, 2, signal, -1, SQLITE_STATIC);
        int step = sqlite3_step(st);
        c->found = step == SQLITE_ROW;
        if (step != SQLITE_ROW && step != SQLITE_DONE) rc = store_sql_fail(c->db, "finding a series", e);
    }
    if (rc == STATUS_OK && c->found) {
        c->series = (uint64_t)sqlite3_column_int64(st, 0);
        c->source = sqlite3_column_int64(st, 1);
        sqlite3_bind_int64(c->blocks, 1, c->source);
        sqlite3_bind_text(c->blocks, 2, (const char *)sqlite3_column_text(st, 2), -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(c->blocks, 3, store_window_of(c->from));
        sqlite3_bind_int64(c->blocks, 4, c->to);
    }
    sqlite3_finalize(st);
    return rc;
}

/* All that is not packed yet: two hours, as a rule. */
static enum status read_recent(struct cursor *c, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int step = SQLITE_DONE;
    enum status rc = store_sql_prepare(c->db, "SELECT bytes FROM recent WHERE source = ? AND first < ? AND last >= ?"
                                              " ORDER BY id", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, c->source);
    sqlite3_bind_int64(st, 2, c->to);
    sqlite3_bind_int64(st, 3, c->from);
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        size_t len;
        const void *bytes = store_sql_blob(st, 0, &len);
        if (len == 0 && store_sql_no_memory(st)) rc = err_set(e, STATUS_MEMORY, "no memory to read points");
        else if (!store_rows_read(&c->recent, bytes, len, &c->series))
            rc = err_set(e, STATUS_CORRUPT, "metrics.db: a record of recent points is damaged; ask for an earlier time");
    }
    if (rc == STATUS_OK && step != SQLITE_DONE) rc = store_sql_fail(c->db, "reading points", e);
    sqlite3_finalize(st);
    store_rows_sort(&c->recent);
    return rc;
}

/* Makes packed.at[i] the next packed point of the range, if there is one. */
static enum status fill_packed(struct cursor *c, struct err *e)
{
    for (;;) {
        while (c->i < c->packed.n && c->packed.at[c->i].at < c->from) c->i++;
        if (c->i < c->packed.n) return STATUS_OK;
        c->i = c->packed.n = 0;
        if (c->blocks_end) return STATUS_OK;
        int step = sqlite3_step(c->blocks);
        c->blocks_end = step == SQLITE_DONE;
        if (c->blocks_end) return STATUS_OK;
        if (step != SQLITE_ROW) return store_sql_fail(c->db, "reading points", e);
        size_t len;
        const void *block = store_sql_blob(c->blocks, 0, &len);
        if (len == 0 && store_sql_no_memory(c->blocks)) return err_set(e, STATUS_MEMORY, "no memory to read points");
        if (!store_rows_unpack(&c->packed, &c->arena, block, len, &c->series))
            return err_set(e, STATUS_CORRUPT,
                           "metrics.db: the block of points at %lld us is damaged; ask for a later time",
                           (long long)sqlite3_column_int64(c->blocks, 1));
    }
}

/* The next point of both; of two at the same time the recent one, which is newer. *ret_end: no more. */
static enum status next(struct cursor *c, struct store_row *ret, bool *ret_end, struct err *e)
{
    enum status rc = fill_packed(c, e);
    if (rc != STATUS_OK) return rc;
    while (c->k < c->recent.n && c->recent.at[c->k].at < c->from) c->k++;
    const struct store_row *old = c->i < c->packed.n ? &c->packed.at[c->i] : NULL;
    const struct store_row *new = c->k < c->recent.n ? &c->recent.at[c->k] : NULL;
    if (old && old->at >= c->to) old = NULL;
    if (new && new->at >= c->to) new = NULL;
    *ret_end = !old && !new;
    if (*ret_end) return rc;
    bool take_old = old && (!new || old->at < new->at);
    if (old && new && old->at == new->at) c->i++;
    *ret = take_old ? *old : *new;
    if (take_old) c->i++;
    else c->k++;
    return rc;
}

struct gather { struct store_step step; double sum; bool any; };

static void begin_step(struct gather *g, int64_t at)
{
    *g = (struct gather){.step = {.at = at, .mean = NAN, .min = NAN, .max = NAN, .last = NAN}, .any = true};
}

static void add_point(struct gather *g, const struct store_row *r)
{
    struct store_step *step = &g->step;
    if (r->why != WHY_KNOWN) {
        step->unknown++;
        step->why = r->why;
        return;
    }
    g->sum += r->value;
    step->known++;
    step->last = r->value;
    step->n = r->n;
    step->mean = g->sum / step->known;
    if (!(step->min <= r->value)) step->min = r->value;
    if (!(step->max >= r->value)) step->max = r->value;
}

static int64_t step_start(int64_t at, int64_t from, int64_t step_us)
{
    return step_us > 0 ? from + (at - from) / step_us * step_us : at;
}

static void add_hour(struct gather *g, const struct store_hours *h, uint32_t i)
{
    struct store_step *step = &g->step;
    double mean = h->sum.at[i].value / h->sum.at[i].n;
    g->sum += h->sum.at[i].value;
    step->known += h->sum.at[i].n;
    step->last = mean;
    step->mean = g->sum / step->known;
    if (!(step->min <= h->min.at[i].value)) step->min = h->min.at[i].value;
    if (!(step->max >= h->max.at[i].value)) step->max = h->max.at[i].value;
}

/* Hours lie before all points. */
static bool walk_hours(struct cursor *c, const struct store_hours *h, int64_t step_us, struct gather *g,
                       const struct store_step_sink *sink)
{
    bool go_on = true;
    for (uint32_t i = 0; go_on && i < h->max.n; i++) {
        if (h->max.at[i].at < c->from || h->max.at[i].at >= c->to || h->sum.at[i].n == 0) continue;
        int64_t at = step_start(h->max.at[i].at, c->from, step_us);
        if (g->any && at != g->step.at) go_on = sink->step(sink->arg, &g->step);
        if (!g->any || at != g->step.at) begin_step(g, at);
        add_hour(g, h, i);
    }
    return go_on;
}

static enum status walk(struct cursor *c, int64_t step_us, const struct store_step_sink *sink, struct err *e)
{
    struct gather g = {0};
    struct store_hours hours = {0};
    struct store_row r;
    bool end = false, go_on = true;
    enum status rc = STATUS_OK;
    if (step_us >= US_PER_HOUR) rc = store_coarse_read(c->db, c->source, c->series, c->from, c->to, &hours, e);
    if (rc == STATUS_OK) go_on = walk_hours(c, &hours, step_us, &g, sink);
    store_hours_free(&hours);
    if (rc == STATUS_OK) rc = next(c, &r, &end, e);
    for (; rc == STATUS_OK && !end && go_on; rc = next(c, &r, &end, e)) {
        int64_t at = step_start(r.at, c->from, step_us);
        if (g.any && at != g.step.at) go_on = sink->step(sink->arg, &g.step);
        if (!g.any || at != g.step.at) begin_step(&g, at);
        add_point(&g, &r);
    }
    if (rc == STATUS_OK && go_on && g.any) sink->step(sink->arg, &g.step);
    return rc;
}

static enum status range_of(sqlite3 *db, const char *service, const char *signal, int64_t from, int64_t to, int64_t step_us,
                            const struct store_step_sink *sink, struct err *e)
{
    struct cursor c = {.db = db, .from = from, .to = to};
    /* One view of both tables, so that points which are being packed are seen exactly once. */
    enum status rc = store_sql_exec(c.db, "SAVEPOINT range", "beginning to read", e);
    if (rc != STATUS_OK) return rc;
    rc = find_series(&c, service, signal, e);
    if (rc == STATUS_OK && c.found) rc = read_recent(&c, e);
    if (rc == STATUS_OK && c.found) rc = walk(&c, step_us, sink, e);
    sqlite3_finalize(c.blocks);
    store_rows_free(&c.packed);
    store_rows_free(&c.recent);
    arena_free(&c.arena);
    sqlite3_exec(c.db, "RELEASE range", NULL, NULL, NULL);
    return rc;
}

enum status store_points_range(struct store *s, const char *service, const char *signal, int64_t from, int64_t to,
                               int64_t step_us, const struct store_step_sink *sink, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    return range_of(s->metrics->reader, service, signal, from, to, step_us, sink, e);
}

struct store_copy { sqlite3 *db; };

enum status store_copy_open(struct store_copy **ret, const char *path, struct err *e)
{
    struct store_copy *c = calloc(1, sizeof *c);
    if (!c) return err_set(e, STATUS_MEMORY, "no memory to read %s", path);
    enum status rc = store_sql_open_copy(&c->db, path, e);
    if (rc == STATUS_OK) rc = store_sql_check_schema(c->db, &store_schema_metrics, e);
    if (rc == STATUS_OK) *ret = c;
    else store_copy_close(c);
    return rc;
}

void store_copy_close(struct store_copy *c)
{
    if (!c) return;
    store_sql_close(&c->db);
    free(c);
}

enum status store_copy_cost(struct store_copy *c, struct store_cost ret[LAYER_COUNT], uint64_t *ret_file_bytes, struct err *e)
{
    return store_cost_count(c->db, ret, ret_file_bytes, e);
}

enum status store_copy_series(struct store_copy *c, const struct store_series_sink *sink, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(c->db, "SELECT service, signal, layer FROM series ORDER BY service, signal", &st, e);
    int step = SQLITE_DONE;
    while (rc == STATUS_OK && (step = sqlite3_step(st)) == SQLITE_ROW) {
        if (!sink->series(sink->arg, (const char *)sqlite3_column_text(st, 0), (const char *)sqlite3_column_text(st, 1),
                          (const char *)sqlite3_column_text(st, 2)))
            break;
    }
    if (rc == STATUS_OK && step != SQLITE_DONE && step != SQLITE_ROW) rc = store_sql_fail(c->db, "listing series", e);
    sqlite3_finalize(st);
    return rc;
}

enum status store_copy_range(struct store_copy *c, const char *service, const char *signal, int64_t from, int64_t to,
                             int64_t step_us, const struct store_step_sink *sink, struct err *e)
{
    return range_of(c->db, service, signal, from, to, step_us, sink, e);
}
