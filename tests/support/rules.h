/* A service and an evidence table set by hand, for tests of rules and causes. */
#ifndef SUPPORT_RULES_H
#define SUPPORT_RULES_H

#include "base/check.h"
#include "expr/expr.h"
#include "support/test.h"

struct rules {
    struct service_def def;
    struct signal_def signals[POLICY_SIGNALS_MAX];
    struct knob_def knobs[POLICY_KNOBS_MAX];
    struct arena arena;
    struct datum items[NEEDS_MAX];
    struct evidence evidence;
    struct expr_error error;
};

static inline void rules_signal(struct rules *r, const char *name, enum unit unit, enum layer layer)
{
    r->signals[r->def.signal_count++] = (struct signal_def){.name = name, .unit = unit, .layer = layer};
}

static inline void rules_knob(struct rules *r, const char *name, enum unit unit)
{
    r->knobs[r->def.knob_count++] = (struct knob_def){.name = name, .unit = unit};
}

/* The reference service of spec section 11. Release with rules_free. */
static inline struct rules *rules_new(void)
{
    struct rules *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->def = (struct service_def){.name = "embedder", .signals = r->signals, .knobs = r->knobs};
    rules_signal(r, "latency_p99", UNIT_MS, LAYER_REQUEST);
    rules_signal(r, "queue_depth", UNIT_ONE, LAYER_PROCESSING);
    rules_signal(r, "gpu_util", UNIT_RATIO, LAYER_SYSTEM);
    rules_signal(r, "feature_fetch_ms", UNIT_MS, LAYER_DATA);
    rules_signal(r, "cache_hit", UNIT_RATIO, LAYER_DATA);
    rules_signal(r, "throughput", UNIT_PER_S, LAYER_REQUEST);
    rules_signal(r, "mem_rss_mb", UNIT_MB, LAYER_SYSTEM);
    rules_signal(r, "cpu_pct", UNIT_PERCENT, LAYER_SYSTEM);
    rules_signal(r, "startup_time", UNIT_S, LAYER_PROCESSING);
    rules_signal(r, "net_io", UNIT_MB_PER_S, LAYER_SYSTEM);
    rules_signal(r, "gpu_power", UNIT_WATT, LAYER_SYSTEM);
    rules_signal(r, "batch-fill", UNIT_RATIO, LAYER_PROCESSING);
    rules_knob(r, "batch_max", UNIT_ONE);
    rules_knob(r, "batch_delay", UNIT_MS);
    for (int i = 0; i < NEEDS_MAX; i++) r->items[i] = (struct datum){.value = NAN, .why = WHY_MISSING};
    r->evidence = (struct evidence){.needs = &r->def.needs, .items = r->items};
    return r;
}

static inline void rules_free(struct rules *r)
{
    needs_free(&r->def.needs);
    arena_free(&r->arena);
    free(r);
}

/* NULL: r->error says why. */
static inline const struct expr *rules_try(struct rules *r, const char *text)
{
    struct expr_scope scope = {.service = &r->def, .needs = &r->def.needs};
    return expr_compile(&r->arena, text, strlen(text), &scope, &r->error);
}

static inline const struct expr *rules_compile(struct rules *r, const char *text)
{
    const struct expr *e = rules_try(r, text);
    if (!e) {
        print_error("%s\n  %u:%u %s (%s)\n", text, r->error.pos.line, r->error.pos.col, r->error.text, r->error.hint);
        fail();
    }
    return e;
}

static inline struct datum *rules_datum(struct rules *r, enum fn fn, const char *subject, struct span window)
{
    uint16_t index = NO_INDEX;
    if (fn == FN_KNOB || fn == FN_CHANGED) index = service_knob(&r->def, subject);
    else if (fn != FN_AGE) index = service_signal(&r->def, subject);
    for (int i = 0; fn == FN_AGE && i < AGE_COUNT; i++)
        if (strcmp(age_subject_name((enum age_subject)i), subject) == 0) index = (uint16_t)i;
    if (index == NO_INDEX) {
        print_error("no such subject: %s\n", subject);
        fail();
    }
    int at = needs_add(&r->def.needs, (struct need){.fn = fn, .subject = index, .window = window});
    assert_true(at >= 0);
    return &r->items[at];
}

static inline void rules_set_window(struct rules *r, enum fn fn, const char *subject, struct span window, double value)
{
    *rules_datum(r, fn, subject, window) = (struct datum){.value = value, .n = 60, .why = WHY_KNOWN};
}

static inline void rules_set(struct rules *r, enum fn fn, const char *subject, double value)
{
    rules_set_window(r, fn, subject, (struct span){0}, value);
}

static inline void rules_unknown(struct rules *r, enum fn fn, const char *subject, enum unknown_why why)
{
    *rules_datum(r, fn, subject, (struct span){0}) = (struct datum){.value = NAN, .why = why};
}

static inline enum tri rules_eval(struct rules *r, const char *text)
{
    return expr_eval(rules_compile(r, text), &r->evidence);
}

static inline void rules_assert_explained(struct rules *r, const char *text, const char *expected)
{
    struct buf out = BUF_INIT;
    expr_explain(&out, rules_compile(r, text), &r->evidence, &r->def);
    assert_string_equal(buf_text(&out), expected);
    buf_free(&out);
}

#endif
