#include "api/view_json.h"

#include <math.h>
#include <string.h>

/* A measured number with its unit, or null and why. */
static void value(struct emit *e, const char *key, double v, enum unit unit, enum unknown_why why)
{
    emit_open(e, key, '{');
    emit_number(e, "value", why == WHY_KNOWN ? v : NAN);
    emit_text(e, "unit", unit_name(unit));
    if (why != WHY_KNOWN) {
        emit_text(e, "why", unknown_name(why));
        emit_text(e, "sentence", unknown_sentence(why));
    }
    emit_close(e, '}');
}

static struct wall wall_of(const struct service_view *v, struct instant t)
{
    if (!instant_is_set(t)) return WALL_NONE;
    return (struct wall){v->wall.us + instant_since(t, v->at).us};
}

static void signal_json(struct emit *e, const struct signal_def *d, const struct signal_view *s)
{
    emit_open(e, NULL, '{');
    emit_text(e, "name", d->name);
    emit_text(e, "layer", layer_name(d->layer));
    emit_text(e, "unit", unit_name(d->unit));
    emit_text(e, "bad", bad_name(d->bad));
    emit_number(e, "value", s->now.why == WHY_KNOWN ? s->now.value : NAN);
    if (s->now.why != WHY_KNOWN) {
        emit_text(e, "why", unknown_name(s->now.why));
        emit_text(e, "why_sentence", unknown_sentence(s->now.why));
    }
    emit_seconds(e, "age_seconds", s->now.age);
    emit_text(e, "state", series_state_name(s->state));
    emit_number(e, "baseline", s->baseline_why == WHY_KNOWN ? s->baseline : NAN);
    if (s->baseline_why != WHY_KNOWN) {
        emit_text(e, "baseline_why", unknown_name(s->baseline_why));
        emit_text(e, "baseline_why_sentence", unknown_sentence(s->baseline_why));
    }
    emit_number(e, "baseline_scale", s->baseline_scale);
    emit_number(e, "profile", s->profile);
    emit_number(e, "drift", s->drift);
    emit_number(e, "zscore", s->zscore);
    emit_number(e, "score", s->score);
    emit_number(e, "anchor", s->anchor);
    emit_number(e, "origin", s->origin);
    emit_wall(e, "origin_at", s->origin_at);
    emit_int(e, "learned_ticks", s->learned);
    emit_int(e, "needed_ticks", s->needed);
    emit_text_or_null(e, "finding", s->finding);
    emit_text_or_null(e, "query", d->query_text);
    emit_close(e, '}');
}

static void views_json(struct emit *e, const struct service_view *v)
{
    emit_open(e, "views", '[');
    for (unsigned i = 0; i < WARM_COUNT; i++) {
        const struct warm_view *w = &v->views[i];
        emit_open(e, NULL, '{');
        emit_text(e, "view", w->name);
        emit_bool(e, "awake", w->awake);
        emit_seconds(e, "learned_seconds", w->learned);
        emit_seconds(e, "needed_seconds", w->needed);
        emit_wall(e, "wakes", w->wakes);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void symptom_json(struct emit *e, const struct symptom_def *d, const struct symptom_view *s)
{
    emit_open(e, NULL, '{');
    emit_text(e, "name", d->name);
    emit_text(e, "now", tri_name(s->now));
    emit_bool(e, "slo", d->slo);
    emit_bool(e, "request_layer", d->request_layer);
    emit_open(e, "last_known_ticks", '[');
    for (unsigned i = 0; i < 3; i++) emit_bool(e, NULL, (s->history >> i & 1) != 0);
    emit_close(e, ']');
    emit_text(e, "explain", s->explain);
    emit_close(e, '}');
}

void view_json_symptoms(struct emit *e, const char *key, const struct service_view *v)
{
    emit_open(e, key, '[');
    for (uint16_t i = 0; i < v->symptom_count; i++) symptom_json(e, &v->def->symptoms[i], &v->symptoms[i]);
    emit_close(e, ']');
}

static void cause_json(struct emit *e, const struct service_view *v, const struct cause_view *c)
{
    const struct cause_def *d = &v->def->causes[c->result.cause];
    emit_open(e, NULL, '{');
    emit_text(e, "name", d->name);
    emit_text(e, "id", d->id);
    emit_text(e, "group", cause_group_name(d->group));
    emit_text(e, "verdict", cause_verdict_name(c->result.verdict));
    emit_text(e, "when", tri_name(c->result.when));
    emit_number(e, "share", c->result.share);
    emit_bool(e, "all_tried", c->result.all_tried);
    emit_text(e, "explain", c->explain);
    emit_open(e, "try", '[');
    for (uint16_t i = 0; i < d->try_count; i++) {
        emit_open(e, NULL, '{');
        if (d->tries[i].knob == NO_INDEX) {
            emit_text(e, "advice", d->tries[i].advice);
        } else {
            emit_text(e, "knob", v->def->knobs[d->tries[i].knob].name);
            emit_text(e, "direction", direction_name(d->tries[i].direction));
        }
        emit_close(e, '}');
    }
    emit_close(e, ']');
    emit_close(e, '}');
}

static void reason_json(struct emit *e, enum reason r)
{
    emit_text_or_null(e, "reason", reason_code(r));
    emit_text_or_null(e, "sentence", reason_sentence(r));
    emit_text_or_null(e, "opens_when", reason_advice(r));
}

static void gate_json(struct emit *e, const struct service_view *v, const struct gate_result *g)
{
    emit_open(e, NULL, '{');
    reason_json(e, g->reason);
    emit_text(e, "kind", reason_kind_name(reason_kind(g->reason)));
    emit_bool(e, "shut", g->shut);
    if (g->knob < v->def->knob_count) {
        emit_text(e, "knob", v->def->knobs[g->knob].name);
        emit_text(e, "direction", direction_name(g->direction));
    }
    if (g->cause < v->def->cause_count) emit_text(e, "cause", v->def->causes[g->cause].name);
    if (isfinite(g->lhs) || isfinite(g->rhs)) {
        emit_number(e, "value", g->lhs);
        emit_number(e, "limit", g->rhs);
        emit_text(e, "unit", unit_name(g->unit));
    }
    emit_text_or_null(e, "note", g->note);
    emit_close(e, '}');
}

static void gates_json(struct emit *e, const struct service_view *v)
{
    const struct decision *d = &v->decision;
    emit_open(e, "gates", '[');
    for (int shut = 1; shut >= 0; shut--) {
        for (uint16_t i = 0; i < d->gate_count; i++) {
            if (d->gates[i].shut == (shut == 1)) gate_json(e, v, &d->gates[i]);
        }
    }
    emit_close(e, ']');
    emit_int(e, "gates_left_out", d->gates_left_out);
}

static void text_of(struct buf *b, const struct knob_value *v) { buf_add(b, v->bytes, v->len); }

static void plan_json(struct emit *e, const struct service_view *v)
{
    const struct decision *d = &v->decision;
    if (!d->has_plan || d->plan.knob >= v->def->knob_count) {
        emit_null(e, "plan");
        return;
    }
    struct buf from = BUF_INIT, to = BUF_INIT;
    text_of(&from, &d->plan.from);
    text_of(&to, &d->plan.to);
    emit_open(e, "plan", '{');
    emit_text(e, "knob", v->def->knobs[d->plan.knob].name);
    emit_text(e, "direction", direction_name(d->plan.direction));
    emit_text(e, "class", class_name(d->plan.class));
    emit_text(e, "from", buf_text(&from));
    emit_text(e, "to", buf_text(&to));
    emit_text(e, "cause", d->plan.cause < v->def->cause_count ? v->def->causes[d->plan.cause].name : NULL);
    emit_close(e, '}');
    buf_free(&from);
    buf_free(&to);
}

static void decision_json(struct emit *e, const char *key, const struct service_view *v)
{
    const struct decision *d = &v->decision;
    emit_open(e, key, '{');
    emit_text(e, "kind", decision_name(d->kind));
    reason_json(e, d->reason);
    plan_json(e, v);
    if (d->advice_cause < v->def->cause_count) {
        const struct cause_def *c = &v->def->causes[d->advice_cause];
        emit_text(e, "advice_cause", c->name);
        for (uint16_t i = 0; i < c->try_count; i++) {
            if (c->tries[i].knob != NO_INDEX) continue;
            emit_text(e, "advice", c->tries[i].advice);
            break;
        }
    }
    gates_json(e, v);
    emit_close(e, '}');
}

static void incident_json(struct emit *e, const struct service_view *v)
{
    if (!v->incident_open) {
        emit_null(e, "incident");
        return;
    }
    emit_open(e, "incident", '{');
    emit_int(e, "incident", (int64_t)v->incident_id);
    emit_text(e, "symptom", v->incident_symptom < v->def->symptom_count ? v->def->symptoms[v->incident_symptom].name : NULL);
    emit_wall(e, "onset", v->incident_onset);
    emit_wall(e, "opened", v->incident_opened);
    emit_bool(e, "aging", v->aging);
    emit_close(e, '}');
}

static void action_json(struct emit *e, const struct service_view *v)
{
    if (!v->action.present) {
        emit_null(e, "action");
        return;
    }
    emit_open(e, "action", '{');
    emit_text(e, "id", v->action.id);
    emit_text(e, "knob", v->def->knobs[v->action.knob].name);
    emit_text(e, "from", v->action.from);
    emit_text(e, "to", v->action.to);
    emit_text(e, "phase", state_name(v->action.phase));
    emit_wall(e, "until", wall_of(v, v->action.until));
    emit_close(e, '}');
}

static void request_json(struct emit *e, const struct service_view *v)
{
    if (!v->request.present) {
        emit_null(e, "request");
        return;
    }
    emit_open(e, "request", '{');
    emit_text(e, "id", v->request.id);
    emit_text(e, "plan", v->request.plan_hash);
    emit_text(e, "knob", v->def->knobs[v->request.knob].name);
    emit_text(e, "from", v->request.from);
    emit_text(e, "to", v->request.to);
    emit_text(e, "cause", v->request.cause < v->def->cause_count ? v->def->causes[v->request.cause].name : NULL);
    emit_wall(e, "expires", v->request.expiry);
    emit_close(e, '}');
}

void view_json_knob_now(struct emit *e, const char *key, const struct service_view *v, uint16_t i)
{
    const struct knob_def *d = &v->def->knobs[i];
    emit_open(e, key, '{');
    emit_text(e, "name", d->name);
    emit_text(e, "class", class_name(d->class));
    emit_int(e, "tier", d->tier);
    emit_text(e, "unit", unit_name(d->unit));
    emit_text_or_null(e, "value", v->knobs[i].value);
    if (!v->knobs[i].value[0]) emit_text(e, "why", "not-read");
    emit_text_or_null(e, "believed", v->knobs[i].believed);
    emit_number(e, "min", d->min);
    emit_number(e, "max", d->max);
    emit_wall(e, "interval_until", wall_of(v, v->knobs[i].interval_until));
    emit_wall(e, "protected_until", wall_of(v, v->knobs[i].protect_until));
    emit_wall(e, "cooling_until", wall_of(v, v->knobs[i].cool_until));
    emit_wall(e, "frozen_until", wall_of(v, v->knobs[i].frozen_until));
    emit_int(e, "fails", v->knobs[i].fails);
    emit_bool(e, "late_watch", v->knobs[i].late_watch);
    emit_bool(e, "unacknowledged", v->knobs[i].unacknowledged);
    emit_bool(e, "suspended", v->knobs[i].suspended);
    emit_text_or_null(e, "blocked", reason_code(v->knobs[i].blocked));
    emit_close(e, '}');
}

static void knobs_json(struct emit *e, const struct service_view *v)
{
    emit_open(e, "knobs", '[');
    for (uint16_t i = 0; i < v->def->knob_count; i++) view_json_knob_now(e, NULL, v, i);
    emit_close(e, ']');
}

static void targets_json(struct emit *e, const struct service_view *v)
{
    emit_open(e, "targets", '[');
    for (uint16_t i = 0; i < v->def->target_count; i++) {
        emit_open(e, NULL, '{');
        emit_text(e, "url", v->targets[i].url);
        emit_text(e, "instance", v->def->targets[i].instance);
        emit_bool(e, "up", v->targets[i].up);
        if (v->targets[i].age.us < 0) emit_null(e, "age_seconds");
        else emit_seconds(e, "age_seconds", v->targets[i].age);
        emit_int(e, "samples", v->targets[i].samples);
        emit_int(e, "broken_lines", v->targets[i].broken_lines);
        emit_text_or_null(e, "error", v->targets[i].error);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void head(struct emit *e, const struct service_view *v)
{
    emit_text(e, "service", v->def->name);
    emit_text_or_null(e, "environment", v->def->environment);
    emit_text_or_null(e, "group", v->def->group);
    emit_text(e, "state", state_name(v->state));
    emit_text(e, "mode", mode_name(v->mode));
    emit_text(e, "sentence", v->sentence);
    emit_bool(e, "halted", v->halted);
    if (v->halted) {
        emit_text_or_null(e, "halted_by", v->halted_by);
        emit_text_or_null(e, "halted_why", v->halted_why);
        emit_wall(e, "halted_since", v->halted_at);
    }
    emit_bool(e, "frozen", v->frozen);
    if (v->frozen) {
        emit_text_or_null(e, "frozen_why", v->frozen_why);
        emit_bool(e, "maintenance", v->maintenance);
    }
    emit_wall(e, "at", v->wall);
}

/* The judging latency and its baseline: the one number of a service's line. */
static void judge_json(struct emit *e, const struct service_view *v, const float *recent, uint32_t recent_n)
{
    uint16_t i = v->def->judge.latency;
    if (i >= v->signal_count) {
        emit_null(e, "latency");
        return;
    }
    const struct signal_def *d = &v->def->signals[i];
    emit_open(e, "latency", '{');
    emit_text(e, "signal", d->name);
    value(e, "now", v->signals[i].now.value, d->unit, v->signals[i].now.why);
    value(e, "baseline", v->signals[i].baseline, d->unit, v->signals[i].baseline_why);
    if (v->def->judge.objective > 0) emit_number(e, "objective", v->def->judge.objective);
    if (recent) {
        emit_open(e, "recent", '[');
        for (uint32_t k = 0; k < recent_n; k++) emit_number(e, NULL, (double)recent[k]);
        emit_close(e, ']');
    }
    emit_close(e, '}');
}

void view_json_line(struct emit *e, const char *key, const struct service_view *v, const float *recent, uint32_t recent_n)
{
    emit_open(e, key, '{');
    head(e, v);
    emit_text(e, "decision", decision_name(v->decision.kind));
    emit_text_or_null(e, "reason", reason_code(v->decision.reason));
    judge_json(e, v, recent, recent_n);
    incident_json(e, v);
    action_json(e, v);
    request_json(e, v);
    emit_close(e, '}');
}

void view_json_service(struct emit *e, const char *key, const struct service_view *v)
{
    emit_open(e, key, '{');
    head(e, v);
    emit_bool(e, "warm_for_auto", v->warm_for_auto);
    emit_bool(e, "imported", v->imported);
    views_json(e, v);
    emit_int(e, "automatic_changes_in_a_row", v->n_auto);
    emit_text_or_null(e, "model_version", v->model_version);
    emit_wall(e, "deployed", v->deployed);
    judge_json(e, v, NULL, 0);
    emit_open(e, "signals", '[');
    for (uint16_t i = 0; i < v->signal_count; i++) signal_json(e, &v->def->signals[i], &v->signals[i]);
    emit_close(e, ']');
    view_json_symptoms(e, "symptoms", v);
    incident_json(e, v);
    emit_open(e, "causes", '[');
    for (uint16_t i = 0; i < v->cause_count; i++) cause_json(e, v, &v->causes[i]);
    emit_close(e, ']');
    decision_json(e, "decision", v);
    action_json(e, v);
    request_json(e, v);
    knobs_json(e, v);
    targets_json(e, v);
    emit_close(e, '}');
}

void view_json_explain(struct emit *e, const char *key, const struct service_view *v)
{
    emit_open(e, key, '{');
    head(e, v);
    incident_json(e, v);
    decision_json(e, "decision", v);
    view_json_symptoms(e, "symptoms", v);
    emit_open(e, "causes", '[');
    for (uint16_t i = 0; i < v->cause_count; i++) cause_json(e, v, &v->causes[i]);
    emit_close(e, ']');
    action_json(e, v);
    request_json(e, v);
    emit_close(e, '}');
}

/* ---- records ---- */

static bool is_time(enum record_field f)
{
    return f == RF_AT || f == RF_ONSET || f == RF_SINCE || f == RF_DEADLINE || f == RF_EXPIRY || f == RF_DEPLOYED;
}

static void hex_json(struct emit *e, const char *key, const uint8_t bytes[32])
{
    static const char digits[] = "0123456789abcdef";
    char text[65];
    for (unsigned i = 0; i < 32; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[64] = '\0';
    emit_text(e, key, text);
}

static void field_json(struct emit *e, const struct record *r, enum record_field f)
{
    const char *key = record_field_key(f);
    if (is_time(f)) {
        emit_wall(e, key, (struct wall){r->v[f].i64});
        return;
    }
    switch (record_field_type(f)) {
    case RT_U64: emit_int(e, key, (int64_t)r->v[f].u64); break;
    case RT_I64: emit_int(e, key, r->v[f].i64); break;
    case RT_TEXT: emit_text(e, key, r->v[f].text); break;
    case RT_HEX32: hex_json(e, key, r->v[f].hex32); break;
    case RT_NAME: break;
    }
}

void view_json_record(struct emit *e, const char *key, uint64_t seq, const struct record *r)
{
    emit_open(e, key, '{');
    emit_int(e, "seq", (int64_t)seq);
    emit_text(e, "kind", record_kind_name(r->kind));
    emit_text(e, "meaning", record_kind_meaning(r->kind));
    for (unsigned f = 0; f < RF_COUNT; f++) {
        if (f != RF_SEQ && f != RF_KIND && record_has(r, (enum record_field)f)) field_json(e, r, (enum record_field)f);
    }
    emit_close(e, '}');
}
