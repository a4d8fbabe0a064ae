/* Requests that wait for a person, with all that one needs to decide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_changed.h"
#include "api/view_json.h"
#include "base/check.h"
#include "base/text.h"

#define HISTORY_ACTIONS 200

/* ---- what became of earlier moves of this knob ---- */

struct history { const char *knob; int64_t tried, effective, back; };

static bool add_history(void *arg, const struct v1_action *x)
{
    struct history *h = arg;
    if (!text_eq(x->knob, h->knob) || x->applied.us == WALL_NONE.us) return true;
    h->tried++;
    h->effective += text_eq(x->verdict, "effective") || text_eq(x->verdict, "partial");
    h->back += text_eq(x->last_kind, "UNDONE");
    return true;
}

static void history_json(const struct v1_port *port, struct emit *e, const char *service, const char *knob)
{
    struct history h = {.knob = knob};
    struct err err;
    bool known = port->actions(port->ctx, service, HISTORY_ACTIONS, &(struct v1_sink){.arg = &h, .action = add_history},
                               &err) == STATUS_OK;
    emit_open(e, "history", '{');
    emit_bool(e, "known", known);
    emit_int(e, "tried", h.tried);
    emit_int(e, "effective", h.effective);
    emit_int(e, "rolled_back", h.back);
    emit_close(e, '}');
}

/* ---- would it pass now? ---- */

static bool same_plan(const struct service_view *v)
{
    const struct plan *p = &v->decision.plan;
    size_t n = strlen(v->request.to);
    return v->decision.has_plan && p->knob == v->request.knob && p->to.len == n && memcmp(p->to.bytes, v->request.to, n) == 0;
}

static void now_json(struct api *api, struct emit *e, const struct service_view *v, const struct v1_request *q)
{
    const struct decision *d = &v->decision;
    bool same = same_plan(v);
    struct v1_changes c = {0};
    if (q->asked) v1_changed_since(api, v, q, &c);
    emit_open(e, "now", '{');
    emit_text(e, "decision", decision_name(d->kind));
    emit_text_or_null(e, "reason", reason_code(d->reason));
    emit_text_or_null(e, "sentence", reason_sentence(d->reason));
    emit_bool(e, "still_planned", same);
    emit_text(e, "knob_value", v->knobs[v->request.knob].value[0] ? v->knobs[v->request.knob].value : NULL);
    emit_text_or_null(e, "changed", same ? NULL : reason_sentence(d->reason));
    v1_changes_json(e, "changes", &c);
    view_json_symptoms(e, "symptoms", v);
    emit_close(e, '}');
}

static void evidence_json(struct emit *e, const struct record *r)
{
    static const struct { const char *key; enum record_field f; } parts[] = {
        {"values", RF_VALUES}, {"rule", RF_RULE}, {"causes", RF_CAUSES}, {"gates", RF_GATES}, {"note", RF_NOTE},
    };
    emit_open(e, "evidence", '{');
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++) emit_text_or_null(e, parts[i].key, r ? record_get_text(r, parts[i].f) : NULL);
    emit_close(e, '}');
}

static void diff_json(struct emit *e, const struct service_view *v, const struct knob_def *k)
{
    emit_open(e, "diff", '[');
    emit_open(e, NULL, '{');
    emit_text(e, "what", k->name);
    emit_text(e, "from", v->request.from);
    emit_text(e, "to", v->request.to);
    emit_text(e, "unit", unit_name(k->unit));
    emit_close(e, '}');
    emit_close(e, ']');
}

static void request_json(struct api *api, struct emit *e, const struct service_view *v, struct arena *arena)
{
    const struct knob_def *k = &v->def->knobs[v->request.knob];
    const struct cause_def *c = v->request.cause < v->def->cause_count ? &v->def->causes[v->request.cause] : NULL;
    const struct v1_port *port = v1_port_of(api);
    struct v1_request q;
    (void)v1_request_find(port, v->def->name, v->request.plan_hash, arena, &q);
    const struct record *r = q.asked;
    emit_open(e, NULL, '{');
    emit_text(e, "service", v->def->name);
    emit_text(e, "id", v->request.id);
    emit_text(e, "plan", v->request.plan_hash);
    if (v->incident_open) emit_int(e, "incident", (int64_t)v->incident_id);
    else emit_null(e, "incident");
    emit_text(e, "symptom", v->incident_symptom < v->def->symptom_count ? v->def->symptoms[v->incident_symptom].name : NULL);
    emit_text(e, "cause", c ? c->name : NULL);
    emit_text(e, "knob", k->name);
    emit_text(e, "class", class_name(k->class));
    emit_int(e, "tier", k->tier);
    emit_text(e, "unit", unit_name(k->unit));
    emit_text(e, "from", v->request.from);
    emit_text(e, "to", v->request.to);
    emit_text_or_null(e, "direction", r ? record_get_text(r, RF_DIRECTION) : NULL);
    emit_wall(e, "at", v->wall);
    emit_wall(e, "expires", v->request.expiry);
    emit_wall(e, "asked_at", r ? (struct wall){record_get_i64(r, RF_AT, INT64_MIN)} : WALL_NONE);
    if (r) emit_int(e, "seq", (int64_t)q.seq);
    else emit_null(e, "seq");
    diff_json(e, v, k);
    evidence_json(e, r);
    now_json(api, e, v, &q);
    emit_open(e, "undo", '{');
    emit_text(e, "value", v->request.from);
    emit_seconds(e, "settle_seconds", k->settle);
    emit_seconds(e, "window_seconds", v->def->timing.window);
    emit_close(e, '}');
    history_json(port, e, v->def->name, k->name);
    emit_text(e, "may", "operator");
    emit_close(e, '}');
}

struct waiting { uint16_t service; int64_t expires; };

static int sooner(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    return (x->expires > y->expires) - (x->expires < y->expires);
}

void v1_get_inbox(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    const struct policy *p = api->control.policy(api->control.ctx);
    struct waiting *list = calloc(p->service_count ? p->service_count : 1u, sizeof *list);
    unsigned n = 0;
    struct arena arena = ARENA_INIT;
    struct service_view v;
    struct v1_answer a;
    CHECK_MEMORY(list);
    for (uint16_t i = 0; i < p->service_count; i++) {
        api->control.view(api->control.ctx, i, &arena, &v);
        if (v.request.present) list[n++] = (struct waiting){i, v.request.expiry.us};
        arena_reset(&arena);
    }
    qsort(list, n, sizeof *list, sooner);
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "requests", '[');
    for (unsigned i = 0; i < n && i < V1_LIMIT_MAX; i++) {
        api->control.view(api->control.ctx, list[i].service, &arena, &v);
        request_json(api, &a.e, &v, &arena);
        arena_reset(&arena);
    }
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    v1_end(&a, r);
    arena_free(&arena);
    free(list);
}
