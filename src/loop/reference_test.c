/* R1 of loop.md section 7, scripted, exact: 24 h of a healthy service, then p99 46.8, queue 320, GPU .78. */
#include "support/test.h"

#include "loop/test_bench.h"

static void bad(struct bench *b, double gpu)
{
    b->signal[B_P99] = 46.8;
    b->signal[B_QUEUE] = 320;
    b->signal[B_GPU] = gpu;
}

static struct bench *warm(enum mode mode)
{
    struct bench *b = bench_new(mode);
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    assert_string_equal(bench_story(b), "WARM");
    assert_int_equal(bench_state(b), STATE_WATCHING);
    return b;
}

static void view(struct bench *b, struct arena *a, struct service_view *v) { loop_view(b->loop, 0, a, v); }

static void test_plans_from_the_second_bad_tick_and_writes_when_there_is_evidence(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    struct arena a = ARENA_INIT;
    struct service_view v;
    bad(b, 0.78);
    bench_run(b, SPAN_S(30));
    assert_int_equal(bench_state(b), STATE_SUSPECT);
    bench_run(b, SPAN_S(30));
    assert_string_equal(bench_story(b), "INCIDENT");
    bench_run(b, SPAN_S(30));
    view(b, &a, &v);
    assert_int_equal(v.decision.kind, DECISION_NOOP);
    assert_string_equal(reason_code(v.decision.reason), "evidence-before");
    assert_true(v.decision.has_plan);
    assert_memory_equal(v.decision.plan.from.bytes, "32", 2);
    assert_memory_equal(v.decision.plan.to.bytes, "64", 2);
    assert_int_equal(b->target.writes, 0);
    bench_run(b, SPAN_MIN(6));
    assert_string_equal(bench_story(b), "INTENT APPLIED");
    assert_int_equal(b->target.writes, 1);
    assert_near(b->target.value[B_BATCH], 64, 0);
    const struct record *r = bench_last(b, RECORD_INTENT);
    assert_string_equal(record_get_text(r, RF_FROM), "32");
    assert_string_equal(record_get_text(r, RF_TO), "64");
    assert_string_equal(record_get_text(r, RF_CAUSE), "compute-bound");
    arena_free(&a);
    bench_free(b);
}

static void test_gpu_60_is_told_to_a_person_and_nothing_is_written(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    bad(b, 0.60);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "INCIDENT HANDOVER");
    assert_string_equal(record_get_text(bench_last(b, RECORD_HANDOVER), RF_REASON), "no-cause");
    assert_int_equal(b->target.writes, 0);
    assert_int_equal(bench_state(b), STATE_PERSON);
    bench_free(b);
}

/* "No cause true (5 min)", counted from when there last was one: a signal that is lost for a moment, long after the incident
 * opened, does not hand over what was about to be done. */
static void test_a_cause_that_is_lost_for_minutes_is_waited_for(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    bad(b, 0.78);
    bench_run(b, SPAN_MIN(3));
    bad(b, NAN);
    bench_run(b, SPAN_MIN(5));                       /* stale after 90 s, and 8 min after the incident opened */
    assert_string_equal(bench_story(b), "INCIDENT");
    assert_int_equal(bench_state(b), STATE_OPEN);
    bad(b, 0.78);
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "INTENT APPLIED");
    bench_free(b);
    b = warm(MODE_AUTO);
    bad(b, 0.78);
    bench_run(b, SPAN_MIN(3));
    bad(b, NAN);
    bench_run(b, SPAN_MIN(8));
    assert_string_equal(bench_story(b), "INCIDENT HANDOVER");
    assert_string_equal(record_get_text(bench_last(b, RECORD_HANDOVER), RF_REASON), "no-cause");
    bench_free(b);
}

static void test_gpu_45_adds_a_replica(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    bad(b, 0.45);
    bench_run(b, SPAN_MIN(8));
    assert_string_equal(bench_story(b), "INCIDENT INTENT APPLIED");
    assert_near(b->target.value[B_REPLICAS], 3, 0);
    assert_near(b->target.value[B_BATCH], 32, 0);
    bench_free(b);
}

static void test_mode_alert_only_says_what_it_would_have_done(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_ALERT);
    bad(b, 0.78);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "INCIDENT WOULD");
    bench_run(b, SPAN_MIN(30));                     /* the shadow ledger: after its gap the next candidate, each plan once */
    assert_string_equal(bench_story(b), "WOULD");
    assert_string_equal(record_get_text(bench_last(b, RECORD_WOULD), RF_KNOB), "replicas");
    assert_int_equal(b->target.writes, 0);
    bench_free(b);
}

static void test_a_healthy_day_does_nothing(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    bench_run(b, SPAN_HOUR(24));
    assert_string_equal(bench_story(b), "");
    assert_int_equal(b->target.writes, 0);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_from_the_second_bad_tick_and_writes_when_there_is_evidence),
        cmocka_unit_test(test_gpu_60_is_told_to_a_person_and_nothing_is_written),
        cmocka_unit_test(test_a_cause_that_is_lost_for_minutes_is_waited_for),
        cmocka_unit_test(test_gpu_45_adds_a_replica),
        cmocka_unit_test(test_mode_alert_only_says_what_it_would_have_done),
        cmocka_unit_test(test_a_healthy_day_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
