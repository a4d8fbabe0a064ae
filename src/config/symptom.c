/* Symptoms: the service's own, then the shipped ones whose signals are there. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

/* The signal a symptom is measured by: the judge's latency if named, else one of the request layer, else the first. */
static uint16_t main_signal(const struct service_def *s, const struct expr_use *use)
{
    uint16_t first = NO_INDEX, request = NO_INDEX;
    if (s->judge.latency != NO_INDEX && expr_use_has(use, s->judge.latency)) return s->judge.latency;
    for (uint16_t i = 0; i < s->signal_count; i++) {
        if (!expr_use_has(use, i)) continue;
        if (first == NO_INDEX) first = i;
        if (request == NO_INDEX && s->signals[i].layer == LAYER_REQUEST) request = i;
    }
    return request != NO_INDEX ? request : first;
}

static bool names_request_layer(const struct service_def *s, const struct expr_use *use)
{
    for (uint16_t i = 0; i < s->signal_count; i++)
        if (expr_use_has(use, i) && s->signals[i].layer == LAYER_REQUEST) return true;
    return false;
}

static void check_evidence(struct config_work *w, const struct config_node *at, const struct expr_use *use, bool slo)
{
    if (use->constant) {
        config_wrong(w->d, at, NULL,
                     use->constant_value == TRI_TRUE
                         ? "this symptom is always true, whatever is measured"
                         : "this symptom can never be true: its conditions exclude each other");
        return;
    }
    if (use->signal_count == 0) {
        config_wrong(w->d, at, NULL, "this symptom names no signal");
        return;
    }
    if (slo || use->view_count >= 2) return;
    if (use->views == 1u << VIEW_DRIFT)
        config_wrong(w->d, at, "add a second signal: `... and (drift(kernel_ms) > 10% or drift(queue_depth) > 10%)`",
                     "a creep by drift of one signal alone: the anchor may be wrong");
    else
        config_wrong(w->d, at, "add a second signal or view with `and`, or `slo: true` if this is an absolute objective",
                     "one signal and one view are no evidence: at least two independent ones must agree");
}

static void fill_symptom(struct config_work *w, const struct config_symptom *raw, struct symptom_def *d)
{
    struct service_def *s = w->s;
    struct expr_use use, clear;
    expr_describe(d->when, &use);
    d->slo = raw->slo.flag;
    d->request_layer = names_request_layer(s, &use);
    d->severity = d->slo ? 0 : d->request_layer ? 1 : 2;
    d->judge_signal = raw->judge.at ? config_signal(w, &raw->judge) : main_signal(s, &use);
    check_evidence(w, raw->when.at, &use, d->slo);
    config_check_finer(w, raw->when.at, d->when);
    if (raw->slo.flag && raw->slo.at && !(use.views >> VIEW_OBJECTIVE & 1) && !use.constant)
        config_wrong(w->d, raw->slo.at, "compare a signal with a fixed value: latency_p99 > 80 ms",
                     "an objective must be absolute; this rule compares with the past only");
    d->clear = config_rule(w, &raw->clear);
    if (!d->clear) return;
    expr_describe(d->clear, &clear);
    if (clear.constant)
        config_wrong(w->d, raw->clear.at, NULL, "this clear rule is %s whatever is measured",
                     tri_name(clear.constant_value));
}

/* A plain rule is short for {when: RULE}. */
static bool read_symptom(struct config_work *w, const struct config_entry *e, struct config_symptom *raw)
{
    struct config_node key = *e->value, map = *e->value;
    struct config_pair pair = {&key, e->value};
    if (e->value->kind == CONFIG_SCALAR) {
        key.text = "when";
        map.kind = CONFIG_MAP;
        map.pairs = &pair;
        map.n = 1;
    }
    const struct config_node *base = e->base && e->base->kind == CONFIG_MAP && e->value->kind == CONFIG_MAP ? e->base : NULL;
    return config_read_block(w->d, CONFIG_BLOCK_SYMPTOM, &map, base, raw) && raw->when.is_set;
}

static void build_symptom(struct config_work *w, const struct config_entry *e, bool shipped)
{
    struct config_symptom raw;
    char missing[64];
    size_t at;
    if (!read_symptom(w, e, &raw)) return;
    if (shipped && config_rule_lacks(w, raw.when.at->text, raw.when.at->len, missing, &at)) {
        w->symptoms_dropped++;
        return;
    }
    struct symptom_def d = {.name = config_copy(w, e->name->text), .pos = config_pos(e->name), .judge_signal = NO_INDEX};
    d.when = config_rule(w, &raw.when);
    if (!d.when || !d.name) return;
    if (shipped && config_finer(w, d.when) != NO_INDEX) {
        w->symptoms_dropped++;
        return;
    }
    fill_symptom(w, &raw, &d);
    w->s->symptoms[w->s->symptom_count++] = d;
}

static bool has_symptom(const struct config_entry *entries, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(entries[i].name->text, name) == 0) return true;
    return false;
}

static void add_shipped(struct config_work *w, const struct config_entry *own, uint32_t n)
{
    const struct config_node *map = config_tree_get(config_shipped(w->b), "symptoms");
    for (uint32_t i = 0; map && map->kind == CONFIG_MAP && i < map->n; i++) {
        const struct config_entry e = {.name = map->pairs[i].key, .value = map->pairs[i].value};
        if (has_symptom(own, n, e.name->text)) continue;
        if (w->s->symptom_count == POLICY_SYMPTOMS_MAX) {
            config_wrong(w->d, w->raw.include.at, NULL, "with the shipped ones there are more than %d symptoms",
                         POLICY_SYMPTOMS_MAX);
            return;
        }
        build_symptom(w, &e, true);
    }
}

/* An objective that no symptom watches would never be noticed. */
static void check_objective(struct config_work *w)
{
    const struct service_def *s = w->s;
    if (!(s->judge.objective > 0) || w->cut) return;
    for (uint16_t i = 0; i < s->symptom_count; i++)
        if (s->symptoms[i].slo) return;
    const struct config_node *at = config_tree_get(w->raw.judge.at, "objective");
    config_warn(w->d, at ? at : w->node, "symptoms: {slo: {when: latency_p99 > 80 ms, slo: true}}",
                "no symptom watches this objective");
}

void config_build_symptoms(struct config_work *w)
{
    struct config_entry entries[POLICY_SYMPTOMS_MAX];
    uint32_t n = config_entries(w, &w->raw.symptoms, "symptom", entries, POLICY_SYMPTOMS_MAX);
    bool shipped = config_includes_default(w);
    w->s->symptoms = config_alloc(w, shipped ? POLICY_SYMPTOMS_MAX : n, sizeof *w->s->symptoms);
    if (!w->s->symptoms) return;
    for (uint32_t i = 0; i < n; i++)      /* those of a preset are shipped, too: they drop out with their signals */
        build_symptom(w, &entries[i], config_preset_of(w->b, entries[i].value->source) != NULL);
    if (shipped) add_shipped(w, entries, n);
    if (n == 0 && w->s->symptom_count == 0 && !w->cut && !w->raw.symptoms.is_wrong)
        config_wrong(w->d, w->node, "write `symptoms`, or `include: [default]` for the shipped ones",
                     "this service has no symptoms: nothing would ever be found");
    check_objective(w);
}
