#include "store/sql.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define BUSY_MS 2000

static const char *file_of(sqlite3 *db)
{
    const char *path = sqlite3_db_filename(db, "main");
    return path && *path ? path : "the store in memory";
}

bool store_sql_is_sync_error(sqlite3 *db)
{
    int code = sqlite3_extended_errcode(db);
    return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

static bool no_space(sqlite3 *db)
{
    int os = sqlite3_system_errno(db);
    return os == ENOSPC || os == EDQUOT;
}

struct meaning { enum status status; const char *advice; };

static struct meaning meaning_of(sqlite3 *db)
{
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_NOTADB:
        return (struct meaning){STATUS_CORRUPT,
                                "this is not a database of trimtab: check the path, or restore the file"};
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
        return (struct meaning){STATUS_CORRUPT,
                                "the file is damaged: keep a copy, run `trimtab audit verify`, restore a backup"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return (struct meaning){STATUS_DENIED, "the file or its folder cannot be written: check owner, mode and mount"};
    case SQLITE_CANTOPEN:
        return (struct meaning){STATUS_IO,
                                "the file cannot be opened: check that the folder exists and may be written"};
    case SQLITE_FULL:
        return (struct meaning){STATUS_FULL, "free some space on this disk"};
    case SQLITE_NOMEM:
        return (struct meaning){STATUS_MEMORY, "the process is out of memory"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return (struct meaning){STATUS_BUSY, "another program holds the file: close it"};
    case SQLITE_IOERR:
        if (no_space(db)) return (struct meaning){STATUS_FULL, "free some space on this disk"};
        return (struct meaning){STATUS_IO, "check the disk and the kernel's log"};
    default:
        return (struct meaning){STATUS_IO, "check the disk and the kernel's log"};
    }
}

enum status store_sql_fail(sqlite3 *db, const char *doing, struct err *e)
{
    struct meaning m = meaning_of(db);
    int os = sqlite3_system_errno(db);
    if (os != 0 && m.status != STATUS_CORRUPT)
        return err_set(e, m.status, "%s: %s: %s (%s); %s", file_of(db), doing, sqlite3_errmsg(db), strerror(os),
                       m.advice);
    return err_set(e, m.status, "%s: %s: %s; %s", file_of(db), doing, sqlite3_errmsg(db), m.advice);
}

enum status store_sql_exec(sqlite3 *db, const char *sql, const char *doing, struct err *e)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? STATUS_OK : store_sql_fail(db, doing, e);
}

enum status store_sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e)
{
    int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    return rc == SQLITE_OK ? STATUS_OK : store_sql_fail(db, "preparing a statement", e);
}

enum status store_sql_run(sqlite3_stmt *st, const char *doing, struct err *e)
{
    int rc = sqlite3_step(st);
    while (rc == SQLITE_ROW) rc = sqlite3_step(st);
    enum status status = rc == SQLITE_DONE ? STATUS_OK : store_sql_fail(sqlite3_db_handle(st), doing, e);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return status;
}

const void *store_sql_blob(sqlite3_stmt *st, int column, size_t *ret_len)
{
    const void *bytes = sqlite3_column_blob(st, column);
    *ret_len = bytes ? (size_t)sqlite3_column_bytes(st, column) : 0;
    return bytes ? bytes : "";
}

bool store_sql_blob_is(sqlite3_stmt *st, int column, const void *want, size_t len)
{
    size_t n;
    const void *bytes = store_sql_blob(st, column, &n);
    return n == len && memcmp(bytes, want, len) == 0;
}

bool store_sql_no_memory(sqlite3_stmt *st)
{
    return sqlite3_errcode(sqlite3_db_handle(st)) == SQLITE_NOMEM;
}

enum status store_sql_int(sqlite3 *db, const char *sql, int64_t *ret, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(db, sql, &st, e);
    if (rc != STATUS_OK) return rc;
    if (sqlite3_step(st) == SQLITE_ROW) *ret = sqlite3_column_int64(st, 0);
    else rc = store_sql_fail(db, "reading", e);
    sqlite3_finalize(st);
    return rc;
}

/* A damaged or prepared file must not run anything or overrun anything while it is read. */
static const char guard_pragmas[] = "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA foreign_keys=OFF;";
/* The file with the log is checkpointed by its own thread between appends, never inside one. */
static const char full_pragmas[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
                                   "PRAGMA cache_size=-1024;";
static const char normal_pragmas[] =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=4194304;"
    "PRAGMA cache_size=-512;";

static const char *pragmas_of(enum store_sql_mode mode)
{
    return mode == STORE_SQL_FULL     ? full_pragmas
           : mode == STORE_SQL_NORMAL ? normal_pragmas
                                      : "PRAGMA query_only=ON; PRAGMA cache_size=-512;";
}

/* Only where it is not so already: saying it again is a write, which other programs that hold the file take for a change. */
static enum status vacuum_in_steps(sqlite3 *db, struct err *e)
{
    int64_t mode = 0;
    enum status rc = store_sql_int(db, "PRAGMA auto_vacuum", &mode, e);
    return rc != STATUS_OK || mode != 2 ? store_sql_exec(db, "PRAGMA auto_vacuum=INCREMENTAL", "setting up", e) : rc;
}

enum status store_sql_open(sqlite3 **ret, const char *path, const char *vfs, enum store_sql_mode mode, struct err *e)
{
    sqlite3 *db = NULL;
    int flags = (mode == STORE_SQL_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
                | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI;
    enum status rc = STATUS_OK;
    if (sqlite3_open_v2(path, &db, flags, vfs) != SQLITE_OK) {
        rc = db ? store_sql_fail(db, "opening", e) : err_set(e, STATUS_MEMORY, "%s: no memory to open it", path);
    } else {
        sqlite3_extended_result_codes(db, 1);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_busy_timeout(db, BUSY_MS);
        rc = store_sql_exec(db, guard_pragmas, "setting up", e);
        if (rc == STATUS_OK && mode == STORE_SQL_NORMAL) rc = vacuum_in_steps(db, e);
        if (rc == STATUS_OK) rc = store_sql_exec(db, pragmas_of(mode), "setting up", e);
    }
    if (rc == STATUS_OK) *ret = db;
    else sqlite3_close(db);
    return rc;
}

void store_sql_close(sqlite3 **db)
{
    if (!*db) return;
    CHECK(sqlite3_close(*db) == SQLITE_OK);   /* BUSY would mean a statement of ours was not finalised */
    *db = NULL;
}

static enum status read_version(sqlite3 *db, const struct store_schema *schema, int64_t *ret, struct err *e)
{
    int64_t id = 0, objects = 0;
    enum status rc = store_sql_int(db, "PRAGMA application_id", &id, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "PRAGMA user_version", ret, e);
    if (rc == STATUS_OK) rc = store_sql_int(db, "SELECT count(*) FROM sqlite_schema", &objects, e);
    if (rc != STATUS_OK) return rc;
    bool empty = id == 0 && *ret == 0 && objects == 0;
    if (!empty && id != schema->application_id)
        return err_set(e, STATUS_CORRUPT, "%s: this is a database, but not the %s of trimtab; check the path",
                       file_of(db), schema->name);
    if (*ret < 0 || *ret > (int64_t)schema->n)
        return err_set(
            e, STATUS_UNSUPPORTED,
            "%s: written by a newer trimtab (schema %lld, this one knows up to %u); use that version or a newer one",
            file_of(db), (long long)*ret, schema->n);
    return STATUS_OK;
}

enum status store_sql_check_schema(sqlite3 *db, const struct store_schema *schema, struct err *e)
{
    int64_t version = 0;
    enum status rc = read_version(db, schema, &version, e);
    if (rc != STATUS_OK) return rc;
    if (version == 0) return err_set(e, STATUS_CORRUPT, "%s: empty: there is no %s in it", file_of(db), schema->name);
    if (version < (int64_t)(schema->readable ? schema->readable : schema->n))
        return err_set(e, STATUS_UNSUPPORTED,
                       "%s: written by an older trimtab (schema %lld); start the daemon once to bring it up to date",
                       file_of(db), (long long)version);
    return STATUS_OK;
}

static enum status make_step(sqlite3 *db, const struct store_schema *schema, unsigned step, struct err *e)
{
    char mark[96];
    enum status rc = store_sql_exec(db, schema->steps[step], "changing the schema", e);
    if (rc != STATUS_OK) return rc;
    snprintf(mark, sizeof mark, "PRAGMA user_version=%u; PRAGMA application_id=%d", step + 1, schema->application_id);
    return store_sql_exec(db, mark, "changing the schema", e);
}

enum status store_sql_migrate(sqlite3 *db, const struct store_schema *schema, struct err *e)
{
    int64_t version = 0;
    enum status rc = read_version(db, schema, &version, e);
    if (rc != STATUS_OK || version == (int64_t)schema->n) return rc;
    rc = store_sql_exec(db, "BEGIN IMMEDIATE", "changing the schema", e);
    for (unsigned step = (unsigned)version; rc == STATUS_OK && step < schema->n; step++)
        rc = make_step(db, schema, step, e);
    if (rc == STATUS_OK) rc = store_sql_exec(db, "COMMIT", "changing the schema", e);
    if (rc != STATUS_OK) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}
