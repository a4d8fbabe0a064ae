/* A thin layer over SQLite: errors with place and advice, connections set up one way, migrations. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum store_sql_mode { STORE_SQL_FULL, STORE_SQL_NORMAL, STORE_SQL_READ };

/* Opens PATH (":memory:" too) with the pragmas of its mode. */
enum status store_sql_open(sqlite3 **ret, const char *path, const char *vfs, enum store_sql_mode mode, struct err *e);
/* For reading. A copy without a write-ahead file may lie where nothing can be written: then it is read as it is. */
enum status store_sql_open_copy(sqlite3 **ret, const char *path, struct err *e);
void store_sql_close(sqlite3 **db);   /* takes a NULL connection; leaves NULL */

/* Turns the connection's last error into ours: "audit.db: appending: disk full; free some space". */
enum status store_sql_fail(sqlite3 *db, const char *doing, struct err *e);
bool store_sql_is_sync_error(sqlite3 *db);    /* the last error was a failed fsync */

enum status store_sql_exec(sqlite3 *db, const char *sql, const char *doing, struct err *e);
enum status store_sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e);
/* Steps to the end and resets: for statements without rows. */
enum status store_sql_run(sqlite3_stmt *st, const char *doing, struct err *e);
/* Bytes of a column and how many: none, never a length without bytes, when memory is out; ask store_sql_no_memory then. */
const void *store_sql_blob(sqlite3_stmt *st, int column, size_t *ret_len);
bool store_sql_blob_is(sqlite3_stmt *st, int column, const void *want, size_t len);
bool store_sql_no_memory(sqlite3_stmt *st);   /* was that why the last column came out empty? */
enum status store_sql_int(sqlite3 *db, const char *sql, int64_t *ret, struct err *e);

/* A schema is a list of steps; user_version counts the ones that were made. */
struct store_schema {
    int32_t application_id;
    const char *const *steps;
    unsigned n;
    const char *name;
    unsigned readable;           /* what a reader needs is there from this step on; 0: from the last one only */
};
extern const struct store_schema store_schema_audit, store_schema_metrics;
/* Brings a file up to date in one transaction. CORRUPT: not ours. UNSUPPORTED: newer than we are. */
enum status store_sql_migrate(sqlite3 *db, const struct store_schema *schema, struct err *e);
/* Only checks: for reading. */
enum status store_sql_check_schema(sqlite3 *db, const struct store_schema *schema, struct err *e);

#endif
