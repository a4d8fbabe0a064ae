/* Reading the log, and proofs of what is in it. */
#include <string.h>

#include "audit/codec.h"
#include "audit/proof.h"
#include "base/check.h"
#include "store/internal.h"

static enum status give(sqlite3_stmt *st, struct arena *a, const struct store_sink *sink, bool *go_on, struct err *e)
{
    struct record r;
    struct store_entry entry = {.seq = (uint64_t)sqlite3_column_int64(st, 0), .record = &r};
    struct err why;
    entry.bytes = store_sql_blob(st, 1, &entry.len);
    if (entry.len == 0 && store_sql_no_memory(st)) return err_set(e, STATUS_MEMORY, "no memory to read the audit");
    if (audit_decode(a, entry.bytes, entry.len, &r, &why) != STATUS_OK)
        return err_set(e, STATUS_CORRUPT, "record %llu of the audit cannot be read: %s; run `trimtab audit verify`",
                       (unsigned long long)entry.seq, why.text);
    *go_on = sink->entry(sink->arg, &entry);
    return STATUS_OK;
}

enum status store_each(sqlite3 *db, sqlite3_stmt *st, const struct store_sink *sink, struct err *e)
{
    struct arena a = ARENA_INIT;
    enum status rc = STATUS_OK;
    bool go_on = true;
    int step;
    while (rc == STATUS_OK && go_on && (step = sqlite3_step(st)) != SQLITE_DONE) {
        arena_reset(&a);
        rc = step == SQLITE_ROW ? give(st, &a, sink, &go_on, e) : store_sql_fail(db, "reading the audit", e);
    }
    sqlite3_finalize(st);
    arena_free(&a);
    return rc;
}

static enum status query(struct store *s, const char *sql, sqlite3_stmt **ret, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    return store_sql_prepare(s->reader, sql, ret, e);
}

enum status store_records(struct store *s, uint64_t from_seq, const struct store_sink *sink, struct err *e)
{
    sqlite3_stmt *st;
    enum status rc = query(s, "SELECT seq, bytes FROM records WHERE seq >= ? ORDER BY seq", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)from_seq);
    return store_each(s->reader, st, sink, e);
}

enum status store_records_of(struct store *s, const char *service, uint64_t from_seq, const struct store_sink *sink,
                             struct err *e)
{
    sqlite3_stmt *st;
    enum status rc = query(s, "SELECT seq, bytes FROM records WHERE service = ? AND seq >= ? ORDER BY seq", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_text(st, 1, service, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(st, 2, (sqlite3_int64)from_seq);
    return store_each(s->reader, st, sink, e);
}

enum status store_records_back(struct store *s, const char *service, uint64_t before, const struct store_sink *sink, struct err *e)
{
    sqlite3_stmt *st;
    enum status rc = query(s, service ? "SELECT seq, bytes FROM records WHERE service = ?2 AND seq < ?1 ORDER BY seq DESC"
                                      : "SELECT seq, bytes FROM records WHERE seq < ?1 ORDER BY seq DESC", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, before > INT64_MAX ? INT64_MAX : (sqlite3_int64)before);
    if (service) sqlite3_bind_text(st, 2, service, -1, SQLITE_TRANSIENT);
    return store_each(s->reader, st, sink, e);
}

enum status store_story(struct store *s, const char *action, const struct store_sink *sink, struct err *e)
{
    sqlite3_stmt *st;
    enum status rc = query(s, "SELECT seq, bytes FROM records WHERE action = ? ORDER BY seq", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_text(st, 1, action, -1, SQLITE_TRANSIENT);
    return store_each(s->reader, st, sink, e);
}

enum status store_incident(struct store *s, const char *service, uint64_t incident, const struct store_sink *sink,
                           struct err *e)
{
    sqlite3_stmt *st;
    enum status rc = query(s, "SELECT seq, bytes FROM records WHERE service = ? AND incident = ? ORDER BY seq", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_text(st, 1, service, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(st, 2, (sqlite3_int64)incident);
    return store_each(s->reader, st, sink, e);
}

struct one { struct arena *arena; struct record *record; struct buf *bytes; bool found, failed; };

static bool keep_one(void *arg, const struct store_entry *entry)
{
    struct one *one = arg;
    one->found = true;
    if (one->bytes) buf_add(one->bytes, entry->bytes, entry->len);
    if (!one->arena) return false;
    struct record *copy = record_copy(one->arena, entry->record);
    if (copy) *one->record = *copy;
    else one->failed = true;
    return false;
}

static enum status find_one(struct store *s, uint64_t seq, struct one *one, struct err *e)
{
    sqlite3_stmt *st;
    struct store_sink sink = {keep_one, one};
    enum status rc = query(s, "SELECT seq, bytes FROM records WHERE seq = ?", &st, e);
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)seq);
    rc = store_each(s->reader, st, &sink, e);
    if (rc == STATUS_OK && !one->found)
        rc = err_set(e, STATUS_NOT_FOUND, "the audit has no record %llu", (unsigned long long)seq);
    return rc == STATUS_OK && one->failed ? err_set(e, STATUS_MEMORY, "no memory for a record") : rc;
}

enum status store_record(struct store *s, uint64_t seq, struct arena *a, struct record *ret, struct err *e)
{
    struct one one = {.arena = a, .record = ret};
    return find_one(s, seq, &one, e);
}

enum status store_checkpoint(struct store *s, struct audit_checkpoint *ret, struct buf *note, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    return store_log_newest(s->reader, &s->signer.verifier, ret, note, e);
}

enum status store_prove(struct store *s, uint64_t seq, struct buf *out, struct err *e)
{
    struct audit_checkpoint c;
    struct audit_proof proof;
    struct buf note = BUF_INIT, bytes = BUF_INIT;
    struct one one = {.bytes = &bytes};
    struct audit_source source = store_hash_source(s->reader);
    enum status rc = find_one(s, seq, &one, e);
    if (rc == STATUS_OK) rc = store_checkpoint(s, &c, &note, e);
    if (rc == STATUS_OK && seq >= c.size) rc = err_set(e, STATUS_BUSY, "record %llu has just been written; ask again",
                                                       (unsigned long long)seq);
    if (rc == STATUS_OK && !audit_prove_inclusion(seq, c.size, &source, &proof))
        rc = err_set(e, STATUS_CORRUPT, "the tree of the audit has holes: run `trimtab audit verify`");
    if (rc == STATUS_OK) audit_proof_write(out, seq, &proof, bytes.data, bytes.len, note.data, note.len);
    if (rc == STATUS_OK && !buf_ok(out)) rc = err_set(e, STATUS_MEMORY, "no memory for a proof");
    buf_free(&note);
    buf_free(&bytes);
    return rc;
}
