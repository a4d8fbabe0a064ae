/* Each reason that can shut a gate has one case here: only that gate is shut. Its twin, everything open, plans batch_max 32 -> 64.
 * The cases are looked up from the table of reasons, so a new reason without a case fails. */
#include "support/test.h"

#include "decide/test_world.h"

static struct instant in(struct world *w, struct span d) { return instant_add(w->st.now, d); }

static void halted(struct world *w) { w->st.halted = true; }
static void not_leader(struct world *w) { w->st.leader = false; }
static void frozen(struct world *w) { w->st.frozen = true; }
static void recovering(struct world *w) { w->st.recovering = true; }
static void outage(struct world *w) { w->st.outage = true; }
static void warming(struct world *w) { w->st.warm = false, w->st.warm_left = SPAN_MIN(130); }
static void stale_judge(struct world *w) { w->st.judge_stale = true; }
static void no_user_impact(struct world *w) { w->st.request_symptom = TRI_UNKNOWN; }
static void release(struct world *w) { w->st.release_until = in(w, SPAN_MIN(20)); }
static void change_window(struct world *w)   /* Tuesday 04:00 to 05:00 UTC; it is 03:10 */
{
    w->service.window_count = 1;
    w->window = (struct window_def){.weekdays = 1 << 1, .from_min = 240, .to_min = 300};
}
static void in_flight(struct world *w) { w->st.late_watch = true; }
static void gap(struct world *w) { w->st.gap_until = in(w, SPAN_MIN(60)); }
static void evidence_before(struct world *w) { w->st.points_since_onset = 18, w->st.blocks_since_onset = 3; }
static void fleet(struct world *w) { w->st.fleet_in_flight = 1; }

static void excluded(struct world *w) { excluded_add(&w->excluded, COMPUTE, BATCH, DIR_UP); }
static void class_suspended(struct world *w) { w->st.knobs[BATCH].class_suspended_until = in(w, SPAN_HOUR(24)); }
static void unlisted(struct world *w) { w->knobs[BATCH].tier = 3; }
static void owned(struct world *w) { w->st.knobs[BATCH].frozen_until = INSTANT_NEVER; }
static void cooling(struct world *w) { w->st.knobs[BATCH].cool_until = in(w, SPAN_HOUR(24)); }
static void protected_(struct world *w) { w->st.knobs[BATCH].protect_until = in(w, SPAN_HOUR(2)); }
static void interval(struct world *w) { w->st.knobs[BATCH].interval_until = in(w, SPAN_HOUR(4)); }
static void at_bound(struct world *w)
{
    world_value(w, BATCH, "128");
    world_set(w, FN_VALUE, BATCH_SIZE, 125);
}
static void precondition(struct world *w) { world_set(w, FN_VALUE, BATCH_SIZE, 27); }   /* 0.85 x 32 = 27.2 */
static void coupled(struct world *w)
{
    w->knobs[BATCH].coupled[0] = PREFERRED;
    world_value(w, PREFERRED, "48");
}
static void not_uniform(struct world *w) { w->st.knobs[BATCH].uniform = false; }
static void dead_band(struct world *w) { w->st.reference_margin = 0.09; }

static void tier_2(struct world *w) { w->knobs[BATCH].tier = 2; }
static void mode_confirm(struct world *w) { w->service.class_mode[CLASS_BATCH] = MODE_CONFIRM; }
static void n_auto(struct world *w) { w->st.n_auto = 3; }
static void breaker(struct world *w) { w->st.breaker = true; }
static void restart_knob(struct world *w) { w->knobs[BATCH].apply = APPLY_RESTART; }   /* makes it tier 2 as well */
static void no_cas(struct world *w) { w->knobs[BATCH].cas = false; }
static void mode_alert(struct world *w) { w->service.class_mode[CLASS_BATCH] = MODE_ALERT; }

/* ends: what the pass ends with; note: part of the gate's note. */
static const struct gate_case {
    enum reason reason;
    void (*shut)(struct world *w);
    enum decision_kind kind;
    enum reason ends;
    const char *note;
} cases[] = {
#define SERVICE_CASE(id, f, note) {REASON_##id, f, DECISION_NOOP, REASON_##id, note}
#define WAITING_CASE(id, f, note) {REASON_##id, f, DECISION_NOOP, REASON_##id, note}
#define HANDOVER_CASE(id, f, note) {REASON_##id, f, DECISION_ALERT, REASON_NO_CANDIDATE, note}
#define PERSON_CASE(id, f, note) {REASON_##id, f, DECISION_ASK, REASON_##id, note}
    SERVICE_CASE(HALTED, halted, ""),
    SERVICE_CASE(NOT_LEADER, not_leader, ""),
    SERVICE_CASE(FROZEN, frozen, ""),
    SERVICE_CASE(RECOVERING, recovering, ""),
    SERVICE_CASE(OUTAGE, outage, ""),
    SERVICE_CASE(WARMING, warming, "2 h 10 min left"),
    SERVICE_CASE(STALE_JUDGE, stale_judge, "latency_p99"),
    SERVICE_CASE(NO_USER_IMPACT, no_user_impact, "unknown"),
    SERVICE_CASE(RELEASE, release, "until 03:30 UTC"),
    SERVICE_CASE(CHANGE_WINDOW, change_window, "until 04:00 UTC"),
    SERVICE_CASE(IN_FLIGHT, in_flight, "may still land"),
    SERVICE_CASE(GAP, gap, "until 04:10 UTC"),
    SERVICE_CASE(EVIDENCE_BEFORE, evidence_before, "18 of 30 points, 3 of 8 blocks since the onset"),
    SERVICE_CASE(FLEET, fleet, "1 of 1 in flight, 0 of 6 in the last hour"),
    HANDOVER_CASE(EXCLUDED, excluded, "in this incident"),
    WAITING_CASE(CLASS_SUSPENDED, class_suspended, "until 2026-05-13 03:10 UTC"),
    HANDOVER_CASE(UNLISTED, unlisted, "tier 3"),
    HANDOVER_CASE(OWNED, owned, "acknowledges"),
    WAITING_CASE(COOLING, cooling, "until 2026-05-13 03:10 UTC"),
    WAITING_CASE(PROTECTED, protected_, "until 05:10 UTC"),
    WAITING_CASE(INTERVAL, interval, "until 07:10 UTC"),
    HANDOVER_CASE(AT_BOUND, at_bound, "at 128 there is no rung further up within max 128"),
    HANDOVER_CASE(PRECONDITION, precondition, "batch_size 27 is not over 0.85 * 32"),
    HANDOVER_CASE(COUPLED, coupled, "coupled with preferred, which is 48"),
    HANDOVER_CASE(NOT_UNIFORM, not_uniform, ""),
    WAITING_CASE(DEAD_BAND, dead_band, ""),
    PERSON_CASE(TIER_2, tier_2, ""),
    PERSON_CASE(MODE_CONFIRM, mode_confirm, ""),
    PERSON_CASE(N_AUTO, n_auto, ""),
    PERSON_CASE(BREAKER, breaker, ""),
    {REASON_RESTART_KNOB, restart_knob, DECISION_ASK, REASON_TIER_2, ""},
    PERSON_CASE(NO_CAS, no_cas, ""),
    {REASON_MODE_ALERT, mode_alert, DECISION_ALERT, REASON_MODE_ALERT, ""},
};

static const struct gate_case *case_of(enum reason r)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (cases[i].reason == r) return &cases[i];
    return NULL;
}

static bool is_gate(enum reason r)
{
    enum reason_kind k = reason_kind(r);
    return r != REASON_NONE && (k == REASON_KIND_SERVICE || k == REASON_KIND_CANDIDATE || k == REASON_KIND_PERSON ||
                                k == REASON_KIND_LAST);
}

static void expect_only_shut(const struct decision *d, enum reason r)
{
    for (uint16_t i = 0; i < d->gate_count; i++) {
        bool also = r == REASON_RESTART_KNOB && d->gates[i].reason == REASON_TIER_2;
        if (d->gates[i].shut && d->gates[i].reason != r && !also)
            fail_msg("%s is shut too: %s", reason_code(d->gates[i].reason), d->gates[i].note);
    }
}

static void check_case(const struct gate_case *c)
{
    struct world *w = world_new();
    c->shut(w);
    expect_end(w, c->kind, c->ends);
    const struct gate_result *g = world_gate(&w->d, c->reason);
    assert_non_null(g);
    assert_true(g->shut);
    if (!strstr(g->note, c->note)) print_error("%s: \"%s\"\n", reason_code(c->reason), g->note);
    assert_non_null(strstr(g->note, c->note));
    expect_only_shut(&w->d, c->reason);
    enum reason_kind kind = reason_kind(c->reason);
    bool plan = kind != REASON_KIND_CANDIDATE;   /* behind a SERVICE gate it waits */
    assert_int_equal(w->d.has_plan, plan);
    if (plan) expect_plan(w, BATCH, "32", "64");
    if (kind == REASON_KIND_PERSON) assert_true(w->d.person_gates >> (c->reason - REASON_TIER_2) & 1);
    world_free(w);
}

static void test_each_gate_alone_shuts_the_way(void **state)
{
    (void)state;
    for (int r = 1; r < REASON_COUNT; r++) {
        if (!is_gate((enum reason)r)) continue;
        const struct gate_case *c = case_of((enum reason)r);
        if (!c) fail_msg("no case for the gate %s", reason_code((enum reason)r));
        check_case(c);
    }
}

static void test_with_all_gates_open_the_plan_comes_out(void **state)
{
    (void)state;
    struct world *w = world_new();
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    expect_plan(w, BATCH, "32", "64");
    assert_int_equal(w->d.plan.cause, COMPUTE);
    assert_int_equal(w->d.plan.class, CLASS_BATCH);
    assert_int_equal(w->d.person_gates, 0);
    int next = 0;   /* every gate of the table is there once, open, in the order of the table */
    for (int r = 1; r < REASON_COUNT; r++) {
        if (!is_gate((enum reason)r)) continue;
        assert_true(next < w->d.gate_count);
        assert_int_equal(w->d.gates[next].reason, r);
        assert_false(w->d.gates[next].shut);
        next++;
    }
    assert_int_equal(next, w->d.gate_count);
    world_free(w);
}

static void test_the_first_shut_service_gate_is_the_reason_and_all_are_stored(void **state)
{
    (void)state;
    struct world *w = world_new();
    evidence_before(w);
    gap(w);
    warming(w);
    expect_end(w, DECISION_NOOP, REASON_WARMING);
    assert_int_equal(w->d.gate_count, 14);
    assert_true(world_gate(&w->d, REASON_GAP)->shut);
    assert_near(world_gate(&w->d, REASON_GAP)->lhs, 3600, 0);
    assert_near(world_gate(&w->d, REASON_EVIDENCE_BEFORE)->lhs, 18, 0);
    assert_near(world_gate(&w->d, REASON_EVIDENCE_BEFORE)->rhs, 30, 0);
    world_free(w);
}

static void test_an_approval_overrides_only_what_may_be_overridden(void **state)
{
    (void)state;
    const enum reason may[] = {REASON_COOLING, REASON_PROTECTED, REASON_INTERVAL, REASON_CHANGE_WINDOW};
    for (int r = 1; r < REASON_COUNT; r++) {
        if (!is_gate((enum reason)r) || r >= REASON_TIER_2) continue;
        bool allowed = false;
        for (size_t i = 0; i < ARRAY_LEN(may); i++) allowed = allowed || may[i] == (enum reason)r;
        struct world *w = world_new();
        case_of((enum reason)r)->shut(w);
        w->st.overridden = DECIDE_OVERRIDE(r);
        assert_int_equal(world_pass(w)->kind == DECISION_TUNE, allowed);
        w->st.overridden = ~DECIDE_OVERRIDE(r);   /* not named: shut as before */
        assert_int_not_equal(world_pass(w)->kind, DECISION_TUNE);
        world_free(w);
    }
}

static void test_limits_are_exact(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->st.reference_margin = 0.10;
    w->st.gap_until = w->st.now;
    w->st.n_auto = 2;
    w->st.fleet_last_hour = 5;
    world_set(w, FN_VALUE, BATCH_SIZE, 27.21);
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    w->st.reference_margin = 0.09;
    expect_end(w, DECISION_NOOP, REASON_DEAD_BAND);
    assert_near(world_gate(&w->d, REASON_DEAD_BAND)->lhs, 0.09, 0);
    assert_near(world_gate(&w->d, REASON_DEAD_BAND)->rhs, 0.10, 0);
    w->st.reference_margin = NAN;
    expect_end(w, DECISION_NOOP, REASON_DEAD_BAND);
    w->st.slo_symptom = true;
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    w->st.fleet_last_hour = 6;
    expect_end(w, DECISION_NOOP, REASON_FLEET);
    w->st.fleet_last_hour = 5;
    world_set(w, FN_VALUE, BATCH_SIZE, NAN);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    w->knobs[BATCH].use_signal = NO_INDEX;      /* not configured: no ceiling to ask about */
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    world_free(w);
}

static void test_a_precondition_must_be_true_and_known(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->knobs[BATCH].precondition = world_rule(w, "gpu_util < 0.9");
    world_set(w, FN_VALUE, GPU, 0.78);
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    world_set(w, FN_VALUE, GPU, 0.95);
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    assert_non_null(strstr(world_gate(&w->d, REASON_PRECONDITION)->note, "0.95"));
    world_set(w, FN_VALUE, GPU, NAN);
    w->st.cause_age = SPAN_MIN(1);
    expect_end(w, DECISION_NOOP, REASON_PRECONDITION);
    world_free(w);
}

static void test_modes_of_classes_win_and_alert_beats_asking(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->service.mode = MODE_ALERT;                        /* the class says auto */
    expect_end(w, DECISION_TUNE, REASON_PLANNED);
    w->st.storm = true;
    expect_end(w, DECISION_ASK, REASON_MODE_CONFIRM);
    assert_non_null(strstr(world_gate(&w->d, REASON_MODE_CONFIRM)->note, "common cause"));
    w->service.class_mode[CLASS_BATCH] = MODE_ALERT;
    w->knobs[BATCH].tier = 2;
    expect_end(w, DECISION_ALERT, REASON_MODE_ALERT);    /* nobody is asked in mode alert, but it is told */
    assert_int_equal(w->d.person_gates, 1);
    expect_plan(w, BATCH, "32", "64");
    world_free(w);
}

static void test_tiers_as_they_count(void **state)
{
    (void)state;
    struct world *w = world_new();
    struct knob_def k = {.class = CLASS_BATCH, .tier = 1};
    assert_int_equal(decide_tier(&w->service, &k), 1);
    k.apply = APPLY_RELOAD;
    assert_int_equal(decide_tier(&w->service, &k), 1);   /* two instances */
    w->service.target_count = 1;
    assert_int_equal(decide_tier(&w->service, &k), 2);
    w->service.target_count = 2;
    k.apply = APPLY_RESTART;
    assert_int_equal(decide_tier(&w->service, &k), 2);
    k.budget = BUDGET_SHARED;
    assert_int_equal(decide_tier(&w->service, &k), 3);
    k = (struct knob_def){.class = CLASS_TIMEOUT, .tier = 1};
    assert_int_equal(decide_tier(&w->service, &k), 2);
    k.class = CLASS_QUOTA;
    assert_int_equal(decide_tier(&w->service, &k), 3);
    k = (struct knob_def){.class = CLASS_REPLICAS, .tier = 1, .min = 1, .max = 8};
    assert_int_equal(decide_tier(&w->service, &k), 1);   /* budget own, max set, and the file says 1 */
    k.max = INFINITY;
    assert_int_equal(decide_tier(&w->service, &k), 2);
    k.max = 8;
    k.tier = 2;
    assert_int_equal(decide_tier(&w->service, &k), 2);
    world_free(w);
}

static void test_scale_in_is_only_advised(void **state)
{
    (void)state;
    struct world *w = world_new();
    w->causes[COMPUTE].tries[0] = (struct candidate_def){.knob = REPLICAS, .direction = DIR_DOWN};
    expect_end(w, DECISION_ALERT, REASON_NO_CANDIDATE);
    assert_non_null(strstr(world_gate(&w->d, REASON_UNLISTED)->note, "scale-in"));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_gate_alone_shuts_the_way),
        cmocka_unit_test(test_with_all_gates_open_the_plan_comes_out),
        cmocka_unit_test(test_the_first_shut_service_gate_is_the_reason_and_all_are_stored),
        cmocka_unit_test(test_an_approval_overrides_only_what_may_be_overridden),
        cmocka_unit_test(test_limits_are_exact),
        cmocka_unit_test(test_a_precondition_must_be_true_and_known),
        cmocka_unit_test(test_modes_of_classes_win_and_alert_beats_asking),
        cmocka_unit_test(test_tiers_as_they_count),
        cmocka_unit_test(test_scale_in_is_only_advised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
