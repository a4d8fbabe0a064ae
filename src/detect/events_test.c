/* What happens around a service: releases, actions, maintenance, a new anchor, layers of different pace. */
#include "detect/detect.h"

#include "support/test.h"

#define TICK SPAN_S(30)
#define DAY 2880

static struct signal_def signals[2];
static struct service_def service;
static struct need need_items[] = {{FN_BASELINE, 0, {0}}, {FN_ZSCORE, 0, {0}}, {FN_PROFILE, 0, {0}}, {FN_DRIFT, 0, {0}},
                                   {FN_WEEK_AGO, 0, {0}}, {FN_ZSCORE, 1, {0}}};
enum { N_BASELINE, N_Z, N_PROFILE, N_DRIFT, N_WEEK, N_Z_DATA, N_NEEDS };
static const struct needs needs = {.items = need_items, .n = N_NEEDS, .cap = N_NEEDS};

struct world {
    struct detect *d;
    struct instant now;
    struct detect_context ctx;
    struct datum items[N_NEEDS];
    struct evidence ev;
};

static struct wall wall_at(struct instant t) { return (struct wall){1760313600 * US_PER_S + t.us}; }   /* a Monday, 0:00 */

static void world_begin(struct world *w)
{
    signals[0] = (struct signal_def){.name = "latency_p99", .layer = LAYER_REQUEST, .unit = UNIT_MS, .bad = BAD_UP,
                                     .rel_floor = 0.02, .interval = SPAN_S(10)};
    signals[1] = (struct signal_def){.name = "fetch_ms", .layer = LAYER_DATA, .unit = UNIT_MS, .bad = BAD_UP,
                                     .rel_floor = 0.02, .interval = SPAN_S(60)};
    service = (struct service_def){.name = "svc", .signals = signals, .signal_count = 2};
    memset(w, 0, sizeof *w);
    w->d = detect_new(&service, 0.2, TICK);
    assert_non_null(w->d);
}

/* Three points of p99, a point of fetch each second tick. */
static void step(struct world *w, double p99, double fetch)
{
    for (int i = 0; i < 3; i++) {
        w->now = instant_add(w->now, SPAN_S(10));
        detect_feed(w->d, 0, (struct point){.at = w->now, .value = p99, .why = WHY_KNOWN});
    }
    if (w->now.us / TICK.us % 2 == 0) detect_feed(w->d, 1, (struct point){.at = w->now, .value = fetch, .why = WHY_KNOWN});
    w->ev = (struct evidence){.needs = &needs, .items = w->items};
    detect_tick(w->d, w->now, wall_at(w->now), &w->ctx, &w->ev);
}

static void steps(struct world *w, double p99, int n)
{
    for (int i = 0; i < n; i++) step(w, p99, 6);
}

static double value_of(const struct world *w, int need)
{
    assert_int_equal(w->items[need].why, WHY_KNOWN);
    return w->items[need].value;
}

/* Layers of 60 s: blocks of a minute, 5 of R and 30 of B. */
static void the_data_layer_has_blocks_of_a_minute(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    for (int i = 0; i < 70; i++) step(&w, 38, 6);
    assert_near(value_of(&w, N_Z_DATA), 0, 0);
    for (int i = 0; i < 10; i++) step(&w, 38, 9);          /* five minutes: R is full of it */
    assert_near(value_of(&w, N_Z_DATA), 3 / 0.12, 1e-4);   /* 2 % of 6 */
    double x[8];
    struct blocks b;
    detect_blocks(w.d, 1, instant_sub(w.now, SPAN_MIN(4)), instant_add(w.now, SPAN_S(1)), x, 8, &b);
    assert_int_equal(b.step.us, 60 * US_PER_S);
    assert_int_equal(b.n, 5);
    assert_int_equal(b.known, 5);
    assert_near(x[0], 9, 0);
    uint32_t known, all;
    detect_count(w.d, 0, instant_sub(w.now, SPAN_MIN(5)), w.now, &known, &all);
    assert_int_equal(known, 30);                           /* 5 min at 10 s */
    assert_int_equal(all, 30);
    detect_count(w.d, 1, instant_sub(w.now, SPAN_MIN(5)), w.now, &known, &all);
    assert_int_equal(known, 5);
    detect_free(w.d);
}

/* Counts reach back over the ring of points into the blocks. */
static void counts_reach_back_over_an_hour(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 300);
    uint32_t known, all;
    detect_count(w.d, 0, instant_sub(w.now, SPAN_HOUR(2)), w.now, &known, &all);
    assert_int_equal(all, 720);
    assert_true(known >= 717 && known <= 720);
    detect_free(w.d);
}

static void nothing_is_learned_in(struct world *w, bool *flag)
{
    world_begin(w);
    steps(w, 38, 100);
    *flag = true;
    steps(w, 42, 30);
    assert_near(value_of(w, N_BASELINE), 38, 0);
    *flag = false;
    steps(w, 42, 3);
    assert_true(value_of(w, N_BASELINE) > 38.5);
    detect_free(w->d);
}

static void no_learning_through_actions_maintenance_and_release_watch(void **state)
{
    (void)state;
    struct world w;
    nothing_is_learned_in(&w, &w.ctx.action_active);
    nothing_is_learned_in(&w, &w.ctx.maintenance);
    nothing_is_learned_in(&w, &w.ctx.release_watch);
    nothing_is_learned_in(&w, &w.ctx.idle);
}

static void a_release_keeps_the_baseline_for_30_minutes(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    detect_release(w.d, w.now);
    steps(&w, 42, 59);
    assert_near(value_of(&w, N_BASELINE), 38, 0);
    steps(&w, 42, 3);
    assert_true(value_of(&w, N_BASELINE) > 38.5);
    detect_free(w.d);
}

/* A knob changed: what was before is no baseline for what is now. */
static void the_old_regime_is_not_compared_with(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 100);
    detect_regime(w.d, w.now);
    steps(&w, 30, 49);
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    step(&w, 30, 6);                                       /* 10 of R, 40 of 60 of B */
    assert_near(value_of(&w, N_Z), 0, 0);
    detect_free(w.d);
}

static void excluded_intervals_are_skipped_backwards(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 120);
    struct instant from = w.now;
    steps(&w, 60, 40);
    struct instant to = w.now;
    steps(&w, 38, 10);
    assert_true(value_of(&w, N_Z) < -1);                   /* 40 of the 60 before are 60 ms */
    detect_exclude(w.d, from, to);
    step(&w, 38, 6);
    assert_near(value_of(&w, N_Z), 0, 0);
    /* The same announced beforehand. */
    detect_exclude(w.d, w.now, instant_add(w.now, SPAN_MIN(20)));
    steps(&w, 60, 40);
    steps(&w, 38, 10);
    assert_near(value_of(&w, N_Z), 0, 0);
    steps(&w, 38, 200);
    assert_near(value_of(&w, N_Z), 0, 0);
    detect_free(w.d);
}

static void beyond_two_hours_nothing_is_skipped(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 120);
    struct instant from = w.now;
    steps(&w, 60, 290);
    detect_exclude(w.d, from, w.now);
    steps(&w, 38, 30);                                     /* R and 20 of B; the rest is too far back */
    assert_int_equal(w.items[N_Z].why, WHY_GAPS);
    detect_free(w.d);
}

static void warmth_comes_in_the_order_of_the_book(void **state)
{
    (void)state;
    struct world w;
    struct detect_warm warm;
    world_begin(&w);
    detect_warm(w.d, w.now, &warm);
    assert_false(warm.shift || warm.spike || warm.day || warm.drift || warm.week || warm.imported);
    static const struct { int ticks; bool shift, spike, day, drift, week; } stages[] = {
        {40, false, false, false, false, false}, {60, true, true, false, false, false}, {DAY, true, true, false, false, false},
        {DAY + 1, true, true, true, false, false}, {7 * DAY + 1, true, true, true, true, false},
        {8 * DAY + 1, true, true, true, true, true},
    };
    int at = 0;
    for (unsigned i = 0; i < ARRAY_LEN(stages); i++) {
        steps(&w, 38, stages[i].ticks - at);
        at = stages[i].ticks;
        detect_warm(w.d, w.now, &warm);
        assert_int_equal(warm.shift, stages[i].shift);
        assert_int_equal(warm.spike, stages[i].spike);
        assert_int_equal(warm.day, stages[i].day);
        assert_int_equal(warm.drift, stages[i].drift);
        assert_int_equal(warm.week, stages[i].week);
    }
    detect_free(w.d);
}

/* 15 days of 38, then 20 blocks at `level`, rebased on. */
static void rebased(struct world *w, double level, enum anchor_move move, double *profile, double *origin)
{
    world_begin(w);
    steps(w, 38, 15 * DAY);
    struct instant from = instant_add(w->now, TICK);
    steps(w, level, 20);
    detect_rebase(w->d, w->now, from, instant_add(w->now, SPAN_S(1)), move);
    step(w, level, 6);
    *profile = value_of(w, N_PROFILE);
    struct detect_status st;
    detect_status(w->d, 0, &st);
    *origin = st.origin;
    assert_near(value_of(w, N_BASELINE), level, 1e-5);
}

static void the_anchor_moves_only_as_told(void **state)
{
    (void)state;
    static const struct { double level; enum anchor_move move; double profile; } cases[] = {
        {43, ANCHOR_KEEP, 38}, {43, ANCHOR_DOWNWARD, 38}, {43, ANCHOR_BOTH, 43},
        {34, ANCHOR_KEEP, 38}, {34, ANCHOR_DOWNWARD, 34}, {34, ANCHOR_BOTH, 34},
        {37.5, ANCHOR_DOWNWARD, 38},                       /* inside the noise: 1 scale = 0.76 */
    };
    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        double profile, origin;
        rebased(&w, cases[i].level, cases[i].move, &profile, &origin);
        assert_near(profile, cases[i].profile, 0.1);       /* slots are kept to 0.2 % */
        assert_near(origin, 38, 0.1);
        detect_free(w.d);
    }
}

/* Kept changes of +14 % each would launder a creep, were the anchor to follow them. */
static void kept_changes_for_the_worse_do_not_launder(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 15 * DAY);
    double level = 38;
    for (int i = 0; i < 3; i++) {
        level *= 1.14;
        struct instant from = instant_add(w.now, TICK);
        steps(&w, level, 20);
        detect_rebase(w.d, w.now, from, w.now, ANCHOR_DOWNWARD);
        steps(&w, level, 2 * DAY);
    }
    assert_near(value_of(&w, N_DRIFT), 1.14 * 1.14 * 1.14 - 1, 0.01);
    detect_free(w.d);
}

/* After a downward move a new anchor is learned for 14 days, but a slot that got worse meanwhile keeps the better value. */
static void a_downward_anchor_is_never_relearned_upward(void **state)
{
    (void)state;
    struct world w;
    double profile, origin;
    rebased(&w, 34, ANCHOR_DOWNWARD, &profile, &origin);
    steps(&w, 34, 3 * DAY);
    steps(&w, 44, 14 * DAY);
    assert_near(value_of(&w, N_PROFILE), 34, 0.1);
    assert_near(value_of(&w, N_DRIFT), 44.0 / 34 - 1, 0.01);
    detect_free(w.d);
}

/* "This is normal now": the shape of the day stays, the level moves, then fourteen new days count. */
static void normal_now_is_learned_anew(void **state)
{
    (void)state;
    struct world w;
    double profile, origin;
    rebased(&w, 43, ANCHOR_BOTH, &profile, &origin);
    steps(&w, 44, 15 * DAY);
    assert_near(value_of(&w, N_PROFILE), 44, 0.1);
    assert_near(value_of(&w, N_DRIFT), 0, 0.005);
    detect_free(w.d);
}

/* An incident's slots are no reference for the same time next week. */
static void week_ago_leaves_incidents_out(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    steps(&w, 38, 2 * DAY);
    step(&w, 60, 6);
    detect_freeze(w.d, w.now);
    w.ctx.symptom_active = true;
    steps(&w, 60, 239);
    detect_unfreeze(w.d, w.now, false);
    w.ctx.symptom_active = false;
    steps(&w, 38, 7 * DAY - 240);
    steps(&w, 38, 120);                                    /* an hour into the same time a week later */
    assert_int_equal(w.items[N_WEEK].why, WHY_NO_HISTORY);
    steps(&w, 38, 240);
    assert_near(value_of(&w, N_WEEK), 38, 0.1);
    detect_free(w.d);
}

/* Closed: the incident stays out of B, the ten quiet ticks that closed it stand in it. */
static void a_closed_incident_leaves_its_quiet_ticks_to_b(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct world w;
        world_begin(&w);
        steps(&w, 38, 100);
        step(&w, 60, 6);
        detect_freeze(w.d, w.now);
        w.ctx.symptom_active = true;
        steps(&w, 60, 290);                                /* too long to be skipped */
        steps(&w, 38, 10);
        detect_unfreeze(w.d, w.now, closed);
        w.ctx.symptom_active = false;
        steps(&w, 38, 39);                                 /* R 10, B 29 and, when closed, those ten */
        assert_int_equal(w.items[N_Z].why, WHY_GAPS);
        step(&w, 38, 6);
        assert_int_equal(w.items[N_Z].why, closed ? WHY_KNOWN : WHY_GAPS);
        detect_free(w.d);
    }
}

/* History in points of 10 s and of 60 s, told at once, equals the same lived through. */
static void import_of_other_paces_equals_living_through(void **state)
{
    (void)state;
    enum { N = 3000 };
    struct world w;
    world_begin(&w);
    struct detect *told = detect_new(&service, 0.2, TICK);
    static struct point points[3 * N];
    static struct wall walls[3 * N];
    for (int i = 0; i < N; i++) step(&w, 38 + i % 13, 6);
    for (int i = 0; i < 3 * N; i++) {
        points[i] = (struct point){.at = {(i + 1) * 10 * US_PER_S}, .value = 38 + i / 3 % 13, .why = WHY_KNOWN};
        walls[i] = wall_at(points[i].at);
    }
    detect_import_begin(told);
    /* The daemon's ticks are at 30 s, 60 s ..; the grid of an import begins with its first point. */
    detect_import(told, 0, points + 2, walls + 2, 3 * N - 2);
    detect_import_end(told, w.now, wall_at(w.now));
    struct detect_status a, b;
    detect_status(w.d, 0, &a);
    detect_status(told, 0, &b);
    assert_near(a.baseline, b.baseline, 1e-9);
    assert_near(a.zscore, b.zscore, 1e-5);
    assert_near(a.score, b.score, 1e-9);
    assert_near(a.value, b.value, 0);
    detect_free(told);
    detect_free(w.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_layer_has_blocks_of_a_minute),
        cmocka_unit_test(counts_reach_back_over_an_hour),
        cmocka_unit_test(no_learning_through_actions_maintenance_and_release_watch),
        cmocka_unit_test(a_release_keeps_the_baseline_for_30_minutes),
        cmocka_unit_test(the_old_regime_is_not_compared_with),
        cmocka_unit_test(excluded_intervals_are_skipped_backwards),
        cmocka_unit_test(beyond_two_hours_nothing_is_skipped),
        cmocka_unit_test(warmth_comes_in_the_order_of_the_book),
        cmocka_unit_test(the_anchor_moves_only_as_told),
        cmocka_unit_test(kept_changes_for_the_worse_do_not_launder),
        cmocka_unit_test(a_downward_anchor_is_never_relearned_upward),
        cmocka_unit_test(normal_now_is_learned_anew),
        cmocka_unit_test(week_ago_leaves_incidents_out),
        cmocka_unit_test(a_closed_incident_leaves_its_quiet_ticks_to_b),
        cmocka_unit_test(import_of_other_paces_equals_living_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
