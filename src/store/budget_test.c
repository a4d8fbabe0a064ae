/* The disk budget of signals, and what a torn file of them loses. */
#include "store/history.h"

#include <sys/stat.h>

#include "base/prng.h"
#include "support/tempdir.h"

#define T0 INT64_C(1778580000000000)
#define SEC INT64_C(1000000)
#define MIB (UINT64_C(1) << 20)

static const uint8_t seed[AUDIT_SEED_BYTES] = {7};

struct place { char dir[TEMPDIR_MAX]; struct store *store; };

static void open_place(struct place *p, bool unthreaded)
{
    struct store_options o = {.dir = p->dir, .seed = seed, .unthreaded = unthreaded};
    struct err e;
    if (store_open(&p->store, &o, &e) != STATUS_OK) fail_msg("%s", e.text);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    tempdir_make(p->dir);
    open_place(p, true);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    store_close(p->store);
    tempdir_remove(p->dir);
    free(p);
    return 0;
}

static uint64_t size_of(const struct place *p, const char *name)
{
    char path[TEMPDIR_MAX + 32];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static bool count_step(void *arg, const struct store_step *step)
{
    int64_t *seen = arg;             /* how many; the first; the last */
    if (seen[0]++ == 0) seen[1] = step->at;
    seen[2] = step->at;
    return true;
}

static void see(struct store *s, const char *service, int64_t seen[3])
{
    struct err e;
    memset(seen, 0, 3 * sizeof *seen);
    struct store_step_sink sink = {count_step, seen};
    if (store_points_range(s, service, "p99", INT64_MIN, INT64_MAX, 0, &sink, &e) != STATUS_OK)
        fail_msg("%s", e.text);
}

/* One minute of noise of one service: it packs to no less than half of its size. */
static void put_minute(struct store *s, struct prng *p, const char *service, int64_t minute)
{
    struct store_point x[60];
    for (unsigned i = 0; i < 60; i++)
        x[i] = (struct store_point){.service = service, .signal = "p99", .layer = LAYER_REQUEST,
                                    .at = T0 + (60 * minute + i) * SEC, .value = prng_unit(p), .n = 1};
    assert_int_equal(store_points_put(s, x, 60, NULL), STATUS_OK);
}

/* Four times as much as the budget takes, by two services in turn: the file never grows over it, the oldest went. */
static void test_budget(void **state)
{
    struct place *p = *state;
    struct store_health h;
    struct prng prng;
    int64_t seen[3], minutes = 5 * 24 * 60;
    uint64_t largest = 0;
    prng_seed(&prng, 3);
    store_budget(p->store, 2 * MIB);
    for (int64_t m = 0; m < minutes; m++) {
        put_minute(p->store, &prng, m % 2 ? "left" : "right", m);
        if (m % 60 == 0) assert_int_equal(store_retain(p->store, T0 + m * 60 * SEC, NULL), STATUS_OK);
        uint64_t size = size_of(p, "metrics.db");
        if (size > largest) largest = size;
    }
    store_health(p->store, &h);
    print_message("largest file %llu KiB, %llu points went\n", (unsigned long long)largest >> 10, (unsigned long long)h.evicted);
    assert_true(largest <= 2 * MIB);
    assert_int_equal(h.budget, 2 * MIB);
    assert_true(h.used <= 2 * MIB && h.used > MIB);
    assert_string_equal(h.metrics, "");
    assert_int_equal(h.dropped, 0);
    for (int k = 0; k < 2; k++) {
        see(p->store, k ? "left" : "right", seen);
        assert_true(seen[0] > 10000);
        assert_true(seen[1] > h.evicted_to - 4 * 3600 * SEC);      /* no service keeps what is older than what went */
        assert_true(seen[2] >= T0 + (minutes - 2) * 60 * SEC);
        h.evicted += (uint64_t)seen[0];
    }
    assert_int_equal(h.evicted, minutes * 60);                     /* nothing was lost without being counted */
    store_budget(p->store, MIB);                                   /* smaller: given back */
    put_minute(p->store, &prng, "left", minutes);
    store_close(p->store);
    open_place(p, true);
    assert_true(size_of(p, "metrics.db") <= MIB);
    see(p->store, "left", seen);
    assert_true(seen[0] > 5000);
}

/* Without packed blocks the oldest records go. */
static void test_budget_of_records(void **state)
{
    struct place *p = *state;
    struct store_health h;
    struct prng prng;
    int64_t seen[3];
    prng_seed(&prng, 3);
    store_budget(p->store, MIB);
    for (int64_t m = 0; m < 3000; m++) put_minute(p->store, &prng, "left", m);
    store_health(p->store, &h);
    see(p->store, "left", seen);
    assert_true(h.evicted > 0 && h.evicted + (uint64_t)seen[0] == 3000 * 60);
    assert_int_equal(seen[2], T0 + (3000 * 60 - 1) * SEC);
    assert_true(size_of(p, "metrics.db") <= MIB);
}

static void copy_file(const char *from, const char *to, uint64_t bytes)
{
    static char room[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_true(in && out && bytes <= sizeof room);
    size_t n = fread(room, 1, bytes, in);
    assert_int_equal(n, bytes);
    assert_int_equal(fwrite(room, 1, n, out), n);
    fclose(in);
    fclose(out);
}

/* What is there of a copy whose write-ahead file ends after `bytes`. */
static int64_t points_after_cut(const struct place *p, uint64_t bytes)
{
    char from[TEMPDIR_MAX + 32], to[TEMPDIR_MAX + 32];
    struct store_copy *c = NULL;
    struct err e;
    int64_t seen[3] = {0};
    snprintf(from, sizeof from, "%s/metrics.db-wal", p->dir);
    snprintf(to, sizeof to, "%s/copy.db-shm", p->dir);
    (void)unlink(to);
    snprintf(to, sizeof to, "%s/copy.db-wal", p->dir);
    copy_file(from, to, bytes);
    snprintf(to, sizeof to, "%s/copy.db", p->dir);
    if (store_copy_open(&c, to, &e) != STATUS_OK) fail_msg("%s", e.text);
    enum status s = store_copy_range(c, "left", "p99", INT64_MIN, INT64_MAX, 0, &(struct store_step_sink){count_step, seen}, &e);
    if (s != STATUS_OK) fail_msg("after %llu bytes: %s", (unsigned long long)bytes, e.text);
    store_copy_close(c);
    return seen[0];
}

/* A file cut at any byte holds each put that was whole by then, and nothing of the one after. Frames of the file are 24 + 4096
 * bytes: cuts near their ends one by one, between them every 311 bytes. */
static void test_cut(void **state)
{
    struct place *p = *state;
    struct prng prng;
    uint64_t whole[12];
    prng_seed(&prng, 3);
    put_minute(p->store, &prng, "left", 0);
    store_close(p->store);
    open_place(p, true);
    char from[TEMPDIR_MAX + 32], to[TEMPDIR_MAX + 32];
    snprintf(from, sizeof from, "%s/metrics.db", p->dir);
    snprintf(to, sizeof to, "%s/copy.db", p->dir);
    copy_file(from, to, size_of(p, "metrics.db"));
    for (unsigned i = 0; i < 12; i++) {
        put_minute(p->store, &prng, "left", 1 + i);
        whole[i] = size_of(p, "metrics.db-wal");
        if (i == 9) assert_int_equal(store_retain(p->store, T0 + 10 * 3600 * SEC, NULL), STATUS_OK);
    }
    unsigned cuts = 0;
    for (uint64_t cut = 32; cut <= whole[11]; cut++) {
        uint64_t in_frame = (cut - 32) % (24 + 4096);
        if (in_frame > 2 && in_frame < 24 + 4094 && in_frame % 311 && cut != whole[11]) continue;
        unsigned puts = 0;
        while (puts < 12 && whole[puts] <= cut) puts++;
        assert_int_equal(points_after_cut(p, cut), 60 * (1 + puts));
        cuts++;
    }
    print_message("%u cuts of %llu bytes\n", cuts, (unsigned long long)whole[11]);
    assert_true(cuts > 100);
}

/* With its thread the store syncs as it goes, packs between puts, and keeps the budget. */
static void test_threaded(void **state)
{
    struct place *p = *state;
    struct prng prng;
    struct store_health h;
    int64_t seen[3];
    store_close(p->store);
    open_place(p, false);
    prng_seed(&prng, 3);
    char services[40][16];
    for (int64_t m = 0; m < 400; m++) {
        snprintf(services[m % 40], sizeof services[0], "service%d", (int)(m % 40));
        put_minute(p->store, &prng, services[m % 40], m);
        if (m % 100 == 99) assert_int_equal(store_retain(p->store, T0 + (m + 600) * 60 * SEC, NULL), STATUS_OK);
    }
    store_history_flush(p->store);
    store_health(p->store, &h);
    assert_string_equal(h.metrics, "");
    for (int k = 0; k < 40; k++) {
        see(p->store, services[k], seen);
        assert_int_equal(seen[0], 600);
    }
}

int main(void)
{
#define AT_PLACE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {AT_PLACE(test_budget), AT_PLACE(test_budget_of_records), AT_PLACE(test_cut),
                                       AT_PLACE(test_threaded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
