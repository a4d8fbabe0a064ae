#include "store/store.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/proof.h"
#include "support/store_place.h"

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

/* The command line checks the file beside the running daemon. */
static void test_verify_beside_the_daemon(void **state)
{
    struct place *p = *state;
    struct store *s = open_at(p, false);
    struct store_report report;
    struct err e;
    char path[400];
    snprintf(path, sizeof path, "%s/audit.db", p->dir);
    append_story(s);
    if (store_verify_file(path, store_verifier(s), &report, &e) != STATUS_OK) fail_msg("%s", e.text);
    assert_true(report.good);
    assert_int_equal(report.records, 7);
    append(s, RECORD_STOP, 0, 0);
    assert_int_equal(store_verify_file(path, NULL, &report, &e), STATUS_OK);
    assert_true(report.good);
    assert_true(report.own_key);
    assert_int_equal(report.records, 8);
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

int main(void)
{
#define AT_PLACE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        AT_PLACE(test_append_and_read),
        AT_PLACE(test_one_record),
        AT_PLACE(test_empty),
        AT_PLACE(test_together),
        AT_PLACE(test_checkpoint_and_proof),
        AT_PLACE(test_survives_reopening),
        AT_PLACE(test_threaded_acks),
        AT_PLACE(test_verify_beside_the_daemon),
        AT_PLACE(test_close_writes_the_queue),
        AT_PLACE(test_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
