/* Every read, write, sync, truncation, deletion and opening fails once, and then for ever, until a run passes
 * untouched; and the power goes at every point of a run. Whatever was acknowledged is there afterwards, and the log
 * verifies. */
#include "support/faultvfs.h"

#include <poll.h>
#include <sys/stat.h>

#include "store/history.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {11};

static int setup(void **state)
{
    (void)state;
    faultvfs_register();
    faultvfs_reset();
    return 0;
}

static struct store *open_store(const char *dir, const char *vfs, uint64_t reserve, struct err *e)
{
    struct store_options o = {.dir = dir, .vfs = vfs, .seed = seed, .unthreaded = true, .reserve_bytes = reserve};
    struct store *s = NULL;
    return store_open(&s, &o, e) == STATUS_OK ? s : NULL;
}

#define APPENDS 6
struct outcome { unsigned acked; enum status status[APPENDS]; size_t events[APPENDS]; struct store_health health; };

static enum status append(struct store *s, unsigned i)
{
    static const enum record_kind kinds[APPENDS] = {RECORD_START, RECORD_INCIDENT, RECORD_INTENT, RECORD_APPLIED,
                                                    RECORD_VERDICT, RECORD_CLOSED};
    char room[64];
    struct record r = sample_record(kinds[i], i > 1, 1, room);
    return store_append_now(s, &r, 1, NULL, NULL);
}

/* A small life: records, points, a state. */
static void live(struct store *s, struct outcome *o)
{
    struct store_point p = {.service = "embed", .signal = "p99", .at = 1, .value = 2};
    for (unsigned i = 0; i < APPENDS; i++) {
        o->status[i] = append(s, i);
        if (o->status[i] == STATUS_OK) o->acked++;
        o->events[i] = fault.n;
        p.at++;
        (void)store_points_put(s, &p, 1, NULL);
        (void)store_state_put(s, "embed", p.at, "state", 5, NULL);
    }
    store_health(s, &o->health);
}

static uint64_t verified_size(const char *dir)
{
    struct err e;
    struct store_report report;
    struct store *s = open_store(dir, NULL, 0, &e);
    if (!s) fail_msg("after the fault: %s", e.text);
    if (store_verify(s, &report, &e) != STATUS_OK) fail_msg("%s", e.text);
    if (!report.good) fail_msg("%s", report.why);
    /* It goes on where it ended. */
    assert_int_equal(append(s, 0), STATUS_OK);
    assert_int_equal(store_verify(s, &report, &e), STATUS_OK);
    assert_true(report.good);
    store_close(s);
    return report.records - 1;
}

/* Returns whether the fault was reached. */
static bool run_with_fault(unsigned ops, uint64_t at, bool forever, bool torn)
{
    char dir[TEMPDIR_MAX];
    struct outcome o = {0};
    struct err e = {0};
    tempdir_make(dir);
    faultvfs_reset();
    fault.ops = ops;
    fault.fail_at = at;
    fault.forever = forever;
    fault.torn = torn;
    struct store *s = open_store(dir, FAULTVFS, 0, &e);
    if (s) live(s, &o);
    else assert_int_not_equal(e.text[0], '\0');
    store_close(s);
    bool reached = fault.failed > 0;
    if (!reached) assert_int_equal(o.acked, APPENDS);
    faultvfs_reset();
    uint64_t size = verified_size(dir);
    if (size < o.acked || size > APPENDS)
        fail_msg("ops %x, number %llu: %u acknowledged, %llu there", ops, (unsigned long long)at, o.acked,
                 (unsigned long long)size);
    /* After a sync that failed nothing is acknowledged any more. */
    if (o.health.state == STORE_FATAL) assert_int_not_equal(o.status[APPENDS - 1], STATUS_OK);
    tempdir_remove(dir);
    return reached;
}

static void until_untouched(unsigned ops, bool forever, bool torn, const char *name)
{
    uint64_t n = 1;
    while (run_with_fault(ops, n, forever, torn)) n++;
    print_message("%s%s: %llu points\n", name, forever ? ", for ever" : "", (unsigned long long)(n - 1));
    assert_true(n > 2);
}

static void test_writes(void **state)
{
    (void)state;
    until_untouched(FAULT_WRITE, false, false, "write");
    until_untouched(FAULT_WRITE, false, true, "torn write");
    until_untouched(FAULT_WRITE, true, true, "torn write");
}

static void test_syncs(void **state)
{
    (void)state;
    until_untouched(FAULT_SYNC, false, false, "sync");
    until_untouched(FAULT_SYNC, true, false, "sync");
}

static void test_reads(void **state)
{
    (void)state;
    until_untouched(FAULT_READ, false, false, "read");
    until_untouched(FAULT_READ, true, false, "read");
}

static void test_opens_and_the_rest(void **state)
{
    (void)state;
    until_untouched(FAULT_OPEN, false, false, "open");
    until_untouched(FAULT_OPEN, true, false, "open");
    until_untouched(FAULT_TRUNCATE | FAULT_DELETE, false, false, "truncate, delete");
    until_untouched(FAULT_OPEN | FAULT_READ | FAULT_WRITE | FAULT_TRUNCATE | FAULT_SYNC | FAULT_DELETE, true, true,
                    "all");
}

/* One write fails; the store says so, comes back by itself, and goes on. */
static void test_comes_back(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX];
    struct store_health h;
    struct err e;
    tempdir_make(dir);
    struct store *s = open_store(dir, FAULTVFS, 0, &e);
    assert_non_null(s);
    assert_int_equal(append(s, 0), STATUS_OK);
    fault.ops = FAULT_WRITE;
    fault.fail_at = 1;
    fault.seen = 0;
    assert_int_equal(append(s, 1), STATUS_IO);
    fault.ops = 0;
    assert_int_equal(append(s, 2), STATUS_OK);
    store_health(s, &h);
    assert_int_equal(h.state, STORE_GOOD);
    assert_string_equal(h.text, "");
    assert_int_equal(h.size, 2);
    store_close(s);
    assert_int_equal(verified_size(dir), 2);
    tempdir_remove(dir);
}

static struct store_ack next_ack(struct store *s)
{
    struct store_ack ack;
    while (store_poll(s, &ack, 1) == 0) {
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1);
    }
    return ack;
}

/* With its own thread the store comes back without being asked, and wakes the shell to say so. */
static void test_comes_back_by_itself(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX], room[64];
    struct store_health h;
    struct store_ack ack;
    tempdir_make(dir);
    struct store_options o = {.dir = dir, .vfs = FAULTVFS, .seed = seed};
    struct store *s = NULL;
    assert_int_equal(store_open(&s, &o, NULL), STATUS_OK);
    store_history_flush(s);     /* so that only the audit thread meets the fault */
    fault.ops = FAULT_WRITE;
    fault.fail_at = 1;
    struct record r = sample_record(RECORD_INTENT, 1, 1, room);
    assert_int_equal(store_append(s, &r, 1, 5, NULL), STATUS_OK);
    ack = next_ack(s);
    assert_int_equal(ack.status, STATUS_IO);
    assert_false(ack.fatal);
    for (store_health(s, &h); h.state == STORE_FAILED; store_health(s, &h)) {
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1);
        assert_int_equal(store_poll(s, &ack, 1), 0);
    }
    assert_int_equal(h.state, STORE_GOOD);
    assert_int_equal(store_append(s, &r, 1, 6, NULL), STATUS_OK);
    ack = next_ack(s);
    assert_int_equal(ack.status, STATUS_OK);
    assert_int_equal(ack.token, 6);
    store_close(s);
    assert_int_equal(verified_size(dir), 1);
    tempdir_remove(dir);
}

/* With space again the store is good again, before anybody appends. */
static void test_space_comes_back_by_itself(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX], room[64];
    struct store_health h;
    struct store_ack ack;
    tempdir_make(dir);
    struct store_options o = {.dir = dir, .vfs = FAULTVFS, .seed = seed, .reserve_bytes = 1 << 16};
    struct store *s = NULL;
    assert_int_equal(store_open(&s, &o, NULL), STATUS_OK);
    store_history_flush(s);
    fault.full = true;
    struct record r = sample_record(RECORD_INTENT, 1, 1, room);
    assert_int_equal(store_append(s, &r, 1, 5, NULL), STATUS_OK);
    ack = next_ack(s);
    assert_int_equal(ack.status, STATUS_FULL);
    store_history_flush(s);
    fault.full = false;
    for (store_health(s, &h); h.state != STORE_GOOD; store_health(s, &h)) {
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 30000), 1);
        assert_int_equal(store_poll(s, &ack, 1), 0);
    }
    assert_int_equal(store_append_now(s, &r, 1, NULL, NULL), STATUS_OK);
    store_close(s);
    assert_int_equal(verified_size(dir), 1);
    tempdir_remove(dir);
}

/* A failed sync is final, even when later ones would succeed. */
static void test_sync_error_is_final(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX], room[64];
    struct store_health h;
    struct store_ack ack;
    struct err e;
    tempdir_make(dir);
    struct store *s = open_store(dir, FAULTVFS, 0, &e);
    assert_non_null(s);
    assert_int_equal(append(s, 0), STATUS_OK);
    fault.ops = FAULT_SYNC;
    fault.fail_at = 1;
    fault.seen = 0;
    struct record r = sample_record(RECORD_INTENT, 1, 1, room);
    assert_int_equal(store_append(s, &r, 1, 5, NULL), STATUS_OK);
    assert_int_equal(store_poll(s, &ack, 1), 1);
    assert_int_equal(ack.status, STATUS_IO);
    assert_true(ack.fatal);
    assert_non_null(strstr(ack.text, "committing an append"));
    fault.ops = 0;
    assert_int_equal(append(s, 1), STATUS_IO);
    store_health(s, &h);
    assert_int_equal(h.state, STORE_FATAL);
    assert_int_equal(h.size, 1);
    store_close(s);
    assert_in_range(verified_size(dir), 1, 2);
    tempdir_remove(dir);
}

/* The disk is full: the reserve goes, points are dropped, the audit goes on; then space comes back. */
static void test_full_disk_uses_the_reserve(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX], reserve[TEMPDIR_MAX + 32];
    struct outcome o = {0};
    struct store_health h;
    struct stat st;
    struct err e;
    tempdir_make(dir);
    snprintf(reserve, sizeof reserve, "%s/reserve", dir);
    struct store *s = open_store(dir, FAULTVFS, 1 << 20, &e);
    assert_non_null(s);
    assert_int_equal(stat(reserve, &st), 0);
    assert_int_equal(st.st_size, 1 << 20);
    assert_true(st.st_blocks * 512 >= 1 << 20);
    fault.full_while = reserve;
    live(s, &o);
    assert_int_equal(o.acked, APPENDS);
    assert_true(fault.failed > 0);
    fault.full_while = NULL;
    fault.full = true;
    assert_int_equal(append(s, 1), STATUS_FULL);
    store_health(s, &h);
    assert_int_equal(h.state, STORE_FULL);
    assert_non_null(strstr(h.text, "free some space"));
    struct store_point p = {.service = "embed", .signal = "p99", .at = 1, .value = 2};
    assert_int_equal(store_points_put(s, &p, 1, NULL), STATUS_OK);
    store_health(s, &h);
    assert_true(h.dropped >= 1);
    assert_non_null(strstr(h.metrics, "metrics.db"));
    fault.full = false;
    assert_int_equal(append(s, 1), STATUS_OK);
    store_health(s, &h);
    assert_int_equal(h.state, STORE_GOOD);
    assert_int_equal(stat(reserve, &st), 0);
    store_close(s);
    assert_int_equal(verified_size(dir), APPENDS + 1);
    tempdir_remove(dir);
}

static void copy_key(const char *from, const char *to)
{
    char path[TEMPDIR_MAX + 32], bytes[1024];
    snprintf(path, sizeof path, "%s/audit.key", from);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    snprintf(path, sizeof path, "%s/audit.key", to);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    assert_int_equal(chmod(path, 0600), 0);
}

static unsigned acked_before(const struct outcome *o, size_t events)
{
    unsigned n = 0;
    while (n < APPENDS && o->events[n] <= events) n++;
    return n;
}

static void test_power_cut_everywhere(void **state)
{
    (void)state;
    char dir[TEMPDIR_MAX];
    struct outcome o = {0};
    struct err e;
    struct prng chance;
    unsigned cuts = 0;
    prng_seed(&chance, 20260512);
    tempdir_make(dir);
    fault.recording = true;
    struct store *s = open_store(dir, FAULTVFS, 0, &e);
    assert_non_null(s);
    live(s, &o);
    assert_int_equal(o.acked, APPENDS);
    store_close(s);
    fault.recording = false;
    for (size_t events = 0; events <= fault.n; events++)
        for (int round = 0; round < 4; round++) {
            char left[TEMPDIR_MAX];
            tempdir_make(left);
            copy_key(dir, left);
            faultvfs_cut(events, &chance, left);
            uint64_t size = verified_size(left);
            if (size < acked_before(&o, events) || size > APPENDS)
                fail_msg("cut after %zu of %zu events: %u acknowledged, %llu there", events, fault.n,
                         acked_before(&o, events), (unsigned long long)size);
            tempdir_remove(left);
            cuts++;
        }
    print_message("%u power cuts in a run of %zu writes and syncs\n", cuts, fault.n);
    assert_true(fault.n > 50);
    tempdir_remove(dir);
    faultvfs_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_writes, setup),
        cmocka_unit_test_setup(test_syncs, setup),
        cmocka_unit_test_setup(test_reads, setup),
        cmocka_unit_test_setup(test_opens_and_the_rest, setup),
        cmocka_unit_test_setup(test_comes_back, setup),
        cmocka_unit_test_setup(test_comes_back_by_itself, setup),
        cmocka_unit_test_setup(test_space_comes_back_by_itself, setup),
        cmocka_unit_test_setup(test_sync_error_is_final, setup),
        cmocka_unit_test_setup(test_full_disk_uses_the_reserve, setup),
        cmocka_unit_test_setup(test_power_cut_everywhere, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
