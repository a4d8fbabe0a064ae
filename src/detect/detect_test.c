/* Baseline, spike, freeze and memory of one service, with numbers computed by hand. */
#include "detect/detect.h"

#include "support/test.h"

#define TICK SPAN_S(30)
#define P99 0
#define QUEUE 1

static struct signal_def signals[2];
static struct service_def service;

static struct need need_items[] = {
    {FN_VALUE, P99, {0}},     {FN_BASELINE, P99, {0}}, {FN_PROFILE, P99, {0}},          {FN_DRIFT, P99, {0}},
    {FN_WEEK_AGO, P99, {0}},  {FN_ZSCORE, P99, {0}},   {FN_SCORE, P99, {0}},            {FN_SLOPE, P99, SPAN_HOUR(1)},
    {FN_MEAN, P99, SPAN_MIN(5)}, {FN_STDDEV, P99, SPAN_MIN(5)}, {FN_VALUE, QUEUE, {0}}, {FN_MEAN, P99, SPAN_HOUR(2)},
};
enum { N_VALUE, N_BASELINE, N_PROFILE, N_DRIFT, N_WEEK, N_Z, N_SCORE, N_SLOPE, N_MEAN, N_SD, N_QUEUE, N_MEAN2H, N_NEEDS };
static const struct needs needs = {.items = need_items, .n = N_NEEDS, .cap = N_NEEDS};

/* A world of one service whose clock the test turns. */
struct world {
    struct detect *d;
    struct instant now;
    struct wall wall;
    struct detect_context ctx;
    struct datum items[N_NEEDS];
    struct evidence ev;
};

static void world_begin(struct world *w)
{
    signals[P99] = (struct signal_def){.name = "latency_p99", .layer = LAYER_REQUEST, .unit = UNIT_MS, .bad = BAD_UP,
                                       .rel_floor = 0.02, .resolution = 0.1, .interval = SPAN_S(30)};
    signals[QUEUE] = (struct signal_def){.name = "queue_depth", .layer = LAYER_PROCESSING, .unit = UNIT_ONE, .bad = BAD_UP,
                                         .resolution = 1, .interval = SPAN_S(30)};
    service = (struct service_def){.name = "svc", .signals = signals, .signal_count = 2};
    service.judge.latency = P99;
    memset(w, 0, sizeof *w);
    w->wall.us = 1760000400 * US_PER_S;      /* 2025-10-09T09:00:00Z: the start of a slot */
    w->d = detect_new(&service, 0.2, TICK);
    w->ev = (struct evidence){.needs = &needs, .items = w->items};
    assert_non_null(w->d);
}

static void step_queue(struct world *w, double p99, double queue)
{
    w->now = instant_add(w->now, TICK);
    w->wall.us += TICK.us;
    struct point p = {.at = w->now, .value = p99, .why = isnan(p99) ? WHY_MISSING : WHY_KNOWN};
    detect_feed(w->d, P99, p);
    p.value = queue;
    p.why = WHY_KNOWN;
    detect_feed(w->d, QUEUE, p);
    detect_tick(w->d, w->now, w->wall, &w->ctx, &w->ev);
}

static void step(struct world *w, double p99) { step_queue(w, p99, 140); }

static void steps(struct world *w, double p99, int n)
{
    for (int i = 0; i < n; i++) step(w, p99);
}

static double value_of(const struct world *w, int need)
{
    assert_int_equal(w->items[need].why, WHY_KNOWN);
    return w->items[need].value;
}

static void a_first_sample_never_fires(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    step(&w, 46.8);
    struct finding f[4];
    assert_near(value_of(&w, N_VALUE), 46.8, 0);
    assert_int_equal(w.items[N_BASELINE].why, WHY_WARMING);
    assert_true(isnan(w.items[N_BASELINE].value));
    assert_int_equal(w.items[N_Z].why, WHY_WARMING);
    assert_int_equal(detect_findings(w.d, f, 4), 0);
    steps(&w, 38, 58);
    assert_int_equal(w.items[N_BASELINE].why, WHY_WARMING);
    step(&w, 38);                             /* the 60th known tick */
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    detect_free(w.d);
}

/* 38 for 100 ticks, then 46.8: compared with 38 and learned only one tick later. */
static void compares_before_it_learns(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 46.8);
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    /* scale = max(0, 0, 2 % of 38, 0.1) = 0.76; r = 8.8 is clipped at 6 * 0.76 = 4.56; b = 38 + 0.2 * 4.56 = 38.912 */
    step(&w, 46.8);
    assert_near(value_of(&w, N_BASELINE), 38.912, 1e-9);
    /* r = 46.8 - 38.912 = 7.888, clipped at 4.56 again */
    step(&w, 46.8);
    assert_near(value_of(&w, N_BASELINE), 39.824, 1e-9);
    detect_free(w.d);
}

static void freeze_keeps_the_values_before_the_first_true_tick(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 46.8);
    detect_freeze(w.d, w.now);
    w.ctx.symptom_active = true;
    steps(&w, 46.8, 239);
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    assert_false(detect_aging(w.d, w.now));
    step(&w, 46.8);                           /* onset + 2 h: learns with clip 1 * 0.76 from here on */
    assert_true(detect_aging(w.d, w.now));
    step(&w, 46.8);
    assert_near(value_of(&w, N_BASELINE), 38 + 0.2 * 0.76, 1e-9);
    detect_unfreeze(w.d, w.now, false);
    assert_false(detect_aging(w.d, w.now));
    detect_free(w.d);
}

/* Without the freeze call the loop's word alone is enough: the tick after sees symptom_active. */
static void an_active_symptom_stops_learning(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 46.8);
    w.ctx.symptom_active = true;
    steps(&w, 46.8, 20);
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    detect_free(w.d);
}

/* R = 10 blocks, B = 60. Ten blocks of 41.8 after 38: (41.8 - 38) / 0.76 = 5. One of ten: 0.5. */
static void zscore_by_hand(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 69);
    step(&w, 41.8);
    assert_near(value_of(&w, N_Z), 0.5, 1e-4);
    steps(&w, 41.8, 9);
    assert_near(value_of(&w, N_Z), 5, 1e-4);
    /* The eleventh block of 41.8 pushes the first into B: 59 of 38, one of 41.8: MAD 0, sd = 3.8 / sqrt(60), half of it
     * 0.2453, still under the floor of 0.76. */
    step(&w, 41.8);
    assert_near(value_of(&w, N_Z), 5, 1e-4);
    detect_free(w.d);
}

static void zscore_by_hand_with_spread(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    /* 36, 37, .., 40 in turn: median 38, distances 0, 1, 1, 2, 2 (x12): MAD 1; sd of the 60 = sqrt(2 * 60 / 59) = 1.4260;
     * scale = 1.4826 * 1; R all 48: z = 10 / 1.4826 = 6.7449 */
    for (int i = 0; i < 70; i++) step(&w, 36 + i % 5);
    steps(&w, 48, 10);
    assert_near(value_of(&w, N_Z), 10 / 1.4826, 1e-4);
    detect_free(w.d);
}

/* A window that held its own baseline could never exceed 2.198 (facts: D1). */
static void a_huge_step_is_neither_capped_nor_learned(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 1e6);
    assert_near(value_of(&w, N_Z), (1e6 - 38) / 10 / 0.76, 20);
    step(&w, 38);
    assert_near(value_of(&w, N_BASELINE), 38.912, 1e-6);
    steps(&w, 38, 80);
    assert_near(value_of(&w, N_BASELINE), 38, 1e-3);
    steps(&w, 1e300, 3);                      /* no infinity anywhere */
    assert_true(isfinite(value_of(&w, N_Z)));
    assert_true(value_of(&w, N_BASELINE) < 60);
    detect_free(w.d);
}

static void one_wild_block_in_b_does_not_open_the_clip(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 1e6);
    steps(&w, 38, 20);                        /* the wild block stands in B now */
    double before = value_of(&w, N_BASELINE);
    step(&w, 1e6);
    step(&w, 38);
    /* scale at most twice the rest: 2 * 0.76; so at most 0.2 * 6 * 1.52 = 1.824 in one tick */
    assert_true(value_of(&w, N_BASELINE) - before <= 1.83);
    detect_free(w.d);
}

static void zero_variance_at_zero(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    signals[P99].resolution = 0;
    detect_free(w.d);
    w.d = detect_new(&service, 0.2, TICK);
    steps(&w, 0, 100);
    assert_near(value_of(&w, N_Z), 0, 0);
    steps(&w, 5, 10);
    assert_near(value_of(&w, N_Z), 1 / 0.02, 1e-6);
    detect_free(w.d);
}

static void gaps_are_not_zero(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    steps(&w, NAN, 3);
    assert_int_equal(w.items[N_VALUE].why, WHY_KNOWN);       /* 90 s old: still fresh */
    step(&w, NAN);
    assert_int_equal(w.items[N_VALUE].why, WHY_MISSING);
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);            /* 6 of 10 known */
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    steps(&w, 38, 4);
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    detect_free(w.d);
}

static void seven_of_ten_blocks_are_enough(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    steps(&w, NAN, 3);
    assert_near(value_of(&w, N_Z), 0, 0);
    step(&w, NAN);
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    detect_free(w.d);
}

static void nan_and_infinity_are_unknown(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 10);
    w.now = instant_add(w.now, SPAN_MIN(3));
    struct point p = {.at = w.now, .value = INFINITY, .why = WHY_KNOWN};
    detect_feed(w.d, P99, p);
    detect_tick(w.d, w.now, w.wall, &w.ctx, &w.ev);
    assert_int_equal(w.items[N_VALUE].why, WHY_NAN);
    detect_free(w.d);
}

static void steps_back_in_time_are_ignored(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    uint64_t before = detect_digest(w.d);
    struct point p = {.at = instant_sub(w.now, SPAN_MIN(2)), .value = 900, .why = WHY_KNOWN};
    detect_feed(w.d, P99, p);
    detect_tick(w.d, instant_sub(w.now, SPAN_S(30)), w.wall, &w.ctx, &w.ev);
    assert_near(value_of(&w, N_VALUE), 38, 0);
    assert_int_not_equal(before, 0);
    step(&w, 38);
    assert_near(value_of(&w, N_Z), 0, 0);
    detect_free(w.d);
}

/* In an incident B is [onset - 31 min, onset - 1 min]: it never fills with the fault. */
static void b_of_an_incident_stays_healthy(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 45.6);
    detect_freeze(w.d, w.now);
    w.ctx.symptom_active = true;
    steps(&w, 45.6, 200);
    assert_near(value_of(&w, N_Z), 10, 1e-4);
    /* Closed: the incident's blocks are skipped backwards, so B is healthy still. */
    detect_unfreeze(w.d, w.now, false);
    w.ctx.symptom_active = false;
    steps(&w, 38, 10);
    assert_near(value_of(&w, N_Z), 0, 1e-4);
    detect_free(w.d);
}

static void without_a_freeze_the_fault_becomes_the_baseline(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    steps(&w, 45.6, 80);
    assert_near(value_of(&w, N_Z), 0, 1e-4);
    detect_free(w.d);
}

static void rebase_takes_the_window(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    step(&w, 46.8);
    detect_freeze(w.d, w.now);
    w.ctx.symptom_active = true;
    steps(&w, 46.8, 30);
    struct instant from = instant_add(w.now, SPAN_S(30));
    for (int i = 0; i < 20; i++) step(&w, i % 2 ? 33 : 31);
    detect_rebase(w.d, w.now, from, instant_add(w.now, SPAN_S(1)), ANCHOR_KEEP);
    w.ctx.symptom_active = false;
    /* median of ten 31 and ten 33 = 32; MAD 1 -> 1.4826; sd = sqrt(20 / 19) */
    struct detect_status st;
    detect_status(w.d, P99, &st);
    assert_near(st.baseline, 32, 1e-9);
    assert_near(st.scale, 1.4826, 1e-9);
    step(&w, 32);
    assert_near(value_of(&w, N_BASELINE), 32, 1e-9);
    /* Spike again after 2/3 of R and B: 10 blocks of R and 40 of B = 50; 21 are there */
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    steps(&w, 32, 28);
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    step(&w, 32);
    assert_int_equal(w.items[N_Z].why, WHY_KNOWN);
    detect_free(w.d);
}

static void windows_by_hand(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    for (int i = 0; i < 240; i++) step(&w, (double)i);   /* +1 in 30 s: 120 an hour */
    assert_near(value_of(&w, N_SLOPE), 120, 1e-6);
    assert_near(value_of(&w, N_MEAN), 234.5, 1e-9);      /* 230 .. 239 */
    assert_near(value_of(&w, N_SD), sqrt(82.5 / 9), 1e-9);
    assert_near(value_of(&w, N_MEAN2H), 119.5, 1e-6);
    detect_free(w.d);
}

static void blocks_and_counts(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    for (int i = 1; i <= 20; i++) step(&w, i == 15 ? NAN : (double)i);     /* value i at 30 * i seconds */
    double x[32];
    struct blocks b;
    detect_blocks(w.d, P99, (struct instant){300 * US_PER_S}, (struct instant){600 * US_PER_S}, x, 32, &b);
    assert_int_equal(b.n, 10);                             /* 300 .. 570 s */
    assert_int_equal(b.known, 9);
    assert_near(x[0], 10, 0);
    assert_true(isnan(x[5]));
    assert_near(x[9], 19, 0);
    uint32_t known, all;
    detect_count(w.d, P99, (struct instant){300 * US_PER_S}, (struct instant){600 * US_PER_S}, &known, &all);
    assert_int_equal(known, 9);
    assert_int_equal(all, 10);
    /* A query over a minute: two of our blocks make one. */
    signals[P99].range = SPAN_MIN(1);
    detect_blocks(w.d, P99, (struct instant){300 * US_PER_S}, (struct instant){600 * US_PER_S}, x, 32, &b);
    assert_int_equal(b.n, 5);
    assert_near(x[0], 10.5, 0);
    assert_true(isnan(x[2]));                              /* 14 and the missing 15 */
    assert_int_equal(b.step.us, 60 * US_PER_S);
    detect_free(w.d);
}

static void few_requests_widen_then_say_low_traffic(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    signals[P99].is_quantile = true;
    detect_free(w.d);
    w.d = detect_new(&service, 0.2, TICK);
    for (int i = 0; i < 130; i++) {
        w.now = instant_add(w.now, TICK);
        w.wall.us += TICK.us;
        /* 2 requests a block: 20 in 5 min, 120 in 30 min. */
        struct point p = {.at = w.now, .value = i % 2 ? 30 : 50, .n = i < 125 ? 2 : 0, .why = WHY_KNOWN};
        detect_feed(w.d, P99, p);
        detect_tick(w.d, w.now, w.wall, &w.ctx, &w.ev);
        if (i == 10) assert_int_equal(w.items[N_VALUE].why, WHY_LOW_TRAFFIC);
        if (i == 124) assert_near(value_of(&w, N_VALUE), 40, 1e-9);
    }
    detect_free(w.d);
}

static void the_sentence_says_it_all(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 2880);
    steps(&w, 46.8, 1);
    detect_freeze(w.d, w.now);
    steps(&w, 46.8, 9);
    struct finding f[8];
    uint32_t n = detect_findings(w.d, f, 8);
    assert_true(n >= 2);
    struct buf b = BUF_INIT;
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].fn == FN_SCORE) continue;
        detect_say(&b, &service, &f[i]);
        buf_putc(&b, '\n');
    }
    assert_string_equal(buf_text(&b),
                        "latency_p99 last 5 min are 11.6 scales above the 30 min before: 46.8 ms against 38 ms (60 blocks)\n"
                        "latency_p99 46.8 ms is 23 % above its own normal 38 ms (2881 ticks)\n");
    buf_free(&b);
    detect_free(w.d);
}

static void states_of_a_series(void **state)
{
    (void)state;
    struct world w;
    struct detect_status st;
    world_begin(&w);
    steps(&w, 38, 30);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_WARMING);
    steps(&w, 38, 70);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_NORMAL);
    step(&w, 60);
    detect_freeze(w.d, w.now);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_SUSPECT);
    steps(&w, 60, 3);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_FIRING);
    step(&w, 38);
    steps(&w, 38, 5);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_RECOVERING);
    steps(&w, 38, 20);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_NORMAL);
    w.ctx.idle = true;
    step(&w, 38);
    detect_status(w.d, P99, &st);
    assert_int_equal(st.state, SERIES_IDLE);
    detect_status(w.d, QUEUE, &st);
    assert_int_equal(st.state, SERIES_NORMAL);
    detect_free(w.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_sample_never_fires),
        cmocka_unit_test(compares_before_it_learns),
        cmocka_unit_test(freeze_keeps_the_values_before_the_first_true_tick),
        cmocka_unit_test(an_active_symptom_stops_learning),
        cmocka_unit_test(zscore_by_hand),
        cmocka_unit_test(zscore_by_hand_with_spread),
        cmocka_unit_test(a_huge_step_is_neither_capped_nor_learned),
        cmocka_unit_test(one_wild_block_in_b_does_not_open_the_clip),
        cmocka_unit_test(zero_variance_at_zero),
        cmocka_unit_test(gaps_are_not_zero),
        cmocka_unit_test(seven_of_ten_blocks_are_enough),
        cmocka_unit_test(nan_and_infinity_are_unknown),
        cmocka_unit_test(steps_back_in_time_are_ignored),
        cmocka_unit_test(b_of_an_incident_stays_healthy),
        cmocka_unit_test(without_a_freeze_the_fault_becomes_the_baseline),
        cmocka_unit_test(rebase_takes_the_window),
        cmocka_unit_test(windows_by_hand),
        cmocka_unit_test(blocks_and_counts),
        cmocka_unit_test(few_requests_widen_then_say_low_traffic),
        cmocka_unit_test(the_sentence_says_it_all),
        cmocka_unit_test(states_of_a_series),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
