#include "sim/run.h"

#include <math.h>
#include <string.h>

#include "config/load.h"
#include "sim/naive.h"
#include "sim/part.h"
#include "sim/run_inside.h"

static void on_row(void *ctx, const struct world_row *r)
{
    struct run *run = ctx;
    if (run->o->json) run_json_row(run, r);
    else run_story_row(run, r);
}

/* The naive engine looks at the same numbers once a tick; it only says what it would do. */
static void step_naive(struct run *run, struct world *w)
{
    struct naive_signals s = {
        .p99_ms = world_signal(w, "latency_p99"), .queue = world_signal(w, "queue_depth"), .gpu_util = world_signal(w, "gpu_util"),
        .batch_max = run_knob(w, "batch_max"), .replicas = run_knob(w, "replicas"),
    };
    struct naive_decision d = naive_step(&run->naive, &s);
    run->naive_ticks++;
    if (d.kind == DECISION_NOOP) return;
    if (run->naive_acts == 0) run->naive_first = world_now(w);
    run->naive_acts++;
}

static void run_ticks(struct run *run, struct world *w)
{
    run_part_begins(run);
    world_watch(w, on_row, run);
    for (struct instant t = {0}; t.us <= run->part->duration.us; t = instant_add(t, run->policy->tick)) {
        world_run(w, t);
        if (run->part->kind == WORLD_SCRIPT) step_naive(run, w);
    }
    run_part_ends(run, w);
}

static enum status run_part(struct run *run, const struct scenario_part *part, struct err *e)
{
    struct policy *policy = part_policy(part, run->o->folder, run->d);
    if (!policy) return err_set(e, STATUS_INVALID, "the policy '%s' of scenario part '%s' has errors", part->policy, part->name);
    if (part->has_mode) part_set_mode(policy, part->mode);
    struct world *w = part_world(part, policy, run->seed, e);
    enum status st = w ? STATUS_OK : e->code;
    if (w) {
        run->part = part;
        run->policy = policy;
        run->naive_ticks = run->naive_acts = 0;
        run->naive_first = INSTANT_NONE;
        naive_init(&run->naive);
        if (run->result) run_expect(run, w);
        else run_ticks(run, w);
    }
    world_free(w);
    config_free(policy);
    return st;
}

enum status run_expectations(const struct scenario *s, const struct run_options *o, const char *path, struct buf *out,
                             struct run_result *ret, struct config_diagnostics *d, struct err *e)
{
    struct run run = {.scenario = s, .o = o, .out = out, .d = d, .seed = o->has_seed ? o->seed : s->seed, .result = ret,
                      .path = path};
    *ret = (struct run_result){0, 0};
    for (uint16_t i = 0; i < s->part_count; i++) {
        enum status st = run_part(&run, &s->parts[i], e);
        if (st != STATUS_OK) return st;
    }
    return STATUS_OK;
}

enum status run_scenario(const struct scenario *s, const struct run_options *o, struct buf *out, struct config_diagnostics *d,
                         struct err *e)
{
    struct run run = {.scenario = s, .o = o, .out = out, .d = d, .seed = o->has_seed ? o->seed : s->seed};
    run_begins(&run);
    for (uint16_t i = 0; i < s->part_count; i++) {
        enum status st = run_part(&run, &s->parts[i], e);
        if (st != STATUS_OK) return st;
    }
    run_ends(&run);
    return STATUS_OK;
}
