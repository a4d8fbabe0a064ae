/* A service in which everything is ready for one plan: batch_max 32 -> 64. Tests shut one thing at a time.
 * Include support/test.h first. */
#ifndef DECIDE_TEST_WORLD_H
#define DECIDE_TEST_WORLD_H

#include "decide/decide.h"
#include "expr/expr.h"

enum { LATENCY, QUEUE, GPU, FETCH, BATCH_SIZE, SIGNALS };
enum { BATCH, REPLICAS, CACHE, PREFERRED, KNOBS };
enum { UPSTREAM, CACHE_SMALL, HOST, COMPUTE, CAUSES };

struct world {
    struct arena arena;
    struct policy policy;
    struct service_def service;
    struct signal_def signals[SIGNALS];
    struct knob_def knobs[KNOBS];
    struct cause_def causes[CAUSES];
    struct target_def targets[2];
    struct window_def window;
    struct datum data[NEEDS_MAX];
    struct evidence evidence;
    struct excluded_list excluded;
    struct standing st;
    struct cause_list list;
    struct decision d;
};

static inline const struct expr *world_rule(struct world *w, const char *text)
{
    struct expr_scope scope = {&w->service, &w->service.needs};
    struct expr_error error;
    const struct expr *e = expr_compile(&w->arena, text, strlen(text), &scope, &error);
    if (!e) print_error("%s: %s\n", text, error.text);
    assert_non_null(e);
    return e;
}

static inline void world_set(struct world *w, enum fn fn, uint16_t signal, double value)
{
    int i = needs_add(&w->service.needs, (struct need){.fn = fn, .subject = signal});
    assert_true(i >= 0);
    w->data[i] = (struct datum){.value = value, .n = 10, .why = isnan(value) ? WHY_STALE : WHY_KNOWN};
}

static inline void world_value(struct world *w, int knob, const char *text)
{
    struct knob_standing *k = &w->st.knobs[knob];
    *k = (struct knob_standing){.readable = true, .uniform = true, .believed_same = true, .frozen_until = INSTANT_NONE,
        .cool_until = INSTANT_NONE, .protect_until = INSTANT_NONE, .interval_until = INSTANT_NONE,
        .skip_until = INSTANT_NONE, .skip_cause = NO_INDEX,
        .class_suspended_until = INSTANT_NONE};
    assert_true(knob_value_set(&k->value, text, (unsigned)strlen(text)));
}

static inline void world_knobs(struct world *w)
{
    struct knob_def any = {.tier = 1, .integer = true, .allow_up = true, .allow_down = true, .dead_band = 0.10, .cas = true,
                           .use_signal = NO_INDEX, .coupled = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX}, .ladder_by = 2};
    for (int i = 0; i < KNOBS; i++) w->knobs[i] = any;
    struct knob_def *k = w->knobs;
    k[BATCH].name = "batch_max", k[BATCH].class = CLASS_BATCH, k[BATCH].min = 4, k[BATCH].max = 128, k[BATCH].min_step = 4;
    k[BATCH].use_signal = BATCH_SIZE;
    k[REPLICAS].name = "replicas", k[REPLICAS].class = CLASS_REPLICAS, k[REPLICAS].min = 1, k[REPLICAS].max = 8;
    k[REPLICAS].ladder = LADDER_STEP, k[REPLICAS].ladder_by = 1;
    k[CACHE].name = "cache_mb", k[CACHE].class = CLASS_CACHE, k[CACHE].unit = UNIT_MB, k[CACHE].min = 64, k[CACHE].max = 1024;
    k[PREFERRED].name = "preferred", k[PREFERRED].class = CLASS_BATCH, k[PREFERRED].min = 4, k[PREFERRED].max = 128;
    world_value(w, BATCH, "32");
    world_value(w, REPLICAS, "2");
    world_value(w, CACHE, "256");
    world_value(w, PREFERRED, "128");
}

static inline void world_standing(struct world *w)
{
    struct standing *st = &w->st;
    st->now = (struct instant){10 * US_PER_DAY};
    assert_true(wall_parse("2026-05-12T03:10:00Z", &st->wall));   /* a Tuesday */
    st->incident = 7;
    st->leader = st->warm = true;
    st->request_symptom = TRI_TRUE;
    st->release_until = st->gap_until = INSTANT_NONE;
    st->points_since_onset = st->points_needed = 30;
    st->blocks_since_onset = st->blocks_needed = 8;
    st->fleet_in_flight_max = 1, st->fleet_per_hour_max = 6;
    st->cause_age = SPAN_MIN(6);
    st->reference_margin = 0.23;
    st->excluded = &w->excluded;
}

/* Ranked as the causes stand in the table. */
static inline void world_causes(struct world *w, enum tri upstream, enum tri cache, enum tri host, enum tri compute)
{
    const enum tri when[CAUSES] = {upstream, cache, host, compute};
    bool chosen = false;
    w->list.n = CAUSES;
    for (uint16_t i = 0; i < CAUSES; i++) {
        struct cause_result *c = &w->list.items[i];
        *c = (struct cause_result){.cause = i, .when = when[i], .share = NAN};
        c->verdict = when[i] == TRI_UNKNOWN ? CAUSE_UNKNOWN : when[i] == TRI_FALSE ? CAUSE_FALSE : CAUSE_MATCHED;
        if (!chosen && when[i] == TRI_TRUE) c->verdict = CAUSE_CHOSEN, chosen = true;
    }
}

static inline void world_playbook(struct world *w)
{
    struct cause_def *c = w->causes;
    c[UPSTREAM] = (struct cause_def){.name = "upstream-data", .id = "upstream-data", .group = GROUP_UPSTREAM_DATA, .try_count = 1,
        .tries = {{.knob = NO_INDEX, .advice = "look at the feature service"}}};
    c[CACHE_SMALL] = (struct cause_def){.name = "cache-too-small", .id = "cache-too-small", .group = GROUP_CACHE_TOO_SMALL,
        .try_count = 1, .tries = {{.knob = CACHE, .direction = DIR_UP}}};
    c[HOST] = (struct cause_def){.name = "host-or-io-bound", .id = "host-or-io-bound", .group = GROUP_HOST_OR_IO_BOUND,
        .try_count = 1, .tries = {{.knob = REPLICAS, .direction = DIR_UP}}};
    c[COMPUTE] = (struct cause_def){.name = "compute-bound", .id = "compute-bound", .group = GROUP_COMPUTE_BOUND, .try_count = 1,
        .tries = {{.knob = BATCH, .direction = DIR_UP}, {.knob = REPLICAS, .direction = DIR_UP}}};
    world_causes(w, TRI_FALSE, TRI_FALSE, TRI_FALSE, TRI_TRUE);
}

static inline struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    static const char *const names[SIGNALS] = {"latency_p99", "queue_depth", "gpu_util", "feature_fetch_ms", "batch_size"};
    static const enum unit units[SIGNALS] = {UNIT_MS, UNIT_ONE, UNIT_RATIO, UNIT_MS, UNIT_ONE};
    for (int i = 0; i < SIGNALS; i++) w->signals[i] = (struct signal_def){.name = names[i], .unit = units[i]};
    memset(w->policy.revision, 'a', 64);
    w->service = (struct service_def){.name = "embed", .mode = MODE_AUTO, .signals = w->signals, .signal_count = SIGNALS,
        .knobs = w->knobs, .knob_count = KNOBS, .causes = w->causes, .cause_count = CAUSES, .targets = w->targets,
        .target_count = 2, .timing = timing_defaults(), .windows = &w->window};
    for (int i = 0; i < CLASS_COUNT; i++) w->service.class_mode[i] = MODE_AUTO;
    w->evidence = (struct evidence){.needs = &w->service.needs, .items = w->data};
    world_knobs(w);
    world_standing(w);
    world_playbook(w);
    assert_true(decide_needs(&w->service, &w->service.needs));
    world_set(w, FN_VALUE, BATCH_SIZE, 31);
    return w;
}

static inline void world_free(struct world *w)
{
    needs_free(&w->service.needs);
    arena_free(&w->arena);
    free(w);
}

static inline const struct decision *world_pass(struct world *w)
{
    decide_pass(&w->policy, &w->service, &w->list, &w->evidence, &w->st, &w->d);
    return &w->d;
}

static inline const struct gate_result *world_gate(const struct decision *d, enum reason r)
{
    for (uint16_t i = 0; i < d->gate_count; i++)
        if (d->gates[i].reason == r) return &d->gates[i];
    return NULL;
}

static inline void expect_end(struct world *w, enum decision_kind kind, enum reason reason)
{
    const struct decision *d = world_pass(w);
    if (d->kind != kind || d->reason != reason) print_error("%s %s\n", decision_name(d->kind), reason_code(d->reason));
    assert_int_equal(d->kind, kind);
    assert_int_equal(d->reason, reason);
}

static inline void expect_plan(struct world *w, int knob, const char *from, const char *to)
{
    const struct plan *p = &w->d.plan;
    assert_true(w->d.has_plan);
    assert_int_equal(p->knob, knob);
    assert_int_equal(p->from.len, strlen(from));
    assert_memory_equal(p->from.bytes, from, p->from.len);
    assert_int_equal(p->to.len, strlen(to));
    assert_memory_equal(p->to.bytes, to, p->to.len);
}

#endif
