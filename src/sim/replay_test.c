/* A scripted past through the loop: what is found, what would be done, and what must not change it. */
#include "support/test.h"

#include <math.h>

#include "config/load.h"
#include "sim/replay.h"

static const char yaml[] =
    "version: 1\nservices:\n  - name: embed\n    mode: auto\n    signals:\n"
    "      latency_p99: {layer: request, unit: ms, resolution: 1 ms, interval: 30s}\n"
    "      queue_depth: {layer: processing, unit: \"\", interval: 30s}\n"
    "      throughput: {layer: processing, unit: /s, bad: down, interval: 30s}\n"
    "      batch_size: {layer: processing, unit: \"\", bad: both, interval: 30s}\n"
    "      gpu_util: {layer: system, unit: ratio, bad: both}\n"
    "    symptoms:\n"
    "      latency-degraded: latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250\n"
    "    playbook:\n"
    "      - {cause: compute-bound, when: gpu_util > 0.7, try: [batch_max up]}\n"
    "    knobs:\n"
    "      batch_max: {class: batch, min: 4, max: 128, ladder: x2, use: batch_size, single_writer: true,\n"
    "        read: {file: {path: /nowhere}}, write: {file: {path: /nowhere}}}\n";

enum { P99, QUEUE, THROUGHPUT, BATCH, GPU };
#define TICK (30 * US_PER_S)
#define START INT64_C(1778457600000000)
#define DAY_TICKS 2880

static struct policy *policy(void)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct config_options o = {.points_from_outside = true};
    struct policy *p = config_load(yaml, sizeof yaml - 1, "test", &o, &d);
    if (!p) print_error("%s\n", d.n ? d.items[0].text : "no policy");
    assert_non_null(p);
    config_diagnostics_free(&d);
    return p;
}

static void point(struct replay *r, uint16_t signal, int tick, double v)
{
    struct err e;
    if (replay_point(r, 0, signal, (struct wall){START + tick * TICK}, v, &e) != STATUS_OK) fail_msg("%s", e.text);
}

/* Healthy but for [from, to); nothing of the queue in [hole, hole_end). */
static void story(struct replay *r, int ticks, int from, int to, int hole, int hole_end)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    for (int i = 0; i < ticks; i++) {
        bool bad = i >= from && i < to;
        point(r, P99, i, (bad ? 46.8 : 38) + noise[i % 7]);
        if (i < hole || i >= hole_end) point(r, QUEUE, i, bad ? 320 : 140);
        point(r, THROUGHPUT, i, 1000);
        point(r, BATCH, i, 31);
        point(r, GPU, i, bad ? 0.78 : 0.65);
    }
}

static void run(struct replay *r, int from_tick, struct span history)
{
    struct wall first, last;
    struct err e;
    assert_true(replay_bounds(r, &first, &last));
    if (replay_run(r, (struct wall){START + from_tick * TICK}, last, history, &e) != STATUS_OK) fail_msg("%s", e.text);
}

static void a_plan_and_what_came_next(void **state)
{
    (void)state;
    struct policy *p = policy();
    struct replay *r = replay_new(p);
    story(r, DAY_TICKS + 200, DAY_TICKS + 1, DAY_TICKS + 62, 0, 0);
    run(r, 0, SPAN_DAY(1));
    const struct replay_service *s = &r->services[0];
    assert_int_equal(1, s->incident_n);
    assert_int_equal(1, s->plan_n);
    assert_int_equal(DAY_TICKS + 200, s->ticks);
    assert_int_equal(START + (DAY_TICKS + 1) * TICK, s->incidents[0].onset.us);
    assert_string_equal("32", record_get_text(s->plans[0].record, RF_FROM));
    assert_string_equal("64", record_get_text(s->plans[0].record, RF_TO));
    assert_int_equal(REPLAY_WOULD_ACT, s->plans[0].would);
    assert_false(s->plans[0].counterfactual);
    assert_int_equal(s->plans[0].at.us, s->counterfactual_from.us);
    /* Five minutes of evidence since onset: the tenth point of the incident. */
    assert_int_equal(START + (DAY_TICKS + 11) * TICK, s->plans[0].at.us);
    assert_int_equal(9, s->held[REASON_EVIDENCE_BEFORE]);
    assert_int_equal(P99, s->incidents[0].after[0].signal);
    assert_near(s->incidents[0].after[0].before, 38, 0.5);
    assert_near(s->incidents[0].after[0].after[2], 46.8, 0.5);
    assert_int_equal(REPLAY_USE, s->knobs[0].origin);
    assert_near(s->knobs[0].start, 32, 0);
    replay_free(r);
    config_free(p);
}

static uint64_t digest_of(int from_tick, struct span history, int hole_end)
{
    struct policy *p = policy();
    struct replay *r = replay_new(p);
    story(r, DAY_TICKS + 100, DAY_TICKS + 1, DAY_TICKS + 62, DAY_TICKS + 20, hole_end);
    run(r, from_tick, history);
    uint64_t d = r->digest;
    replay_free(r);
    config_free(p);
    return d;
}

static void one_history_one_digest(void **state)
{
    (void)state;
    uint64_t one = digest_of(DAY_TICKS - 10, SPAN_DAY(1), 0);
    assert_int_equal(one, digest_of(DAY_TICKS - 10, SPAN_DAY(1), 0));
    assert_int_not_equal(one, digest_of(DAY_TICKS - 10, SPAN_DAY(1), DAY_TICKS + 30));
    assert_int_not_equal(one, digest_of(DAY_TICKS - 10, SPAN_MIN(10), 0));
}

/* Without history before the start the loop is cold, and a cold loop plans nothing. */
static void history_makes_it_warm(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct policy *p = policy();
        struct replay *r = replay_new(p);
        story(r, DAY_TICKS + 100, DAY_TICKS + 1, DAY_TICKS + 62, 0, 0);
        run(r, DAY_TICKS - 100, cold ? (struct span){0} : SPAN_DAY(1));
        assert_int_equal(1, r->services[0].incident_n);
        assert_int_equal(cold ? 0 : 1, r->services[0].plan_n);
        assert_true(!cold == !r->services[0].held[REASON_WARMING]);
        replay_free(r);
        config_free(p);
    }
}

/* Unknown is not false and not true: with the queue unknown the rule is unknown (until the baseline, which nothing freezes, has
 * met the latency), and nothing opens. */
static void a_hole_is_not_a_value(void **state)
{
    (void)state;
    struct policy *p = policy();
    struct replay *r = replay_new(p);
    story(r, DAY_TICKS + 100, DAY_TICKS + 1, DAY_TICKS + 62, DAY_TICKS - 5, DAY_TICKS + 100);
    run(r, 0, SPAN_DAY(1));
    assert_int_equal(0, r->services[0].incident_n);
    assert_true(r->services[0].reasons[REASON_SYMPTOM_UNKNOWN] >= 2);
    replay_free(r);
    config_free(p);
}

static void knobs_change_and_releases_count(void **state)
{
    (void)state;
    struct err e;
    struct policy *p = policy();
    struct replay *r = replay_new(p);
    story(r, DAY_TICKS + 100, DAY_TICKS + 1, DAY_TICKS + 62, 0, 0);
    assert_int_equal(STATUS_OK, replay_knob(r, 0, 0, (struct wall){START}, 16, REPLAY_RECORDED, &e));
    assert_int_equal(STATUS_OK, replay_knob(r, 0, 0, (struct wall){START + TICK}, 16, REPLAY_RECORDED, &e));
    assert_int_equal(STATUS_OK, replay_knob(r, 0, 0, (struct wall){START + 100 * TICK}, 32, REPLAY_RECORDED, &e));
    assert_int_equal(STATUS_OK, replay_release(r, 0, (struct wall){START + (DAY_TICKS - 5) * TICK}, "v2", &e));
    assert_int_equal(2, r->services[0].knobs[0].n);
    run(r, 0, SPAN_DAY(1));
    const struct replay_service *s = &r->services[0];
    unsigned external = 0, releases = 0;
    for (size_t i = 0; i < s->other_n; i++) {
        external += s->others[i]->kind == RECORD_EXTERNAL;
        releases += s->others[i]->kind == RECORD_RELEASE;
    }
    assert_int_equal(1, external);       /* somebody turned the knob: frozen for a day, nothing is planned */
    assert_int_equal(1, releases);
    assert_int_equal(0, s->plan_n);
    assert_true(s->held[REASON_RELEASE] > 0);
    replay_free(r);
    config_free(p);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct err e;
    struct wall first, last;
    struct policy *p = policy();
    struct replay *r = replay_new(p);
    assert_false(replay_bounds(r, &first, &last));
    point(r, P99, 5, 38);
    assert_int_equal(STATUS_INVALID, replay_point(r, 0, P99, (struct wall){START + 5 * TICK}, 38, &e));
    assert_int_equal(STATUS_INVALID, replay_knob(r, 0, 0, (struct wall){START}, NAN, REPLAY_GIVEN, &e));
    struct wall start = {START}, after = {START + 6 * TICK}, end = {START + 9 * TICK};
    assert_int_equal(STATUS_INVALID, replay_run(r, after, end, SPAN_DAY(1), &e));
    assert_int_equal(STATUS_INVALID, replay_run(r, start, start, SPAN_DAY(1), &e));
    replay_free(r);
    replay_free(NULL);
    config_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_and_what_came_next), cmocka_unit_test(one_history_one_digest),
        cmocka_unit_test(history_makes_it_warm),     cmocka_unit_test(a_hole_is_not_a_value),
        cmocka_unit_test(knobs_change_and_releases_count), cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
