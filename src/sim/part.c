#include "sim/part.h"

#include <string.h>

#include "config/load.h"

/* A policy looks after many services; a world is one of them. */
static struct policy *choose(struct policy *p, const struct scenario_part *part, struct config_diagnostics *d)
{
    if (!p || !part->service) return p;
    if (config_only(p, part->service)) return p;
    struct config_source *at = config_source_add(d, part->policy, "", 0);
    if (at) config_report(d, CONFIG_ERROR, at, 0, 0, NULL, "the policy has no service '%s'", part->service);
    config_free(p);
    return NULL;
}

static struct policy *load(const struct scenario_part *part, const char *folder, struct config_diagnostics *d)
{
    struct config_options options = {.points_from_outside = part->kind != WORLD_PLANT};
    size_t len;
    const char *bytes = scenario_shipped_policy(part->policy, &len);
    if (bytes) return config_load(bytes, len, part->policy, &options, d);
    struct buf path = BUF_INIT;
    if (folder && part->policy[0] != '/') buf_printf(&path, "%s/", folder);
    buf_puts(&path, part->policy);
    struct policy *p = config_load_file(buf_text(&path), &options, d);
    buf_free(&path);
    return p;
}

struct policy *part_policy(const struct scenario_part *part, const char *folder, struct config_diagnostics *d)
{
    return choose(load(part, folder, d), part, d);
}

void part_set_mode(struct policy *p, enum mode mode)
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

static struct world *open_world(const struct scenario_part *part, struct policy *policy, uint64_t seed, bool coarse, struct err *e)
{
    struct world_options o = {.policy = policy, .kind = part->kind, .seed = seed, .start = part->start,
                              .plant = part->plant, .history = part->history, .interval = part->interval,
                              .coarse = coarse};
    struct world *w = world_new(&o, e);
    enum status st = w ? add_series(w, part, e) : e->code;
    if (st == STATUS_OK) st = add_steps(w, part, e);
    if (st == STATUS_OK) return w;
    world_free(w);
    return NULL;
}

struct world *part_world(const struct scenario_part *part, struct policy *policy, uint64_t seed, struct err *e)
{
    return open_world(part, policy, seed, false, e);
}

struct world *part_world_coarse(const struct scenario_part *part, struct policy *policy, uint64_t seed, struct err *e)
{
    return open_world(part, policy, seed, true, e);
}
