#include "store/access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/text.h"
#include "store/files.h"
#include "store/sql.h"

static const char *const steps[] = {
    "CREATE TABLE users (name TEXT PRIMARY KEY, role INTEGER NOT NULL, hash TEXT NOT NULL, created INTEGER NOT NULL,"
    " changed INTEGER NOT NULL, last_login INTEGER) STRICT, WITHOUT ROWID;"
    "CREATE TABLE tokens (id TEXT PRIMARY KEY, name TEXT NOT NULL, role INTEGER NOT NULL, hash BLOB NOT NULL,"
    " created INTEGER NOT NULL, expires INTEGER, who TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE sessions (key BLOB PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID;",
};
static const struct store_schema schema = {0x74726d75, steps, ARRAY_LEN(steps), "list of users", 0};

struct store_access { sqlite3 *db; int64_t version; };

static enum status open_at(struct store_access *s, const char *path, struct err *e)
{
    mode_t before = umask(0077);
    enum status rc = store_sql_open(&s->db, path, NULL, STORE_SQL_NORMAL, e);
    if (rc == STATUS_OK) rc = store_sql_exec(s->db, "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON", "setting up", e);
    if (rc == STATUS_OK) rc = store_sql_migrate(s->db, &schema, e);
    (void)umask(before);
    if (rc == STATUS_OK) (void)store_access_changed(s);
    return rc;
}

enum status store_access_open(struct store_access **ret, const char *dir, struct err *e)
{
    char path[STORE_PATH_MAX];
    enum status rc = store_path(path, dir, "access.db", e);
    if (rc != STATUS_OK) return rc;
    struct store_access *s = calloc(1, sizeof *s);
    if (!s) return err_set(e, STATUS_MEMORY, "out of memory");
    rc = open_at(s, path, e);
    if (rc == STATUS_OK) *ret = s;
    else store_access_close(s);
    return rc;
}

void store_access_close(struct store_access *s)
{
    if (!s) return;
    store_sql_close(&s->db);
    free(s);
}

bool store_access_changed(struct store_access *s)
{
    int64_t now = 0;
    struct err e;
    if (store_sql_int(s->db, "PRAGMA data_version", &now, &e) != STATUS_OK) return false;
    bool changed = now != s->version;
    s->version = now;
    return changed;
}

/* ---- writing: one statement each; '?' in the order of `bind` ---- */

struct bind { char kind; const char *text; int64_t number; const void *bytes; size_t len; };   /* t, i, n (time or NULL), b */

static void bind_one(sqlite3_stmt *st, int at, const struct bind *b)
{
    if (b->kind == 't') sqlite3_bind_text(st, at, b->text, -1, SQLITE_STATIC);
    else if (b->kind == 'b') sqlite3_bind_blob64(st, at, b->bytes, b->len, SQLITE_STATIC);
    else if (b->kind == 'i' || b->number != ACCESS_NEVER) sqlite3_bind_int64(st, at, b->number);
    else sqlite3_bind_null(st, at);
}

static enum status run(struct store_access *s, const char *sql, const struct bind *binds, unsigned n, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(s->db, sql, &st, e);
    if (rc != STATUS_OK) return rc;
    for (unsigned i = 0; i < n; i++) bind_one(st, (int)i + 1, &binds[i]);
    rc = store_sql_run(st, "writing", e);
    sqlite3_finalize(st);
    return rc;
}

#define TEXT(x) {.kind = 't', .text = (x)}
#define INT(x) {.kind = 'i', .number = (x)}
#define TIME(x) {.kind = 'n', .number = (x)}
#define BLOB(x, n) {.kind = 'b', .bytes = (x), .len = (n)}
#define RUN(sql, ...) \
    run(s, sql, (const struct bind[]){__VA_ARGS__}, sizeof((const struct bind[]){__VA_ARGS__}) / sizeof(struct bind), e)

enum status store_access_put_user(struct store_access *s, const struct access_user *u, struct err *e)
{
    return RUN("INSERT OR REPLACE INTO users VALUES (?, ?, ?, ?, ?, ?)", TEXT(u->name), INT(u->role), TEXT(u->hash),
               INT(u->created), INT(u->changed), TIME(u->last_login));
}

enum status store_access_drop_user(struct store_access *s, const char *name, struct err *e)
{
    enum status rc = store_access_drop_sessions(s, name, NULL, e);
    return rc == STATUS_OK ? RUN("DELETE FROM users WHERE name = ?", TEXT(name)) : rc;
}

enum status store_access_put_token(struct store_access *s, const struct access_token *t, struct err *e)
{
    return RUN("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)", TEXT(t->id), TEXT(t->name), INT(t->role),
               BLOB(t->hash, sizeof t->hash), INT(t->created), TIME(t->expires), TEXT(t->by));
}

enum status store_access_drop_token(struct store_access *s, const char *id, struct err *e)
{
    return RUN("DELETE FROM tokens WHERE id = ?", TEXT(id));
}

enum status store_access_put_session(struct store_access *s, const struct access_session *x, struct err *e)
{
    return RUN("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?)", BLOB(x->key, sizeof x->key), TEXT(x->name), INT(x->created),
               INT(x->expires));
}

enum status store_access_drop_session(struct store_access *s, const uint8_t key[32], struct err *e)
{
    return RUN("DELETE FROM sessions WHERE key = ?", BLOB(key, 32));
}

enum status store_access_drop_sessions(struct store_access *s, const char *name, const uint8_t *keep, struct err *e)
{
    return RUN("DELETE FROM sessions WHERE name = ? AND key IS NOT ?", TEXT(name), BLOB(keep, keep ? 32u : 0u));
}

enum status store_access_drop_expired(struct store_access *s, int64_t now, struct err *e)
{
    return RUN("DELETE FROM sessions WHERE expires <= ?", INT(now));
}

/* ---- reading ---- */

static void text_at(sqlite3_stmt *st, int column, char *out, size_t cap)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    (void)text_copy(out, cap, text ? text : "");
}

static int64_t time_at(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL ? ACCESS_NEVER : sqlite3_column_int64(st, column);
}

static void blob_at(sqlite3_stmt *st, int column, uint8_t out[32])
{
    if (sqlite3_column_bytes(st, column) == 32) memcpy(out, sqlite3_column_blob(st, column), 32);
}

static void read_user(sqlite3_stmt *st, const struct store_access_sink *sink)
{
    struct access_user u = {.role = sqlite3_column_int(st, 1), .created = time_at(st, 3), .changed = time_at(st, 4),
                            .last_login = time_at(st, 5)};
    text_at(st, 0, u.name, sizeof u.name);
    text_at(st, 2, u.hash, sizeof u.hash);
    if (sink->user) sink->user(sink->arg, &u);
}

static void read_token(sqlite3_stmt *st, const struct store_access_sink *sink)
{
    struct access_token t = {.role = sqlite3_column_int(st, 2), .created = time_at(st, 4), .expires = time_at(st, 5)};
    text_at(st, 0, t.id, sizeof t.id);
    text_at(st, 1, t.name, sizeof t.name);
    blob_at(st, 3, t.hash);
    text_at(st, 6, t.by, sizeof t.by);
    if (sink->token) sink->token(sink->arg, &t);
}

static void read_session(sqlite3_stmt *st, const struct store_access_sink *sink)
{
    struct access_session x = {.created = time_at(st, 2), .expires = time_at(st, 3)};
    blob_at(st, 0, x.key);
    text_at(st, 1, x.name, sizeof x.name);
    if (sink->session) sink->session(sink->arg, &x);
}

static enum status each(struct store_access *s, const char *sql, void (*row)(sqlite3_stmt *, const struct store_access_sink *),
                        const struct store_access_sink *sink, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status rc = store_sql_prepare(s->db, sql, &st, e);
    if (rc != STATUS_OK) return rc;
    int step = sqlite3_step(st);
    for (; step == SQLITE_ROW; step = sqlite3_step(st)) row(st, sink);
    if (step != SQLITE_DONE) rc = store_sql_fail(s->db, "reading", e);
    sqlite3_finalize(st);
    return rc;
}

enum status store_access_each(struct store_access *s, const struct store_access_sink *sink, struct err *e)
{
    enum status rc = each(s, "SELECT * FROM users ORDER BY name", read_user, sink, e);
    if (rc == STATUS_OK) rc = each(s, "SELECT * FROM tokens ORDER BY created", read_token, sink, e);
    if (rc == STATUS_OK) rc = each(s, "SELECT * FROM sessions ORDER BY created", read_session, sink, e);
    return rc;
}
