/* R1 of the reference scenario (spec section 11), from the values and the written rules to the plan: p99 46.8 ms over a baseline
 * of 38.1, queue 320, fetch 6.2 ms, batch 32. GPU .78: batch 32 -> 64; .60: a person; .45: one replica more. */
#include "support/test.h"

#include "decide/test_world.h"

static const struct expr *degraded, *upstream, *cache, *host, *compute;

static struct world *reference(double gpu)
{
    struct world *w = world_new();
    degraded = world_rule(w, "latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250");
    upstream = world_rule(w, "feature_fetch_ms > 1.5 * baseline(feature_fetch_ms)");
    cache = world_rule(w, "feature_fetch_ms > 9 ms and batch_size < 1");
    host = world_rule(w, "gpu_util < 0.5");
    compute = world_rule(w, "gpu_util > 0.7");
    world_set(w, FN_VALUE, LATENCY, 46.8);
    world_set(w, FN_BASELINE, LATENCY, 38.1);
    world_set(w, FN_VALUE, QUEUE, 320);
    world_set(w, FN_VALUE, GPU, gpu);
    world_set(w, FN_VALUE, FETCH, 6.2);
    world_set(w, FN_BASELINE, FETCH, 6.0);
    double value = NAN, baseline = NAN;
    assert_true(expr_reference(degraded, &w->evidence, LATENCY, &value, &baseline));
    w->st.reference_margin = (value - baseline) / baseline;
    assert_near(w->st.reference_margin, 0.2283, 0.0001);   /* 8.7 / 38.1; against the limit of 43.8 it would be 6.8 % */
    return w;
}

static void rank(struct world *w)
{
    world_causes(w, expr_eval(upstream, &w->evidence), expr_eval(cache, &w->evidence), expr_eval(host, &w->evidence),
                 expr_eval(compute, &w->evidence));
}

static void test_gpu_78_plans_batch_64(void **state)
{
    (void)state;
    struct world *w = reference(0.78);
    assert_int_equal(expr_eval(degraded, &w->evidence), TRI_TRUE);
    rank(w);
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, BATCH, "32", "64");
    world_free(w);
}

/* At the second bad tick about a minute of the incident exists: planned, but not yet written. */
static void test_the_write_waits_for_evidence(void **state)
{
    (void)state;
    struct world *w = reference(0.78);
    rank(w);
    w->st.points_since_onset = 6;
    w->st.blocks_since_onset = 2;
    expect_end(w, DECISION_NOOP, REASON_EVIDENCE_BEFORE);
    expect_plan(w, BATCH, "32", "64");
    assert_string_equal(world_gate(&w->d, REASON_EVIDENCE_BEFORE)->note, "6 of 30 points, 2 of 8 blocks since the onset");
    w->st.knobs[BATCH].interval_until = INSTANT_NEVER;
    expect_end(w, DECISION_NOOP, REASON_EVIDENCE_BEFORE);
    assert_false(w->d.has_plan);             /* nothing waits that candidate gates forbid */
    world_free(w);
}

static void test_gpu_60_goes_to_a_person(void **state)
{
    (void)state;
    struct world *w = reference(0.60);
    rank(w);
    expect_end(w, DECISION_ALERT, REASON_NO_CAUSE);
    assert_false(w->d.has_plan);
    world_free(w);
}

static void test_gpu_45_adds_a_replica(void **state)
{
    (void)state;
    struct world *w = reference(0.45);
    rank(w);
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, REPLICAS, "2", "3");
    w->knobs[REPLICAS].tier = 2;             /* the default of its class */
    expect_end(w, DECISION_ASK, REASON_TIER_2);
    w->knobs[REPLICAS].budget = BUDGET_SHARED;
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    world_free(w);
}

static void test_a_stale_fetch_time_is_not_ruled_out(void **state)
{
    (void)state;
    struct world *w = reference(0.78);
    world_set(w, FN_VALUE, FETCH, NAN);
    rank(w);
    expect_end(w, DECISION_ALERT, REASON_CANNOT_RULE_OUT);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_78_plans_batch_64),
        cmocka_unit_test(test_the_write_waits_for_evidence),
        cmocka_unit_test(test_gpu_60_goes_to_a_person),
        cmocka_unit_test(test_gpu_45_adds_a_replica),
        cmocka_unit_test(test_a_stale_fetch_time_is_not_ruled_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
