/* What survives a restart, and what bytes are refused. */
#include "detect/detect.h"

#include "support/test.h"

#define TICK SPAN_S(30)

static struct signal_def signals[2] = {
    {.name = "latency_p99", .layer = LAYER_REQUEST, .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(10)},
    {.name = "fetch_ms", .layer = LAYER_DATA, .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(60)},
};
static const struct service_def service = {.name = "svc", .signals = signals, .signal_count = 2};
static const struct detect_context quiet;

/* Waves of several lengths and a few gaps: nothing that repeats exactly. */
static double wave(int i, int period) { return 1 + 0.2 * ((i * 7 % period) / (double)period); }

static void run(struct detect *d, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct instant now = {(int64_t)(i + 1) * TICK.us};
        for (int k = 0; k < 3; k++) {
            struct point p = {.at = {now.us - (2 - k) * 10 * US_PER_S}, .value = 38 * wave(3 * i + k, 101), .n = 500};
            if (i % 97 == 0) p.why = WHY_MISSING;
            detect_feed(d, 0, p);
        }
        struct point f = {.at = now, .value = 6 * wave(i, 37), .why = WHY_KNOWN};
        if (i % 2) detect_feed(d, 1, f);
        detect_tick(d, now, (struct wall){now.us + 1760000400 * US_PER_S}, &quiet, NULL);
    }
}

static struct detect *fresh(void)
{
    struct detect *d = detect_new(&service, 0.2, TICK);
    assert_non_null(d);
    return d;
}

static void a_round_trip_equals_a_continuous_run(void **state)
{
    (void)state;
    const int cuts[] = {1, 2, 61, 500, 1441, 8 * 2880 + 7};
    for (unsigned c = 0; c < ARRAY_LEN(cuts); c++) {
        struct detect *straight = fresh(), *first = fresh(), *second = fresh();
        struct buf b = BUF_INIT, again = BUF_INIT;
        run(straight, 0, cuts[c]);
        run(first, 0, cuts[c]);
        detect_save(first, &b);
        assert_true(detect_load(second, b.data, b.len, (struct instant){cuts[c] * TICK.us}));
        detect_save(second, &again);
        assert_int_equal(b.len, again.len);
        assert_memory_equal(b.data, again.data, b.len);
        run(straight, cuts[c], cuts[c] + 700);
        run(second, cuts[c], cuts[c] + 700);
        assert_true(detect_digest(straight) == detect_digest(second));
        buf_free(&b);
        buf_free(&again);
        detect_free(straight), detect_free(first), detect_free(second);
    }
}

/* The same input gives the same bytes with each compiler at each level of optimisation. Whoever changes a formula or the layout on
 * purpose puts the new number here. */
static void the_digest_is_the_same_everywhere(void **state)
{
    (void)state;
    struct detect *d = fresh();
    run(d, 0, 16 * 2880);
    detect_freeze(d, (struct instant){16 * 2880 * TICK.us});
    run(d, 16 * 2880, 16 * 2880 + 100);
    assert_true(detect_digest(d) == UINT64_C(0xd0da08989d5eda8));
    detect_free(d);
}

static void a_clone_goes_its_own_way(void **state)
{
    (void)state;
    struct detect *d = fresh();
    run(d, 0, 500);
    struct detect *c = detect_clone(d);
    uint64_t before = detect_digest(d);
    assert_true(detect_digest(c) == before);
    run(c, 500, 501);
    assert_true(detect_digest(c) != before);
    assert_true(detect_digest(d) == before);
    run(d, 500, 501);
    assert_true(detect_digest(c) == detect_digest(d));
    detect_free(c), detect_free(d);
}

static void a_clock_that_begins_anew_keeps_the_baseline(void **state)
{
    (void)state;
    struct detect *d = fresh(), *e = fresh();
    struct buf b = BUF_INIT;
    run(d, 0, 3000);
    detect_save(d, &b);
    struct detect_status was, is;
    detect_status(d, 0, &was);
    assert_int_equal(was.baseline_why, WHY_KNOWN);
    assert_true(detect_load(e, b.data, b.len, (struct instant){0}));
    detect_status(e, 0, &is);
    assert_near(is.baseline, was.baseline, 0);
    struct detect_warm warm;
    detect_warm(e, (struct instant){0}, &warm);
    assert_true(warm.shift && !warm.spike && warm.day);
    run(e, 0, 49);
    detect_warm(e, (struct instant){49 * TICK.us}, &warm);
    assert_false(warm.spike);
    run(e, 49, 51);                           /* a gap counts 1 in 97: 2/3 of B after 50 blocks and that one */
    detect_warm(e, (struct instant){51 * TICK.us}, &warm);
    assert_true(warm.spike);
    buf_free(&b);
    detect_free(d), detect_free(e);
}

static void foreign_and_damaged_bytes_are_refused(void **state)
{
    (void)state;
    struct detect *d = fresh(), *e = fresh();
    struct buf b = BUF_INIT;
    run(d, 0, 200);
    detect_save(d, &b);
    run(e, 0, 10);
    uint64_t before = detect_digest(e);
    struct instant now = {200 * TICK.us};
    assert_false(detect_load(e, "", 0, now));
    for (size_t len = 0; len < b.len; len += len < 64 ? 1 : 997) assert_false(detect_load(e, b.data, len, now));
    for (size_t i = 0; i < b.len; i += i < 64 ? 1 : 131) {
        b.data[i] ^= 0x10;
        assert_false(detect_load(e, b.data, b.len, now));
        b.data[i] ^= 0x10;
    }
    assert_true(detect_digest(e) == before);
    assert_true(detect_load(e, b.data, b.len, now));
    buf_free(&b);
    detect_free(d), detect_free(e);
}

/* Damage under a valid checksum: whatever is taken must not lead astray what runs on it (the sanitizers watch). */
static void damage_with_a_right_checksum_does_no_harm(void **state)
{
    (void)state;
    struct detect *d = fresh();
    struct buf b = BUF_INIT;
    run(d, 0, 200);
    detect_save(d, &b);
    uint32_t seed = 12345, refused = 0, taken = 0;
    for (int round = 0; round < 3000; round++) {
        char *copy = malloc(b.len);
        memcpy(copy, b.data, b.len);
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = 20 + (round % 2 ? seed % 1200 : seed % (uint32_t)(b.len - 20));
            copy[at] = (char)(seed >> 24);
        }
        uint64_t h = UINT64_C(1469598103934665603);
        for (size_t i = 20; i < b.len; i++) h = (h ^ (uint8_t)copy[i]) * UINT64_C(1099511628211);
        for (int i = 0; i < 8; i++) copy[8 + i] = (char)(h >> (8 * i));
        struct detect *e = fresh();
        if (detect_load(e, copy, b.len, (struct instant){200 * TICK.us})) {
            taken++;
            run(e, 200, 230);
        } else {
            refused++;
        }
        detect_free(e);
        free(copy);
    }
    assert_true(refused > 0 && taken > 0);
    buf_free(&b);
    detect_free(d);
}

static void signals_are_matched_by_name(void **state)
{
    (void)state;
    struct detect *d = fresh();
    struct buf b = BUF_INIT;
    run(d, 0, 300);
    detect_save(d, &b);
    struct signal_def turned[2] = {signals[1], {.name = "new_one", .interval = SPAN_S(10)}};
    struct service_def other = {.name = "svc", .signals = turned, .signal_count = 2};
    struct detect *e = detect_new(&other, 0.2, TICK);
    assert_true(detect_load(e, b.data, b.len, (struct instant){300 * TICK.us}));
    struct detect_status was, is;
    detect_status(d, 1, &was);
    detect_status(e, 0, &is);
    assert_near(is.baseline, was.baseline, 0);
    detect_status(e, 1, &is);
    assert_int_equal(is.state, SERIES_WARMING);
    buf_free(&b);
    detect_free(d), detect_free(e);
}

/* The same history, once lived and once imported: the same state but for the mark. */
static void import_equals_living_through(void **state)
{
    (void)state;
    enum { N = 9 * 2880 };
    struct signal_def one = {.name = "latency_p99", .unit = UNIT_MS, .bad = BAD_UP, .rel_floor = 0.02, .interval = SPAN_S(30)};
    const struct service_def s = {.name = "svc", .signals = &one, .signal_count = 1};
    struct detect *lived = detect_new(&s, 0.2, TICK), *told = detect_new(&s, 0.2, TICK);
    struct point *points = calloc(N, sizeof *points);
    struct wall *walls = calloc(N, sizeof *walls);
    for (int i = 0; i < N; i++) {
        points[i] = (struct point){.at = {(int64_t)(i - N) * TICK.us}, .value = 38 * wave(i, 2011), .why = WHY_KNOWN};
        walls[i].us = points[i].at.us + 1760000400 * US_PER_S;
        detect_feed(lived, 0, points[i]);
        detect_tick(lived, points[i].at, walls[i], &quiet, NULL);
    }
    detect_import_begin(told);
    detect_import(told, 0, points, walls, N / 2);
    detect_import(told, 0, points + N / 2, walls + N / 2, N - N / 2);
    detect_import_end(told, (struct instant){0}, (struct wall){1760000400 * US_PER_S});
    struct detect_status a, b;
    detect_status(lived, 0, &a);
    detect_status(told, 0, &b);
    assert_memory_equal(&a, &b, offsetof(struct detect_status, baseline_why));   /* up to where the compiler leaves a gap */
    assert_true(a.baseline_why == b.baseline_why && a.at.us == b.at.us && a.n == b.n);
    assert_true(isfinite(a.drift) && isfinite(a.score) && isfinite(a.profile));
    struct detect_warm warm;
    detect_warm(told, (struct instant){0}, &warm);
    assert_true(warm.imported && warm.shift && warm.spike && warm.day && warm.drift && warm.week);
    detect_warm(lived, (struct instant){0}, &warm);
    assert_false(warm.imported);
    free(points), free(walls);
    detect_free(lived), detect_free(told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_equals_a_continuous_run),
        cmocka_unit_test(the_digest_is_the_same_everywhere),
        cmocka_unit_test(a_clone_goes_its_own_way),
        cmocka_unit_test(a_clock_that_begins_anew_keeps_the_baseline),
        cmocka_unit_test(foreign_and_damaged_bytes_are_refused),
        cmocka_unit_test(damage_with_a_right_checksum_does_no_harm),
        cmocka_unit_test(signals_are_matched_by_name),
        cmocka_unit_test(import_equals_living_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
