/* How long it takes until an INTENT is durable: queued, encoded, hashed, signed, committed and synced, acknowledged.
 * Limited by the disk's sync; so a bare write and sync of as many bytes is measured beside it. One JSON line a figure.
 */
#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/codec.h"
#include "store/history.h"

#define ROUNDS 400

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(const char *name, double value, const char *unit, const char *limit)
{
    printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"%s\",\"limited_by\":\"%s\"}\n", name, value, unit, limit);
}

static void say_quantiles(const char *name, double *us, const char *limit)
{
    char full[80];
    qsort(us, ROUNDS, sizeof us[0], by_value);
    snprintf(full, sizeof full, "%s_p50", name);
    say(full, us[ROUNDS / 2], "us", limit);
    snprintf(full, sizeof full, "%s_p99", name);
    say(full, us[ROUNDS * 99 / 100], "us", limit);
}

static struct record intent(unsigned n, char room[64])
{
    static const uint8_t hash[32] = {1, 2, 3};
    struct record r;
    record_init(&r, RECORD_INTENT);
    record_u64(&r, RF_SEQ, n);
    record_i64(&r, RF_AT, 1778580150000000 + (int64_t)n);
    record_text(&r, RF_SERVICE, "embed");
    record_u64(&r, RF_INCIDENT, 3);
    snprintf(room, 64, "embed/%u", n);
    record_text(&r, RF_ACTION, room);
    record_text(&r, RF_KNOB, "batch_max");
    record_text(&r, RF_CAUSE, "compute-bound");
    record_text(&r, RF_FROM, "32");
    record_text(&r, RF_TO, "64");
    record_hex32(&r, RF_PLAN, hash);
    record_hex32(&r, RF_EVIDENCE, hash);
    record_text(&r, RF_VALUES,
                "latency_p99 46.8 ms, queue_depth 320, gpu_util 0.78, feature_fetch_ms 6.2, cache_hit 0.84");
    record_text(&r, RF_RULE,
                "latency_p99 46.8 ms > 1.15 * baseline 38.1 ms = 43.8 ms: true and queue_depth 320 > 250: true");
    record_text(&r, RF_BY_HAND, "curl -X PUT http://127.0.0.1:8080/config/batch_max -d 32");
    return r;
}

static struct store *open_store(const char *dir)
{
    static const uint8_t seed[AUDIT_SEED_BYTES] = {1};
    struct store_options o = {.dir = dir, .seed = seed, .reserve_bytes = 1 << 20};
    struct store *s = NULL;
    struct err e;
    if (store_open(&s, &o, &e) != STATUS_OK) fprintf(stderr, "%s\n", e.text);
    return s;
}

/* One tick of 100 services x 20 signals. */
static int put_tick(struct store *s, int64_t at)
{
    static struct store_point points[2000];
    static char services[100][16], signals[20][16];
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(services[i / 20], sizeof services[0], "service-%u", i / 20);
        snprintf(signals[i % 20], sizeof signals[0], "signal_%u", i % 20);
        points[i] = (struct store_point){.service = services[i / 20], .signal = signals[i % 20], .at = at,
                                         .value = 38.1 + i % 17 * 0.25, .n = 100};
    }
    return store_points_put(s, points, 2000, NULL) != STATUS_OK;
}

/* Pages in use, without those that are free for reuse. */
static double used_bytes(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    double bytes = 0;
    if (sqlite3_open(path, &db) == SQLITE_OK
        && sqlite3_prepare_v2(db, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count(),"
                                  " pragma_freelist_count(), pragma_page_size()", -1, &st, NULL) == SQLITE_OK
        && sqlite3_step(st) == SQLITE_ROW)
        bytes = sqlite3_column_double(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return bytes;
}

static int measure_points(const char *dir)
{
    enum { TICKS = 100 };
    char path[300];
    const double all = 2000.0 * TICKS;
    struct store *s = open_store(dir);
    if (!s) return 1;
    double start = now_us();
    for (int t = 0; t < TICKS; t++)
        if (put_tick(s, 1778580000000000 + t * INT64_C(10000000))) return 1;
    store_history_flush(s);
    say("points_write", all / (now_us() - start) * 1e6, "points/s", "one row a put");
    snprintf(path, sizeof path, "%s/metrics.db", dir);
    double rows = used_bytes(path);
    say("points_size_fresh", rows / all, "bytes/point", "one row a point for two hours");
    start = now_us();
    if (store_retain(s, 1778580000000000 + INT64_C(86400000000), NULL) != STATUS_OK) return 1;
    store_history_flush(s);
    say("points_pack", all / (now_us() - start) * 1e6, "points/s", "one core, 100 points a block");
    say("points_size_packed", used_bytes(path) / all, "bytes/point", "100 points a block; values of two decimals");
    store_close(s);
    return 0;
}

/* load: a tick of points goes to the other file every tenth append. */
static int measure_appends(const char *dir, bool load, const char *name)
{
    static double us[ROUNDS];
    struct store *s = open_store(dir);
    struct err e;
    if (!s) return 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char room[64];
        struct record r = intent(i, room);
        struct store_ack ack;
        struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
        if (load && i % 10 == 0 && put_tick(s, i)) return 1;
        double start = now_us();
        if (store_append(s, &r, 1, i, &e) != STATUS_OK) return 1;
        while (store_poll(s, &ack, 1) == 0)
            if (poll(&p, 1, 10000) != 1) return 1;
        us[i] = now_us() - start;
        if (ack.status != STATUS_OK) return 1;
    }
    say_quantiles(name, us, "one fdatasync of the write-ahead file");
    store_close(s);
    return 0;
}

static int measure_verify(const char *dir)
{
    struct store_report report;
    struct store *s = open_store(dir);
    if (!s) return 1;
    double start = now_us();
    if (store_verify(s, &report, NULL) != STATUS_OK || !report.good) return 1;
    say("audit_verify", (double)report.records / (now_us() - start) * 1e6, "records/s",
        "one signature check an INTENT");
    store_close(s);
    return 0;
}

/* The floor: the same bytes (7 pages) appended to a plain file and synced. */
static int measure_disk(const char *dir)
{
    static double us[ROUNDS];
    static char pages[7 * 4096];
    char path[300];
    snprintf(path, sizeof path, "%s/plain", dir);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) return 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double start = now_us();
        if (write(fd, pages, sizeof pages) != sizeof pages || fdatasync(fd) != 0) return 1;
        us[i] = now_us() - start;
    }
    close(fd);
    say_quantiles("disk_write_28k_and_sync", us, "the disk");
    return 0;
}

static int measure_codec(void)
{
    enum { N = 50000 };
    char room[64];
    struct record r = intent(7, room), back;
    struct buf out = BUF_INIT;
    struct arena a = ARENA_INIT;
    double start = now_us();
    for (unsigned i = 0; i < N; i++) {
        buf_clear(&out);
        if (audit_encode(&out, &r, NULL) != STATUS_OK) return 1;
    }
    say("audit_encode", N / (now_us() - start) * 1e6, "records/s", "one core");
    start = now_us();
    for (unsigned i = 0; i < N; i++) {
        arena_reset(&a);
        if (audit_decode(&a, out.data, out.len, &back, NULL) != STATUS_OK) return 1;
    }
    say("audit_decode", N / (now_us() - start) * 1e6, "records/s", "one core");
    buf_free(&out);
    arena_free(&a);
    return 0;
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    char dir[256], command[300];
    snprintf(dir, sizeof dir, "%s/trimtab-bench-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    int rc = measure_codec() || measure_disk(dir) || measure_appends(dir, false, "audit_append_intent_durable")
             || measure_verify(dir) || measure_appends(dir, true, "audit_append_intent_while_points")
             || measure_points(dir);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) != 0 || rc;
}
