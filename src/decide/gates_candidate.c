#include "decide/pass.h"

#include <math.h>

#include "base/buf.h"
#include "expr/expr.h"

static void add_value(struct buf *b, const struct knob_value *v)
{
    buf_add(b, v->bytes, v->len);
}

static enum hold excluded(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    if (p->st->excluded && excluded_has(p->st->excluded, a->cause, a->knob, a->direction)) {
        gate_say(g, "tried or rejected in this incident");
        return HOLD_FINAL;
    }
    if (a->spent) {
        gate_say(g, "its cause is ruled out in this incident");
        return HOLD_FINAL;
    }
    /* Its request expired: this plan is skipped for an hour, not the knob. */
    bool skipped = a->standing->skip_cause == NO_INDEX ||
                   (a->standing->skip_cause == a->cause && a->standing->skip_direction == a->direction);
    return skipped ? gate_until(p, a->standing->skip_until, g) : HOLD_OPEN;
}

static enum hold class_suspended(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    return gate_until(p, a->standing->class_suspended_until, g);
}

static enum hold unlisted(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p;
    const struct knob_def *k = a->def;
    gate_numbers(g, a->tier, 3, UNIT_ONE);
    if (a->tier >= 3) {
        gate_say(g, k->budget == BUDGET_SHARED ? "tier 3: it spends a shared budget" : "tier 3");
        return HOLD_FINAL;
    }
    if (k->class == CLASS_REPLICAS && a->direction == DIR_DOWN) {
        gate_say(g, "scale-in is only advised");
        return HOLD_FINAL;
    }
    bool allowed = a->direction == DIR_UP ? k->allow_up : k->allow_down;
    if (!allowed) gate_say(g, "this direction is not on the whitelist");
    return allowed ? HOLD_OPEN : HOLD_FINAL;
}

static enum hold owned(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    const struct knob_standing *k = a->standing;
    enum hold frozen = gate_until(p, k->frozen_until, g);
    if (frozen != HOLD_OPEN) return frozen;
    if (k->owned_by_other) {
        gate_say(g, "somebody else owns it until a person acknowledges that");
        return HOLD_FINAL;
    }
    if (!k->readable || (k->value.len == 0 && k->uniform)) {
        gate_say(g, "its value could not be read");
        return HOLD_DATA;
    }
    if (!k->believed_same && k->uniform) {
        gate_say(g, "the value read is not the one believed to be in force");
        return HOLD_DATA;
    }
    return HOLD_OPEN;
}

static enum hold until_unless_approved(const struct pass *p, enum reason r, struct instant until, struct gate_result *g)
{
    enum hold h = gate_until(p, until, g);
    if (h == HOLD_OPEN || !gate_overridden(p, r)) return h;
    gate_say(g, "overridden by the approval");
    return HOLD_OPEN;
}

static enum hold cooling(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    return until_unless_approved(p, REASON_COOLING, a->standing->cool_until, g);
}

static enum hold protected_(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    return until_unless_approved(p, REASON_PROTECTED, a->standing->protect_until, g);
}

static enum hold interval(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    return until_unless_approved(p, REASON_INTERVAL, a->standing->interval_until, g);
}

static enum hold at_bound(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p;
    const struct knob_def *k = a->def;
    double now = a->standing->value.is_number ? a->standing->value.decimal : (double)NAN;
    if (!a->standing->uniform && a->standing->readable) return HOLD_OPEN;   /* there is no one value: not-uniform speaks */
    gate_numbers(g, now, a->direction == DIR_UP ? k->max : k->min, k->unit);
    gate_say(g, a->no_to);
    return a->has_to ? HOLD_OPEN : HOLD_FINAL;
}

/* "The ceiling must bind": a limit that is not used up is a placebo. Nothing to ask where the use is not configured. */
static enum hold ceiling(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    const struct knob_def *k = a->def;
    if (a->direction != DIR_UP || k->use_signal >= p->service->signal_count || !a->standing->uniform) return HOLD_OPEN;
    int i = needs_find(p->evidence->needs, (struct need){.fn = FN_VALUE, .subject = k->use_signal});
    const struct datum *d = i < 0 ? NULL : &p->evidence->items[i];
    const char *name = p->service->signals[k->use_signal].name;
    struct buf b = BUF_INIT;
    buf_puts(&b, name);
    if (!d || d->why != WHY_KNOWN || !a->standing->value.is_number) {
        buf_printf(&b, " is unknown: %s", d ? unknown_sentence(d->why) : "it is not measured");
        gate_note(g, &b);
        return HOLD_DATA;
    }
    double limit = DECIDE_CEILING_SHARE * a->standing->value.decimal;
    gate_numbers(g, d->value, limit, k->unit);
    buf_putc(&b, ' ');
    buf_sig3(&b, d->value);
    buf_puts(&b, d->value > limit ? " > 0.85 * " : " is not over 0.85 * ");
    add_value(&b, &a->standing->value);
    gate_note(g, &b);
    return d->value > limit ? HOLD_OPEN : HOLD_DATA;
}

static enum hold precondition(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    enum hold use = ceiling(p, a, g);
    if (use != HOLD_OPEN || !a->def->precondition) return use;
    enum tri holds = expr_eval(a->def->precondition, p->evidence);
    struct buf b = BUF_INIT;
    expr_explain(&b, a->def->precondition, p->evidence, p->service);
    gate_note(g, &b);
    return holds == TRI_TRUE ? HOLD_OPEN : HOLD_DATA;
}

/* A coupled knob must keep its side: with the same unit, a value that stood below (above) it may meet it but not pass it, and equal
 * values are tied together. Other units, or a value that cannot be read: nobody knows, so a person changes both. */
static enum hold coupled(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    for (size_t i = 0; i < ARRAY_LEN(a->def->coupled) && a->def->coupled[i] < p->service->knob_count; i++) {
        uint16_t other = a->def->coupled[i];
        const struct knob_def *o = &p->service->knobs[other];
        const struct knob_value *v = &p->st->knobs[other].value, *now = &a->standing->value;
        bool comparable = o->unit == a->def->unit && p->st->knobs[other].readable && v->is_number && now->is_number;
        if (!a->standing->uniform) continue;      /* not-uniform speaks */
        if (comparable && !a->has_to) continue;   /* at-bound speaks */
        if (comparable && now->decimal < v->decimal && a->to.decimal <= v->decimal) continue;
        if (comparable && now->decimal > v->decimal && a->to.decimal >= v->decimal) continue;
        struct buf b = BUF_INIT;
        buf_printf(&b, "coupled with %s, which is ", o->name);
        if (p->st->knobs[other].readable) add_value(&b, v);
        else buf_puts(&b, "unreadable");
        gate_note(g, &b);
        return HOLD_FINAL;
    }
    return HOLD_OPEN;
}

static enum hold not_uniform(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p, (void)g;
    return a->standing->uniform ? HOLD_OPEN : HOLD_DATA;
}

static enum hold dead_band(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    double margin = p->st->reference_margin;
    gate_numbers(g, margin, a->def->dead_band, UNIT_RATIO);
    if (p->st->slo_symptom) {
        gate_say(g, "off for an objective");
        return HOLD_OPEN;
    }
    if (isnan(margin)) gate_say(g, "the deviation is unknown");
    return margin >= a->def->dead_band ? HOLD_OPEN : HOLD_WAIT;
}

const struct gate gates_candidate[] = {
    {REASON_EXCLUDED, excluded},         {REASON_CLASS_SUSPENDED, class_suspended}, {REASON_UNLISTED, unlisted},
    {REASON_OWNED, owned},               {REASON_COOLING, cooling},                 {REASON_PROTECTED, protected_},
    {REASON_INTERVAL, interval},         {REASON_AT_BOUND, at_bound},               {REASON_PRECONDITION, precondition},
    {REASON_COUPLED, coupled},           {REASON_NOT_UNIFORM, not_uniform},         {REASON_DEAD_BAND, dead_band},
};
const uint16_t gates_candidate_count = ARRAY_LEN(gates_candidate);
