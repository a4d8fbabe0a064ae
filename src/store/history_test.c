#include "store/history.h"

#include <sqlite3.h>

#include "support/audit_records.h"
#include "support/tempdir.h"

#define T0 INT64_C(1778580000000000)
#define SEC INT64_C(1000000)

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

static struct store_point point(const char *signal, int64_t second, double value, enum unknown_why why)
{
    return (struct store_point){.service = "embed", .signal = signal, .layer = LAYER_REQUEST, .at = T0 + second * SEC,
                                .value = value, .n = 100, .why = why};
}

struct steps { struct store_step at[16]; unsigned n, stop_after; };

static bool see_step(void *arg, const struct store_step *step)
{
    struct steps *s = arg;
    s->at[s->n++] = *step;
    return s->n != s->stop_after;
}

static struct steps range(struct store *s, const char *signal, int64_t from, int64_t to, int64_t step)
{
    struct steps got = {0};
    struct store_step_sink sink = {see_step, &got};
    struct err e;
    if (store_points_range(s, "embed", signal, T0 + from * SEC, T0 + to * SEC, step * SEC, &sink, &e) != STATUS_OK)
        fail_msg("%s", e.text);
    return got;
}

static void put_points(struct store *s)
{
    struct store_point p[] = {
        point("p99", 0, 38.1, WHY_KNOWN),  point("p99", 10, 38.5, WHY_KNOWN), point("p99", 20, NAN, WHY_STALE),
        point("p99", 30, 46.8, WHY_KNOWN), point("p99", 60, 40.0, WHY_KNOWN), point("queue", 0, 320, WHY_KNOWN),
        point("p99", 70, NAN, WHY_KNOWN),
    };
    assert_int_equal(store_points_put(s, p, 7, NULL), STATUS_OK);
}

static void test_points(void **state)
{
    struct store *s = ((struct place *)*state)->store;
    put_points(s);
    struct steps got = range(s, "p99", 0, 61, 0);
    assert_int_equal(got.n, 5);
    assert_int_equal(got.at[0].at, T0);
    assert_true(got.at[0].mean == 38.1 && got.at[0].known == 1);
    assert_int_equal(got.at[2].known, 0);
    assert_int_equal(got.at[2].why, WHY_STALE);
    assert_true(isnan(got.at[2].mean) && isnan(got.at[2].last));
    assert_int_equal(range(s, "p99", 0, 60, 0).n, 4);
    got = range(s, "p99", 70, 80, 0);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.at[0].why, WHY_NAN);   /* a NaN is never a known value */
    assert_int_equal(range(s, "queue", 0, 100, 0).n, 1);
    assert_int_equal(range(s, "nothing", 0, 100, 0).n, 0);
    struct steps one = {.stop_after = 1};
    struct store_step_sink sink = {see_step, &one};
    assert_int_equal(store_points_range(s, "embed", "p99", T0, T0 + 100 * SEC, 0, &sink, NULL), STATUS_OK);
    assert_int_equal(one.n, 1);
}

static void test_steps(void **state)
{
    struct store *s = ((struct place *)*state)->store;
    put_points(s);
    /* [0, 30): 38.1, 38.5, unknown; [30, 60): 46.8; [60, 90): 40.0, NaN */
    struct steps got = range(s, "p99", 0, 90, 30);
    assert_int_equal(got.n, 3);
    assert_near(got.at[0].mean, 38.3, 1e-12);
    assert_true(got.at[0].min == 38.1 && got.at[0].max == 38.5 && got.at[0].last == 38.5);
    assert_int_equal(got.at[0].known, 2);
    assert_int_equal(got.at[0].unknown, 1);
    assert_int_equal(got.at[1].at, T0 + 30 * SEC);
    assert_int_equal(got.at[2].unknown, 1);
    struct store_point again = point("p99", 30, 50, WHY_KNOWN);
    assert_int_equal(store_points_put(s, &again, 1, NULL), STATUS_OK);
    assert_true(range(s, "p99", 30, 31, 0).at[0].mean == 50);
}

#define HOUR INT64_C(3600)
#define DAY (24 * HOUR)

/* Of the request layer for 14 days, of the system layer for 7, and no more than two hours longer. */
static void test_retention(void **state)
{
    struct store *s = ((struct place *)*state)->store;
    struct store_point p[2] = {point("p99", 0, 1, WHY_KNOWN), point("cpu", 0, 1, WHY_KNOWN)};
    p[1].layer = LAYER_SYSTEM;
    assert_int_equal(store_points_put(s, p, 2, NULL), STATUS_OK);
    assert_int_equal(store_retain(s, T0 + 7 * DAY * SEC, NULL), STATUS_OK);
    assert_int_equal(range(s, "cpu", 0, 1, 0).n, 1);
    assert_int_equal(store_retain(s, T0 + (7 * DAY + 4 * HOUR) * SEC, NULL), STATUS_OK);
    assert_int_equal(range(s, "cpu", 0, 1, 0).n, 0);
    assert_int_equal(range(s, "p99", 0, 1, 0).n, 1);
    assert_int_equal(store_retain(s, T0 + (14 * DAY + 4 * HOUR) * SEC, NULL), STATUS_OK);
    assert_int_equal(range(s, "p99", 0, 1, 0).n, 0);
}

/* Of each hour of a gone block the largest, the smallest and the mean stay, also when points come late; after 90 days they go. */
static void test_hours(void **state)
{
    struct store *s = ((struct place *)*state)->store;
    int64_t base = (HOUR - T0 / SEC % HOUR) % HOUR;             /* of a full hour */
    for (int64_t i = 0; i < 4 * 360; i++) {
        double value = i % 360 == 100 ? 900 : (double)(i % 10);
        struct store_point x = point("p99", base + 10 * i, value, i % 360 < 36 ? WHY_STALE : WHY_KNOWN);
        assert_int_equal(store_points_put(s, &x, 1, NULL), STATUS_OK);
    }
    struct steps before = range(s, "p99", base, base + 4 * HOUR, HOUR);
    assert_int_equal(before.n, 4);
    assert_int_equal(store_retain(s, T0 + 20 * DAY * SEC, NULL), STATUS_OK);
    assert_int_equal(range(s, "p99", base, base + 4 * HOUR, 0).n, 0);
    assert_int_equal(range(s, "p99", base, base + 4 * HOUR, 60).n, 0);
    struct steps after = range(s, "p99", base, base + 4 * HOUR, HOUR);
    assert_int_equal(after.n, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(after.at[i].at, before.at[i].at);
        assert_int_equal(after.at[i].known, 324);
        assert_true(after.at[i].max == 900 && after.at[i].min == 0);
        assert_near(after.at[i].mean, before.at[i].mean, 1e-12);
    }
    struct steps two = range(s, "p99", base, base + 4 * HOUR, 2 * HOUR);
    assert_int_equal(two.n, 2);
    assert_int_equal(two.at[1].known, 648);
    struct store_point late = point("p99", base + 5, 2000, WHY_KNOWN);
    assert_int_equal(store_points_put(s, &late, 1, NULL), STATUS_OK);
    assert_int_equal(store_retain(s, T0 + 20 * DAY * SEC, NULL), STATUS_OK);
    after = range(s, "p99", base, base + 4 * HOUR, HOUR);
    assert_true(after.n == 4 && after.at[0].known == 325 && after.at[0].max == 2000 && after.at[0].min == 0);
    assert_int_equal(store_retain(s, T0 + 93 * DAY * SEC, NULL), STATUS_OK);
    assert_int_equal(range(s, "p99", base, base + 4 * HOUR, HOUR).n, 0);
}

static int64_t count_rows(const struct place *p, const char *sql)
{
    char path[TEMPDIR_MAX + 32];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    snprintf(path, sizeof path, "%s/metrics.db", p->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

struct sum { double values; uint32_t known, unknown; int64_t last; };

static bool add_up(void *arg, const struct store_step *step)
{
    struct sum *sum = arg;
    assert_true(step->at > sum->last);
    sum->last = step->at;
    sum->known += step->known;
    sum->unknown += step->unknown;
    if (step->known) sum->values += step->last;
    return true;
}

static struct sum sum_of(struct store *s, int64_t from, int64_t to)
{
    struct sum sum = {.last = INT64_MIN};
    struct store_step_sink sink = {add_up, &sum};
    struct err e;
    if (store_points_range(s, "embed", "p99", from, to, 0, &sink, &e) != STATUS_OK) fail_msg("%s", e.text);
    return sum;
}

/* Packing changes nothing that is read; late points and corrections join what is packed. */
static void test_packing(void **state)
{
    struct place *p = *state;
    struct store *s = p->store;
    for (int64_t i = 0; i < 2000; i++) {
        struct store_point x = point("p99", 10 * i, (double)i, i % 100 == 7 ? WHY_STALE : WHY_KNOWN);
        assert_int_equal(store_points_put(s, &x, 1, NULL), STATUS_OK);
    }
    struct sum before = sum_of(s, INT64_MIN, INT64_MAX), middle = sum_of(s, T0 + 5005 * SEC, T0 + 15000 * SEC);
    assert_int_equal(before.known, 1980);
    assert_int_equal(before.unknown, 20);
    assert_int_equal(store_retain(s, T0 + 20000 * SEC, NULL), STATUS_OK);
    assert_true(count_rows(p, "SELECT count(*) FROM recent") < 1000);
    assert_true(count_rows(p, "SELECT count(*) FROM packed") >= 1);
    struct sum after = sum_of(s, INT64_MIN, INT64_MAX);
    assert_memory_equal(&after, &before, sizeof after);
    after = sum_of(s, T0 + 5005 * SEC, T0 + 15000 * SEC);
    assert_memory_equal(&after, &middle, sizeof after);
    /* One late point, one correction: first beside the block, then inside. */
    struct store_point late[2] = {point("p99", 1005, 1e6, WHY_KNOWN), point("p99", 1010, 2e6, WHY_KNOWN)};
    assert_int_equal(store_points_put(s, late, 2, NULL), STATUS_OK);
    for (int round = 0; round < 2; round++) {
        after = sum_of(s, INT64_MIN, INT64_MAX);
        assert_int_equal(after.known, 1981);
        assert_true(after.values == before.values + 3e6 - 101);
        assert_int_equal(store_retain(s, T0 + 40000 * SEC, NULL), STATUS_OK);
    }
    assert_int_equal(count_rows(p, "SELECT count(*) FROM recent"), 0);
    assert_int_equal(range(s, "p99", 0, 60, 30).n, 2);
}

/* More services than one transaction takes, each with five signals in one block. */
static void test_packing_many_series(void **state)
{
    struct place *p = *state;
    char names[130][16], services[26][16];
    for (int i = 0; i < 130; i++) {
        snprintf(names[i], sizeof names[i], "signal_%d", i);
        if (i % 5 == 0) snprintf(services[i / 5], sizeof services[0], "service_%d", i / 5);
        struct store_point x = point(names[i], 0, i, WHY_KNOWN);
        if (i < 125) x.service = services[i / 5];
        assert_int_equal(store_points_put(p->store, &x, 1, NULL), STATUS_OK);
    }
    assert_int_equal(store_retain(p->store, T0 + DAY * SEC, NULL), STATUS_OK);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM packed"), 26);
    assert_int_equal(count_rows(p, "SELECT count(*) FROM recent"), 0);
    assert_true(range(p->store, "signal_129", 0, 1, 0).at[0].last == 129);
}

static void test_damaged_block(void **state)
{
    struct place *p = *state;
    struct steps got = {0};
    struct store_step_sink sink = {see_step, &got};
    struct err e;
    put_points(p->store);
    assert_int_equal(store_retain(p->store, T0 + DAY * SEC, NULL), STATUS_OK);
    assert_int_equal(count_rows(p, "UPDATE packed SET bytes = x'0102' RETURNING 1"), 1);
    assert_int_equal(store_points_range(p->store, "embed", "p99", T0, T0 + SEC, 0, &sink, &e), STATUS_CORRUPT);
    assert_non_null(strstr(e.text, "is damaged"));
}

static void test_state(void **state)
{
    struct place *p = *state;
    struct buf out = BUF_INIT;
    struct err e;
    int64_t at = 0;
    assert_int_equal(store_state_get(p->store, "embed", &at, &out, &e), STATUS_NOT_FOUND);
    assert_int_equal(store_state_put(p->store, "embed", T0, "old", 3, NULL), STATUS_OK);
    assert_int_equal(store_state_put(p->store, "embed", T0 + 5, "new\0bytes", 9, NULL), STATUS_OK);
    store_close(p->store);
    open_place(p, true);
    assert_int_equal(store_state_get(p->store, "embed", &at, &out, NULL), STATUS_OK);
    assert_int_equal(at, T0 + 5);
    assert_int_equal(out.len, 9);
    assert_memory_equal(out.data, "new\0bytes", 9);
    buf_free(&out);
}

static bool see_policy(void *arg, const struct store_policy *p)
{
    struct buf *out = arg;
    buf_printf(out, "%s %s %lld;", p->revision, p->path, (long long)(p->loaded - T0));
    return true;
}

static void test_policies(void **state)
{
    struct store *s = ((struct place *)*state)->store;
    struct buf out = BUF_INIT;
    struct store_policy_sink sink = {see_policy, &out};
    assert_int_equal(store_policy_put(s, "aaaa", "ref.yaml", "a: 1\n", 5, T0, NULL), STATUS_OK);
    assert_int_equal(store_policy_put(s, "bbbb", "ref.yaml", "a: 2\n", 5, T0 + 1, NULL), STATUS_OK);
    assert_int_equal(store_policy_put(s, "aaaa", "other.yaml", "a: 3\n", 5, T0 + 2, NULL), STATUS_OK);
    assert_int_equal(store_policies(s, &sink, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), "bbbb ref.yaml 1;aaaa ref.yaml 0;");
    buf_clear(&out);
    assert_int_equal(store_policy_get(s, "aaaa", &out, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), "a: 1\n");
    assert_int_equal(store_policy_get(s, "cccc", &out, NULL), STATUS_NOT_FOUND);
    buf_free(&out);
}

static void append(struct store *s, enum record_kind kind, unsigned action, unsigned incident)
{
    char room[64];
    struct record r = sample_record(kind, action, incident, room);
    assert_int_equal(store_append_now(s, &r, 1, NULL, NULL), STATUS_OK);
}

static bool see_incident(void *arg, const struct store_incident_row *row)
{
    buf_printf(arg, "%s %llu %s cause=%s %s actions=%llu seq=%llu%s;", row->service, (unsigned long long)row->incident,
               row->symptom, row->cause, row->last_kind, (unsigned long long)row->actions,
               (unsigned long long)row->last_seq, row->closed == STORE_NO_TIME ? " open" : " closed");
    return true;
}

static bool see_action(void *arg, const struct store_action_row *row)
{
    buf_printf(arg, "%s %s %s>%s %s/%s %s seq=%llu%s%s;", row->action, row->knob, row->from, row->to, row->verdict,
               row->outcome, row->last_kind, (unsigned long long)row->last_seq, row->automatic ? " auto" : "",
               row->applied == STORE_NO_TIME ? "" : " applied");
    return true;
}

static void append_stories(struct store *s)
{
    append(s, RECORD_START, 0, 0);
    append(s, RECORD_INCIDENT, 0, 1);
    append(s, RECORD_INTENT, 1, 1);
    append(s, RECORD_APPLIED, 1, 1);
    append(s, RECORD_VERDICT, 1, 1);
    append(s, RECORD_CLOSED, 0, 1);
    append(s, RECORD_INCIDENT, 0, 2);
    append(s, RECORD_INTENT, 2, 2);
}

static void assert_lists(struct store *s)
{
    struct buf out = BUF_INIT;
    struct store_incident_sink incidents = {see_incident, &out};
    struct store_action_sink actions = {see_action, &out};
    assert_int_equal(store_incidents(s, NULL, INT64_MAX, 10, &incidents, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), "embed 2 latency-degraded cause=compute-bound INTENT actions=1 seq=7 open;"
                                        "embed 1 latency-degraded cause=compute-bound CLOSED actions=1 seq=5 closed;");
    buf_clear(&out);
    assert_int_equal(store_incidents(s, "other", INT64_MAX, 10, &incidents, NULL), STATUS_OK);
    assert_int_equal(store_incidents(s, "embed", INT64_MAX, 1, &incidents, NULL), STATUS_OK);
    assert_non_null(strstr(buf_text(&out), "embed 2"));
    assert_null(strstr(buf_text(&out), "embed 1"));
    buf_clear(&out);
    assert_int_equal(store_actions(s, "embed", INT64_MAX, 10, &actions, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), "embed/2 batch_max 32>64 / INTENT seq=7 auto;"
                                        "embed/1 batch_max 32>64 effective/ VERDICT seq=4 auto applied;");
    buf_free(&out);
}

static void test_lists(void **state)
{
    struct place *p = *state;
    append_stories(p->store);
    assert_lists(p->store);
    store_close(p->store);
    open_place(p, true);
    assert_lists(p->store);
}

/* Without metrics.db nothing of the story is lost: the lists come again from the log. */
static void test_lists_are_made_again(void **state)
{
    static const char *const names[] = {"metrics.db", "metrics.db-wal", "metrics.db-shm"};
    struct place *p = *state;
    append_stories(p->store);
    store_close(p->store);
    for (size_t i = 0; i < 3; i++) {
        char path[TEMPDIR_MAX + 32];
        snprintf(path, sizeof path, "%s/%s", p->dir, names[i]);
        assert_true(unlink(path) == 0 || i > 0);
    }
    open_place(p, true);
    assert_lists(p->store);
}

static void test_threaded(void **state)
{
    struct place *p = *state;
    store_close(p->store);
    open_place(p, false);
    append_stories(p->store);
    put_points(p->store);
    assert_int_equal(store_state_put(p->store, "embed", T0, "abc", 3, NULL), STATUS_OK);
    store_history_flush(p->store);
    assert_lists(p->store);
    assert_int_equal(range(p->store, "p99", 0, 61, 0).n, 5);
    for (int i = 0; i < 200; i++) put_points(p->store);
    store_close(p->store);      /* what was queued is written */
    open_place(p, true);
    assert_int_equal(range(p->store, "p99", 0, 100, 0).n, 6);
}

/* More records than one transaction takes. */
static void test_many_records(void **state)
{
    struct place *p = *state;
    struct buf out = BUF_INIT;
    struct store_incident_sink sink = {see_incident, &out};
    store_close(p->store);
    open_place(p, false);
    struct record r[STORE_APPEND_MAX];
    char room[STORE_APPEND_MAX][64];
    for (unsigned i = 0; i < 160; i++) {
        for (unsigned k = 0; k < STORE_APPEND_MAX; k++)
            r[k] = sample_record(k == 0 && i == 0 ? RECORD_INCIDENT : RECORD_WOULD, 0, 1, room[k]);
        assert_int_equal(store_append_now(p->store, r, STORE_APPEND_MAX, NULL, NULL), STATUS_OK);
    }
    store_history_flush(p->store);
    assert_int_equal(store_incidents(p->store, NULL, INT64_MAX, 10, &sink, NULL), STATUS_OK);
    assert_string_equal(buf_text(&out), "embed 1 latency-degraded cause= WOULD actions=0 seq=2559 open;");
    buf_free(&out);
}

int main(void)
{
#define AT_PLACE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        AT_PLACE(test_points),
        AT_PLACE(test_steps),
        AT_PLACE(test_retention),
        AT_PLACE(test_hours),
        AT_PLACE(test_packing),
        AT_PLACE(test_packing_many_series),
        AT_PLACE(test_damaged_block),
        AT_PLACE(test_state),
        AT_PLACE(test_policies),
        AT_PLACE(test_lists),
        AT_PLACE(test_lists_are_made_again),
        AT_PLACE(test_threaded),
        AT_PLACE(test_many_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
