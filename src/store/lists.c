/* The lists of incidents and actions: written from the log, read for people. */
#include <string.h>

#include "base/check.h"
#include "store/internal.h"

#define RECORDS_AT_ONCE 1000

static void bind_text(sqlite3_stmt *st, int at, const struct record *r, enum record_field f)
{
    sqlite3_bind_text(st, at, record_get_text(r, f), -1, SQLITE_STATIC);
}

static void bind_time(sqlite3_stmt *st, int at, const struct record *r, enum record_field f)
{
    if (record_has(r, f)) sqlite3_bind_int64(st, at, record_get_i64(r, f, 0));
}

static enum status put_incident(struct store_metrics *m, const struct store_entry *x, struct err *e)
{
    const struct record *r = x->record;
    sqlite3_stmt *st = m->put_incident;
    bind_text(st, 1, r, RF_SERVICE);
    sqlite3_bind_int64(st, 2, (sqlite3_int64)record_get_u64(r, RF_INCIDENT, 0));
    bind_text(st, 3, r, RF_SYMPTOM);
    bind_time(st, 4, r, RF_ONSET);
    bind_time(st, 5, r, RF_AT);
    if (r->kind == RECORD_CLOSED) bind_time(st, 6, r, RF_AT);
    bind_text(st, 7, r, RF_CAUSE);
    bind_text(st, 8, r, RF_KIND);
    bind_text(st, 9, r, RF_REASON);
    sqlite3_bind_int(st, 10, r->kind == RECORD_INTENT);
    sqlite3_bind_int64(st, 11, (sqlite3_int64)x->seq);
    return store_sql_run(st, "listing an incident", e);
}

static enum status put_action(struct store_metrics *m, const struct store_entry *x, struct err *e)
{
    static const enum record_field texts[] = {RF_KNOB, RF_CLASS, RF_CAUSE, RF_FROM, RF_TO};
    const struct record *r = x->record;
    sqlite3_stmt *st = m->put_action;
    bind_text(st, 1, r, RF_ACTION);
    bind_text(st, 2, r, RF_SERVICE);
    if (record_has(r, RF_INCIDENT)) sqlite3_bind_int64(st, 3, (sqlite3_int64)record_get_u64(r, RF_INCIDENT, 0));
    for (int i = 0; i < (int)ARRAY_LEN(texts); i++) bind_text(st, 4 + i, r, texts[i]);
    sqlite3_bind_int(st, 9, record_get_u64(r, RF_AUTOMATIC, 0) != 0);
    bind_text(st, 10, r, RF_BY);
    bind_time(st, 11, r, RF_AT);
    if (r->kind == RECORD_APPLIED) bind_time(st, 12, r, RF_AT);
    bind_text(st, 13, r, RF_VERDICT);
    bind_text(st, 14, r, RF_OUTCOME);
    bind_text(st, 15, r, RF_KIND);
    bind_time(st, 16, r, RF_AT);
    sqlite3_bind_int64(st, 17, (sqlite3_int64)x->seq);
    return store_sql_run(st, "listing an action", e);
}

/* What a person says of an incident is no step of its story. */
static enum status put_feedback(struct store_metrics *m, const struct store_entry *x, struct err *e)
{
    const struct record *r = x->record;
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(m->db, "UPDATE incidents SET feedback = ? WHERE service = ? AND incident = ?", &st, e);
    if (rc != STATUS_OK) return rc;
    bind_text(st, 1, r, RF_OUTCOME);
    bind_text(st, 2, r, RF_SERVICE);
    sqlite3_bind_int64(st, 3, (sqlite3_int64)record_get_u64(r, RF_INCIDENT, 0));
    rc = store_sql_run(st, "listing what was said of an incident", e);
    sqlite3_finalize(st);
    return rc;
}

struct derive { struct store_metrics *m; uint64_t next; enum status rc; struct err *e; };

static bool derive_one(void *arg, const struct store_entry *x)
{
    struct derive *d = arg;
    const struct record *r = x->record;
    bool listed = record_has(r, RF_SERVICE);
    d->next = x->seq + 1;
    if (listed && r->kind == RECORD_FEEDBACK) d->rc = put_feedback(d->m, x, d->e);
    else if (listed && record_has(r, RF_INCIDENT)) d->rc = put_incident(d->m, x, d->e);
    if (d->rc == STATUS_OK && listed && record_has(r, RF_ACTION)) d->rc = put_action(d->m, x, d->e);
    return d->rc == STATUS_OK;
}

enum status store_write_lists(struct store_metrics *m, bool *ret_more, struct err *e)
{
    int64_t from = 0;
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_int(m->db, "SELECT seq FROM derived", &from, e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(m->audit, "SELECT seq, bytes FROM records WHERE seq >= ? ORDER BY seq LIMIT ?", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, from);
    sqlite3_bind_int(st, 2, RECORDS_AT_ONCE);
    struct derive d = {.m = m, .next = (uint64_t)from, .e = e};
    struct store_sink sink = {derive_one, &d};
    rc = store_each(m->audit, st, &sink, e);
    if (rc == STATUS_OK) rc = d.rc;
    *ret_more = d.next - (uint64_t)from == RECORDS_AT_ONCE;
    if (rc != STATUS_OK || d.next == (uint64_t)from) return rc;
    rc = store_sql_prepare(m->db, "UPDATE derived SET seq = ?", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)d.next);
    rc = store_sql_run(st, "noting how far the lists are", e);
    sqlite3_finalize(st);
    return rc;
}

static const char *text_at(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text ? text : "";
}

static int64_t time_at(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL ? STORE_NO_TIME : sqlite3_column_int64(st, column);
}

static enum status open_list(struct store *s, const char *sql, const char *service, int64_t before, uint32_t limit,
                             sqlite3_stmt **ret, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    enum status rc = store_sql_prepare(s->metrics->reader, sql, ret, e);
    if (rc != STATUS_OK) return rc;
    if (service) sqlite3_bind_text(*ret, 1, service, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(*ret, 2, before);
    sqlite3_bind_int64(*ret, 3, limit);
    return rc;
}

static enum status close_list(sqlite3_stmt *st, int step, struct err *e)
{
    enum status rc = step == SQLITE_DONE || step == SQLITE_ROW
                         ? STATUS_OK
                         : store_sql_fail(sqlite3_db_handle(st), "reading a list", e);
    sqlite3_finalize(st);
    return rc;
}

enum status store_incidents(struct store *s, const char *service, int64_t before, uint32_t limit,
                            const struct store_incident_sink *sink, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int step;
    enum status rc =
        open_list(s,
                  "SELECT service, incident, symptom, onset, opened, closed, cause, last_kind, last_reason,"
                  " actions, last_seq, feedback FROM incidents WHERE (?1 IS NULL OR service = ?1) AND opened < ?2"
                  " ORDER BY opened DESC, service, incident DESC LIMIT ?3",
                  service, before, limit, &st, e);
    if (rc != STATUS_OK) return rc;
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        struct store_incident_row row = {
            .service = text_at(st, 0), .incident = (uint64_t)sqlite3_column_int64(st, 1), .symptom = text_at(st, 2),
            .onset = time_at(st, 3), .opened = time_at(st, 4), .closed = time_at(st, 5), .cause = text_at(st, 6),
            .last_kind = text_at(st, 7), .last_reason = text_at(st, 8),
            .actions = (uint64_t)sqlite3_column_int64(st, 9), .last_seq = (uint64_t)sqlite3_column_int64(st, 10),
            .feedback = text_at(st, 11)};
        if (!sink->incident(sink->arg, &row)) break;
    }
    return close_list(st, step, e);
}

enum status store_feedback(struct store *s, struct store_feedback *ret, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int step;
    OBJ_VALID(s, STORE_MAGIC);
    enum status rc = store_sql_prepare(s->metrics->reader,
                                       "SELECT feedback, count(*) FROM incidents WHERE feedback <> '' GROUP BY feedback", &st, e);
    if (rc != STATUS_OK) return rc;
    *ret = (struct store_feedback){0};
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        uint64_t n = (uint64_t)sqlite3_column_int64(st, 1);
        const char *word = text_at(st, 0);
        if (strcmp(word, "false") == 0) ret->false_alarms = n;
        ret->all += n;
    }
    return close_list(st, step, e);
}

enum status store_actions(struct store *s, const char *service, int64_t before, uint32_t limit,
                          const struct store_action_sink *sink, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int step;
    enum status rc =
        open_list(s,
                  "SELECT action, service, incident, knob, class, cause, from_value, to_value, automatic, who,"
                  " intended, applied, verdict, outcome, last_kind, last_at, last_seq FROM actions"
                  " WHERE (?1 IS NULL OR service = ?1) AND intended < ?2"
                  " ORDER BY intended DESC, last_seq DESC LIMIT ?3",
                  service, before, limit, &st, e);
    if (rc != STATUS_OK) return rc;
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        struct store_action_row row = {
            .action = text_at(st, 0), .service = text_at(st, 1), .incident = (uint64_t)sqlite3_column_int64(st, 2),
            .knob = text_at(st, 3), .class = text_at(st, 4), .cause = text_at(st, 5), .from = text_at(st, 6),
            .to = text_at(st, 7), .automatic = sqlite3_column_int(st, 8) != 0, .by = text_at(st, 9),
            .intended = time_at(st, 10), .applied = time_at(st, 11), .verdict = text_at(st, 12),
            .outcome = text_at(st, 13), .last_kind = text_at(st, 14), .last_at = time_at(st, 15),
            .last_seq = (uint64_t)sqlite3_column_int64(st, 16)};
        if (!sink->action(sink->arg, &row)) break;
    }
    return close_list(st, step, e);
}
