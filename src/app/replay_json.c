/* A replay for programs: one object; docs/replay.md names every key. */
#include <math.h>
#include <string.h>

#include "api/emit.h"
#include "app/replay.h"
#include "base/num.h"
#include "base/text.h"

static void number_or_text(struct emit *e, const char *key, const char *text)
{
    double v;
    if (num_parse_all(text, strlen(text), &v)) emit_number(e, key, v);
    else emit_text_or_null(e, key, text);
}

static void counts(struct emit *e, const char *key, const uint64_t all[REASON_COUNT], bool only_held)
{
    emit_open(e, key, '{');
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        if (all[i] && (!only_held || replay_holds((enum reason)i))) emit_int(e, reason_code((enum reason)i), (int64_t)all[i]);
    }
    emit_close(e, '}');
}

static void after(struct emit *e, const char *key, const struct replay_service *s, const struct replay_after *a, uint16_t n)
{
    emit_open(e, key, '[');
    for (uint16_t i = 0; i < n; i++) {
        const struct signal_def *d = &s->def->signals[a[i].signal];
        emit_open(e, NULL, '{');
        emit_text(e, "signal", d->name);
        emit_text(e, "unit", unit_name(d->unit));
        emit_number(e, "before", a[i].before);
        emit_open(e, "after", '[');
        for (int k = 0; k < REPLAY_AFTER_PARTS; k++) emit_number(e, NULL, a[i].after[k]);
        emit_close(e, ']');
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void field(struct emit *e, const char *key, const struct record *r, enum record_field f)
{
    emit_text_or_null(e, key, r ? record_get_text(r, f) : "");
}

static void gates(struct emit *e, const struct replay_service *s, const struct replay_plan *p)
{
    emit_open(e, "gates", '[');
    for (uint16_t i = 0; i < p->gate_n; i++) {
        const struct gate_result *g = &p->gates[i];
        emit_open(e, NULL, '{');
        emit_text(e, "reason", reason_code(g->reason));
        emit_bool(e, "shut", g->shut);
        emit_text_or_null(e, "knob", g->knob < s->def->knob_count ? s->def->knobs[g->knob].name : "");
        emit_text_or_null(e, "note", g->note);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void plan(struct emit *e, const struct replay_service *s, const struct replay_plan *p)
{
    emit_open(e, NULL, '{');
    emit_wall(e, "at", p->at);
    emit_int(e, "incident", p->incident < s->incident_n ? (int64_t)s->incidents[p->incident].number : 0);
    field(e, "symptom", p->record, RF_SYMPTOM);
    field(e, "cause", p->record, RF_CAUSE);
    field(e, "knob", p->record, RF_KNOB);
    field(e, "class", p->record, RF_CLASS);
    field(e, "direction", p->record, RF_DIRECTION);
    number_or_text(e, "from", record_get_text(p->record, RF_FROM));
    number_or_text(e, "to", record_get_text(p->record, RF_TO));
    emit_text(e, "would", replay_would_name(p->would));
    emit_text_or_null(e, "asks_because", reason_code(p->asks));
    emit_bool(e, "counterfactual", p->counterfactual);
    field(e, "values", p->record, RF_VALUES);
    field(e, "rule", p->record, RF_RULE);
    field(e, "causes", p->record, RF_CAUSES);
    gates(e, s, p);
    after(e, "next_30m", s, p->after, p->after_n);
    emit_close(e, '}');
}

static void incident(struct emit *e, const struct replay_service *s, const struct replay_incident *i)
{
    emit_open(e, NULL, '{');
    emit_int(e, "incident", (int64_t)i->number);
    emit_wall(e, "onset", i->onset);
    emit_wall(e, "opened", i->opened);
    emit_wall(e, "closed", i->closed);
    field(e, "outcome", i->last_closed, RF_OUTCOME);
    emit_open(e, "symptoms", '[');
    for (uint16_t k = 0; k < i->symptom_n; k++) emit_text(e, NULL, i->symptoms[k]);
    emit_close(e, ']');
    emit_bool(e, "counterfactual", i->counterfactual);
    field(e, "values", i->first, RF_VALUES);
    field(e, "rule", i->first, RF_RULE);
    field(e, "causes", i->first, RF_CAUSES);
    field(e, "finding", i->first, RF_NOTE);
    field(e, "handed_over", i->handover, RF_REASON);
    field(e, "handed_over_causes", i->handover, RF_CAUSES);
    field(e, "advice", i->handover, RF_NOTE);
    emit_int(e, "ticks", (int64_t)i->ticks);
    counts(e, "reasons", i->reasons, false);
    counts(e, "held_back", i->reasons, true);
    after(e, "next_30m", s, i->after, i->after_n);
    emit_close(e, '}');
}

static void knobs(struct emit *e, const struct replay_service *s)
{
    emit_open(e, "knobs", '[');
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        const struct replay_knob *k = &s->knobs[i];
        emit_open(e, NULL, '{');
        emit_text(e, "knob", s->def->knobs[i].name);
        emit_number(e, "start", k->start);
        emit_text(e, "known_from", replay_origin_name(k->origin));
        emit_int(e, "changes", k->n > 1 ? (int64_t)k->n - 1 : 0);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void signals(struct emit *e, const struct replay_service *s)
{
    emit_open(e, "signals", '[');
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        emit_open(e, NULL, '{');
        emit_text(e, "signal", s->def->signals[i].name);
        emit_int(e, "points", (int64_t)s->series[i].n);
        emit_seconds(e, "step_seconds", s->series[i].step);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void context(struct emit *e, const struct replay_service *s)
{
    emit_open(e, "context", '[');
    for (size_t i = 0; i < s->other_n; i++) {
        const struct record *r = s->others[i];
        if (r->kind != RECORD_RELEASE && r->kind != RECORD_EXTERNAL) continue;
        emit_open(e, NULL, '{');
        emit_wall(e, "at", (struct wall){record_get_i64(r, RF_AT, 0)});
        emit_text(e, "kind", record_kind_name(r->kind));
        field(e, "knob", r, RF_KNOB);
        field(e, "read", r, RF_READ);
        field(e, "model_version", r, RF_MODEL_VERSION);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void service(struct emit *e, const struct replay_service *s)
{
    emit_open(e, NULL, '{');
    emit_text(e, "service", s->def->name);
    emit_text(e, "mode", mode_name(s->mode));
    signals(e, s);
    knobs(e, s);
    context(e, s);
    emit_int(e, "ticks", (int64_t)s->ticks);
    emit_open(e, "decisions", '{');
    for (unsigned i = 0; i < DECISION_COUNT; i++) emit_int(e, decision_name((enum decision_kind)i), (int64_t)s->decisions[i]);
    emit_close(e, '}');
    counts(e, "reasons", s->reasons, false);
    counts(e, "held_back", s->held, false);
    emit_open(e, "incidents", '[');
    for (size_t i = 0; i < s->incident_n; i++) incident(e, s, &s->incidents[i]);
    emit_close(e, ']');
    emit_open(e, "would_be_actions", '[');
    for (size_t i = 0; i < s->plan_n; i++) plan(e, s, &s->plans[i]);
    emit_close(e, ']');
    emit_wall(e, "counterfactual_from", s->counterfactual_from);
    emit_close(e, '}');
}

static void summary(struct emit *e, const struct replay *r)
{
    uint64_t held[REASON_COUNT] = {0};
    int64_t ticks = 0, incidents = 0, plans = 0, unreal = 0;
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        const struct replay_service *s = &r->services[i];
        for (unsigned k = 0; k < REASON_COUNT; k++) held[k] += s->held[k];
        ticks += (int64_t)s->ticks;
        incidents += (int64_t)s->incident_n;
        plans += (int64_t)s->plan_n;
        for (size_t k = 0; k < s->plan_n; k++) unreal += s->plans[k].counterfactual;
    }
    emit_open(e, "summary", '{');
    emit_int(e, "ticks", ticks);
    emit_int(e, "incidents", incidents);
    emit_int(e, "would_be_actions", plans);
    emit_int(e, "counterfactual_actions", unreal);
    counts(e, "held_back", held, false);
    emit_close(e, '}');
}

void replay_json(struct buf *out, const struct replay_input *in)
{
    static const char digits[] = "0123456789abcdef";
    const struct replay *r = in->replay;
    struct emit e = {.out = out};
    char digest[17];
    for (int i = 0; i < 16; i++) digest[i] = digits[r->digest >> (60 - 4 * i) & 15];
    digest[16] = '\0';
    emit_open(&e, NULL, '{');
    emit_text(&e, "config", r->policy->path);
    emit_text(&e, "revision", r->policy->revision);
    emit_text(&e, "source", in->from);
    emit_text(&e, "source_kind", in->kind);
    emit_wall(&e, "since", r->from);
    emit_wall(&e, "until", r->until);
    emit_open(&e, "services", '[');
    for (uint16_t i = 0; i < r->policy->service_count; i++) service(&e, &r->services[i]);
    emit_close(&e, ']');
    summary(&e, r);
    emit_open(&e, "notes", '[');
    for (unsigned i = 0; i < in->note_n; i++) emit_text(&e, NULL, in->notes[i]);
    emit_close(&e, ']');
    emit_text(&e, "digest", digest);
    emit_close(&e, '}');
    buf_putc(out, '\n');
}
