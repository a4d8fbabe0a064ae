#include "store/store.h"

#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/proof.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {1, 2, 3};

struct place { char dir[TEMPDIR_MAX]; };

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    tempdir_make(p->dir);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    tempdir_remove(p->dir);
    free(p);
    return 0;
}

static struct store_options options(const struct place *p, bool unthreaded)
{
    return (struct store_options){.dir = p->dir, .seed = seed, .unthreaded = unthreaded, .reserve_bytes = 1 << 16};
}

static struct store *open_at(const struct place *p, bool unthreaded)
{
    struct store_options o = options(p, unthreaded);
    struct store *s = NULL;
    struct err e;
    if (store_open(&s, &o, &e) != STATUS_OK) fail_msg("%s", e.text);
    return s;
}

static void append(struct store *s, enum record_kind kind, unsigned action, unsigned incident)
{
    char room[64];
    struct err e;
    struct record r = sample_record(kind, action, incident, room);
    if (store_append_now(s, &r, 1, NULL, &e) != STATUS_OK) fail_msg("%s", e.text);
}

static void append_story(struct store *s)
{
    append(s, RECORD_START, 0, 0);
    append(s, RECORD_INCIDENT, 0, 1);
    append(s, RECORD_INTENT, 1, 1);
    append(s, RECORD_APPLIED, 1, 1);
    append(s, RECORD_VERDICT, 1, 1);
    append(s, RECORD_CLOSED, 0, 1);
    append(s, RECORD_INCIDENT, 0, 2);
}

static void assert_verified(struct store *s, uint64_t records)
{
    struct store_report report;
    struct err e;
    if (store_verify(s, &report, &e) != STATUS_OK) fail_msg("%s", e.text);
    if (!report.good) fail_msg("%s", report.why);
    assert_int_equal(report.records, records);
    assert_int_equal(report.newest.size, records);
}

struct seen { unsigned n; uint64_t seq[32]; enum record_kind kind[32]; unsigned stop_after; };

static bool see(void *arg, const struct store_entry *x)
{
    struct seen *seen = arg;
    assert_int_equal(x->record->kind < RECORD_KIND_COUNT, 1);
    assert_int_equal(record_get_u64(x->record, RF_SEQ, 99), x->seq);
    seen->seq[seen->n] = x->seq;
    seen->kind[seen->n++] = x->record->kind;
    return seen->n != seen->stop_after;
}

static void test_append_and_read(void **state)
{
    struct store *s = open_at(*state, true);
    struct seen seen = {0};
    struct store_sink sink = {see, &seen};
    append_story(s);
    assert_int_equal(store_records(s, 0, &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 7);
    for (unsigned i = 0; i < 7; i++) assert_int_equal(seen.seq[i], i);
    assert_int_equal(seen.kind[2], RECORD_INTENT);

    seen = (struct seen){.stop_after = 2};
    assert_int_equal(store_records(s, 3, &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.seq[0], 3);

    seen = (struct seen){0};
    assert_int_equal(store_story(s, "embed/1", &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.kind[0], RECORD_INTENT);
    assert_int_equal(seen.kind[2], RECORD_VERDICT);

    seen = (struct seen){0};
    assert_int_equal(store_incident(s, "embed", 1, &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 5);
    seen = (struct seen){0};
    assert_int_equal(store_incident(s, "other", 1, &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 0);
    assert_int_equal(store_records_of(s, "embed", 5, &sink, NULL), STATUS_OK);
    assert_int_equal(seen.n, 2);
    assert_verified(s, 7);
    store_close(s);
}

static void test_one_record(void **state)
{
    struct store *s = open_at(*state, true);
    struct arena a = ARENA_INIT;
    struct record r;
    struct err e;
    append_story(s);
    assert_int_equal(store_record(s, 2, &a, &r, &e), STATUS_OK);
    assert_string_equal(record_get_text(&r, RF_KNOB), "batch_max");
    assert_string_equal(record_get_text(&r, RF_TO), "64");
    assert_int_equal(store_record(s, 7, &a, &r, &e), STATUS_NOT_FOUND);
    assert_string_equal(e.text, "the audit has no record 7");
    arena_free(&a);
    store_close(s);
}

static void test_empty(void **state)
{
    struct store *s = open_at(*state, true);
    struct audit_checkpoint c;
    assert_int_equal(store_checkpoint(s, &c, NULL, NULL), STATUS_NOT_FOUND);
    assert_verified(s, 0);
    store_close(s);
}

/* Several records of one append stand or fall together. */
static void test_together(void **state)
{
    struct store *s = open_at(*state, true);
    char room[3][64];
    struct record r[3] = {sample_record(RECORD_HALT, 0, 0, room[0]), sample_record(RECORD_CANCEL, 1, 0, room[1]),
                          sample_record(RECORD_STOP, 0, 0, room[2])};
    uint64_t seq = 0;
    struct err e;
    append(s, RECORD_START, 0, 0);
    assert_int_equal(store_append_now(s, r, 3, &seq, &e), STATUS_OK);
    assert_int_equal(seq, 1);
    record_text(&r[1], RF_NOTE, "\xff");
    assert_int_equal(store_append_now(s, r, 3, &seq, &e), STATUS_INVALID);
    assert_non_null(strstr(e.text, "note"));
    append(s, RECORD_STOP, 0, 0);
    assert_verified(s, 5);
    store_close(s);
}

static void test_checkpoint_and_proof(void **state)
{
    struct store *s = open_at(*state, true);
    struct audit_checkpoint c;
    struct audit_proof_file f;
    struct arena a = ARENA_INIT;
    struct buf note = BUF_INIT;
    append_story(s);
    assert_int_equal(store_checkpoint(s, &c, &note, NULL), STATUS_OK);
    assert_int_equal(c.size, 7);
    assert_string_equal(c.origin, STORE_ORIGIN);
    assert_int_equal(strncmp(buf_text(&note), "trimtab/audit\n7\n", 16), 0);
    for (uint64_t seq = 0; seq < 7; seq++) {
        struct buf file = BUF_INIT;
        assert_int_equal(store_prove(s, seq, &file, NULL), STATUS_OK);
        assert_int_equal(audit_proof_verify(&a, file.data, file.len, NULL, 0, store_verifier(s), &f, &c, NULL),
                         STATUS_OK);
        assert_int_equal(f.index, seq);
        buf_free(&file);
    }
    assert_int_equal(store_prove(s, 7, &note, NULL), STATUS_NOT_FOUND);
    arena_free(&a);
    buf_free(&note);
    store_close(s);
}

static void test_survives_reopening(void **state)
{
    struct place *p = *state;
    struct store *s = open_at(p, true);
    char path[400];
    struct stat st;
    append_story(s);
    store_close(s);
    snprintf(path, sizeof path, "%s/audit.db-wal", p->dir);
    assert_int_equal(stat(path, &st), -1);
    snprintf(path, sizeof path, "%s/audit.key", p->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    s = open_at(p, true);
    append(s, RECORD_CLOSED, 0, 2);
    assert_verified(s, 8);
    struct store_health h;
    store_health(s, &h);
    assert_int_equal(h.size, 8);
    assert_int_equal(h.state, STORE_GOOD);
    store_close(s);
}

static unsigned collect_acks(struct store *s, struct store_ack *acks, unsigned want)
{
    unsigned n = 0;
    while (n < want) {
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1);
        n += store_poll(s, acks + n, want - n);
    }
    return n;
}

static void test_threaded_acks(void **state)
{
    struct store *s = open_at(*state, false);
    struct store_ack acks[100];
    char room[64];
    for (uint64_t token = 0; token < 100; token++) {
        struct record r = sample_record(token % 10 == 3 ? RECORD_INTENT : RECORD_EXTERNAL, (unsigned)token, 1, room);
        if (token == 50) record_text(&r, RF_NOTE, "\xff");
        assert_int_equal(store_append(s, &r, 1, 1000 + token, NULL), STATUS_OK);
    }
    assert_int_equal(collect_acks(s, acks, 100), 100);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(acks[i].token, 1000 + i);
        assert_int_equal(acks[i].status, i == 50 ? STATUS_INVALID : STATUS_OK);
        if (i != 50) assert_int_equal(acks[i].seq, i > 50 ? i - 1 : i);
        assert_false(acks[i].fatal);
    }
    struct store_ack none;
    assert_int_equal(store_poll(s, &none, 1), 0);
    append(s, RECORD_STOP, 0, 0);   /* beside the thread */
    assert_verified(s, 100);
    store_close(s);
}

/* What is queued when the store closes is written. */
static void test_close_writes_the_queue(void **state)
{
    struct store *s = open_at(*state, false);
    char room[64];
    for (unsigned i = 0; i < 40; i++) {
        struct record r = sample_record(RECORD_WOULD, i + 1, 1, room);
        assert_int_equal(store_append(s, &r, 1, i, NULL), STATUS_OK);
    }
    store_close(s);
    s = open_at(*state, true);
    assert_verified(s, 40);
    store_close(s);
}

static void test_in_memory(void **state)
{
    (void)state;
    struct store_options o = {.seed = seed, .origin = "sim.example/audit"};
    struct store *s = NULL;
    struct store_ack ack;
    char room[64];
    assert_int_equal(store_open(&s, &o, NULL), STATUS_OK);
    append_story(s);
    struct record r = sample_record(RECORD_STOP, 0, 0, room);
    assert_int_equal(store_append(s, &r, 1, 5, NULL), STATUS_OK);
    assert_int_equal(store_poll(s, &ack, 1), 1);
    assert_int_equal(ack.token, 5);
    assert_int_equal(ack.seq, 7);
    assert_int_equal(store_fd(s), -1);
    assert_verified(s, 8);
    assert_string_equal(store_verifier(s)->name, "sim.example/audit");
    store_close(s);
    o.seed = NULL;
    assert_int_equal(store_open(&s, &o, NULL), STATUS_INVALID);
}

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
        AT_PLACE(test_append_and_read),   AT_PLACE(test_one_record),        AT_PLACE(test_empty),
        AT_PLACE(test_together),          AT_PLACE(test_checkpoint_and_proof), AT_PLACE(test_survives_reopening),
        AT_PLACE(test_threaded_acks),     AT_PLACE(test_close_writes_the_queue), AT_PLACE(test_in_memory),
        AT_PLACE(test_second_daemon),     AT_PLACE(test_not_a_database),    AT_PLACE(test_other_database),
        AT_PLACE(test_newer_schema),      AT_PLACE(test_lost_records),      AT_PLACE(test_changed_tree),
        AT_PLACE(test_append_only),       AT_PLACE(test_keys),              AT_PLACE(test_read_only),
        AT_PLACE(test_no_such_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
