/* Whatever is changed in a log is found, and the first bad record is named. */
#include <sqlite3.h>
#include <unistd.h>

#include "store/files.h"
#include "store/store.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

#define RECORDS 7

static const uint8_t seed[AUDIT_SEED_BYTES] = {4, 5, 6};

/* A good log as a plain file, its bytes, and an open connection to change it through. */
struct bench {
    char dir[TEMPDIR_MAX], path[TEMPDIR_MAX + 32];
    char *good;
    size_t len;
    struct audit_verifier key;
    struct audit_checkpoint newest;
};

static void append_all(struct store *s)
{
    static const enum record_kind kinds[RECORDS] = {RECORD_START, RECORD_INCIDENT, RECORD_INTENT, RECORD_APPLIED,
                                                    RECORD_VERDICT, RECORD_CLOSED, RECORD_STOP};
    for (unsigned i = 0; i < RECORDS; i++) {
        char room[64];
        struct record r = sample_record(kinds[i], i >= 2 && i <= 4, i >= 1 && i <= 5, room);
        assert_int_equal(store_append_now(s, &r, 1, NULL, NULL), STATUS_OK);
    }
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct store *s = NULL;
    tempdir_make(b->dir);
    struct store_options o = {.dir = b->dir, .seed = seed, .unthreaded = true};
    assert_int_equal(store_open(&s, &o, NULL), STATUS_OK);
    append_all(s);
    b->key = *store_verifier(s);
    assert_int_equal(store_checkpoint(s, &b->newest, NULL, NULL), STATUS_OK);
    store_close(s);
    snprintf(b->path, sizeof b->path, "%s/audit.db", b->dir);
    FILE *f = fopen(b->path, "rb");
    assert_non_null(f);
    b->good = malloc(1 << 20);
    b->len = fread(b->good, 1, 1 << 20, f);
    fclose(f);
    assert_in_range(b->len, 4096, (1 << 20) - 1);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    tempdir_remove(b->dir);
    free(b->good);
    free(b);
    return 0;
}

static void restore(const struct bench *b)
{
    FILE *f = fopen(b->path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->good, 1, b->len, f), b->len);
    fclose(f);
}

static sqlite3 *open_db(const struct bench *b)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(b->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            db,
            "PRAGMA synchronous=OFF; DROP TRIGGER IF EXISTS records_stay; DROP TRIGGER IF EXISTS records_remain;"
            "DROP TRIGGER IF EXISTS hashes_stay; DROP TRIGGER IF EXISTS hashes_remain",
            NULL, NULL, NULL),
        SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static struct store_report report_of(const struct bench *b, const struct audit_verifier *key)
{
    struct store_report r;
    struct err e;
    if (store_verify_file(b->path, key, &r, &e) != STATUS_OK) fail_msg("%s", e.text);
    return r;
}

static void expect_bad(const struct bench *b, uint64_t seq, const char *why)
{
    struct store_report r = report_of(b, &b->key);
    assert_false(r.good);
    if (r.bad_seq != seq) fail_msg("bad record %lld, expected %lld: %s", (long long)r.bad_seq, (long long)seq, r.why);
    if (!strstr(r.why, why)) fail_msg("\"%s\" is not in: %s", why, r.why);
}

/* One change by SQL to the good file. */
static void change(const struct bench *b, const char *sql)
{
    restore(b);
    sqlite3 *db = open_db(b);
    run(db, sql);
    sqlite3_close(db);
}

static void test_good(void **state)
{
    struct bench *b = *state;
    struct store_report r = report_of(b, &b->key);
    assert_true(r.good);
    assert_false(r.own_key);
    assert_int_equal(r.records, RECORDS);
    assert_int_equal(r.bad_seq, UINT64_MAX);
    assert_true(audit_hash_equal(&r.newest.root, &b->newest.root));
    /* One over the INTENT at size 3, one over everything. */
    assert_int_equal(r.checkpoints, 2);
    r = report_of(b, NULL);
    assert_true(r.good);
    assert_true(r.own_key);
}

static void test_public_key_file(void **state)
{
    struct bench *b = *state;
    char path[TEMPDIR_MAX + 32];
    struct audit_verifier v;
    snprintf(path, sizeof path, "%s/audit.pub", b->dir);
    assert_int_equal(store_key_read_public(path, &v, NULL), STATUS_OK);
    assert_memory_equal(&v, &b->key, sizeof v);
}

/* Flips one bit of each byte of a column of each row; `bad_of` says which record must be named. */
static unsigned flip_all(const struct bench *b, const char *select, const char *update, uint64_t (*bad_of)(int64_t row))
{
    unsigned flips = 0;
    for (int64_t row = 0;; row++) {
        for (int at = 0;; at++) {
            restore(b);
            sqlite3 *db = open_db(b);
            sqlite3_stmt *st = NULL;
            assert_int_equal(sqlite3_prepare_v2(db, select, -1, &st, NULL), SQLITE_OK);
            sqlite3_bind_int64(st, 1, row);
            bool found = sqlite3_step(st) == SQLITE_ROW;
            int len = found ? sqlite3_column_bytes(st, 0) : 0;
            char bytes[4096];
            if (found) memcpy(bytes, sqlite3_column_blob(st, 0), (size_t)len);
            int64_t key = found ? sqlite3_column_int64(st, 1) : 0;
            sqlite3_finalize(st);
            if (at >= len) {
                sqlite3_close(db);
                if (!found) return flips;
                break;
            }
            bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
            assert_int_equal(sqlite3_prepare_v2(db, update, -1, &st, NULL), SQLITE_OK);
            sqlite3_bind_blob(st, 1, bytes, len, SQLITE_STATIC);
            sqlite3_bind_int64(st, 2, key);
            assert_int_equal(sqlite3_step(st), SQLITE_DONE);
            sqlite3_finalize(st);
            sqlite3_close(db);
            struct store_report r = report_of(b, &b->key);
            if (r.good || r.bad_seq != bad_of(key))
                fail_msg("%s, row %lld, byte %d: bad record %lld: %s", update, (long long)row, at, (long long)r.bad_seq,
                         r.why);
            flips++;
        }
    }
}

static uint64_t row_itself(int64_t key) { return (uint64_t)key; }
/* The leaf whose append wrote this slot: slots 0, 1-2, 3, 4-6, 7, 8-9, 10 for records 0 to 6. */
static uint64_t writer_of_slot(int64_t slot) { return (uint64_t[]){0, 1, 1, 2, 3, 3, 3, 4, 5, 5, 6}[slot]; }
/* Checkpoints stand at 3 and 7: the first record that the bad one alone covers. */
static uint64_t first_covered(int64_t size) { return size == 3 ? 0 : 3; }

static void test_every_record_byte(void **state)
{
    unsigned n = flip_all(*state, "SELECT bytes, seq FROM records WHERE seq = ?",
                          "UPDATE records SET bytes = ? WHERE seq = ?", row_itself);
    assert_in_range(n, RECORDS * 60, RECORDS * 400);
}

static void test_every_leaf_byte(void **state)
{
    assert_int_equal(flip_all(*state, "SELECT leaf, seq FROM records WHERE seq = ?",
                              "UPDATE records SET leaf = ? WHERE seq = ?", row_itself), RECORDS * 32);
}

static void test_every_node_byte(void **state)
{
    assert_int_equal(flip_all(*state, "SELECT hash, slot FROM hashes WHERE slot = ?",
                              "UPDATE hashes SET hash = ? WHERE slot = ?", writer_of_slot), 11 * 32);
}

static void test_every_checkpoint_byte(void **state)
{
    assert_int_equal(flip_all(*state, "SELECT root, size FROM checkpoint ORDER BY size LIMIT 1 OFFSET ?",
                              "UPDATE checkpoint SET root = ? WHERE size = ?", first_covered), 2 * 32);
    unsigned n = flip_all(*state, "SELECT note, size FROM checkpoint ORDER BY size LIMIT 1 OFFSET ?",
                          "UPDATE checkpoint SET note = CAST(? AS TEXT) WHERE size = ?", first_covered);
    assert_in_range(n, 2 * 150, 2 * 250);
}

static void test_dropped(void **state)
{
    struct bench *b = *state;
    for (int64_t seq = 0; seq < RECORDS; seq++) {
        char sql[100], why[100];
        snprintf(sql, sizeof sql, "DELETE FROM records WHERE seq = %lld", (long long)seq);
        change(b, sql);
        snprintf(why, sizeof why,
                 seq < RECORDS - 1 ? "record %lld: missing; the next one in the file is %lld"
                                   : "record %lld: missing; the log was cut",
                 (long long)seq, (long long)seq + 1);
        expect_bad(b, (uint64_t)seq, why);
    }
}

static void test_closed_gap(void **state)
{
    struct bench *b = *state;
    change(b, "DELETE FROM records WHERE seq = 2; UPDATE records SET seq = seq - 1 WHERE seq > 2");
    expect_bad(b, 2, "its bytes say that it is record 3");
}

static void test_swapped(void **state)
{
    struct bench *b = *state;
    change(b, "UPDATE records SET seq = 100 WHERE seq = 1; UPDATE records SET seq = 1 WHERE seq = 4;"
              "UPDATE records SET seq = 4 WHERE seq = 100");
    expect_bad(b, 1, "its bytes say that it is record 4");
    change(b, "UPDATE records SET bytes = (SELECT bytes FROM records WHERE seq = 5) WHERE seq = 3");
    expect_bad(b, 3, "leaf hash");
}

static void test_truncated(void **state)
{
    struct bench *b = *state;
    for (int keep = 0; keep < RECORDS; keep++) {
        char sql[200];
        snprintf(sql, sizeof sql, "DELETE FROM records WHERE seq >= %d", keep);
        change(b, sql);
        expect_bad(b, (uint64_t)keep, "the log was cut");
    }
    /* Cut with its checkpoint and nodes down to the INTENT: by itself this is an honest log of 3 records. Only a
     * checkpoint kept elsewhere tells; within the file every other cut is seen. */
    change(b, "DELETE FROM records WHERE seq >= 5; DELETE FROM checkpoint WHERE size > 3");
    expect_bad(b, 3, "no signed checkpoint covers it; the newest one covers 3 records");
    change(b, "DELETE FROM records WHERE seq >= 3; DELETE FROM checkpoint WHERE size > 3");
    expect_bad(b, 3, "the tree has nodes for it");
    change(b, "UPDATE records SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE seq = 4");
    expect_bad(b, 4, "its bytes were changed: offset");
}

static void test_added(void **state)
{
    struct bench *b = *state;
    change(b, "INSERT INTO records SELECT 7, service, incident, action, bytes, leaf FROM records WHERE seq = 6");
    expect_bad(b, 7, "its bytes say that it is record 6");
    change(b, "INSERT INTO hashes VALUES (11, zeroblob(32))");
    expect_bad(b, 7, "the tree has nodes for it");
    change(b, "INSERT INTO checkpoint SELECT 5, root, note, kept FROM checkpoint WHERE size = 7");
    expect_bad(b, 3, "has another root");
    change(b, "INSERT INTO checkpoint SELECT 9, root, note, kept FROM checkpoint WHERE size = 7");
    expect_bad(b, 7, "a signed checkpoint covers 9 records");
}

static void test_index_columns(void **state)
{
    struct bench *b = *state;
    change(b, "UPDATE records SET action = 'embed/9' WHERE seq = 3");
    expect_bad(b, 3, "service, incident or action beside its bytes were changed");
    change(b, "UPDATE records SET incident = NULL WHERE seq = 4");
    expect_bad(b, 4, "service, incident or action");
    change(b, "UPDATE records SET service = 'other' WHERE seq = 0");
    expect_bad(b, 0, "service, incident or action");
}

/* Somebody without the key rewrites record 4 and recomputes every hash: only the signature is left to tell. */
static void test_recomputed_without_the_key(void **state)
{
    struct bench *b = *state;
    restore(b);
    sqlite3 *db = open_db(b);
    sqlite3_stmt *st = NULL;
    run(db,
        "UPDATE records SET bytes = CAST(replace(CAST(bytes AS TEXT), 'effective', 'harmful') AS BLOB) WHERE seq = 4;"
        "DELETE FROM hashes");
    struct audit_tree tree;
    audit_tree_init(&tree);
    for (int64_t seq = 0; seq < RECORDS; seq++) {
        struct audit_hash leaf;
        struct audit_added added;
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT bytes FROM records WHERE seq = ?", -1, &st, NULL), SQLITE_OK);
        sqlite3_bind_int64(st, 1, seq);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        audit_leaf_hash(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0), &leaf);
        sqlite3_finalize(st);
        audit_tree_append(&tree, &leaf, &added);
        sqlite3_prepare_v2(db, "UPDATE records SET leaf = ? WHERE seq = ?", -1, &st, NULL);
        sqlite3_bind_blob(st, 1, leaf.b, 32, SQLITE_STATIC);
        sqlite3_bind_int64(st, 2, seq);
        assert_int_equal(sqlite3_step(st), SQLITE_DONE);
        sqlite3_finalize(st);
        for (unsigned i = 0; i < added.n; i++) {
            sqlite3_prepare_v2(db, "INSERT INTO hashes VALUES (?, ?)", -1, &st, NULL);
            sqlite3_bind_int64(st, 1, (int64_t)(added.first_slot + i));
            sqlite3_bind_blob(st, 2, added.hash[i].b, 32, SQLITE_STATIC);
            assert_int_equal(sqlite3_step(st), SQLITE_DONE);
            sqlite3_finalize(st);
        }
    }
    sqlite3_close(db);
    expect_bad(b, 3, "the checkpoint over 7 records has another root: a record from 3 to 6");
}

/* The same by somebody with a key of his own. */
static void test_signed_again(void **state)
{
    struct bench *b = *state;
    struct audit_signer thief;
    uint8_t other[AUDIT_SEED_BYTES] = {66};
    struct buf note = BUF_INIT;
    assert_int_equal(audit_signer_make(&thief, STORE_ORIGIN, other, NULL), STATUS_OK);
    assert_int_equal(audit_checkpoint_sign(&note, RECORDS, &b->newest.root, &thief, NULL), STATUS_OK);
    restore(b);
    sqlite3 *db = open_db(b);
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "UPDATE checkpoint SET note = ? WHERE size = 7", -1, &st, NULL), SQLITE_OK);
    sqlite3_bind_text(st, 1, note.data, (int)note.len, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(st), SQLITE_DONE);
    sqlite3_finalize(st);
    sqlite3_close(db);
    expect_bad(b, 3, "cannot be trusted, the note is not signed by trimtab/audit with the key given");
    struct store_report r = report_of(b, &thief.verifier);
    assert_false(r.good);
    assert_int_equal(r.bad_seq, 0);
    buf_free(&note);
}

/* Any byte of the file: seen, or it changed nothing that is in the log. */
static void test_bytes_of_the_file(void **state)
{
    struct bench *b = *state;
    unsigned found = 0, harmless = 0;
    for (size_t at = 0; at < b->len; at += 11) {
        struct store_report r;
        b->good[at] = (char)(b->good[at] ^ 1 << at % 8);
        restore(b);
        b->good[at] = (char)(b->good[at] ^ 1 << at % 8);
        if (store_verify_file(b->path, &b->key, &r, NULL) == STATUS_OK && r.good) {
            harmless++;
            assert_int_equal(r.records, RECORDS);
            assert_true(audit_hash_equal(&r.newest.root, &b->newest.root));
        } else {
            found++;
        }
    }
    print_message("%u flips in a file of %zu bytes: %u seen, %u without any effect\n", found + harmless, b->len, found,
                  harmless);
    assert_true(found > 100);
}

static void test_cut_file(void **state)
{
    struct bench *b = *state;
    size_t whole = b->len;
    for (b->len = 0; b->len < whole; b->len += 1009) {
        struct store_report r;
        restore(b);
        assert_true(store_verify_file(b->path, &b->key, &r, NULL) != STATUS_OK || !r.good);
    }
    b->len = whole;
}

/* Cut, or rewritten, by somebody who has the key: within the file all is well, a checkpoint kept elsewhere tells. */
static void test_against_a_checkpoint(void **state)
{
    struct bench *b = *state;
    struct audit_signer owner;
    struct buf now = BUF_INIT, other = BUF_INIT;
    struct store_report r;
    struct audit_hash zero = {{0}};
    assert_int_equal(audit_signer_make(&owner, STORE_ORIGIN, seed, NULL), STATUS_OK);
    assert_int_equal(audit_checkpoint_sign(&now, RECORDS, &b->newest.root, &owner, NULL), STATUS_OK);
    assert_int_equal(audit_checkpoint_sign(&other, 5, &zero, &owner, NULL), STATUS_OK);
    assert_int_equal(store_verify_against(b->path, &b->key, now.data, now.len, &r, NULL), STATUS_OK);
    assert_true(r.good);
    assert_int_equal(store_verify_against(b->path, &b->key, other.data, other.len, &r, NULL), STATUS_OK);
    assert_false(r.good);
    assert_int_equal(r.bad_seq, UINT64_MAX);
    assert_non_null(strstr(r.why, "written anew: its first 5 records"));
    assert_int_equal(store_verify_against(b->path, &b->key, "x", 1, &r, NULL), STATUS_INVALID);
    /* An honest log of three records, once. */
    change(b, "DELETE FROM records WHERE seq >= 3; DELETE FROM hashes WHERE slot >= 4; DELETE FROM checkpoint WHERE "
              "size > 3");
    r = report_of(b, &b->key);
    assert_true(r.good);
    assert_int_equal(store_verify_against(b->path, &b->key, now.data, now.len, &r, NULL), STATUS_OK);
    assert_false(r.good);
    assert_int_equal(r.bad_seq, 3);
    assert_non_null(strstr(r.why, "the checkpoint given covers 7 records"));
    buf_free(&now);
    buf_free(&other);
}

/* A file made to keep the verifier busy for ever. */
static void test_trap(void **state)
{
    struct bench *b = *state;
    struct store_report r;
    struct err e;
    change(b, "ALTER TABLE records RENAME TO old; CREATE VIEW records (seq, service, incident, action, bytes, leaf) AS"
              " WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT 0 FROM n) SELECT i, i, i, i, i, i FROM n");
    assert_int_equal(store_verify_file(b->path, &b->key, &r, &e), STATUS_CORRUPT);
    assert_non_null(strstr(e.text, "its tables are not those of an audit log"));
    change(b, "UPDATE records SET bytes = zeroblob(30000000) WHERE seq = 2");
    expect_bad(b, 2, "string or blob too big");
}

static void test_no_file(void **state)
{
    struct bench *b = *state;
    struct store_report r;
    struct err e;
    assert_int_equal(store_verify_file(b->dir, &b->key, &r, &e), STATUS_NOT_FOUND);
    unlink(b->path);
    assert_int_equal(store_verify_file(b->path, &b->key, &r, &e), STATUS_NOT_FOUND);
}

int main(void)
{
#define ON_BENCH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_BENCH(test_good),
        ON_BENCH(test_public_key_file),
        ON_BENCH(test_every_record_byte),
        ON_BENCH(test_every_leaf_byte),
        ON_BENCH(test_every_node_byte),
        ON_BENCH(test_every_checkpoint_byte),
        ON_BENCH(test_dropped),
        ON_BENCH(test_closed_gap),
        ON_BENCH(test_swapped),
        ON_BENCH(test_truncated),
        ON_BENCH(test_added),
        ON_BENCH(test_index_columns),
        ON_BENCH(test_recomputed_without_the_key),
        ON_BENCH(test_signed_again),
        ON_BENCH(test_bytes_of_the_file),
        ON_BENCH(test_cut_file),
        ON_BENCH(test_against_a_checkpoint),
        ON_BENCH(test_trap),
        ON_BENCH(test_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
