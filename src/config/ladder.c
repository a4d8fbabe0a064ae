/* Values of a knob: units, bounds, and the ladder between them. */
#include "model/ladder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "config/build.h"

#define FACTOR_MAX 1000

bool config_in_unit(struct config_work *w, const struct config_value *v, const char *what, enum unit unit, double *ret)
{
    if (!v->is_set) return false;
    if (!v->has_unit || v->unit == unit) {
        *ret = v->number;
        return true;
    }
    if (unit == UNIT_ONE && unit_dimension(v->unit) != DIM_NUMBER) {
        config_wrong(w->d, v->at, "write its `unit`, or leave this unit out",
                     "wrong unit: %s is in '%s', but it has no unit here", what, unit_name(v->unit));
        return false;
    }
    if (unit_dimension(v->unit) != unit_dimension(unit)) {
        config_wrong(w->d, v->at, NULL, "wrong unit: %s is in '%s' (%s), not in '%s'", what, unit_name(unit),
                     dimension_name(unit_dimension(unit)), unit_name(v->unit));
        return false;
    }
    double factor = unit_factor(v->unit) / unit_factor(unit);
    double per = unit_factor(unit) / unit_factor(v->unit);
    *ret = per > 1 ? v->number / rint(per) : v->number * rint(factor);   /* whole factors, so that 64 MB stay 64000000 B */
    return true;
}

/* One value of the ladder or a bound: with the knob's unit, and whole where the knob is. */
static bool take(struct config_work *w, const struct config_value *v, const char *what, const struct knob_def *k, double *ret)
{
    if (!config_in_unit(w, v, what, k->unit, ret)) return false;
    if (!k->integer || *ret == floor(*ret)) return true;
    config_wrong(w->d, v->at, "write `integer: false` if parts are allowed", "%s: '%.40s' is not a whole number", what,
                 v->at->text);
    return false;
}

static bool take_bounds(struct config_work *w, const struct config_knob *raw, struct knob_def *k)
{
    bool ok = raw->min.is_set && take(w, &raw->min, "min", k, &k->min);
    ok = raw->max.is_set && take(w, &raw->max, "max", k, &k->max) && ok;
    if (!config_in_unit(w, &raw->min_step, "min_step", k->unit, &k->min_step)) k->min_step = 0;
    if (!ok || k->min < k->max) return ok;
    config_wrong(w->d, raw->max.at, NULL, "max '%.40s' is not above min '%.40s'", raw->max.at->text, raw->min.at->text);
    return false;
}

static bool ladder_wrong(struct config_work *w, const struct config_node *at)
{
    config_wrong(w->d, at, "write x2, +4, +25%, or a rising list such as [1, 2, 5, 10]", "ladder: '%.40s' is no ladder",
                 at->text);
    return false;
}

static bool take_formula(struct config_work *w, const struct config_node *at, struct knob_def *k)
{
    const char *t = at->text;
    bool percent = at->len > 2 && t[0] == '+' && t[at->len - 1] == '%';
    double by;
    struct config_value v = {.at = at, .is_set = true};
    if (t[0] == 'x' || percent) {
        if (!num_parse_all(t + 1, at->len - (percent ? 2 : 1), &by)) return ladder_wrong(w, at);
        by = percent ? 1 + by / 100 : by;
        if (!(by > 1 && by <= FACTOR_MAX)) {
            config_wrong(w->d, at, "a factor over 1, at most 1000", "ladder: '%.40s' does not climb", t);
            return false;
        }
        if (k->min <= 0) {
            config_wrong(w->d, at, "use a step (+4) or a list, or a min over 0",
                         "ladder: no factor leads up from a min of 0 or less");
            return false;
        }
        k->ladder = LADDER_FACTOR;
        k->ladder_by = by;
        return true;
    }
    if (t[0] != '+') return ladder_wrong(w, at);
    if (!config_quantity(w->d, at, "ladder", t + 1, at->len - 1, &v) || !take(w, &v, "ladder", k, &by)) return false;
    k->ladder = LADDER_STEP;
    k->ladder_by = by;
    if (by > 0) return true;
    config_wrong(w->d, at, NULL, "ladder: '%.40s' does not climb", t);
    return false;
}

static bool take_rung(struct config_work *w, const struct config_node *item, const struct knob_def *k, double last, double *ret)
{
    struct config_value v = {.at = item, .is_set = true};
    if (item->kind != CONFIG_SCALAR) {
        config_wrong(w->d, item, NULL, "ladder: each rung must be a number");
        return false;
    }
    if (!config_quantity(w->d, item, "ladder", item->text, item->len, &v) || !take(w, &v, "ladder", k, ret)) return false;
    if (*ret < k->min || *ret > k->max) {
        config_wrong(w->d, item, NULL, "the ladder leaves [min, max]: rung '%.40s' is outside", item->text);
        return false;
    }
    if (*ret > last) return true;
    config_wrong(w->d, item, NULL, "the ladder must rise: rung '%.40s' does not", item->text);
    return false;
}

static bool take_list(struct config_work *w, const struct config_node *at, struct knob_def *k)
{
    if (at->n < 2 || at->n > 1000) {
        config_wrong(w->d, at, NULL, "a ladder has 2 to 1,000 rungs; this list has %u", at->n);
        return false;
    }
    double *rungs = config_alloc(w, at->n, sizeof *rungs);
    bool ok = rungs != NULL;
    double last = -INFINITY;
    for (uint32_t i = 0; rungs && i < at->n; i++) {
        if (take_rung(w, at->items[i], k, last, &rungs[i])) last = rungs[i];
        else ok = false;
    }
    k->ladder = LADDER_LIST;
    k->rungs = rungs;
    k->rung_count = (uint16_t)at->n;
    return ok;
}

/* Two neighbouring rungs that are nearer than min_step, and what the last rung is. */
static void check_rungs(struct config_work *w, const struct config_node *at, const struct config_knob *raw,
                        const struct knob_def *k)
{
    double *rungs = malloc(LADDER_RUNGS_MAX * sizeof *rungs);
    if (!rungs) {
        w->b->no_memory = true;
        return;
    }
    uint32_t n = ladder_rungs(k, rungs, LADDER_RUNGS_MAX);
    uint32_t have = n < LADDER_RUNGS_MAX ? n : LADDER_RUNGS_MAX;
    char a[NUM_TEXT_MAX], b[NUM_TEXT_MAX], c[NUM_TEXT_MAX];
    for (uint32_t i = 1; i < have; i++) {
        if (rungs[i] - rungs[i - 1] >= k->min_step * (1 - 1e-9)) continue;
        num_print(a, rungs[i - 1]);
        num_print(b, rungs[i]);
        num_print(c, k->min_step);
        config_wrong(w->d, raw->min_step.at ? raw->min_step.at : at, "a larger min, a steeper ladder, or a smaller min_step",
                     "min_step %s contradicts the ladder: from %s the next rung is %s", c, a, b);
        break;
    }
    num_print(b, have ? rungs[have - 1] : 0);
    num_print(c, k->max);
    if (have < 2)
        config_wrong(w->d, at, NULL, "the ladder leaves [min, max] with its first step: there is no rung but '%.40s'",
                     raw->min.at->text);
    else if (n > LADDER_RUNGS_MAX)
        config_wrong(w->d, at, NULL, "the ladder has more than %d rungs", LADDER_RUNGS_MAX);
    else if (rungs[have - 1] < k->max)
        config_warn(w->d, raw->max.at, NULL, "max %s is never reached: the last rung of the ladder is %s", c, b);
    free(rungs);
}

bool config_build_ladder(struct config_work *w, const struct config_knob *raw, struct knob_def *k)
{
    if (raw->unit.is_wrong || !take_bounds(w, raw, k) || !raw->ladder.is_set) return false;
    const struct config_node *at = raw->ladder.at;
    if (!(at->kind == CONFIG_LIST ? take_list(w, at, k) : take_formula(w, at, k))) return false;
    check_rungs(w, at, raw, k);
    return true;
}
