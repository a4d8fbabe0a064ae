/* Several symptoms in one service, drifts, and what is not blindness: transcripts under a virtual clock. */
#include "support/test.h"

#include "loop/test_bench.h"

static bool fault, curable, slow_fault;
static double cured_p99, cured_queue;
static double gpu;
static unsigned wobble;

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    bool cured = curable && b->target.value[B_BATCH] >= 64;
    bool bad = (fault || slow_fault) && !cured;
    b->signal[B_P99] = (bad ? 46.8 : fault && cured ? cured_p99 : 38) + n;
    b->signal[B_QUEUE] = (bad && fault ? 320 : bad ? 120 : fault && cured ? cured_queue : 90) + 4 * n;
    b->signal[B_GPU] = bad ? 0.78 : gpu;
}

static struct bench *start(enum mode mode, void (*setup)(struct bench *b))
{
    bench_setup = setup;
    struct bench *b = bench_new(mode);
    bench_setup = NULL;
    fault = slow_fault = false;
    curable = true;
    cured_p99 = 38;
    cured_queue = 90;
    gpu = 0.65;
    wobble = 0;
    b->on_tick = plant;
    bench_start(b);
    return b;
}

static void run_to(struct bench *b, enum state state, unsigned minutes)
{
    for (unsigned i = 0; i < 2 * minutes && bench_state(b) != state; i++) bench_run(b, SPAN_S(30));
    if (bench_state(b) != state) fail_msg("never %s, is %s", state_name(state), state_name(bench_state(b)));
}

static void add_symptom(struct bench *b, const char *name, const char *when, bool request_layer, int severity)
{
    b->symptoms[b->service.symptom_count++] = (struct symptom_def){.name = name, .request_layer = request_layer,
        .slo = severity == 0, .severity = severity, .judge_signal = B_P99, .when = bench_rule(b, when)};
}

static void creep_only(struct bench *b)
{
    b->service.symptom_count = 0;
    add_symptom(b, "latency-creep", "drift(latency_p99) > 15% and drift(queue_depth) > 10%", true, 1);
}

/* loop.md section 1: a window of ten minutes cannot move a median of 24 h, so verdict and close use the ratio over the window. */
static void test_a_cured_drift_closes_at_the_verdict_and_does_not_come_back(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, creep_only);
    bench_run(b, SPAN_HOUR(24 * 9));
    assert_string_equal(bench_story(b), "WARM");
    slow_fault = true;
    run_to(b, STATE_OPEN, 24 * 60);
    run_to(b, STATE_WATCHING, 60);
    assert_string_equal(bench_story(b), "INCIDENT INTENT APPLIED VERDICT CLOSED");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_VERDICT), "effective");
    bench_run(b, SPAN_HOUR(48));
    assert_string_equal(bench_story(b), "");
    assert_int_equal(b->target.writes, 1);
    bench_free(b);
}

static void test_a_drift_that_a_person_mends_closes_within_the_hour(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, creep_only);
    bench_run(b, SPAN_HOUR(24 * 9));
    slow_fault = true;
    run_to(b, STATE_OPEN, 24 * 60);
    bench_run(b, SPAN_HOUR(1));
    slow_fault = false;
    (void)bench_story(b);
    bench_run(b, SPAN_MIN(30));
    assert_string_equal(bench_story(b), "HANDOVER CLOSED");
    bench_run(b, SPAN_HOUR(48));
    assert_string_equal(bench_story(b), "");
    bench_free(b);
}

/* Seven days long a drift has no anchor: that is no reason to say that the scrape is broken. */
static void test_a_view_that_is_not_warm_is_not_blindness(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, creep_only);
    bench_run(b, SPAN_HOUR(3));
    assert_null(strstr(buf_text(&b->notices), "blind"));
    bench_free(b);
}

static void creep_too(struct bench *b)
{
    add_symptom(b, "latency-creep", "drift(latency_p99) > 15% and drift(queue_depth) > 10%", true, 1);
    add_symptom(b, "gpu-busy", "gpu_util > 0.9", false, 2);
    add_symptom(b, "slo", "latency_p99 > 80 ms", true, 0);
}

/* What users feel is not measured: that the memory is fine is no comfort. */
static void test_a_latency_that_is_not_measured_is(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, creep_too);
    bench_run(b, SPAN_HOUR(3));
    assert_null(strstr(buf_text(&b->notices), "blind"));
    b->signal[B_P99] = NAN;
    b->on_tick = NULL;
    bench_run(b, SPAN_MIN(20));
    assert_non_null(strstr(buf_text(&b->notices), "blind"));
    bench_free(b);
}

static void idle_plant(struct bench *b)
{
    b->signal[B_P99] = NAN;
    b->signal[B_RATE] = 0;
}

/* Nobody asks at night: no latency, and nothing is wrong with the scrape. */
static void test_idle_is_not_blindness(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, NULL);
    bench_run(b, SPAN_HOUR(3));
    b->on_tick = idle_plant;
    bench_run(b, SPAN_MIN(40));
    assert_null(strstr(buf_text(&b->notices), "blind"));
    bench_free(b);
}

static void with_busy_gpu(struct bench *b) { add_symptom(b, "gpu-busy", "gpu_util > 0.6", false, 2); }

static void test_an_open_resource_incident_does_not_hide_what_users_feel(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, with_busy_gpu);
    bench_run(b, SPAN_HOUR(25));
    assert_string_equal(bench_story(b), "WARM INCIDENT");
    assert_string_equal(record_get_text(bench_last(b, RECORD_INCIDENT), RF_SYMPTOM), "gpu-busy");
    fault = true;
    bench_run(b, SPAN_MIN(2));
    assert_string_equal(bench_story(b), "INCIDENT");
    const struct record *r = bench_last(b, RECORD_INCIDENT);
    assert_string_equal(record_get_text(r, RF_SYMPTOM), "latency-degraded");
    assert_int_equal(record_get_u64(r, RF_INCIDENT, 0), 1);      /* updated in place */
    assert_non_null(strstr(record_get_text(r, RF_CAUSES), "compute-bound chosen"));
    bench_run(b, SPAN_MIN(2));
    assert_string_equal(bench_story(b), "");                     /* evidence counts from the onset of this symptom */
    bench_run(b, SPAN_MIN(8));
    assert_string_equal(bench_story(b), "INTENT APPLIED");
    bench_free(b);
}

static void with_objective(struct bench *b) { add_symptom(b, "slo", "latency_p99 > 46 ms", true, 0); }

/* The objective is met again, the other symptom is not: the incident goes on, about that one. */
static void test_a_lesser_symptom_goes_on_when_the_most_severe_clears(void **state)
{
    (void)state;
    struct bench *b = start(MODE_CONFIRM, with_objective);
    bench_run(b, SPAN_HOUR(25));
    (void)bench_story(b);
    fault = true;
    bench_run(b, SPAN_MIN(3));
    assert_string_equal(record_get_text(bench_last(b, RECORD_INCIDENT), RF_SYMPTOM), "slo");
    b->on_tick = NULL;
    b->signal[B_P99] = 45;
    bench_run(b, SPAN_MIN(8));
    assert_string_equal(record_get_text(bench_last(b, RECORD_INCIDENT), RF_SYMPTOM), "latency-degraded");
    run_to(b, STATE_AWAITING, 10);
    bench_free(b);
}

/* Halted there is no incident, but what is wrong must not become normal. */
static void late_without_a_queue(struct bench *b)
{
    add_symptom(b, "latency-jump", "latency_p99 > 1.05 * baseline(latency_p99) and zscore(latency_p99) > 2", true, 1);
}

/* Closed as recovered, the 41 ms that are left would become the new normal. */
static void test_a_change_that_leaves_something_has_helped_in_part(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, late_without_a_queue);
    bench_run(b, SPAN_HOUR(25));
    cured_p99 = 41;
    fault = true;
    bench_run(b, SPAN_MIN(25));
    const struct record *v = bench_last(b, RECORD_VERDICT);
    assert_non_null(v);
    assert_string_equal(record_get_text(v, RF_VERDICT), "partial");
    assert_string_equal(record_get_text(v, RF_OUTCOME), "keep");
    assert_null(bench_last(b, RECORD_CLOSED));
    bench_free(b);
}

static void objective(struct bench *b)
{
    add_symptom(b, "slo", "latency_p99 > 44 ms", true, 0);
    for (unsigned i = 0; i < b->service.cause_count; i++) b->causes[i].symptom = NO_INDEX;
}

/* The objective drives and names no queue: how much is too much another symptom says, not the last hour alone. */
static void test_a_queue_somewhat_over_the_usual_undoes_no_cure(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, objective);
    bench_run(b, SPAN_HOUR(25));
    cured_queue = 100;
    fault = true;
    bench_run(b, SPAN_MIN(30));
    const struct record *v = bench_last(b, RECORD_VERDICT);
    assert_non_null(v);
    assert_string_equal(record_get_text(v, RF_VERDICT), "effective");
    assert_near(b->target.value[B_BATCH], 64, 0);
    bench_free(b);
}

static void test_a_halted_service_does_not_learn_a_fault(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, NULL);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bench_run(b, SPAN_HOUR(25));
    bench_command(b, COMMAND_HALT, NULL);
    fault = true;
    bench_run(b, SPAN_MIN(60));
    loop_view(b->loop, 0, &a, &v);
    assert_near(v.signals[B_P99].baseline, 38, 0.5);
    fault = false;
    bench_run(b, SPAN_MIN(10));
    b->on_tick = NULL;
    b->signal[B_P99] = 40;
    bench_run(b, SPAN_MIN(30));
    loop_view(b->loop, 0, &a, &v);
    assert_near(v.signals[B_P99].baseline, 40, 0.5);   /* and learns again when it is over */
    arena_free(&a);
    bench_free(b);
}

/* The freeze has a bound of two hours; a close after that is no recovery. */
static void test_what_the_baseline_came_to_meet_is_called_absorbed(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, NULL);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    curable = false;
    bench_run(b, SPAN_MIN(110));
    assert_null(bench_last(b, RECORD_CLOSED));
    bench_run(b, SPAN_MIN(60));
    assert_non_null(bench_last(b, RECORD_CLOSED));
    assert_string_equal(record_get_text(bench_last(b, RECORD_CLOSED), RF_OUTCOME), "absorbed");
    bench_free(b);
}

static void test_what_ended_by_itself_is_called_recovered(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, NULL);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    bench_run(b, SPAN_MIN(4));
    fault = false;
    bench_run(b, SPAN_MIN(10));
    assert_string_equal(record_get_text(bench_last(b, RECORD_CLOSED), RF_OUTCOME), "recovered");
    bench_free(b);
}

/* spec section 5: each decision record names the last change: what, who, when. */
static void test_a_decision_names_the_last_change(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, NULL);
    bench_run(b, SPAN_HOUR(25));
    b->target.value[B_REPLICAS] = 3;
    bench_run(b, SPAN_MIN(1));
    fault = true;
    run_to(b, STATE_SETTLING, 20);
    const struct record *r = bench_last(b, RECORD_INTENT);
    assert_non_null(strstr(record_get_text(r, RF_LAST_CHANGE), "replicas to 3 by somebody else at 2026-05-13T01:00:30"));
    bench_run(b, SPAN_MIN(15));
    r = bench_last(b, RECORD_VERDICT);
    assert_non_null(strstr(record_get_text(r, RF_LAST_CHANGE), "batch_max 32 -> 64 by auto at 2026-05-13T01:0"));
    bench_free(b);
}

/* loop.md section 5: per view learned, needed, and when it wakes. */
static void test_each_view_tells_when_it_wakes(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, NULL);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bench_run(b, SPAN_MIN(20));
    loop_view(b->loop, 0, &a, &v);
    assert_false(v.views[WARM_SHIFT].awake);
    assert_int_equal(v.views[WARM_SHIFT].learned.us, 41 * 30 * US_PER_S);
    assert_int_equal(v.views[WARM_SHIFT].wakes.us - v.wall.us, 19 * 30 * US_PER_S);
    bench_run(b, SPAN_HOUR(3));
    loop_view(b->loop, 0, &a, &v);
    assert_true(v.views[WARM_SHIFT].awake && v.views[WARM_SPIKE].awake);
    assert_int_equal(v.views[WARM_SHIFT].wakes.us, WALL_NONE.us);
    assert_false(v.views[WARM_AUTO].awake || v.views[WARM_DRIFT].awake || v.views[WARM_WEEK].awake);
    assert_int_equal(v.views[WARM_WEEK].needed.us, 8 * US_PER_DAY);
    assert_false(v.imported);
    arena_free(&a);
    bench_free(b);
}

static void release(struct bench *b)
{
    struct event e = {.kind = EVENT_RELEASE, .u.release = {.version = "v2", .by = "ci"}};
    bench_event(b, &e);
}

/* loop.md section 1: a release judged good is an anchor event; one that is still watched, or was found bad, is none. */
static void test_a_good_release_moves_the_anchor(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, creep_only);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bench_run(b, SPAN_HOUR(24 * 9));
    b->on_tick = NULL;
    b->signal[B_P99] = 42;
    release(b);
    bench_run(b, SPAN_MIN(20));
    loop_view(b->loop, 0, &a, &v);
    assert_near(v.signals[B_P99].profile, 38, 0.5);
    bench_run(b, SPAN_MIN(12));
    loop_view(b->loop, 0, &a, &v);
    assert_near(v.signals[B_P99].profile, 42, 0.5);
    assert_near(v.signals[B_P99].origin, 38, 0.5);      /* the first one is shown for ever */
    arena_free(&a);
    bench_free(b);
}

static void test_a_bad_release_does_not(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, NULL);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bench_run(b, SPAN_HOUR(24 * 9));
    release(b);
    fault = true;
    bench_run(b, SPAN_MIN(40));
    loop_view(b->loop, 0, &a, &v);
    assert_near(v.signals[B_P99].profile, 38, 0.5);
    arena_free(&a);
    bench_free(b);
}

static void with_ages(struct bench *b)
{
    b->causes[2].when = bench_rule(b, "gpu_util > 0.7 and age(config) > 10m");
    b->causes[1].when = bench_rule(b, "age(replica) < 10m");
}

static void test_the_age_of_the_configuration_is_that_of_the_last_change(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, with_ages);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bench_run(b, SPAN_HOUR(25));
    b->target.value[B_REPLICAS] = 3;
    bench_run(b, SPAN_MIN(1));
    fault = true;
    bench_run(b, SPAN_MIN(4));
    loop_view(b->loop, 0, &a, &v);
    for (unsigned i = 0; i < v.cause_count; i++) {
        const struct cause_result *r = &v.causes[i].result;
        if (r->cause == 2) assert_int_equal(r->when, TRI_FALSE);
        if (r->cause == 1) assert_int_equal(r->when, TRI_UNKNOWN);   /* no instance says when it began */
    }
    arena_free(&a);
    bench_free(b);
}

/* A cache is judged once it has filled: while the hit ratio climbs the window waits. */
static bool filling;
static void cache_plant(struct bench *b)
{
    plant(b);
    if (b->target.value[B_BATCH] >= 64 && filling) b->signal[B_FETCH] += 0.01;
}

static void with_cache(struct bench *b)
{
    b->knobs[B_BATCH].class = CLASS_CACHE;
    b->signals[B_FETCH].name = "cache_hit";
    b->signals[B_FETCH].unit = UNIT_RATIO;
    b->causes[0].when = bench_rule(b, "cache_hit > 10");
    b->causes[0].share_signal = NO_INDEX;
}

static void test_the_window_waits_until_the_cache_has_filled(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, with_cache);
    b->on_tick = cache_plant;
    b->signal[B_FETCH] = 0.1;
    bench_run(b, SPAN_HOUR(25));
    fault = filling = true;
    run_to(b, STATE_SETTLING, 20);
    bench_run(b, SPAN_MIN(15));
    assert_int_equal(bench_state(b), STATE_SETTLING);
    filling = false;
    bench_run(b, SPAN_MIN(7));
    assert_int_equal(bench_state(b), STATE_OBSERVING);
    run_to(b, STATE_WATCHING, 20);
    bench_free(b);
}

static void test_a_cache_that_never_levels_off_is_inconclusive(void **state)
{
    (void)state;
    struct bench *b = start(MODE_AUTO, with_cache);
    b->on_tick = cache_plant;
    b->signal[B_FETCH] = 0.1;
    bench_run(b, SPAN_HOUR(25));
    fault = filling = true;
    run_to(b, STATE_OBSERVING, 60);
    bench_run(b, SPAN_MIN(21));
    const struct record *r = bench_last(b, RECORD_VERDICT);
    assert_non_null(r);
    assert_string_equal(record_get_text(r, RF_VERDICT), "inconclusive");
    assert_non_null(strstr(record_get_text(r, RF_NOTE), "the cache was still filling"));
    bench_free(b);
}

static void two_of_one_kind(struct bench *b)
{
    add_symptom(b, "latency-high", "latency_p99 > 1.15 * baseline(latency_p99)", true, 1);
}

/* The symptom that has opened the incident goes on driving it, although another one, not more severe, stands before it. */
static void test_another_symptom_does_not_take_the_incident_over(void **state)
{
    (void)state;
    struct bench *b = start(MODE_ALERT, two_of_one_kind);
    bench_run(b, SPAN_HOUR(25));
    slow_fault = true;                         /* late, but no queue: only the second one sees it */
    run_to(b, STATE_OPEN, 10);
    assert_int_equal(loop_control(b->loop, 0)->symptom, 1);
    fault = true;
    bench_run(b, SPAN_MIN(10));
    assert_int_equal(loop_control(b->loop, 0)->symptom, 1);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_symptom_does_not_take_the_incident_over),
        cmocka_unit_test(test_a_cured_drift_closes_at_the_verdict_and_does_not_come_back),
        cmocka_unit_test(test_a_drift_that_a_person_mends_closes_within_the_hour),
        cmocka_unit_test(test_a_view_that_is_not_warm_is_not_blindness),
        cmocka_unit_test(test_a_latency_that_is_not_measured_is),
        cmocka_unit_test(test_idle_is_not_blindness),
        cmocka_unit_test(test_an_open_resource_incident_does_not_hide_what_users_feel),
        cmocka_unit_test(test_a_lesser_symptom_goes_on_when_the_most_severe_clears),
        cmocka_unit_test(test_a_change_that_leaves_something_has_helped_in_part),
        cmocka_unit_test(test_a_queue_somewhat_over_the_usual_undoes_no_cure),
        cmocka_unit_test(test_a_halted_service_does_not_learn_a_fault),
        cmocka_unit_test(test_what_the_baseline_came_to_meet_is_called_absorbed),
        cmocka_unit_test(test_what_ended_by_itself_is_called_recovered),
        cmocka_unit_test(test_a_good_release_moves_the_anchor),
        cmocka_unit_test(test_a_bad_release_does_not),
        cmocka_unit_test(test_the_age_of_the_configuration_is_that_of_the_last_change),
        cmocka_unit_test(test_the_window_waits_until_the_cache_has_filled),
        cmocka_unit_test(test_a_cache_that_never_levels_off_is_inconclusive),
        cmocka_unit_test(test_each_view_tells_when_it_wakes),
        cmocka_unit_test(test_a_decision_names_the_last_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
