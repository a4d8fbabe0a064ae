/* What store_open refuses, and how it says so. */
#include "store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/store_place.h"

static void refuse(const struct place *p, enum status want, const char *text)
{
    struct store_options o = options(p, true);
    struct store *s = NULL;
    struct err e = {0};
    enum status rc = store_open(&s, &o, &e);
    if (rc != want) fail_msg("status %s: %s", status_text(rc), e.text);
    if (!strstr(e.text, text)) fail_msg("\"%s\" is not in: %s", text, e.text);
    assert_null(s);
}

static void test_second_daemon(void **state)
{
    struct place *p = *state;
    struct store *s = open_at(p, true);
    char text[64];
    snprintf(text, sizeof text, "in use by process %ld", (long)getpid());
    refuse(p, STATUS_BUSY, text);
    store_close(s);
    store_close(open_at(p, true));
}

static void write_file(const struct place *p, const char *name, const char *bytes, size_t len)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

static void run_sql(const struct place *p, const char *name, const char *sql)
{
    char path[400];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void make_log(const struct place *p)
{
    struct store *s = open_at(p, true);
    append_story(s);
    store_close(s);
}

static void test_not_a_database(void **state)
{
    make_log(*state);
    char junk[4096];
    memset(junk, 'j', sizeof junk);
    write_file(*state, "audit.db", junk, sizeof junk);
    refuse(*state, STATUS_CORRUPT, "not a database of trimtab");
}

static void test_other_database(void **state)
{
    struct place *p = *state;
    make_log(p);
    run_sql(p, "metrics.db", "PRAGMA application_id=7");
    refuse(p, STATUS_CORRUPT, "not the metrics store of trimtab");
}

static void test_damaged_metrics(void **state)
{
    struct place *p = *state;
    char junk[4096], path[400];
    make_log(p);
    memset(junk, 'j', sizeof junk);
    write_file(p, "metrics.db", junk, sizeof junk);
    refuse(p, STATUS_CORRUPT, "metrics.db: setting up: file is not a database; move metrics.db away and start again");
    snprintf(path, sizeof path, "%s/metrics.db", p->dir);
    assert_int_equal(unlink(path), 0);
    struct store *s = open_at(p, true);
    assert_verified(s, 7);
    store_close(s);
}

static void test_newer_schema(void **state)
{
    make_log(*state);
    run_sql(*state, "audit.db", "PRAGMA user_version=99");
    refuse(*state, STATUS_UNSUPPORTED, "written by a newer trimtab (schema 99");
}

static void test_lost_records(void **state)
{
    make_log(*state);
    run_sql(*state, "audit.db", "DROP TRIGGER records_remain; DELETE FROM records WHERE seq = 6");
    refuse(*state, STATUS_CORRUPT, "6 records are there, but the newest checkpoint covers 7");
}

static void test_changed_tree(void **state)
{
    make_log(*state);
    run_sql(*state, "audit.db", "DROP TRIGGER hashes_stay; UPDATE hashes SET hash = zeroblob(32) WHERE slot = 10");
    refuse(*state, STATUS_CORRUPT, "does not lead to the signed root");
}

static void copy_file(const struct place *p, const char *from, const char *to)
{
    char path[400], bytes[1 << 16];
    snprintf(path, sizeof path, "%s/%s", p->dir, from);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    write_file(p, to, bytes, n);
}

/* Putting an old copy back, or beginning anew, is not possible without anybody noticing. */
static void test_older_copy(void **state)
{
    struct place *p = *state;
    char path[400];
    make_log(p);
    copy_file(p, "audit.db", "old");
    struct store *s = open_at(p, true);
    append(s, RECORD_STOP, 0, 0);
    store_close(s);
    copy_file(p, "audit.db", "new");
    copy_file(p, "old", "audit.db");
    refuse(p, STATUS_CORRUPT, "the log has 7 records, but its own signature in");
    snprintf(path, sizeof path, "%s/audit.db", p->dir);
    assert_int_equal(unlink(path), 0);
    refuse(p, STATUS_CORRUPT, "the log has 0 records");
    copy_file(p, "new", "audit.db");
    store_close(open_at(p, true));
}

/* Another log of the same key. */
static void test_other_history(void **state)
{
    struct place *p = *state;
    char path[400];
    make_log(p);
    copy_file(p, "checkpoint", "kept");
    snprintf(path, sizeof path, "%s/audit.db", p->dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/checkpoint", p->dir);
    assert_int_equal(unlink(path), 0);
    struct store *s = open_at(p, true);
    for (int i = 0; i < 9; i++) append(s, RECORD_STOP, 0, 0);
    store_close(s);
    copy_file(p, "kept", "checkpoint");
    refuse(p, STATUS_CORRUPT, "does not continue the one that was signed");
    write_file(p, "checkpoint", "half a chec", 11);   /* a power cut may leave this */
    store_close(open_at(p, true));
}

static void test_append_only(void **state)
{
    struct place *p = *state;
    char path[400];
    sqlite3 *db = NULL;
    make_log(p);
    snprintf(path, sizeof path, "%s/audit.db", p->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM records", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_int_equal(sqlite3_exec(db, "UPDATE records SET service = 'x'", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_string_equal(sqlite3_errmsg(db), "the audit is append-only");
    sqlite3_close(db);
}

static void test_keys(void **state)
{
    struct place *p = *state;
    char path[400], other[TEMPDIR_MAX + 200];
    make_log(p);
    snprintf(path, sizeof path, "%s/audit.key", p->dir);
    assert_int_equal(chmod(path, 0640), 0);
    refuse(p, STATUS_DENIED, "others may read this secret (mode 640)");
    assert_int_equal(chmod(path, 0600), 0);
    write_file(p, "audit.key", "PRIVATE+KEY+x+00000000+AAAA\n", 28);
    refuse(p, STATUS_CORRUPT, "not a signing key");
    assert_int_equal(unlink(path), 0);
    refuse(p, STATUS_CONFLICT, "audit.key is missing");
    /* Another valid key is not the one that signed this log. */
    struct buf key = BUF_INIT;
    struct audit_signer signer;
    uint8_t second[AUDIT_SEED_BYTES] = {9};
    assert_int_equal(audit_signer_make(&signer, STORE_ORIGIN, second, NULL), STATUS_OK);
    audit_signer_print(&signer, &key);
    write_file(p, "audit.key", key.data, key.len);
    assert_int_equal(chmod(path, 0600), 0);
    refuse(p, STATUS_CONFLICT, "restore the right audit.key");
    buf_free(&key);
    snprintf(other, sizeof other, "%s/audit.pub", p->dir);
    struct stat st;
    assert_int_equal(stat(other, &st), 0);
}

/* As another user, for whom the folder is not writable. */
static void test_read_only(void **state)
{
    struct place *p = *state;
    make_log(p);
    if (geteuid() != 0) {
        assert_int_equal(chmod(p->dir, 0500), 0);
        char path[400];
        snprintf(path, sizeof path, "%s/audit.db", p->dir);
        assert_int_equal(chmod(path, 0400), 0);
        refuse(p, STATUS_DENIED, "cannot be written");
        assert_int_equal(chmod(p->dir, 0700), 0);
        return;
    }
    assert_int_equal(chmod(p->dir, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store_options o = options(p, true);
        struct store *s = NULL;
        struct err e = {0};
        if (setuid(65534) != 0) _exit(2);
        _exit(store_open(&s, &o, &e) == STATUS_DENIED && strstr(e.text, "Permission denied") ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_no_such_place(void **state)
{
    (void)state;
    struct place missing = {"/nonexistent/trimtab/store"};
    refuse(&missing, STATUS_NOT_FOUND, "cannot make this folder");
}

int main(void)
{
#define AT_PLACE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        AT_PLACE(test_second_daemon),
        AT_PLACE(test_not_a_database),
        AT_PLACE(test_other_database),
        AT_PLACE(test_damaged_metrics),
        AT_PLACE(test_newer_schema),
        AT_PLACE(test_lost_records),
        AT_PLACE(test_changed_tree),
        AT_PLACE(test_older_copy),
        AT_PLACE(test_other_history),
        AT_PLACE(test_append_only),
        AT_PLACE(test_keys),
        AT_PLACE(test_read_only),
        AT_PLACE(test_no_such_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
