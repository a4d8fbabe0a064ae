/* Sentences for people, from templates with numbers passed in. */
#include <math.h>
#include <string.h>

#include "loop/service.h"

static void value_with_unit(struct buf *out, const struct signal_def *d, double v)
{
    buf_sig3(out, v);
    if (d->unit == UNIT_ONE || d->unit == UNIT_RATIO) return;
    buf_printf(out, "%s%s", d->unit == UNIT_PERCENT ? "" : " ", unit_name(d->unit));
}

static void one_value(struct buf *out, const struct service_loop *s, uint16_t signal)
{
    if (signal == NO_INDEX) return;
    const struct point *p = &s->points[signal];
    if (out->len) buf_puts(out, ", ");
    buf_printf(out, "%s ", s->def->signals[signal].name);
    if (p->why == WHY_KNOWN) value_with_unit(out, &s->def->signals[signal], p->value);
    else buf_puts(out, unknown_name(p->why));
}

/* The request and processing signals first: they decide. All that is configured is kept, up to 24. */
void words_values(struct buf *out, const struct service_loop *s)
{
    unsigned told = 0;
    for (int layer = 0; layer < LAYER_COUNT; layer++) {
        for (uint16_t i = 0; i < s->def->signal_count && told < 24; i++) {
            if ((int)s->def->signals[i].layer != layer) continue;
            one_value(out, s, i);
            told++;
        }
    }
}

void words_causes(struct buf *out, const struct service_loop *s)
{
    for (unsigned i = 0; i < s->causes.n; i++) {
        const struct cause_result *r = &s->causes.items[i];
        if (r->verdict == CAUSE_FALSE) continue;
        if (out->len) buf_puts(out, "; ");
        buf_printf(out, "%s %s", s->def->causes[r->cause].name, cause_verdict_name(r->verdict));
    }
}

void words_gates(struct buf *out, const struct service_loop *s)
{
    unsigned told = 0;
    for (unsigned i = 0; i < s->decision.gate_count && told < 12; i++) {
        const struct gate_result *g = &s->decision.gates[i];
        if (!g->shut) continue;
        if (out->len) buf_puts(out, "; ");
        buf_puts(out, reason_code(g->reason));
        if (g->knob != NO_INDEX && g->knob < s->def->knob_count) {
            buf_printf(out, " (%s %s)", s->def->knobs[g->knob].name, direction_name(g->direction));
        }
        if (g->note[0]) buf_printf(out, ": %s", g->note);
        told++;
    }
}

static void id_text(struct buf *out, const struct service_loop *s, uint16_t id)
{
    struct knob_value v = {0};
    if (intern_get(&s->intern, id, &v)) buf_add(out, v.bytes, v.len);
    else buf_puts(out, "?");
}

static void change_text(struct buf *out, const struct service_loop *s, unsigned knob, uint16_t from, uint16_t to)
{
    buf_printf(out, "%s ", s->def->knobs[knob].name);
    id_text(out, s, from);
    buf_puts(out, " -> ");
    id_text(out, s, to);
}

static void now_acting(struct buf *out, const struct loop *l, const struct service_loop *s)
{
    const struct control *c = &s->control;
    const struct control_slot *a = &c->knobs[c->active].slot;
    bool undo = c->state >= STATE_UNDO_INTENT && c->state <= STATE_UNDO_READBACK;
    change_text(out, s, c->active, undo ? a->new_ : a->old, undo ? a->old : a->new_);
    switch (c->state) {
    case STATE_INTENT: buf_puts(out, ", recorded, about to be written"); break;
    case STATE_WRITING:
    case STATE_UNDO_WRITING: buf_puts(out, ", being written"); break;
    case STATE_READBACK:
    case STATE_UNDO_READBACK: buf_puts(out, ", written, being read back"); break;
    case STATE_SETTLING: buf_puts(out, ", settling, "); break;
    case STATE_OBSERVING: buf_puts(out, ", judging, "); break;
    default: buf_puts(out, ", being taken back"); break;
    }
    if (c->state == STATE_SETTLING || c->state == STATE_OBSERVING) {
        struct span left = instant_since(c->phase_until, l->now);
        span_print(out, left.us > 0 ? left : (struct span){0});
        buf_puts(out, " left");
    }
}

static void now_open(struct buf *out, const struct loop *l, const struct service_loop *s)
{
    const struct decision *d = &s->decision;
    uint16_t i = s->control.symptom;
    buf_printf(out, "%s: ", i < s->def->symptom_count ? s->def->symptoms[i].name : "incident");
    if (d->reason == REASON_FROZEN) {
        struct buf why = BUF_INIT;
        windows_frozen_words(&why, l, s);
        buf_printf(out, "frozen by %s", buf_text(&why));
        buf_free(&why);
    } else if (d->reason == REASON_NONE) buf_puts(out, "being looked at");
    else buf_puts(out, reason_sentence(d->reason));
}

void words_now(struct buf *out, const struct loop *l, const struct service_loop *s)
{
    const struct control *c = &s->control;
    if (c->halted) {
        buf_printf(out, "halted%s%s%s%s", s->halted_by[0] ? " by " : "", s->halted_by, s->halted_why[0] ? ": " : "", s->halted_why);
        return;
    }
    if (control_in_flight(c)) {
        now_acting(out, l, s);
        return;
    }
    switch (c->state) {
    case STATE_AWAITING:
        buf_puts(out, "asks: ");
        change_text(out, s, c->request.knob, c->request.from, c->request.to);
        break;
    case STATE_OPEN: now_open(out, l, s); break;
    case STATE_PERSON: buf_puts(out, "with a person: 'trimtab incidents' tells why, 'trimtab retry' hands it back"); break;
    case STATE_RECOVERING: buf_puts(out, reason_sentence(REASON_RECOVERING)); break;   /* the last decision may be older */
    case STATE_WATCHING:
        if (s->blind_told) buf_puts(out, "blind: the symptom is unknown");
        else buf_puts(out, s->decided && s->decision.reason != REASON_HEALTHY ? reason_sentence(s->decision.reason) : "normal");
        break;
    default: buf_puts(out, reason_sentence(s->decided ? s->decision.reason : REASON_RECOVERING)); break;
    }
    bool said = c->state == STATE_OPEN && s->decision.reason == REASON_FROZEN;
    if (c->frozen & FREEZE_WINDOW && !said) {
        buf_puts(out, " (");
        struct buf why = BUF_INIT;
        windows_words(&why, l, s);
        buf_printf(out, "%s)", buf_text(&why));
        buf_free(&why);
    }
    if (s->outage) buf_puts(out, " (the service is down)");
    if (c->incident_open && detect_aging(s->detect, l->now)) buf_puts(out, " (aging: the baseline learns again, slowly)");
}
