/* Which candidate is taken, and how a pass ends when none is. */
#include "support/test.h"

#include "decide/test_world.h"

static struct instant in(struct world *w, struct span d) { return instant_add(w->st.now, d); }

/* compute-bound with both its candidates. */
static struct world *both(void)
{
    struct world *w = world_new();
    w->causes[COMPUTE].try_count = 2;
    return w;
}

static void test_a_shut_candidate_is_recorded_and_the_next_tried(void **state)
{
    (void)state;
    struct world *w = both();
    w->st.knobs[BATCH].interval_until = in(w, SPAN_HOUR(1));
    w->st.knobs[BATCH].cool_until = in(w, SPAN_HOUR(3));
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, REPLICAS, "2", "3");
    assert_int_equal(world_gate(&w->d, REASON_COOLING)->knob, BATCH);
    assert_true(world_gate(&w->d, REASON_COOLING)->shut);
    assert_int_equal(w->d.gate_count, 14 + 2 + 12 + 6 + 1);   /* of batch only the two that are shut */
    world_free(w);
}

static void test_the_next_cause_is_walked_when_the_first_is_spent(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_FALSE, TRI_TRUE, TRI_FALSE, TRI_TRUE);
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, CACHE, "256", "512");
    excluded_add(&w->excluded, CACHE_SMALL, CACHE, DIR_UP);
    w->list.items[CACHE_SMALL].verdict = CAUSE_EXCLUDED;
    w->list.items[CACHE_SMALL].all_tried = true;
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, BATCH, "32", "64");
    assert_int_equal(w->d.plan.cause, COMPUTE);
    world_free(w);
}

static void test_a_cause_that_locate_rules_out_is_not_tried(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_TRUE, TRI_FALSE, TRI_FALSE, TRI_TRUE);   /* stands for a release: advice, the knobs ruled out */
    w->list.items[COMPUTE].verdict = CAUSE_EXCLUDED;
    w->list.items[COMPUTE].all_tried = true;
    struct cause_result advice = w->list.items[UPSTREAM];
    expect_end(w, DECISION_ALERT, REASON_ADVICE_ONLY);
    w->list.items[UPSTREAM] = w->list.items[COMPUTE];            /* also when it ranks first */
    w->list.items[COMPUTE] = advice;
    expect_end(w, DECISION_ALERT, REASON_ADVICE_ONLY);
    assert_true(world_gate(&w->d, REASON_EXCLUDED)->shut);
    world_free(w);
}

static void test_advice_only_goes_to_a_person_even_with_knobs_below(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_TRUE, TRI_FALSE, TRI_FALSE, TRI_TRUE);
    expect_end(w, DECISION_ALERT, REASON_ADVICE_ONLY);
    assert_false(w->d.has_plan);
    assert_int_equal(w->d.advice_cause, UPSTREAM);
    world_free(w);
}

static void test_no_cause_waits_five_minutes(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_FALSE, TRI_FALSE, TRI_FALSE, TRI_FALSE);
    w->st.cause_age = (struct span){SPAN_MIN(5).us - 1};
    expect_end(w, DECISION_NOOP, REASON_CAUSE_PENDING);
    w->st.cause_age = SPAN_MIN(5);
    expect_end(w, DECISION_ALERT, REASON_NO_CAUSE);
    assert_int_equal(w->d.advice_cause, NO_INDEX);
    w->list.n = 0;
    expect_end(w, DECISION_ALERT, REASON_NO_CAUSE);
    world_free(w);
}

static void test_an_unknown_cause_above_the_best_blocks_it(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_UNKNOWN, TRI_FALSE, TRI_FALSE, TRI_TRUE);
    w->st.cause_age = SPAN_MIN(4);
    expect_end(w, DECISION_NOOP, REASON_CAUSE_PENDING);
    assert_int_equal(w->d.advice_cause, UPSTREAM);
    w->st.cause_age = SPAN_MIN(5);
    expect_end(w, DECISION_ALERT, REASON_CANNOT_RULE_OUT);
    assert_int_equal(w->d.advice_cause, UPSTREAM);
    assert_false(w->d.has_plan);
    world_causes(w, TRI_FALSE, TRI_FALSE, TRI_TRUE, TRI_UNKNOWN);   /* below the best: it may stay unknown */
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, REPLICAS, "2", "3");
    world_free(w);
}

static void test_an_unknown_cause_between_blocks_what_stands_below(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_FALSE, TRI_TRUE, TRI_UNKNOWN, TRI_TRUE);
    excluded_add(&w->excluded, CACHE_SMALL, CACHE, DIR_UP);   /* not yet told by locate */
    expect_end(w, DECISION_ALERT, REASON_CANNOT_RULE_OUT);
    assert_int_equal(w->d.advice_cause, HOST);
    w->st.cause_age = SPAN_MIN(1);
    expect_end(w, DECISION_NOOP, REASON_CAUSE_PENDING);
    world_causes(w, TRI_FALSE, TRI_TRUE, TRI_UNKNOWN, TRI_FALSE);
    w->st.cause_age = SPAN_MIN(6);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    world_free(w);
}

static void test_waiting_is_not_the_end_of_candidates(void **state)
{
    (void)state;
    struct world *w = both();
    excluded_add(&w->excluded, COMPUTE, BATCH, DIR_UP);
    w->st.knobs[REPLICAS].protect_until = in(w, SPAN_HOUR(20));
    expect_end(w, DECISION_NOOP, REASON_PROTECTED);
    w->st.knobs[REPLICAS].uniform = false;                     /* with the wait there is time for data, too */
    expect_end(w, DECISION_NOOP, REASON_PROTECTED);
    w->st.knobs[REPLICAS].owned_by_other = true;               /* only a person can end this */
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    world_free(w);
}

static void test_a_request_that_expired_is_skipped_for_its_hour(void **state)
{
    (void)state;
    struct world *w = both();
    w->st.knobs[BATCH].skip_until = in(w, SPAN_HOUR(1));
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, REPLICAS, "2", "3");
    excluded_add(&w->excluded, COMPUTE, REPLICAS, DIR_UP);
    expect_end(w, DECISION_NOOP, REASON_EXCLUDED);
    assert_string_equal(world_gate(&w->d, REASON_EXCLUDED)->note, "until 04:10 UTC");
    world_free(w);
}

static void test_everything_tried_is_no_candidate_and_advice_in_reach_is_named(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->causes[COMPUTE].tries[1] = (struct candidate_def){.knob = NO_INDEX, .advice = "look at the batcher"};
    w->causes[COMPUTE].try_count = 2;
    excluded_add(&w->excluded, COMPUTE, BATCH, DIR_UP);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    assert_int_equal(w->d.advice_cause, COMPUTE);
    w->list.items[COMPUTE].all_tried = true;
    w->st.cause_age = SPAN_MIN(1);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);       /* nothing to wait for */
    assert_int_equal(w->d.advice_cause, COMPUTE);
    assert_true(world_gate(&w->d, REASON_EXCLUDED)->shut);
    w->list.items[HOST].when = TRI_UNKNOWN;
    w->list.items[HOST].verdict = CAUSE_UNKNOWN;
    expect_end(w, DECISION_NOOP, REASON_CAUSE_PENDING);       /* it may still come true */
    w->st.cause_age = SPAN_MIN(5);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    world_free(w);
}

static void test_a_knob_that_cannot_be_read_is_not_moved(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->st.knobs[BATCH].readable = false;
    w->st.cause_age = SPAN_MIN(1);
    expect_end(w, DECISION_NOOP, REASON_OWNED);
    w->st.cause_age = SPAN_MIN(5);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    w->st.knobs[BATCH].readable = true;
    w->st.knobs[BATCH].believed_same = false;
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    world_free(w);
}

static void test_many_shut_candidates_leave_room_for_the_one_taken(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_causes(w, TRI_FALSE, TRI_TRUE, TRI_TRUE, TRI_TRUE);
    for (int i = 0; i < POLICY_TRY_MAX; i++) {
        w->causes[CACHE_SMALL].tries[i] = (struct candidate_def){.knob = CACHE, .direction = DIR_UP};
        w->causes[HOST].tries[i] = (struct candidate_def){.knob = CACHE, .direction = DIR_UP};
    }
    w->causes[CACHE_SMALL].try_count = w->causes[HOST].try_count = POLICY_TRY_MAX;
    struct knob_standing *k = &w->st.knobs[CACHE];
    k->cool_until = k->protect_until = k->interval_until = k->class_suspended_until = in(w, SPAN_HOUR(1));
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, BATCH, "32", "64");
    assert_true(w->d.gate_count <= PLAN_GATES_MAX);
    assert_int_equal(w->d.gate_count + w->d.gates_left_out, 14 + 2 * POLICY_TRY_MAX * 4 + 19);
    assert_non_null(world_gate(&w->d, REASON_MODE_ALERT));
    world_free(w);
}

static void test_coupled_knobs_keep_their_side(void **state)
{
    (void)state;
    const struct { const char *other; bool ok; } cases[] = {{"128", true}, {"64", true}, {"48", false}, {"32", false},
                                                            {"16", true}, {"auto", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world *w = world_new();
        w->knobs[BATCH].coupled[0] = PREFERRED;
        world_value(w, PREFERRED, cases[i].other);
        assert_int_equal(world_pass(w)->kind == DECISION_TUNE, cases[i].ok);
        w->knobs[PREFERRED].unit = UNIT_MB;      /* not comparable */
        assert_int_not_equal(world_pass(w)->kind, DECISION_TUNE);
        world_free(w);
    }
}

static void test_plan_hash_is_bound_to_each_part(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_pass(w);
    struct plan base = w->d.plan, p = base;
    decide_plan_hash(&w->policy, &w->service, 7, &p);
    assert_memory_equal(p.hash, base.hash, 32);
    decide_plan_hash(&w->policy, &w->service, 8, &p);
    assert_memory_not_equal(p.hash, base.hash, 32);
    p = base;
    p.from.len = 1;                             /* "3" and "264" are not "32" and "64" */
    assert_true(knob_value_set(&p.to, "264", 3));
    decide_plan_hash(&w->policy, &w->service, 7, &p);
    assert_memory_not_equal(p.hash, base.hash, 32);
    p = base;
    p.cause = HOST;
    decide_plan_hash(&w->policy, &w->service, 7, &p);
    assert_memory_not_equal(p.hash, base.hash, 32);
    p = base;
    p.class = CLASS_CONCURRENCY;
    decide_plan_hash(&w->policy, &w->service, 7, &p);
    assert_memory_not_equal(p.hash, base.hash, 32);
    w->policy.revision[0] = 'b';
    p = base;
    decide_plan_hash(&w->policy, &w->service, 7, &p);
    assert_memory_not_equal(p.hash, base.hash, 32);
    world_free(w);
}

/* The bytes as decide.h tells them, hashed by another program (Python's hashlib). */
static void test_plan_hash_golden(void **state)
{
    (void)state;
    struct world *w = world_new();
    world_pass(w);
    char hex[65];
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", w->d.plan.hash[i]);
    assert_string_equal(hex, "536ab5c3c2f93dd4d5d25899597b17fba4f00fdb258589717b2ea701fac56bce");
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shut_candidate_is_recorded_and_the_next_tried),
        cmocka_unit_test(test_the_next_cause_is_walked_when_the_first_is_spent),
        cmocka_unit_test(test_a_cause_that_locate_rules_out_is_not_tried),
        cmocka_unit_test(test_advice_only_goes_to_a_person_even_with_knobs_below),
        cmocka_unit_test(test_no_cause_waits_five_minutes),
        cmocka_unit_test(test_an_unknown_cause_above_the_best_blocks_it),
        cmocka_unit_test(test_an_unknown_cause_between_blocks_what_stands_below),
        cmocka_unit_test(test_waiting_is_not_the_end_of_candidates),
        cmocka_unit_test(test_a_request_that_expired_is_skipped_for_its_hour),
        cmocka_unit_test(test_everything_tried_is_no_candidate_and_advice_in_reach_is_named),
        cmocka_unit_test(test_a_knob_that_cannot_be_read_is_not_moved),
        cmocka_unit_test(test_many_shut_candidates_leave_room_for_the_one_taken),
        cmocka_unit_test(test_coupled_knobs_keep_their_side),
        cmocka_unit_test(test_plan_hash_is_bound_to_each_part),
        cmocka_unit_test(test_plan_hash_golden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
