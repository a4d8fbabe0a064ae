/* A rule must not be finer than what its signal can show (loop.md section 5): if the value jumps by one resolution step, from a
 * place where the rule is plainly false, that alone must not make it possible. Tried out on the compiled rule itself. */
#include <math.h>
#include <stdlib.h>

#include "config/build.h"

/* A made-up moment: one signal stood at `level`, for ever if `has_past`, and has just moved by `step`; nothing else is known. */
struct moment {
    uint16_t signal;
    double level, step;
    bool has_past;
};

static double datum_of(const struct moment *m, const struct need *need)
{
    if (need->subject != m->signal || (need->fn != FN_VALUE && !m->has_past)) return NAN;
    switch (need->fn) {
    case FN_VALUE:
    case FN_MEAN: return m->level + m->step;
    case FN_BASELINE:
    case FN_PROFILE:
    case FN_WEEK_AGO: return m->level;
    case FN_DRIFT: return m->level > 0 ? m->step / m->level : NAN;
    case FN_SLOPE: return m->step;
    default: return NAN;             /* zscore, score, stddev have floors of their own */
    }
}

static enum tri eval_at(const struct config_work *w, const struct expr *rule, struct datum *items, const struct moment *m)
{
    struct evidence e = {.needs = &w->s->needs, .items = items};
    for (uint16_t i = 0; i < w->s->needs.n; i++) {
        double v = datum_of(m, &w->s->needs.items[i]);
        items[i] = (struct datum){.value = v, .n = 100, .why = isnan(v) ? WHY_MISSING : WHY_KNOWN};
    }
    return expr_eval(rule, &e);
}

static bool flips(const struct config_work *w, const struct expr *rule, struct datum *items, struct moment m)
{
    struct moment before = m;
    before.step = 0;
    return eval_at(w, rule, items, &before) == TRI_FALSE && eval_at(w, rule, items, &m) != TRI_FALSE;
}

/* The highest level at which the signal is still normal: just under its objective. Without one, high enough that only
 * absolute differences can be too fine. */
static double normal_level(const struct service_def *s, uint16_t signal)
{
    double step = s->signals[signal].resolution, objective = s->judge.objective;
    bool known = signal == s->judge.latency && objective > 2.5 * step;
    return known ? objective - 1.01 * step : 1e6 * step;
}

static bool is_finer(const struct config_work *w, const struct expr *rule, struct datum *items, uint16_t signal)
{
    const struct signal_def *def = &w->s->signals[signal];
    double step = def->resolution, level = normal_level(w->s, signal);
    if (!(step > 0)) return false;
    if (flips(w, rule, items, (struct moment){signal, level, step, true})) return true;
    if (flips(w, rule, items, (struct moment){signal, level, -step, true})) return true;
    /* A limit inside the first bucket of a histogram. */
    return def->is_quantile && flips(w, rule, items, (struct moment){signal, step * 1e-3, step * 0.998, false});
}

uint16_t config_finer(struct config_work *w, const struct expr *rule)
{
    const struct service_def *s = w->s;
    struct expr_use use;
    uint16_t found = NO_INDEX;
    struct datum *items = calloc(s->needs.n ? s->needs.n : 1u, sizeof *items);
    if (!items) {
        w->b->no_memory = true;
        return NO_INDEX;
    }
    expr_describe(rule, &use);
    for (uint16_t i = 0; i < s->signal_count && found == NO_INDEX; i++)
        if (expr_use_has(&use, i) && is_finer(w, rule, items, i)) found = i;
    free(items);
    return found;
}

void config_check_finer(struct config_work *w, const struct config_node *at, const struct expr *rule)
{
    uint16_t finer = config_finer(w, rule);
    if (finer == NO_INDEX) return;
    const struct signal_def *def = &w->s->signals[finer];
    struct buf step = BUF_INIT;
    buf_double(&step, def->resolution);
    config_wrong(w->d, at, "a coarser rule, or finer buckets in the target and a smaller `resolution`",
                 "this rule is finer than '%s' can show: one step of its resolution (%s %s) alone would make it true", def->name,
                 buf_text(&step), unit_name(def->unit));
    buf_free(&step);
}
