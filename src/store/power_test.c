/* The power goes at every point of a whole life of both files: made, filled, folded back from the write-ahead file, packed into
 * blocks, closed, opened again. Afterwards it opens; what was acknowledged is there; the log verifies; of the measurements a
 * beginning is there, each with its own value; the lists say what the log says.
 * POWER_CUTS: how many of the points, evenly spread (0: all of them). */
#include "support/faultvfs.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/num.h"
#include "store/history.h"
#include "store/sql.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

#define CUTS 220
#define STORIES 45
#define POINTS 60                     /* of each append */
#define TIME(i) (INT64_C(1778544000000000) + INT64_C(10000000) * (int64_t)(i))

static const uint8_t seed[AUDIT_SEED_BYTES] = {14};

struct life { uint64_t acked[4096]; unsigned n; int64_t points; unsigned states; };   /* acked: events when record i was */

static struct store *open_store(const char *dir, const char *vfs)
{
    struct store_options o = {.dir = dir, .vfs = vfs, .seed = seed, .unthreaded = true};
    struct store *s = NULL;
    struct err e = {0};
    if (store_open(&s, &o, &e) != STATUS_OK) fail_msg("%s", e.text);
    return s;
}

static void append(struct store *s, struct life *l, enum record_kind kind, unsigned action, unsigned incident)
{
    char room[64];
    struct record r = sample_record(kind, action, incident, room);
    char note[900];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    record_text(&r, RF_NOTE, note);
    assert_int_equal(store_append_now(s, &r, 1, NULL, NULL), STATUS_OK);
    l->acked[l->n++] = fault.n;
}

static double value_of(int64_t i) { return (double)(i * 37 % 1009) / 8; }

static void put_points(struct store *s, struct life *l)
{
    struct store_point p[POINTS];
    for (int i = 0; i < POINTS; i++, l->points++)
        p[i] = (struct store_point){.service = "embed", .signal = "p99", .layer = LAYER_REQUEST, .at = TIME(l->points),
                                    .value = value_of(l->points), .n = (uint32_t)l->points};
    assert_int_equal(store_points_put(s, p, POINTS, NULL), STATUS_OK);
}

static void put_state(struct store *s, struct life *l)
{
    char bytes[6000];
    memset(bytes, 'a' + (int)(l->states % 26), sizeof bytes);
    assert_int_equal(store_state_put(s, "embed", (int64_t)l->states, bytes, sizeof bytes, NULL), STATUS_OK);
    l->states++;
}

static void one_story(struct store *s, struct life *l, unsigned n)
{
    static const enum record_kind kinds[] = {RECORD_INCIDENT, RECORD_INTENT, RECORD_APPLIED, RECORD_VERDICT, RECORD_CLOSED};
    for (unsigned i = 0; i < 5; i++) append(s, l, kinds[i], i > 0 && i < 4 ? n + 1 : 0, n + 1);
    put_points(s, l);
    put_state(s, l);
}

static void live(const char *dir, struct life *l)
{
    struct store *s = open_store(dir, FAULTVFS);
    append(s, l, RECORD_START, 0, 0);
    assert_int_equal(store_policy_put(s, "aaaa", "p.yaml", "a: 1\n", 5, TIME(0), NULL), STATUS_OK);
    for (unsigned i = 0; i < STORIES; i++) {
        one_story(s, l, i);
        if (i != STORIES / 2 && i != STORIES - 1) continue;
        assert_int_equal(store_retain(s, TIME(l->points + 1000), NULL), STATUS_OK);
    }
    store_close(s);
    s = open_store(dir, FAULTVFS);
    one_story(s, l, STORIES);
    store_close(s);
}

static bool see_step(void *arg, const struct store_step *step)
{
    int64_t *next = arg;
    if (step->at != TIME(*next)) fail_msg("point %lld is gone, a later one is there", (long long)*next);
    assert_true(step->last == value_of(*next));
    ++*next;
    return true;
}

static bool see_incident(void *arg, const struct store_incident_row *row)
{
    uint64_t *n = arg;
    assert_true(row->incident >= 1 && row->incident <= STORIES + 1);
    ++*n;
    return true;
}

static bool count_kind(void *arg, const struct store_entry *entry)
{
    uint64_t *n = arg;
    *n += entry->record->kind == RECORD_INCIDENT;
    return true;
}

static void check_metrics(struct store *s, const struct life *l)
{
    int64_t points = 0, at = 0;
    uint64_t listed = 0, logged = 0;
    struct err e = {0};
    struct buf state = BUF_INIT;
    if (store_points_range(s, "embed", "p99", INT64_MIN, INT64_MAX, 0, &(struct store_step_sink){see_step, &points}, &e))
        fail_msg("%s", e.text);
    assert_true(points % POINTS == 0 && points <= l->points);
    enum status got = store_state_get(s, "embed", &at, &state, &e);
    if (got == STATUS_OK) {
        assert_int_equal(state.len, 6000);
        for (size_t i = 0; i < state.len; i++) assert_int_equal(state.data[i], 'a' + at % 26);
    } else {
        assert_int_equal(got, STATUS_NOT_FOUND);
    }
    buf_free(&state);
    store_history_flush(s);
    assert_int_equal(store_records(s, 0, &(struct store_sink){count_kind, &logged}, &e), STATUS_OK);
    struct store_incident_sink list = {see_incident, &listed};
    assert_int_equal(store_incidents(s, NULL, INT64_MAX, 1000, &list, &e), STATUS_OK);
    assert_int_equal(listed, logged);
}

static void check_after(const char *dir, const struct life *l, size_t events)
{
    struct store_report report;
    struct err e = {0};
    unsigned acked = 0;
    while (acked < l->n && l->acked[acked] <= events) acked++;
    struct store *s = open_store(dir, NULL);
    if (store_verify(s, &report, &e) != STATUS_OK || !report.good) fail_msg("cut after %zu: %s%s", events, e.text, report.why);
    if (report.records < acked || report.records > l->n)
        fail_msg("cut after %zu: %u acknowledged, %llu there", events, acked, (unsigned long long)report.records);
    struct life more = *l;
    append(s, &more, RECORD_START, 0, 0);   /* it goes on, which also brings the lists up to date */
    check_metrics(s, l);
    store_close(s);
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

static size_t writes_to(const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < fault.n; i++) {
        const char *file = strrchr(fault.names[fault.events[i].file], '/') + 1;
        n += fault.events[i].op == POWER_WRITE && strcmp(file, name) == 0;
    }
    return n;
}

static size_t cuts_wanted(void)
{
    const char *text = getenv("POWER_CUTS");
    uint64_t n = CUTS;
    if (text) assert_true(num_parse_u64(text, strlen(text), &n));
    return n && n < fault.n ? n : fault.n + 1;
}

static void cut_everywhere(const char *dir, const struct life *l)
{
    struct prng chance;
    prng_seed(&chance, 20261130);
    size_t wanted = cuts_wanted();
    for (size_t i = 0; i < wanted; i++) {
        char left[TEMPDIR_MAX];
        size_t events = wanted > fault.n ? i : (size_t)((double)i * (double)fault.n / (double)wanted);
        tempdir_make(left);
        copy_key(dir, left);
        faultvfs_cut(events, &chance, left);
        check_after(left, l, events);
        tempdir_remove(left);
    }
    print_message("%zu power cuts in a life of %zu writes and syncs: %u records, %lld points\n", wanted, fault.n, l->n,
                  (long long)l->points);
}

static void play(void (*life)(const char *dir, struct life *l), size_t least_audit, size_t least_metrics)
{
    char dir[TEMPDIR_MAX];
    struct life *l = calloc(1, sizeof *l);
    assert_non_null(l);
    tempdir_make(dir);
    faultvfs_register();
    faultvfs_reset();
    fault.recording = true;
    life(dir, l);
    fault.recording = false;
    assert_true(writes_to("audit.db") >= least_audit);
    assert_true(writes_to("metrics.db") >= least_metrics);
    cut_everywhere(dir, l);
    tempdir_remove(dir);
    faultvfs_reset();
    free(l);
}

/* The log is folded back while it is written, and again at the end. */
static void test_power_cuts_over_a_whole_life(void **state)
{
    (void)state;
    play(live, 100, 10);
}

/* metrics.db as its first version made it, with points in it. */
static void make_old(const char *dir, struct life *l)
{
    struct store_schema first = store_schema_metrics;
    char path[TEMPDIR_MAX + 32], sql[256];
    sqlite3 *db = NULL;
    first.n = 1;
    snprintf(path, sizeof path, "%s/metrics.db", dir);
    assert_int_equal(store_sql_open(&db, path, FAULTVFS, STORE_SQL_NORMAL, NULL), STATUS_OK);
    assert_int_equal(store_sql_migrate(db, &first, NULL), STATUS_OK);
    assert_int_equal(store_sql_exec(db, "INSERT INTO series VALUES (1, 'embed', 'p99', 'request'); BEGIN", "", NULL), STATUS_OK);
    for (; l->points < POINTS; l->points++) {
        snprintf(sql, sizeof sql, "INSERT INTO points VALUES (1, %lld, %lld / 8.0, 1, NULL)", (long long)TIME(l->points),
                 (long long)(l->points * 37 % 1009));
        assert_int_equal(store_sql_exec(db, sql, "", NULL), STATUS_OK);
    }
    assert_int_equal(store_sql_exec(db, "COMMIT", "", NULL), STATUS_OK);
    store_sql_close(&db);
}

static void upgrade(const char *dir, struct life *l)
{
    make_old(dir, l);
    struct store *s = open_store(dir, FAULTVFS);
    one_story(s, l, 0);
    store_close(s);
}

static void test_power_cuts_while_the_schema_changes(void **state)
{
    (void)state;
    assert_true(store_schema_metrics.n > 1);
    play(upgrade, 1, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_cuts_over_a_whole_life),
        cmocka_unit_test(test_power_cuts_while_the_schema_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
