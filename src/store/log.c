#include "store/log.h"

#include <string.h>

#include "audit/codec.h"
#include "base/check.h"
#include "base/text.h"
#include "store/store.h"

#define WAL_FRAMES 1000   /* about 4 MB: longer makes reading slow, shorter folds too often */

static bool read_hash(void *arg, uint64_t slot, struct audit_hash *ret)
{
    sqlite3_stmt *st = NULL;
    if (store_sql_prepare(arg, "SELECT hash FROM hashes WHERE slot = ?", &st, NULL) != STATUS_OK) return false;
    sqlite3_bind_int64(st, 1, (sqlite3_int64)slot);
    size_t n = 0;
    const void *hash = sqlite3_step(st) == SQLITE_ROW ? store_sql_blob(st, 0, &n) : NULL;
    bool ok = hash && n == AUDIT_HASH_BYTES;
    if (ok) memcpy(ret->b, hash, AUDIT_HASH_BYTES);
    sqlite3_finalize(st);
    return ok;
}

struct audit_source store_hash_source(sqlite3 *db) { return (struct audit_source){read_hash, db}; }

static enum status open_newest(sqlite3_stmt *st, const struct audit_verifier *v, struct audit_checkpoint *ret,
                               struct buf *note, struct err *e)
{
    int rc = sqlite3_step(st);
    if (rc == SQLITE_DONE) return err_set(e, STATUS_NOT_FOUND, "the audit is still empty: no checkpoint yet");
    if (rc != SQLITE_ROW) return store_sql_fail(sqlite3_db_handle(st), "reading the newest checkpoint", e);
    size_t len;
    const char *text = store_sql_blob(st, 0, &len);
    if (len == 0 && store_sql_no_memory(st)) return err_set(e, STATUS_MEMORY, "no memory to read the newest checkpoint");
    enum status status = audit_checkpoint_open(ret, text, len, v, e);
    if (status == STATUS_OK && note) buf_add(note, text, len);
    return status;
}

enum status store_log_newest(sqlite3 *db, const struct audit_verifier *v, struct audit_checkpoint *ret,
                             struct buf *note, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(db, "SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1", &st, e);
    if (rc == STATUS_OK) rc = open_newest(st, v, ret, note, e);
    sqlite3_finalize(st);
    return rc;
}

/* A key that cannot be read is not one that fits. */
static enum status compare_key(sqlite3_stmt *st, const char *key, struct err *e)
{
    if (sqlite3_step(st) != SQLITE_ROW) return store_sql_fail(sqlite3_db_handle(st), "reading the key of the audit", e);
    const char *known = (const char *)sqlite3_column_text(st, 0);
    if (!known && store_sql_no_memory(st)) return err_set(e, STATUS_MEMORY, "no memory to look at the key of the audit");
    if (text_eq(known, key)) return STATUS_OK;
    return err_set(e, STATUS_CONFLICT, "this log was signed by %.200s, but audit.key is %s: restore the right audit.key",
                   known ? known : "nobody", key);
}

/* The key in the file says who signed this log; a log must not get a second signer unnoticed. */
static enum status check_key(struct store_log *l, struct err *e)
{
    struct buf key = BUF_INIT;
    sqlite3_stmt *st = NULL;
    audit_verifier_print(&l->signer->verifier, &key);
    if (!buf_ok(&key)) return err_set(e, STATUS_MEMORY, "no memory to look at the key of the audit");
    enum status rc = store_sql_prepare(l->db, "INSERT OR IGNORE INTO meta VALUES ('verifier', ?)", &st, e);
    if (rc == STATUS_OK) {
        sqlite3_bind_text(st, 1, buf_text(&key), -1, SQLITE_STATIC);
        rc = store_sql_run(st, "noting the key", e);
    }
    sqlite3_finalize(st);
    st = NULL;
    if (rc == STATUS_OK) rc = store_sql_prepare(l->db, "SELECT value FROM meta WHERE key = 'verifier'", &st, e);
    if (rc == STATUS_OK) rc = compare_key(st, buf_text(&key), e);
    sqlite3_finalize(st);
    buf_free(&key);
    return rc;
}

static enum status cut_error(const char *path, uint64_t have, uint64_t want, struct err *e)
{
    return err_set(e, STATUS_CORRUPT,
                   "%s: %llu records are there, but the newest checkpoint covers %llu: records were lost or added;"
                   " keep a copy, run `trimtab audit verify`, restore a backup", path, (unsigned long long)have,
                   (unsigned long long)want);
}

/* Cheap enough for every start: the edge of the tree against the signed root. store_verify does the rest. */
static enum status load_tree(struct store_log *l, const char *path, struct err *e)
{
    struct audit_checkpoint c = {0};
    struct audit_hash root;
    int64_t records = 0, slots = 0;
    enum status rc = store_sql_int(l->db, "SELECT coalesce(max(seq) + 1, 0) FROM records", &records, e);
    if (rc == STATUS_OK) rc = store_sql_int(l->db, "SELECT coalesce(max(slot) + 1, 0) FROM hashes", &slots, e);
    if (rc != STATUS_OK) return rc;
    rc = store_log_newest(l->db, &l->signer->verifier, &c, NULL, e);
    if (rc == STATUS_NOT_FOUND) rc = STATUS_OK;
    if (rc != STATUS_OK) return rc == STATUS_DENIED || rc == STATUS_INVALID ? err_set(e, STATUS_CORRUPT,
        "%s: the newest checkpoint is damaged or not signed by audit.key: run `trimtab audit verify`", path) : rc;
    if ((uint64_t)records != c.size) return cut_error(path, (uint64_t)records, c.size, e);
    struct audit_source source = store_hash_source(l->db);
    audit_empty_root(&root);
    bool same = audit_tree_load(&l->tree, c.size, &source) && (uint64_t)slots == audit_slot_count(c.size);
    if (same && c.size > 0) {
        audit_tree_root(&l->tree, &root);
        same = audit_hash_equal(&root, &c.root);
    }
    return same ? STATUS_OK
                : err_set(e, STATUS_CORRUPT,
                          "%s: the tree does not lead to the signed root: run `trimtab audit verify`", path);
}

static int count_frames(void *arg, sqlite3 *db, const char *name, int frames)
{
    struct store_log *l = arg;
    (void)db;
    (void)name;
    l->wal_frames = frames;
    return SQLITE_OK;
}

static enum status prepare_all(struct store_log *l, struct err *e)
{
    const struct { sqlite3_stmt **st; const char *sql; } all[] = {
        {&l->begin, "BEGIN IMMEDIATE"},
        {&l->commit, "COMMIT"},
        {&l->put_record, "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)"},
        {&l->put_hash, "INSERT INTO hashes VALUES (?, ?)"},
        {&l->put_checkpoint, "INSERT INTO checkpoint VALUES (?, ?, ?, ?)"},
        {&l->drop_checkpoint, "DELETE FROM checkpoint WHERE size = ?"},
    };
    enum status rc = STATUS_OK;
    for (size_t i = 0; rc == STATUS_OK && i < ARRAY_LEN(all); i++)
        rc = store_sql_prepare(l->db, all[i].sql, all[i].st, e);
    return rc;
}

enum status store_log_open(struct store_log *l, const char *path, const char *vfs, const struct audit_signer *signer,
                           struct err *e)
{
    int64_t kept = 0;
    *l = (struct store_log){.signer = signer};
    enum status rc = store_sql_open(&l->db, path, vfs, STORE_SQL_FULL, e);
    if (rc == STATUS_OK) rc = store_sql_migrate(l->db, &store_schema_audit, e);
    if (rc == STATUS_OK) rc = check_key(l, e);
    if (rc == STATUS_OK) rc = load_tree(l, path, e);
    if (rc == STATUS_OK) rc = prepare_all(l, e);
    if (rc == STATUS_OK)
        rc = store_sql_int(l->db, "SELECT coalesce((SELECT kept FROM checkpoint ORDER BY size DESC LIMIT 1), 1)", &kept,
                           e);
    l->newest_kept = kept != 0;
    if (rc == STATUS_OK) sqlite3_wal_hook(l->db, count_frames, l);
    else store_log_close(l);
    return rc;
}

void store_log_close(struct store_log *l)
{
    sqlite3_stmt *const all[] = {l->begin,    l->commit,         l->put_record,
                                 l->put_hash, l->put_checkpoint, l->drop_checkpoint};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) sqlite3_finalize(all[i]);
    store_sql_close(&l->db);
    buf_free(&l->bytes);
    buf_free(&l->note);
    *l = (struct store_log){.signer = l->signer};
}

static void bind_text_of(sqlite3_stmt *st, int at, const struct record *r, enum record_field f)
{
    if (record_has(r, f)) sqlite3_bind_text(st, at, record_get_text(r, f), -1, SQLITE_STATIC);
    else sqlite3_bind_null(st, at);
}

static enum status put_hashes(struct store_log *l, const struct audit_added *added, struct err *e)
{
    enum status rc = STATUS_OK;
    for (unsigned i = 0; rc == STATUS_OK && i < added->n; i++) {
        sqlite3_bind_int64(l->put_hash, 1, (sqlite3_int64)(added->first_slot + i));
        sqlite3_bind_blob(l->put_hash, 2, added->hash[i].b, AUDIT_HASH_BYTES, SQLITE_STATIC);
        rc = store_sql_run(l->put_hash, "appending a tree node", e);
    }
    return rc;
}

static enum status put_record(struct store_log *l, const struct record *r, const char *bytes, size_t len, struct err *e)
{
    struct audit_hash leaf;
    struct audit_added added;
    audit_leaf_hash(bytes, len, &leaf);
    sqlite3_bind_int64(l->put_record, 1, (sqlite3_int64)l->tree.size);
    bind_text_of(l->put_record, 2, r, RF_SERVICE);
    if (record_has(r, RF_INCIDENT))
        sqlite3_bind_int64(l->put_record, 3, (sqlite3_int64)record_get_u64(r, RF_INCIDENT, 0));
    else sqlite3_bind_null(l->put_record, 3);
    bind_text_of(l->put_record, 4, r, RF_ACTION);
    sqlite3_bind_blob64(l->put_record, 5, bytes, len, SQLITE_STATIC);
    sqlite3_bind_blob(l->put_record, 6, leaf.b, AUDIT_HASH_BYTES, SQLITE_STATIC);
    enum status rc = store_sql_run(l->put_record, "appending a record", e);
    if (rc != STATUS_OK) return rc;
    audit_tree_append(&l->tree, &leaf, &added);
    return put_hashes(l, &added, e);
}

/* Encodes first, so that a record that cannot be written touches nothing. `at`: where each record begins. */
static enum status encode_all(struct store_log *l, struct store_request *q, size_t *at)
{
    buf_clear(&l->bytes);
    for (uint32_t i = 0; i < q->n; i++) {
        record_u64(q->records[i], RF_SEQ, l->tree.size + i);
        at[i] = l->bytes.len;
        enum status rc = audit_encode(&l->bytes, q->records[i], &q->err);
        if (rc != STATUS_OK) return rc;
    }
    at[q->n] = l->bytes.len;
    return STATUS_OK;
}

/* The request's own fault is its own status; the return value is the transaction's. */
static enum status put_request(struct store_log *l, struct store_request *q, bool *has_intent, struct err *e)
{
    size_t at[STORE_APPEND_MAX + 1];
    enum status rc = STATUS_OK;
    q->status = encode_all(l, q, at);
    if (q->status != STATUS_OK) return STATUS_OK;
    q->seq = l->tree.size;
    for (uint32_t i = 0; rc == STATUS_OK && i < q->n; i++) {
        rc = put_record(l, q->records[i], l->bytes.data + at[i], at[i + 1] - at[i], e);
        if (q->records[i]->kind == RECORD_INTENT) *has_intent = true;
    }
    return rc;
}

/* The newest checkpoint, and those over an INTENT, stay; the others would only take room. */
static enum status put_checkpoint(struct store_log *l, uint64_t before, bool keep, struct err *e)
{
    struct audit_hash root;
    audit_tree_root(&l->tree, &root);
    buf_clear(&l->note);
    enum status rc = audit_checkpoint_sign(&l->note, l->tree.size, &root, l->signer, e);
    if (rc == STATUS_OK && !l->newest_kept) {
        sqlite3_bind_int64(l->drop_checkpoint, 1, (sqlite3_int64)before);
        rc = store_sql_run(l->drop_checkpoint, "replacing the checkpoint", e);
    }
    if (rc != STATUS_OK) return rc;
    sqlite3_bind_int64(l->put_checkpoint, 1, (sqlite3_int64)l->tree.size);
    sqlite3_bind_blob(l->put_checkpoint, 2, root.b, AUDIT_HASH_BYTES, SQLITE_STATIC);
    sqlite3_bind_text(l->put_checkpoint, 3, l->note.data, (int)l->note.len, SQLITE_STATIC);
    sqlite3_bind_int(l->put_checkpoint, 4, keep);
    return store_sql_run(l->put_checkpoint, "appending a checkpoint", e);
}

static enum status append_in_transaction(struct store_log *l, struct store_request *list, bool *has_intent,
                                         struct err *e)
{
    uint64_t before = l->tree.size;
    enum status rc = store_sql_run(l->begin, "beginning an append", e);
    for (struct store_request *q = list; rc == STATUS_OK && q; q = q->next) rc = put_request(l, q, has_intent, e);
    if (rc == STATUS_OK && l->tree.size > before) rc = put_checkpoint(l, before, *has_intent, e);
    return rc == STATUS_OK ? store_sql_run(l->commit, "committing an append", e) : rc;
}

enum status store_log_append(struct store_log *l, struct store_request *list, bool *ret_fatal, struct err *e)
{
    struct audit_tree before = l->tree;
    bool has_intent = false;
    *ret_fatal = false;
    for (struct store_request *q = list; q; q = q->next) q->status = STATUS_OK;
    enum status rc = append_in_transaction(l, list, &has_intent, e);
    if (rc == STATUS_OK) {
        if (l->tree.size > before.size) l->newest_kept = has_intent;
        return rc;
    }
    *ret_fatal = store_sql_is_sync_error(l->db);
    if (!sqlite3_get_autocommit(l->db)) sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
    l->tree = before;
    store_fail_all(list, rc, *ret_fatal, e);
    return rc;
}

void store_fail_all(struct store_request *list, enum status status, bool fatal, const struct err *e)
{
    for (struct store_request *q = list; q; q = q->next) {
        if (q->status != STATUS_OK) continue;
        q->status = status;
        q->fatal = fatal;
        q->err = *e;
    }
}

bool store_log_tidy(struct store_log *l, struct err *e)
{
    if (l->wal_frames < WAL_FRAMES) return true;
    l->wal_frames = 0;
    int rc = sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc == SQLITE_OK || rc == SQLITE_BUSY || !store_sql_is_sync_error(l->db))
        return true; /* tried again next time */
    store_sql_fail(l->db, "folding the write-ahead file back", e);
    return false;
}
