/* Random standings, causes and knobs: whatever comes in, certain things never come out. The seed is printed on failure. */
#include "support/test.h"

#include "base/prng.h"
#include "decide/test_world.h"
#include "model/ladder.h"

#define RUNS 60000

static bool one_in(struct prng *p, uint64_t n) { return prng_below(p, n) == 0; }

static struct instant some_time(struct prng *p, struct instant now)
{
    if (one_in(p, 60)) return INSTANT_NEVER;
    return one_in(p, 15) ? instant_add(now, (struct span){(int64_t)prng_below(p, 9) * US_PER_HOUR}) : INSTANT_NONE;
}

static void shake_standing(struct world *w, struct prng *p)
{
    struct standing *st = &w->st;
    bool *shut[] = {&st->halted, &st->frozen, &st->recovering, &st->outage, &st->judge_stale, &st->in_flight, &st->late_watch,
                    &st->group_in_flight, &st->unacknowledged, &st->storm, &st->breaker, &st->slo_symptom};
    for (size_t i = 0; i < ARRAY_LEN(shut); i++) *shut[i] = one_in(p, 90);
    st->leader = !one_in(p, 30);
    st->warm = !one_in(p, 30);
    st->request_symptom = one_in(p, 20) ? TRI_UNKNOWN : one_in(p, 20) ? TRI_FALSE : TRI_TRUE;
    st->gap_until = one_in(p, 20) ? some_time(p, st->now) : INSTANT_NONE;
    st->release_until = one_in(p, 20) ? some_time(p, st->now) : INSTANT_NONE;
    st->points_since_onset = (uint32_t)prng_below(p, 200);
    st->blocks_since_onset = (uint32_t)prng_below(p, 60);
    st->fleet_in_flight = one_in(p, 20);
    st->n_auto = (int)prng_below(p, 5);
    st->cause_age = (struct span){(int64_t)prng_below(p, 10) * US_PER_MIN};
    st->reference_margin = one_in(p, 10) ? NAN : prng_between(p, -0.1, 0.5);
    st->overridden = one_in(p, 5) ? (uint32_t)prng_u64(p) : 0;
}

static void shake_knob(struct world *w, struct prng *p, int i)
{
    static const char *const values[] = {"4", "32", "48", "64", "128", "127", "1", "auto", "1e9", "8"};
    struct knob_def *k = &w->knobs[i];
    k->tier = 1 + (int)(one_in(p, 4) ? prng_below(p, 3) : 0);
    k->class = one_in(p, 4) ? (enum action_class)prng_below(p, CLASS_COUNT) : k->class;
    k->apply = one_in(p, 6) ? (enum apply)prng_below(p, APPLY_COUNT) : APPLY_HOT;
    k->budget = one_in(p, 10) ? BUDGET_SHARED : BUDGET_OWN;
    k->cas = !one_in(p, 6);
    k->single_writer = one_in(p, 2);
    k->allow_up = !one_in(p, 12);
    k->coupled[0] = one_in(p, 10) ? (uint16_t)prng_below(p, KNOBS) : NO_INDEX;
    world_value(w, i, values[prng_below(p, ARRAY_LEN(values))]);
    struct knob_standing *s = &w->st.knobs[i];
    s->readable = !one_in(p, 12);
    s->uniform = !one_in(p, 12);
    s->believed_same = !one_in(p, 12);
    s->owned_by_other = one_in(p, 12);
    s->frozen_until = one_in(p, 2) ? some_time(p, w->st.now) : INSTANT_NONE;
    s->cool_until = some_time(p, w->st.now);
    s->protect_until = some_time(p, w->st.now);
    s->interval_until = some_time(p, w->st.now);
}

static void shake(struct world *w, struct prng *p)
{
    shake_standing(w, p);
    for (int i = 0; i < KNOBS; i++) shake_knob(w, p, i);
    for (int i = 0; i < CLASS_COUNT; i++) w->service.class_mode[i] = one_in(p, 6) ? (enum mode)prng_below(p, 3) : MODE_AUTO;
    enum tri when[CAUSES];
    for (int i = 0; i < CAUSES; i++) when[i] = one_in(p, 10) ? TRI_UNKNOWN : tri_of(one_in(p, i ? 2 : 5));
    world_causes(w, when[0], when[1], when[2], when[3]);
    w->causes[COMPUTE].try_count = 2;
    w->excluded.n = 0;
    for (uint16_t c = 0; c < CAUSES; c++)
        if (one_in(p, 6)) excluded_add(&w->excluded, c, (uint16_t)prng_below(p, KNOBS), DIR_UP);
    world_set(w, FN_VALUE, BATCH_SIZE, one_in(p, 8) ? NAN : prng_between(p, 0, 130));
}

static bool any_shut(const struct decision *d, enum reason_kind kind, uint16_t knob)
{
    for (uint16_t i = 0; i < d->gate_count; i++)
        if (d->gates[i].shut && reason_kind(d->gates[i].reason) == kind && d->gates[i].knob == knob &&
            (knob == NO_INDEX || d->gates[i].cause == d->plan.cause))
            return true;
    return false;
}

static void check_plan(const struct world *w)
{
    const struct decision *d = &w->d;
    const struct plan *plan = &d->plan;
    const struct knob_def *k = &w->knobs[plan->knob];
    const struct knob_standing *s = &w->st.knobs[plan->knob];
    struct knob_value next;
    assert_false(any_shut(d, REASON_KIND_CANDIDATE, plan->knob));
    assert_int_equal(ladder_next(k, &s->value, plan->direction, &next, NULL), STATUS_OK);
    assert_true(knob_value_same(&next, &plan->to) && knob_value_same(&s->value, &plan->from));
    assert_true(plan->to.decimal >= k->min && plan->to.decimal <= k->max);
    assert_true(s->readable && s->uniform && s->believed_same && !s->owned_by_other);
    assert_true(decide_tier(&w->service, k) < 3);
    assert_false(excluded_has(&w->excluded, plan->cause, plan->knob, plan->direction));
    assert_int_equal(w->list.items[plan->cause].when, TRI_TRUE);
    for (uint16_t i = 0; i < plan->cause; i++) assert_int_not_equal(w->list.items[i].when, TRI_UNKNOWN);
}

static void check_service(const struct world *w)
{
    bool halted = w->st.halted || w->st.frozen || w->st.recovering || w->st.outage || !w->st.leader || !w->st.warm;
    assert_false(halted || w->st.judge_stale || w->st.request_symptom != TRI_TRUE);
    assert_false(any_shut(&w->d, REASON_KIND_SERVICE, NO_INDEX));
}

static void check_tune(const struct world *w)
{
    const struct knob_def *k = &w->knobs[w->d.plan.knob];
    assert_int_equal(w->d.person_gates, 0);
    assert_int_equal(decide_tier(&w->service, k), 1);
    assert_int_equal(w->service.class_mode[k->class], MODE_AUTO);
    assert_true(w->st.n_auto < 3 && !w->st.storm && !w->st.breaker);
    assert_true((k->cas || k->single_writer) && k->apply != APPLY_RESTART);
}

static void check_end(const struct world *w)
{
    const struct decision *d = &w->d;
    assert_true(d->gate_count >= 14 && d->gate_count <= PLAN_GATES_MAX);
    assert_int_not_equal(d->reason, REASON_NONE);
    bool acts = d->kind == DECISION_TUNE || d->kind == DECISION_ASK || d->reason == REASON_MODE_ALERT;
    bool waits = d->kind == DECISION_NOOP && reason_kind(d->reason) == REASON_KIND_SERVICE;
    assert_true(acts ? d->has_plan : waits || !d->has_plan);
    if (d->has_plan) check_plan(w);
    if (acts) check_service(w);
    if (d->kind == DECISION_TUNE) check_tune(w);
    if (d->kind == DECISION_ASK) {
        assert_int_not_equal(d->person_gates, 0);
        assert_int_equal(reason_kind(d->reason), REASON_KIND_PERSON);
    }
    if (d->kind == DECISION_NOOP && d->reason != REASON_CAUSE_PENDING)
        assert_true(reason_kind(d->reason) == REASON_KIND_SERVICE || reason_kind(d->reason) == REASON_KIND_CANDIDATE);
}

static void test_whatever_comes_in(void **state)
{
    (void)state;
    const uint64_t seed = 20260512;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct prng p;
    prng_seed(&p, seed);
    unsigned ends[DECISION_COUNT] = {0};
    struct world *w = world_new();
    for (int run = 0; run < RUNS; run++) {
        shake(w, &p);
        struct decision again;
        ends[world_pass(w)->kind]++;
        check_end(w);
        decide_pass(&w->policy, &w->service, &w->list, &w->evidence, &w->st, &again);
        assert_int_equal(again.kind, w->d.kind);
        assert_memory_equal(again.plan.hash, w->d.plan.hash, 32);
    }
    print_message("noop %u, tune %u, ask %u, alert %u\n", ends[0], ends[1], ends[2], ends[3]);
    for (int i = 0; i < DECISION_COUNT; i++) assert_true(ends[i] > RUNS / 500);   /* each end was reached */
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whatever_comes_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
