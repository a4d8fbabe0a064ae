/* Which signals decide over a change. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

uint16_t config_signal(struct config_work *w, const struct config_value *v)
{
    if (!v->is_set) return NO_INDEX;
    uint16_t found = service_signal(w->s, v->text);
    if (found != NO_INDEX || w->cut) return found;
    const char *names[POLICY_SIGNALS_MAX];
    char hint[160];
    for (uint16_t i = 0; i < w->s->signal_count; i++) names[i] = w->s->signals[i].name;
    config_wrong(w->d, v->at, config_nearest(hint, sizeof hint, v->text, names, w->s->signal_count, "write it under `signals`"),
                 "unknown signal '%.60s'", v->text);
    return NO_INDEX;
}

struct part {
    const struct config_value *v;
    uint16_t *ret;
    const char *usual[3];            /* names that play this part when nothing is said */
    enum dimension dimension;
    bool any_dimension;
    const char *word;
};

static void build_part(struct config_work *w, const struct part *p)
{
    *p->ret = config_signal(w, p->v);
    bool said = p->v->at != NULL;
    for (size_t i = 0; !said && i < ARRAY_LEN(p->usual) && *p->ret == NO_INDEX && p->usual[i]; i++)
        *p->ret = service_signal(w->s, p->usual[i]);
    if (*p->ret == NO_INDEX || p->any_dimension || w->signal_wrong[*p->ret]) return;
    const struct signal_def *s = &w->s->signals[*p->ret];
    if (unit_dimension(s->unit) == p->dimension) return;
    if (said)
        config_wrong(w->d, p->v->at, NULL, "judge.%s must be a %s; '%s' is a %s", p->word, dimension_name(p->dimension), s->name,
                     dimension_name(unit_dimension(s->unit)));
    *p->ret = NO_INDEX;
}

static bool wants_to_act(const struct service_def *s)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        if (s->class_mode[i] != MODE_ALERT) return true;
    return false;
}

static void check_latency(struct config_work *w, const struct config_judge *raw)
{
    const struct service_def *s = w->s;
    if (s->judge.latency != NO_INDEX || w->cut || raw->latency.at || s->signal_count == 0) return;
    const struct config_node *key = config_tree_key(w->node, "judge"), *at = key ? key : w->node;
    if (wants_to_act(s))
        config_wrong(w->d, at, "judge: {latency: NAME}, a signal of dimension time",
                     "no latency to judge changes by: only mode alert is possible");
    else if (w->raw.knobs.at)
        config_warn(w->d, at, "judge: {latency: NAME}, a signal of dimension time",
                    "no latency to judge changes by: this service will only report");
}

static void build_objective(struct config_work *w, const struct config_judge *raw)
{
    struct service_def *s = w->s;
    if (!raw->objective.is_set) return;
    if (s->judge.latency == NO_INDEX) {
        if (!raw->latency.at && !wants_to_act(s))
            config_wrong(w->d, raw->objective.at, NULL, "an objective without judge.latency");
        return;
    }
    if (!raw->objective.has_unit) {
        config_wrong(w->d, raw->objective.at, "write 80 ms", "objective: '%.40s' has no unit", raw->objective.at->text);
        return;
    }
    if (w->signal_wrong[s->judge.latency]) return;
    config_in_unit(w, &raw->objective, "objective", s->signals[s->judge.latency].unit, &s->judge.objective);
}

void config_build_judge(struct config_work *w)
{
    struct config_judge raw;
    struct config_node none = {.kind = CONFIG_MAP, .source = w->node->source};
    const struct config_value *v = &w->raw.judge;
    if (!config_read_block(w->d, CONFIG_BLOCK_JUDGE, v->is_set ? v->at : &none, v->inherited, &raw)) return;
    struct judge_def *j = &w->s->judge;
    const struct part parts[] = {
        {&raw.latency, &j->latency, {"latency_p99", "ttft_p99", "latency_mean"}, DIM_TIME, false, "latency"},
        {&raw.latency_mean, &j->latency_mean, {"latency_mean"}, DIM_TIME, false, "latency_mean"},
        {&raw.queue, &j->queue, {"queue_depth"}, DIM_NUMBER, true, "queue"},
        {&raw.throughput, &j->throughput, {"throughput"}, DIM_RATE, false, "throughput"},
        {&raw.arrivals, &j->arrivals, {"arrivals", "request_rate"}, DIM_RATE, false, "arrivals"},
        {&raw.errors, &j->errors, {"error_ratio"}, DIM_RATIO, false, "errors"},
        {&raw.gpu_memory, &j->gpu_memory, {"gpu_memory", "gpu_mem_ratio"}, DIM_RATIO, false, "gpu_memory"},
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) build_part(w, &parts[i]);
    check_latency(w, &raw);
    build_objective(w, &raw);
}
