#include "sim/run.h"

#include <math.h>
#include <string.h>

#include "config/load.h"
#include "sim/naive.h"
#include "sim/run_inside.h"

static struct policy *load_policy(const struct scenario_part *part, const struct run_options *o, struct config_diagnostics *d)
{
    struct config_options options = {.points_from_outside = part->kind != WORLD_PLANT};
    size_t len;
    const char *bytes = scenario_shipped_policy(part->policy, &len);
    if (bytes) return config_load(bytes, len, part->policy, &options, d);
    struct buf path = BUF_INIT;
    if (o->folder && part->policy[0] != '/') buf_printf(&path, "%s/", o->folder);
    buf_puts(&path, part->policy);
    struct policy *p = config_load_file(buf_text(&path), &options, d);
    buf_free(&path);
    return p;
}

static void set_mode(struct policy *p, enum mode mode)
{
    p->services[0].mode = mode;
    for (int c = 0; c < CLASS_COUNT; c++) p->services[0].class_mode[c] = mode;
}

static enum status add_series(struct world *w, const struct scenario_part *part, struct err *e)
{
    for (uint16_t i = 0; i < part->series_count; i++) {
        struct series_script script;
        const struct scenario_series *s = &part->series[i];
        enum status st = script_parse(s->text, strlen(s->text), &script, e);
        if (st == STATUS_OK) st = world_series(w, s->signal, &script, e);
        if (st != STATUS_OK) return err_prefix(e, "series of %s", s->signal);
    }
    return STATUS_OK;
}

static enum status add_steps(struct world *w, const struct scenario_part *part, struct err *e)
{
    enum status st = STATUS_OK;
    for (uint16_t i = 0; i < part->knob_count && st == STATUS_OK; i++) {
        st = world_knob(w, part->knobs[i].name, part->knobs[i].value, e);
    }
    for (uint16_t i = 0; i < part->step_count && st == STATUS_OK; i++) {
        const struct scenario_step *s = &part->steps[i];
        switch (s->kind) {
        case STEP_FAULT: st = world_fault(w, &s->fault, e); break;
        case STEP_COMMAND: world_command(w, s->at, &s->command); break;
        case STEP_RELEASE: world_release(w, s->at, s->version); break;
        case STEP_BY_HAND:
            if (s->waits) st = world_by_hand_on(w, s->on, (struct span){s->at.us}, s->knob, s->value, e);
            else world_by_hand(w, s->at, s->knob, s->value);
            break;
        case STEP_METRIC_FAULT: st = world_metric_fault(w, &s->metric, e); break;
        case STEP_RECONCILE: world_reconcile(w, s->at, s->by, s->knob, s->value); break;
        case STEP_CLOCK: world_clock_step(w, s->at, s->by); break;
        }
    }
    return st;
}

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
    struct policy *policy = load_policy(part, run->o, run->d);
    if (!policy) return err_set(e, STATUS_INVALID, "the policy '%s' of scenario part '%s' has errors", part->policy, part->name);
    if (part->has_mode) set_mode(policy, part->mode);
    struct world_options o = {.policy = policy, .kind = part->kind, .seed = run->seed, .start = part->start,
                              .plant = part->plant, .history = part->history};
    struct world *w = world_new(&o, e);
    enum status st = w ? add_series(w, part, e) : e->code;
    if (st == STATUS_OK) st = add_steps(w, part, e);
    if (st == STATUS_OK) {
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
