/* The whole check of a log: everything that is stored is computed again from the record bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/codec.h"
#include "base/check.h"
#include "base/text.h"
#include "store/internal.h"

/* Walks records, tree nodes and checkpoints side by side, in the order in which they were written. */
struct walk {
    sqlite3 *db;
    const struct audit_verifier *key;
    sqlite3_stmt *records, *hashes, *checkpoints;
    struct audit_tree tree;
    uint64_t covered;                /* size of the last checkpoint that was found good */
    bool more_checkpoints;
    struct arena arena;
    struct store_report *report;
};

/* Notes the first bad thing. Returns false for `return bad(...)`. */
PRINTF_LIKE(3, 4) static bool bad(struct walk *w, uint64_t seq, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(w->report->why, sizeof w->report->why, fmt, ap);
    va_end(ap);
    w->report->bad_seq = seq;
    return false;
}

/* The same about the record that comes next. */
PRINTF_LIKE(2, 3) static bool bad_record(struct walk *w, const char *fmt, ...)
{
    struct store_report *r = w->report;
    va_list ap;
    int n = snprintf(r->why, sizeof r->why, "record %llu: ", (unsigned long long)w->tree.size);
    va_start(ap, fmt);
    vsnprintf(r->why + n, sizeof r->why - (size_t)n, fmt, ap);
    va_end(ap);
    r->bad_seq = w->tree.size;
    return false;
}

static bool same_text(sqlite3_stmt *st, int column, const struct record *r, enum record_field f)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text ? record_has(r, f) && text_eq(text, record_get_text(r, f)) : !record_has(r, f);
}

static bool same_number(sqlite3_stmt *st, int column, const struct record *r, enum record_field f)
{
    bool null = sqlite3_column_type(st, column) == SQLITE_NULL;
    if (null || !record_has(r, f)) return null && !record_has(r, f);
    return (uint64_t)sqlite3_column_int64(st, column) == record_get_u64(r, f, 0);
}

/* Columns: seq, service, incident, action, bytes, leaf. */
static bool check_record(struct walk *w, struct audit_hash *leaf)
{
    sqlite3_stmt *st = w->records;
    uint64_t seq = (uint64_t)sqlite3_column_int64(st, 0);
    size_t len;
    const char *bytes = store_sql_blob(st, 4, &len);
    struct record r;
    struct err e;
    if (seq != w->tree.size) return bad_record(w, "missing; the next one in the file is %llu", (unsigned long long)seq);
    if (audit_decode(&w->arena, bytes, len, &r, &e) != STATUS_OK)
        return bad_record(w, "its bytes were changed: %s", e.text);
    audit_leaf_hash(bytes, len, leaf);
    if (!store_sql_blob_is(st, 5, leaf->b, AUDIT_HASH_BYTES))
        return bad_record(w, "its bytes do not give the leaf hash beside them: one of the two was changed");
    uint64_t says = record_get_u64(&r, RF_SEQ, 0);
    if (says != seq)
        return bad_record(w, "its bytes say that it is record %llu: records were swapped or copied",
                          (unsigned long long)says);
    if (!same_text(st, 1, &r, RF_SERVICE) || !same_number(st, 2, &r, RF_INCIDENT) || !same_text(st, 3, &r, RF_ACTION))
        return bad_record(w, "service, incident or action beside its bytes were changed");
    return true;
}

static bool check_hashes(struct walk *w, const struct audit_added *added)
{
    for (unsigned i = 0; i < added->n; i++) {
        bool row = sqlite3_step(w->hashes) == SQLITE_ROW;
        if (!row || (uint64_t)sqlite3_column_int64(w->hashes, 0) != added->first_slot + i)
            return bad_record(w, "a node of the tree above it is missing");
        if (!store_sql_blob_is(w->hashes, 1, added->hash[i].b, AUDIT_HASH_BYTES))
            return bad_record(
                w, "a node of the tree above it does not follow from the records: it, or a record, was changed");
    }
    return true;
}

/* Some record since the last good checkpoint was changed, and all hashes recomputed to fit; only the signature tells.
 */
static bool bad_span(struct walk *w, const char *what, const char *detail)
{
    unsigned long long first = w->covered, size = w->tree.size;
    return bad(w, w->covered,
               "the checkpoint over %llu records %s%s: a record from %llu to %llu, or the checkpoint itself,"
               " was changed after it was signed",
               size, what, detail, first, size - 1);
}

/* The checkpoint at the present size, if the next row is one. Columns: size, root, note. */
static bool check_checkpoint(struct walk *w)
{
    sqlite3_stmt *st = w->checkpoints;
    struct audit_checkpoint c;
    struct audit_hash root;
    struct err e;
    if (!w->more_checkpoints || (uint64_t)sqlite3_column_int64(st, 0) != w->tree.size) return true;
    size_t len;
    const char *note = store_sql_blob(st, 2, &len);
    if (audit_checkpoint_open(&c, note, len, w->key, &e) != STATUS_OK)
        return bad_span(w, "cannot be trusted, ", e.text);
    audit_tree_root(&w->tree, &root);
    if (c.size != w->tree.size || !audit_hash_equal(&c.root, &root)) return bad_span(w, "has another root", "");
    if (!store_sql_blob_is(st, 1, root.b, AUDIT_HASH_BYTES))
        return bad_span(w, "has another root beside its note", "");
    w->covered = c.size;
    w->report->newest = c;
    w->report->checkpoints++;
    w->more_checkpoints = sqlite3_step(st) == SQLITE_ROW;
    return true;
}

static bool check_one(struct walk *w)
{
    struct audit_hash leaf;
    struct audit_added added;
    arena_reset(&w->arena);
    if (!check_record(w, &leaf)) return false;
    struct audit_tree before = w->tree;
    audit_tree_append(&w->tree, &leaf, &added);
    struct audit_tree after = w->tree;
    w->tree = before;                /* so that messages name this record */
    if (!check_hashes(w, &added)) return false;
    w->tree = after;
    if (!check_checkpoint(w)) return false;
    w->report->records++;
    return true;
}

/* After the last record: nothing may be left over, and the newest checkpoint must cover exactly these records. */
static bool check_end(struct walk *w)
{
    unsigned long long size = w->tree.size, covered = w->covered;
    if (w->more_checkpoints) {
        unsigned long long want = (unsigned long long)sqlite3_column_int64(w->checkpoints, 0);
        if (want <= size) return bad(w, size, "the checkpoint over %llu records stands where none can be", want);
        return bad_record(w, "missing; the log was cut: a signed checkpoint covers %llu records", want);
    }
    if (covered != size)
        return bad(w, covered, "record %llu: no signed checkpoint covers it; the newest one covers %llu records",
                   covered, covered);
    if (sqlite3_step(w->hashes) == SQLITE_ROW)
        return bad_record(w, "missing; the tree has nodes for it: the log was cut");
    return true;
}

static void walk_all(struct walk *w)
{
    int step;
    w->more_checkpoints = sqlite3_step(w->checkpoints) == SQLITE_ROW;
    while ((step = sqlite3_step(w->records)) == SQLITE_ROW)
        if (!check_one(w)) return;
    if (step != SQLITE_DONE) {
        struct err e;
        store_sql_fail(w->db, "reading the next record", &e);
        bad_record(w, "%s", e.text);
        return;
    }
    w->report->good = check_end(w);
}

/* Damage that the walk does not meet: indexes, free pages, counters. */
static void check_file(struct walk *w)
{
    sqlite3_stmt *st = NULL;
    if (store_sql_prepare(w->db, "PRAGMA integrity_check(1)", &st, NULL) != STATUS_OK) return;
    const char *text = sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : "it cannot be read";
    if (!text_eq(text, "ok")) {
        w->report->good = bad(w, UINT64_MAX, "all records are good, but the database around them is damaged: %s",
                              text ? text : "");
    }
    sqlite3_finalize(st);
}

static enum status prepare_walk(struct walk *w, struct err *e)
{
    enum status rc = store_sql_prepare(
        w->db, "SELECT seq, service, incident, action, bytes, leaf FROM records ORDER BY seq", &w->records, e);
    if (rc == STATUS_OK) rc = store_sql_prepare(w->db, "SELECT slot, hash FROM hashes ORDER BY slot", &w->hashes, e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(w->db, "SELECT size, root, note FROM checkpoint ORDER BY size", &w->checkpoints, e);
    return rc;
}

/* One read transaction, so that a writer beside us does not move the three apart. */
static enum status verify(sqlite3 *db, const struct audit_verifier *key, struct store_report *ret, struct err *e)
{
    *ret = (struct store_report){.bad_seq = UINT64_MAX};
    struct walk w = {.db = db, .key = key, .report = ret};
    enum status rc = store_sql_exec(db, "BEGIN", "beginning to read", e);
    if (rc != STATUS_OK) return rc;
    rc = prepare_walk(&w, e);
    if (rc == STATUS_OK) walk_all(&w);
    if (rc == STATUS_OK && ret->good) check_file(&w);
    sqlite3_finalize(w.records);
    sqlite3_finalize(w.hashes);
    sqlite3_finalize(w.checkpoints);
    arena_free(&w.arena);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

enum status store_verify(struct store *s, struct store_report *ret, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    return verify(s->reader, &s->signer.verifier, ret, e);
}

/* A file from outside may name a view or a virtual table `records` that never ends: only plain tables are read, and
 * no value that no record of ours could have. */
static enum status check_tables(sqlite3 *db, const char *path, struct err *e)
{
    int64_t tables = 0;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    enum status rc =
        store_sql_int(db,
                      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
                      " AND name IN ('records', 'hashes', 'checkpoint', 'meta')",
                      &tables, e);
    if (rc != STATUS_OK || tables == 4) return rc;
    return err_set(e, STATUS_CORRUPT, "%s: its tables are not those of an audit log", path);
}

static enum status key_of_file(sqlite3 *db, struct audit_verifier *ret, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(db, "SELECT value FROM meta WHERE key = 'verifier'", &st, e);
    if (rc != STATUS_OK) return rc;
    const char *text = sqlite3_step(st) == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 0) : NULL;
    rc = audit_verifier_parse(ret, text ? text : "", text ? strlen(text) : 0, e);
    sqlite3_finalize(st);
    return rc == STATUS_OK
               ? rc
               : err_set(e, STATUS_CORRUPT, "the file does not name the key of its signatures: give the key");
}

enum status store_sql_open_copy(sqlite3 **ret, const char *path, struct err *e)
{
    char name[STORE_PATH_MAX + 32];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return err_set(e, STATUS_NOT_FOUND, "%s: no such file", path);
    if (snprintf(name, sizeof name, "%s-wal", path) >= STORE_PATH_MAX)
        return err_set(e, STATUS_LIMIT, "the path is too long");
    if (stat(name, &st) == 0 && st.st_size > 0) return store_sql_open(ret, path, NULL, STORE_SQL_READ, e);
    struct buf uri = BUF_INIT;
    buf_puts(&uri, "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("?#%", *p)) buf_printf(&uri, "%%%02x", (unsigned)(unsigned char)*p);
        else buf_putc(&uri, *p);
    }
    buf_puts(&uri, "?immutable=1");
    enum status rc = store_sql_open(ret, buf_text(&uri), NULL, STORE_SQL_READ, e);
    buf_free(&uri);
    return rc;
}

/* The log is good in itself; is it also the one that was signed then? */
static void compare(sqlite3 *db, const struct audit_checkpoint *known, struct store_report *ret)
{
    struct audit_tree then;
    struct audit_hash root;
    struct audit_source source = store_hash_source(db);
    struct walk w = {.report = ret};
    unsigned long long have = ret->newest.size, want = known->size;
    if (!ret->good) return;
    if (want > have) {
        ret->good = bad(&w, have, "record %llu: missing; the log was cut: the checkpoint given covers %llu records",
                        have, want);
        return;
    }
    bool loaded = audit_tree_load(&then, known->size, &source);
    if (loaded) audit_tree_root(&then, &root);
    if (!loaded || !audit_hash_equal(&root, &known->root))
        ret->good = bad(&w, UINT64_MAX,
                        "the log was written anew: its first %llu records are not those of the checkpoint given", want);
}

static enum status verify_path(const char *path, const struct audit_verifier *key, const char *note, size_t len,
                               struct store_report *ret, struct err *e)
{
    sqlite3 *db = NULL;
    struct audit_verifier own;
    struct audit_checkpoint known;
    enum status rc = store_sql_open_copy(&db, path, e);
    if (rc == STATUS_OK) rc = store_sql_check_schema(db, &store_schema_audit, e);
    if (rc == STATUS_OK) rc = check_tables(db, path, e);
    if (rc == STATUS_OK && !key) rc = key_of_file(db, &own, e);
    if (rc == STATUS_OK && note) rc = audit_checkpoint_open(&known, note, len, key ? key : &own, e);
    if (rc == STATUS_OK) rc = verify(db, key ? key : &own, ret, e);
    if (rc == STATUS_OK) ret->own_key = !key;
    if (rc == STATUS_OK && note) compare(db, &known, ret);
    store_sql_close(&db);
    return rc;
}

enum status store_verify_file(const char *path, const struct audit_verifier *key, struct store_report *ret,
                              struct err *e)
{
    return verify_path(path, key, NULL, 0, ret, e);
}

enum status store_verify_against(const char *path, const struct audit_verifier *key, const char *note, size_t len,
                                 struct store_report *ret, struct err *e)
{
    return verify_path(path, key, note, len, ret, e);
}

enum status store_records_file(const char *path, const char *service, const char *action, const struct store_sink *sink,
                               struct err *e)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_open_copy(&db, path, e);
    if (rc == STATUS_OK) rc = store_sql_check_schema(db, &store_schema_audit, e);
    if (rc == STATUS_OK) rc = check_tables(db, path, e);
    if (rc == STATUS_OK)
        rc = store_sql_prepare(db, "SELECT seq, bytes FROM records WHERE (?1 IS NULL OR service = ?1)"
                                   " AND (?2 IS NULL OR action = ?2) ORDER BY seq", &st, e);
    if (rc == STATUS_OK) {
        if (service) sqlite3_bind_text(st, 1, service, -1, SQLITE_TRANSIENT);
        if (action) sqlite3_bind_text(st, 2, action, -1, SQLITE_TRANSIENT);
        rc = store_each(db, st, sink, e);
    }
    store_sql_close(&db);
    return rc;
}
