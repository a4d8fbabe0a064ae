/* What is left of points that are older than their layer is kept: of each hour the largest, the smallest, the sum, and how
 * many were known. A quantile is not averaged away: its largest value stays. */
#include <string.h>

#include "base/check.h"
#include "base/time.h"
#include "store/internal.h"

enum { MAX, MIN, SUM, KINDS };

static int64_t floor_to(int64_t at, int64_t span)
{
    int64_t rest = at % span;
    return at - (rest < 0 ? rest + span : rest);
}

static uint64_t column_of(uint64_t series, int kind) { return 4 * series + (uint64_t)kind; }

/* Known points of one series and hour. */
static void add_hour(struct store_rows *out, const struct store_row *points, uint32_t n, int64_t hour)
{
    double value[KINDS] = {0};
    uint32_t known = 0;
    for (uint32_t i = 0; i < n; i++) {
        double v = points[i].value;
        if (points[i].why != WHY_KNOWN) continue;
        if (!known || v > value[MAX]) value[MAX] = v;
        if (!known || v < value[MIN]) value[MIN] = v;
        value[SUM] += v;
        known++;
    }
    for (int k = 0; known && k < KINDS; k++)
        *store_rows_add(out) = (struct store_row){.series = column_of(points[0].series, k), .at = hour, .value = value[k],
                                                  .n = known};
}

static void condense(struct store_rows *out, const struct store_rows *in)
{
    for (uint32_t i = 0, n; i < in->n; i += n) {
        int64_t hour = floor_to(in->at[i].at, US_PER_HOUR);
        for (n = 1; i + n < in->n && in->at[i + n].series == in->at[i].series; n++)
            if (floor_to(in->at[i + n].at, US_PER_HOUR) != hour) break;
        add_hour(out, in->at + i, n, hour);
    }
}

/* `old` is sorted as store_rows_sort does. NULL: not there. */
static struct store_row *find(struct store_rows *old, uint32_t n, const struct store_row *want)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct store_row *r = &old->at[middle];
        if (r->series < want->series || (r->series == want->series && r->at < want->at)) low = middle + 1;
        else high = middle;
    }
    struct store_row *r = low < n ? &old->at[low] : NULL;
    return r && r->series == want->series && r->at == want->at ? r : NULL;
}

/* Points that came late, after their hour was condensed, join it. */
static void join(struct store_rows *old, const struct store_rows *fresh, int64_t day)
{
    uint32_t n = old->n;
    for (uint32_t i = 0; i < fresh->n; i++) {
        const struct store_row *x = &fresh->at[i];
        if (floor_to(x->at, US_PER_DAY) != day) continue;
        struct store_row *r = find(old, n, x);
        if (!r) {
            *store_rows_add(old) = *x;
            continue;
        }
        uint64_t kind = x->series % 4;
        if (kind == SUM) r->value += x->value;
        else if (kind == MAX ? x->value > r->value : x->value < r->value) r->value = x->value;
        r->n = r->n > UINT32_MAX - x->n ? UINT32_MAX : r->n + x->n;
    }
    store_rows_sort(old);
}

static enum status read_day(sqlite3 *db, int64_t source, int64_t day, struct store_rows *ret, struct arena *a, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(db, "SELECT bytes FROM packed WHERE source = ? AND layer = 'coarse' AND first = ?", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, source);
    sqlite3_bind_int64(st, 2, day);
    int step = sqlite3_step(st);
    size_t len = 0;
    const void *bytes = step == SQLITE_ROW ? store_sql_blob(st, 0, &len) : NULL;
    if (step != SQLITE_ROW && step != SQLITE_DONE) rc = store_sql_fail(db, "reading old points", e);
    else if (step == SQLITE_ROW && len == 0 && store_sql_no_memory(st)) rc = err_set(e, STATUS_MEMORY, "no memory for old points");
    else if (bytes) (void)store_rows_unpack(ret, a, bytes, len, NULL);   /* damaged: it begins anew */
    sqlite3_finalize(st);
    return rc;
}

static enum status write_day(sqlite3 *db, struct store_packer *p, int64_t source, int64_t day, const struct store_rows *rows,
                             struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct buf bytes = BUF_INIT;
    enum status rc = store_sql_prepare(db, "INSERT OR REPLACE INTO packed (source, layer, first, last, points, bytes)"
                                           " VALUES (?, 'coarse', ?, ?, ?, ?)", &st, e);
    if (rc != STATUS_OK) return rc;
    store_rows_pack(p, &bytes, rows->at, rows->n);
    if (!buf_ok(&bytes)) rc = err_set(e, STATUS_LIMIT, "a block of old points is larger than 256 MiB");
    sqlite3_bind_int64(st, 1, source);
    sqlite3_bind_int64(st, 2, day);
    sqlite3_bind_int64(st, 3, day + US_PER_DAY - 1);
    sqlite3_bind_int64(st, 4, rows->n);
    sqlite3_bind_blob64(st, 5, bytes.data, bytes.len, SQLITE_STATIC);
    if (rc == STATUS_OK) rc = store_sql_run(st, "writing old points", e);
    sqlite3_finalize(st);
    buf_free(&bytes);
    return rc;
}

enum status store_coarse_keep(sqlite3 *db, struct store_packer *p, int64_t source, const struct store_rows *points, struct err *e)
{
    struct store_rows fresh = {0}, day = {0};
    struct arena a = ARENA_INIT;
    enum status rc = STATUS_OK;
    condense(&fresh, points);
    if (fresh.n) {
        int64_t at = floor_to(fresh.at[0].at, US_PER_DAY);         /* a block lies within one day */
        rc = read_day(db, source, at, &day, &a, e);
        join(&day, &fresh, at);
        if (rc == STATUS_OK) rc = write_day(db, p, source, at, &day, e);
    }
    store_rows_free(&fresh);
    store_rows_free(&day);
    arena_free(&a);
    return rc;
}

/* One column of a series, in time. */
static enum status read_column(sqlite3_stmt *st, uint64_t column, struct store_rows *ret, struct arena *a, struct err *e)
{
    int step;
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        size_t len;
        const void *bytes = store_sql_blob(st, 0, &len);
        if (len == 0 && store_sql_no_memory(st)) return err_set(e, STATUS_MEMORY, "no memory to read old points");
        if (!store_rows_unpack(ret, a, bytes, len, &column))
            return err_set(e, STATUS_CORRUPT, "metrics.db: a block of old points is damaged; ask for a later time");
    }
    sqlite3 *db = sqlite3_db_handle(st);
    enum status rc = step == SQLITE_DONE ? STATUS_OK : store_sql_fail(db, "reading old points", e);
    sqlite3_reset(st);
    return rc;
}

enum status store_coarse_read(sqlite3 *db, int64_t source, uint64_t series, int64_t from, int64_t to, struct store_hours *ret,
                              struct err *e)
{
    sqlite3_stmt *st = NULL;
    struct arena a = ARENA_INIT;
    struct store_rows *const columns[KINDS] = {&ret->max, &ret->min, &ret->sum};
    enum status rc = store_sql_prepare(db, "SELECT bytes FROM packed WHERE source = ? AND layer = 'coarse' AND first >= ?"
                                           " AND first < ? ORDER BY first", &st, e);
    for (int k = 0; rc == STATUS_OK && k < KINDS; k++) {
        sqlite3_bind_int64(st, 1, source);
        sqlite3_bind_int64(st, 2, from < INT64_MIN + US_PER_DAY ? from : floor_to(from, US_PER_DAY));
        sqlite3_bind_int64(st, 3, to);
        rc = read_column(st, column_of(series, k), columns[k], &a, e);
    }
    if (ret->max.n != ret->min.n || ret->max.n != ret->sum.n) ret->max.n = ret->min.n = ret->sum.n = 0;
    sqlite3_finalize(st);
    arena_free(&a);
    return rc;
}

void store_hours_free(struct store_hours *h)
{
    store_rows_free(&h->max);
    store_rows_free(&h->min);
    store_rows_free(&h->sum);
}
