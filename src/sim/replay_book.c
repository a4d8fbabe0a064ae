/* What is kept of a replay: incidents, plans, ticks by reason, and what the signals did next. */
#include <math.h>
#include <string.h>

#include "audit/codec.h"
#include "base/check.h"
#include "base/text.h"
#include "loop/control.h"
#include "sim/replay_inside.h"
#include "stats/order.h"

#define FNV_PRIME UINT64_C(0x100000001b3)
#define BEFORE SPAN_MIN(10)
#define AFTER_POINTS 4096

bool replay_holds(enum reason r)
{
    switch (reason_kind(r)) {
    case REASON_KIND_SERVICE:
    case REASON_KIND_CANDIDATE:
    case REASON_KIND_PERSON: return true;
    case REASON_KIND_PLAN: return r != REASON_PLANNED;
    default: return false;
    }
}

static void mix(struct replay *r, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) r->digest = (r->digest ^ p[i]) * FNV_PRIME;
}

static struct replay_incident *incident_of(struct replay_service *s, uint64_t number)
{
    for (size_t i = s->incident_n; i-- > 0;) {
        if (s->incidents[i].number == number) return &s->incidents[i];
    }
    return NULL;
}

static void add_symptom(struct replay_incident *i, const char *name)
{
    for (uint16_t k = 0; k < i->symptom_n; k++) {
        if (text_eq(i->symptoms[k], name)) return;
    }
    if (i->symptom_n < REPLAY_SYMPTOMS) i->symptoms[i->symptom_n++] = name;
}

static void book_incident(struct replay_service *s, const struct record *rec)
{
    uint64_t number = record_get_u64(rec, RF_INCIDENT, 0);
    struct replay_incident *i = incident_of(s, number);
    if (!i) {
        i = REPLAY_PUSH(s->incidents, s->incident_n, s->incident_cap);
        i->number = number;
        i->opened = (struct wall){record_get_i64(rec, RF_AT, 0)};
        i->onset = (struct wall){record_get_i64(rec, RF_ONSET, i->opened.us)};
        i->closed = WALL_NONE;
        i->first = rec;
        i->counterfactual = s->counterfactual_from.us != WALL_NONE.us;
    }
    add_symptom(i, record_get_text(rec, RF_SYMPTOM));
}

/* What the mode of the file would have made of it: the loop itself ran in mode alert, where that gate comes last. */
static void would(struct replay_service *s, struct replay_plan *p, const struct decision *d)
{
    uint16_t knob = service_knob(s->def, record_get_text(p->record, RF_KNOB));
    enum mode mode = knob == NO_INDEX ? s->mode : s->class_mode[s->def->knobs[knob].class];
    for (uint16_t i = 0; i < d->gate_count && p->asks == REASON_NONE; i++) {
        const struct gate_result *g = &d->gates[i];
        if (g->shut && g->knob == knob && reason_kind(g->reason) == REASON_KIND_PERSON) p->asks = g->reason;
    }
    if (p->asks == REASON_NONE && mode == MODE_CONFIRM) p->asks = REASON_MODE_CONFIRM;
    p->would = mode == MODE_ALERT ? REPLAY_WOULD_REPORT : p->asks == REASON_NONE ? REPLAY_WOULD_ACT : REPLAY_WOULD_ASK;
}

static void book_plan(struct replay *r, struct replay_service *s, const struct record *rec, const struct decision *d)
{
    struct replay_plan *p = REPLAY_PUSH(s->plans, s->plan_n, s->plan_cap);
    p->at = (struct wall){record_get_i64(rec, RF_AT, 0)};
    p->record = rec;
    p->counterfactual = s->counterfactual_from.us != WALL_NONE.us;
    const struct replay_incident *i = incident_of(s, record_get_u64(rec, RF_INCIDENT, 0));
    p->incident = i ? (uint32_t)(i - s->incidents) : UINT32_MAX;
    struct gate_result *gates = ARENA_NEW_N(&r->arena, d->gate_count ? d->gate_count : 1u, struct gate_result);
    CHECK(gates != NULL);
    memcpy(gates, d->gates, d->gate_count * sizeof *gates);
    p->gates = gates;
    p->gate_n = d->gate_count;
    would(s, p, d);
    if (!p->counterfactual) s->counterfactual_from = p->at;
}

void replay_book_record(struct replay *r, uint16_t service, const struct record *rec, const struct loop *l)
{
    struct replay_service *s = &r->services[service];
    struct replay_incident *i = incident_of(s, record_get_u64(rec, RF_INCIDENT, 0));
    struct buf bytes = BUF_INIT;
    struct err e;
    CHECK(audit_encode(&bytes, rec, &e) == STATUS_OK);
    mix(r, bytes.data, bytes.len);
    buf_free(&bytes);
    switch (rec->kind) {
    case RECORD_INCIDENT: book_incident(s, rec); break;
    case RECORD_WOULD: book_plan(r, s, rec, loop_decision(l, service)); break;
    case RECORD_HANDOVER:
        if (i) i->handover = rec;
        break;
    case RECORD_CLOSED:
        if (i) i->last_closed = rec;
        if (i) i->closed = (struct wall){record_get_i64(rec, RF_AT, 0)};
        break;
    default: *REPLAY_PUSH(s->others, s->other_n, s->other_cap) = rec; break;
    }
}

void replay_book_tick(struct replay *r, uint16_t service, const struct loop *l)
{
    struct replay_service *s = &r->services[service];
    const struct decision *d = loop_decision(l, service);
    const struct control *c = loop_control(l, service);
    uint8_t line[6] = {(uint8_t)service, c->state, (uint8_t)d->kind, (uint8_t)d->reason, d->has_plan, c->incident_open};
    mix(r, line, sizeof line);
    s->ticks++;
    s->decisions[d->kind]++;
    s->reasons[d->reason]++;
    if (!c->incident_open) return;
    if (replay_holds(d->reason)) s->held[d->reason]++;
    struct replay_incident *i = incident_of(s, c->incidents);
    if (!i) return;
    i->ticks++;
    i->reasons[d->reason]++;
}

/* ---- what the signals did next ---- */

static size_t first_at(const struct replay_series *p, int64_t at)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->at[mid].us < at) low = mid + 1;
        else high = mid;
    }
    return low;
}

static double median_in(const struct replay_series *p, int64_t from, int64_t to)
{
    double values[AFTER_POINTS];
    size_t n = 0;
    for (size_t i = first_at(p, from); i < p->n && p->at[i].us < to && n < AFTER_POINTS; i++) {
        if (!isnan(p->value[i])) values[n++] = p->value[i];
    }
    return n ? stats_median(values, n) : (double)NAN;
}

static void want(uint16_t *list, uint16_t *n, uint16_t signal)
{
    if (signal == NO_INDEX || *n == REPLAY_AFTER_SIGNALS) return;
    for (uint16_t i = 0; i < *n; i++) {
        if (list[i] == signal) return;
    }
    list[(*n)++] = signal;
}

/* The ones that judge the service, then the one by which the symptom is measured. */
static uint16_t wanted(const struct replay_service *s, const char *symptom, uint16_t list[REPLAY_AFTER_SIGNALS])
{
    const struct judge_def *j = &s->def->judge;
    const uint16_t judges[] = {j->latency, j->queue, j->throughput, j->errors};
    uint16_t n = 0;
    for (unsigned i = 0; i < ARRAY_LEN(judges); i++) want(list, &n, judges[i]);
    for (uint16_t i = 0; i < s->def->symptom_count; i++) {
        if (text_eq(s->def->symptoms[i].name, symptom)) want(list, &n, s->def->symptoms[i].judge_signal);
    }
    return n;
}

static uint16_t look_after(const struct replay_service *s, const char *symptom, int64_t before, int64_t at,
                           struct replay_after out[REPLAY_AFTER_SIGNALS])
{
    uint16_t list[REPLAY_AFTER_SIGNALS], n = wanted(s, symptom, list), kept = 0;
    int64_t part = REPLAY_AFTER.us / REPLAY_AFTER_PARTS;
    for (uint16_t i = 0; i < n; i++) {
        const struct replay_series *p = &s->series[list[i]];
        if (p->n == 0) continue;
        struct replay_after *a = &out[kept++];
        a->signal = list[i];
        a->before = median_in(p, before - BEFORE.us, before);
        for (int k = 0; k < REPLAY_AFTER_PARTS; k++) a->after[k] = median_in(p, at + k * part, at + (k + 1) * part);
    }
    return kept;
}

void replay_book_end(struct replay *r)
{
    for (uint16_t k = 0; k < r->policy->service_count; k++) {
        struct replay_service *s = &r->services[k];
        for (size_t i = 0; i < s->incident_n; i++) {
            struct replay_incident *x = &s->incidents[i];
            x->after_n = look_after(s, x->symptoms[0], x->onset.us, x->opened.us, x->after);
        }
        for (size_t i = 0; i < s->plan_n; i++) {
            struct replay_plan *p = &s->plans[i];
            p->after_n = look_after(s, record_get_text(p->record, RF_SYMPTOM), p->at.us, p->at.us, p->after);
        }
    }
}
