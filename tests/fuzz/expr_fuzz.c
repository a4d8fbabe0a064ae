/* Any bytes as a rule: compiled it must evaluate, explain and describe; refused it must say where and why. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct signal_def signals[] = {
    {.name = "latency_p99", .unit = UNIT_MS, .layer = LAYER_REQUEST},
    {.name = "queue_depth", .unit = UNIT_ONE, .layer = LAYER_PROCESSING},
    {.name = "gpu_util", .unit = UNIT_RATIO, .layer = LAYER_SYSTEM},
    {.name = "cpu_pct", .unit = UNIT_PERCENT, .layer = LAYER_SYSTEM},
    {.name = "net_io", .unit = UNIT_MB_PER_S, .layer = LAYER_SYSTEM},
    {.name = "batch-fill", .unit = UNIT_RATIO, .layer = LAYER_PROCESSING},
    {.name = "x", .unit = UNIT_MB, .layer = LAYER_DATA},
};
static struct knob_def knobs[] = {{.name = "batch_max", .unit = UNIT_ONE}, {.name = "delay", .unit = UNIT_MS}};

/* Values derived from the input's length, with gaps: unknown paths are walked as well. */
static void fill(const struct needs *needs, struct datum *items, size_t size)
{
    for (unsigned i = 0; i < needs->n; i++) {
        bool known = (size + i) % 3 != 0;
        double value = (double)((size * 37 + i * 11) % 200) - 20;
        items[i] = (struct datum){.value = value, .why = known ? WHY_KNOWN : WHY_STALE};
    }
}

static void use(const struct expr *e, const struct evidence *evidence, const struct service_def *service)
{
    struct buf out = BUF_INIT;
    struct expr_use used;
    double value, limit;
    uint16_t unknown;
    enum unknown_why why;
    expr_explain(&out, e, evidence, service);
    CHECK(buf_ok(&out) && out.len > 0);
    buf_free(&out);
    expr_describe(e, &used);
    enum tri got = expr_eval(e, evidence);
    CHECK(!used.constant || got == used.constant_value || got == TRI_UNKNOWN);
    CHECK(expr_known_signals(e, evidence, &unknown) + unknown == used.signal_count);
    CHECK((expr_first_unknown(e, evidence, &why) == NO_INDEX) == (unknown == 0));
    expr_margin(e, evidence, 0, &value, &limit);
    expr_reference(e, evidence, 0, &value, &limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct service_def service = {.name = "s", .signals = signals, .signal_count = ARRAY_LEN(signals), .knobs = knobs,
                                  .knob_count = ARRAY_LEN(knobs)};
    struct expr_scope scope = {.service = &service, .needs = &service.needs};
    struct expr_error error;
    struct datum items[NEEDS_MAX] = {0};
    const struct expr *e = expr_compile(&arena, (const char *)data, size, &scope, &error);
    if (e) {
        struct evidence evidence = {.needs = &service.needs, .items = items};
        fill(&service.needs, items, size);
        use(e, &evidence, &service);
    } else {
        CHECK(error.text[0] && error.pos.line > 0 && error.pos.col > 0 && error.offset <= size && service.needs.n == 0);
    }
    needs_free(&service.needs);
    arena_free(&arena);
    return 0;
}
