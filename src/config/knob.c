/* The whitelist. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

static struct span default_readback(const struct timing_def *t, enum apply apply)
{
    switch (apply) {
    case APPLY_RELOAD: return t->readback_reload;
    case APPLY_RESTART: return t->readback_restart;
    default: return t->readback_hot;
    }
}

static int default_tier(const struct config_work *w, const struct config_knob *raw, enum action_class class)
{
    int tier = class_default_tier(class);
    if (raw->budget.word == BUDGET_SHARED || raw->owner.word != CONFIG_OWNER_NONE) return 3;
    if (tier == 1 && raw->apply.word == APPLY_RESTART) return 2;
    if (tier == 1 && raw->apply.word == APPLY_RELOAD && !raw->gapless.flag && service_instances(w->s) < 2) return 2;
    return tier;
}

static void take_directions(const struct config_knob *raw, struct knob_def *k)
{
    bool up_only = k->class == CLASS_REPLICAS && !raw->directions.at;
    k->allow_up = raw->directions.word >> DIR_UP & 1;
    k->allow_down = !up_only && (raw->directions.word >> DIR_DOWN & 1);
}

static void build_knob(struct config_work *w, const struct config_entry *e, uint16_t i)
{
    struct knob_def *k = &w->s->knobs[i];
    struct config_knob *raw = &w->knobs[i];
    size_t before = w->d->errors;
    *k = (struct knob_def){.name = config_copy(w, e->name->text), .pos = config_pos(e->name), .use_signal = NO_INDEX, .tier = 3,
                           .coupled = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX}};
    w->knob_nodes[i] = e->name;
    w->knob_wrong[i] = true;
    if (!k->name || !config_read_block(w->d, CONFIG_BLOCK_KNOB, e->value, e->base, raw)) return;
    k->class = (enum action_class)raw->class.word;
    k->unit = raw->unit.is_set ? (enum unit)raw->unit.word : UNIT_ONE;
    k->integer = raw->integer.flag;
    k->apply = (enum apply)raw->apply.word;
    k->budget = (enum budget)raw->budget.word;
    k->interval = raw->interval.span;
    k->protect = raw->protect.span;
    k->dead_band = raw->dead_band.number;
    k->cas = raw->cas.flag;
    k->single_writer = raw->single_writer.flag;
    k->tier = raw->tier.is_set ? raw->tier.word : default_tier(w, raw, k->class);
    take_directions(raw, k);
    config_build_ladder(w, raw, k);
    config_build_access(w, raw, e->name, k);
    if (raw->class.is_set) config_check_tier(w, i);
    w->knob_wrong[i] = w->d->errors != before;
}

void config_build_knobs(struct config_work *w)
{
    struct config_entry entries[POLICY_KNOBS_MAX];
    uint32_t n = config_entries(w, &w->raw.knobs, "knob", entries, POLICY_KNOBS_MAX);
    w->s->knobs = config_alloc(w, n, sizeof *w->s->knobs);
    if (!w->s->knobs) return;
    for (uint32_t i = 0; i < n; i++) {
        w->s->knob_count++;
        build_knob(w, &entries[i], (uint16_t)i);
    }
}

/* loop.md section 1, "The ceiling must bind": by class, where the signal is configured. */
static uint16_t default_use(const struct service_def *s, enum action_class class)
{
    static const char *const batch[] = {"batch_size", NULL}, *const concurrency[] = {"running", "in_flight", NULL};
    const char *const *names = class == CLASS_BATCH ? batch : class == CLASS_CONCURRENCY ? concurrency : NULL;
    for (; names && *names; names++) {
        uint16_t found = service_signal(s, *names);
        if (found != NO_INDEX) return found;
    }
    return NO_INDEX;
}

static void take_use(struct config_work *w, const struct config_knob *raw, struct knob_def *k)
{
    if (raw->use.at == NULL) k->use_signal = default_use(w->s, k->class);
    else if (raw->use.is_set && strcmp(raw->use.text, "none") != 0) k->use_signal = config_signal(w, &raw->use);
}

static void take_coupled(struct config_work *w, const struct config_knob *raw, struct knob_def *k)
{
    const char *names[POLICY_KNOBS_MAX];
    char hint[160];
    for (uint16_t i = 0; i < w->s->knob_count; i++) names[i] = w->s->knobs[i].name;
    for (uint32_t i = 0, n = 0; raw->coupled.is_set && i < config_items(raw->coupled.at); i++) {
        const struct config_node *at = config_item(raw->coupled.at, i);
        uint16_t other = service_knob(w->s, at->text);
        if (other == NO_INDEX && w->cut)
            continue;
        if (other == NO_INDEX)
            config_wrong(w->d, at, config_nearest(hint, sizeof hint, at->text, names, w->s->knob_count, NULL),
                         "coupled: unknown knob '%.60s'", at->text);
        else if (&w->s->knobs[other] == k)
            config_wrong(w->d, at, NULL, "coupled: a knob is not coupled with itself");
        else
            k->coupled[n++] = other;
    }
}

/* What needs the other knobs, the judge and the times. */
static void finish_knob(struct config_work *w, uint16_t i)
{
    struct knob_def *k = &w->s->knobs[i];
    const struct config_knob *raw = &w->knobs[i];
    const struct timing_def *t = &w->s->timing;
    if (!raw->class.is_set) return;
    k->settle = raw->settle.is_set ? raw->settle.span : t->settle;
    k->readback = raw->readback.is_set ? raw->readback.span : default_readback(t, k->apply);
    take_use(w, raw, k);
    take_coupled(w, raw, k);
    k->precondition = config_rule(w, &raw->precondition);
    struct expr_use use;
    if (k->precondition) {
        expr_describe(k->precondition, &use);
        if (use.constant)
            config_wrong(w->d, raw->precondition.at, NULL, "this precondition is %s whatever is measured",
                         tri_name(use.constant_value));
    }
    if (raw->interval.is_set && k->interval.us < k->settle.us + t->window.us) {
        const struct config_node *at = raw->interval.at ? raw->interval.at : w->knob_nodes[i];
        config_wrong(w->d, at, "make the interval longer than settle + window",
                     "interval: shorter than the gap after a change, so it never counts");
    }
}

void config_finish_knobs(struct config_work *w)
{
    for (uint16_t i = 0; i < w->s->knob_count; i++) finish_knob(w, i);
}
