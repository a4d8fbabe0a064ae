/* The schema of both files, step by step. A step that was released never changes; add another one. */
#include "base/check.h"
#include "store/sql.h"

/* The columns service, incident and action repeat what the bytes say, for finding; verification compares them.
 * The triggers only keep honest programs honest: the signed tree is what proves. */
static const char *const audit_steps[] = {
    "CREATE TABLE records (seq INTEGER PRIMARY KEY, service TEXT, incident INTEGER, action TEXT,"
    " bytes BLOB NOT NULL, leaf BLOB NOT NULL) STRICT;"
    "CREATE INDEX records_service ON records (service, seq) WHERE service IS NOT NULL;"
    "CREATE INDEX records_action ON records (action, seq) WHERE action IS NOT NULL;"
    "CREATE TABLE hashes (slot INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT;"
    "CREATE TABLE checkpoint (size INTEGER PRIMARY KEY, root BLOB NOT NULL, note TEXT NOT NULL, kept INTEGER NOT NULL) "
    "STRICT;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER records_stay BEFORE UPDATE ON records BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;"
    "CREATE TRIGGER records_remain BEFORE DELETE ON records BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;"
    "CREATE TRIGGER hashes_stay BEFORE UPDATE ON hashes BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;"
    "CREATE TRIGGER hashes_remain BEFORE DELETE ON hashes BEGIN SELECT raise(ABORT, 'the audit is append-only'); END;",
};

/* A point's why is NULL when it is known. incidents and actions are derived from the log up to derived.seq (exclusive).
 */
static const char *const metrics_steps[] = {
    "CREATE TABLE series (id INTEGER PRIMARY KEY, service TEXT NOT NULL, signal TEXT NOT NULL, layer TEXT NOT NULL,"
    " UNIQUE (service, signal)) STRICT;"
    "CREATE TABLE points (series INTEGER NOT NULL, at INTEGER NOT NULL, value REAL, n INTEGER NOT NULL, why TEXT,"
    " PRIMARY KEY (series, at)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE state (service TEXT PRIMARY KEY, saved INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE policy (revision TEXT PRIMARY KEY, path TEXT NOT NULL, text TEXT NOT NULL, loaded INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE derived (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;"
    "INSERT INTO derived VALUES (1, 0);"
    "CREATE TABLE incidents (service TEXT NOT NULL, incident INTEGER NOT NULL, symptom TEXT NOT NULL, onset INTEGER,"
    " opened INTEGER NOT NULL, closed INTEGER, cause TEXT NOT NULL, last_kind TEXT NOT NULL, last_reason TEXT NOT NULL,"
    " actions INTEGER NOT NULL, last_seq INTEGER NOT NULL, PRIMARY KEY (service, incident)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX incidents_opened ON incidents (opened);"
    "CREATE TABLE actions (action TEXT PRIMARY KEY, service TEXT NOT NULL, incident INTEGER, knob TEXT NOT NULL,"
    " class TEXT NOT NULL, cause TEXT NOT NULL, from_value TEXT NOT NULL, to_value TEXT NOT NULL, automatic INTEGER "
    "NOT NULL,"
    " who TEXT NOT NULL, intended INTEGER NOT NULL, applied INTEGER, verdict TEXT NOT NULL, outcome TEXT NOT NULL,"
    " last_kind TEXT NOT NULL, last_at INTEGER NOT NULL, last_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX actions_intended ON actions (intended);",
    "CREATE TABLE blocks (series INTEGER NOT NULL, first INTEGER NOT NULL, bytes BLOB NOT NULL,"
    " UNIQUE (series, first)) STRICT;",
    "ALTER TABLE incidents ADD COLUMN feedback TEXT NOT NULL DEFAULT '';",
    /* Points by source, not by series. Rows of `points` are taken over (adopt.c), blocks of single series are not. */
    "DROP TABLE blocks;"
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, service TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE recent (id INTEGER PRIMARY KEY, source INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " bytes BLOB NOT NULL) STRICT;"
    "CREATE INDEX recent_source ON recent (source, first);"
    "CREATE TABLE packed (source INTEGER NOT NULL, layer TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " points INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE (source, layer, first)) STRICT;"
    "CREATE INDEX packed_first ON packed (first);",
};

const struct store_schema store_schema_audit = {0x74726d61, audit_steps, ARRAY_LEN(audit_steps), "audit log", 0};
const struct store_schema store_schema_metrics = {0x74726d6d, metrics_steps, ARRAY_LEN(metrics_steps), "metrics store", 4};
