/* Invariants 2, 5, 8, 10: what the durable records say, one story an action, held against what was read from the target. */
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/invariants_inside.h"

const char *inv_phase_name(uint8_t phase)
{
#define X(id) #id,
    static const char *const names[] = {INV_PHASES(X)};
#undef X
    return names[phase];
}

bool inv_ended(uint8_t p)
{
    return p == INV_NOTHING || p == INV_FAILED || p == INV_ABORTED || p == INV_UNDONE || p == INV_UNDO_FAILED || p == INV_YIELDED ||
           p == INV_HELD || p == INV_KEPT || p == INV_PARTIAL;
}

static bool wanted(uint8_t p) { return p == INV_BAD || p == INV_INCONCLUSIVE || p == INV_CANCEL || p == INV_ROLLBACK ||
    p == INV_LATE; }
static bool undoing(uint8_t p) { return p == INV_UNDO || p == INV_UNDO_RETRY; }

static bool may_follow(uint8_t from, uint8_t to)
{
    bool told = from == INV_HELD || from == INV_YIELDED || from == INV_UNDO_FAILED;
    bool kept = from == INV_KEPT || from == INV_PARTIAL;
    switch (to) {
    case INV_INTENT: return inv_ended(from);
    case INV_APPLIED: case INV_FAILED: case INV_ABORTED: return from == INV_INTENT;
    case INV_LATE: return !undoing(from) && from != INV_NOTHING && !kept;
    case INV_BAD: case INV_INCONCLUSIVE: case INV_KEPT: case INV_PARTIAL:
        return from == INV_APPLIED || (to == INV_BAD && from == INV_LATE);
    case INV_HELD: return from == INV_INTENT || from == INV_APPLIED || from == INV_LATE;
    case INV_YIELDED: return true;
    case INV_CANCEL: case INV_ROLLBACK: return from == INV_APPLIED || kept || told || from == INV_LATE;
    case INV_UNDO: return wanted(from);
    case INV_UNDO_RETRY: return from == INV_UNDO;
    case INV_UNDONE: return undoing(from) || wanted(from);
    case INV_UNDO_FAILED: return undoing(from);
    default: return false;
    }
}

static void to_phase(struct swarm_service *s, struct inv_knob *k, uint8_t to, const struct record *r)
{
    if (!may_follow(k->phase, to)) {
        violated(s->w, "I10 the story of %s is broken: %s after %s", record_get_text(r, RF_ACTION), inv_phase_name(to),
            inv_phase_name(k->phase));
    }
    k->phase = to;
}

/* The newest answer that the loop had is what the record must stand on. */
static void must_have_read(struct swarm_service *s, const struct inv_knob *k, const char *value, const struct record *r)
{
    double a, b;
    bool same = strcmp(k->read, value) == 0 ||
                (num_parse_all(k->read, strlen(k->read), &a) && num_parse_all(value, strlen(value), &b) && a <= b && a >= b);
    if (!same) {
        violated(s->w, "I8/I15 %s of %s, and the newest answer of the target is '%s', not '%s'", record_kind_name(r->kind),
                 record_get_text(r, RF_ACTION), k->read, value);
    }
}

/* A record that a kill met on its way is found by the next start, minutes after the loop has made it. */
static struct instant made_at(const struct swarm *w, const struct record *r)
{
    int64_t ago = swarm_wall(w).us - record_get_i64(r, RF_AT, 0);
    return ago > 0 ? (struct instant){w->now.us - ago} : w->now;
}

/* What the shipped playbook asks before it turns this knob: the causes above, its own cause, its preconditions. */
static void check_known(struct swarm_service *s, const struct inv_knob *k, struct instant decided)
{
    static const char *const causes[] = {"feature_fetch_ms", "gpu_util"}, *const batch[] = {"gpu_memory", "batch_size"};
    for (unsigned i = 0; i < ARRAY_LEN(causes); i++) inv_known(s, causes[i], decided);
    for (unsigned i = 0; i < ARRAY_LEN(batch) && text_eq(k->def->name, "batch_max"); i++) inv_known(s, batch[i], decided);
}

static void on_intent(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    struct invariants *v = s->inv;
    to_phase(s, k, INV_INTENT, r);
    for (unsigned j = 0; j < POLICY_KNOBS_MAX; j++) {
        if (&v->knobs[j] != k && !inv_ended(v->knobs[j].phase)) violated(s->w, "I1 an INTENT while another action is not ended");
    }
    (void)text_copy(k->from, sizeof k->from, record_get_text(r, RF_FROM));
    (void)text_copy(k->to, sizeof k->to, record_get_text(r, RF_TO));
    const char *slash = strrchr(record_get_text(r, RF_ACTION), '/');
    uint64_t n = 0;
    if (slash) (void)num_parse_u64(slash + 1, strlen(slash + 1), &n);
    if (n != v->actions + 1) violated(s->w, "I9 action number %u after %u", (unsigned)n, v->actions);
    v->actions = k->action = (uint32_t)n;
    k->automatic = record_get_u64(r, RF_AUTOMATIC, 0) != 0;
    k->approved = v->approval;
    k->counted = k->automatic;
    v->approval = false;
    v->autos += k->automatic;
    k->sends = k->undo_sends = k->undo_records = 0;
    k->by_person = k->fail = k->cancelled = false;
    uint16_t i = service_knob(s->def, record_get_text(r, RF_KNOB));
    if (i == NO_INDEX) {
        violated(s->w, "I4 an INTENT on a knob that is not listed");
        return;
    }
    k->def = &s->def->knobs[i];
    k->mode = s->def->class_mode[k->def->class];
    k->settle.us = record_get_i64(r, RF_SETTLE, 0);
    k->window.us = record_get_i64(r, RF_WINDOW, 0);
    if (k->settle.us <= 0 || k->window.us <= 0) violated(s->w, "I2 an INTENT without its windows");
    if (k->automatic && !k->approved) check_known(s, k, made_at(s->w, r));
    if (!k->from[0] || !k->to[0]) violated(s->w, "I2 an INTENT without an exact undo");
    must_have_read(s, k, k->from, r);
}

static void gap(struct swarm_service *s, const struct inv_knob *k)
{
    struct instant until = instant_add(instant_add(s->w->now, k->settle), k->window);
    s->inv->gap_until = instant_max(s->inv->gap_until, until);
}

static void on_verdict(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    const char *outcome = record_get_text(r, RF_OUTCOME), *verdict = record_get_text(r, RF_VERDICT);
    bool bad = text_eq(verdict, "ineffective") || text_eq(verdict, "harmful");
    k->fail = record_get_u64(r, RF_FAIL, 0) != 0;
    if (text_eq(outcome, "held")) {
        to_phase(s, k, INV_HELD, r);
        k->unacknowledged = true;
        return;
    }
    if (text_eq(outcome, "undo")) {
        to_phase(s, k, bad ? INV_BAD : INV_INCONCLUSIVE, r);
        return;
    }
    to_phase(s, k, text_eq(verdict, "partial") ? INV_PARTIAL : INV_KEPT, r);
    must_have_read(s, k, k->to, r);
    k->fails = 0;
    uint16_t i = service_knob(s->def, record_get_text(r, RF_KNOB));
    if (i != NO_INDEX) k->protect_until = instant_add(s->w->now, s->def->knobs[i].protect);
    struct span watched = instant_since(s->w->now, k->applied_at);
    if (!s->inv->clock_moved && watched.us < k->settle.us + k->window.us - 30 * US_PER_S) {
        violated(s->w, "I13 kept after %lld s, settle and window are %lld s", (long long)(watched.us / US_PER_S),
                 (long long)((k->settle.us + k->window.us) / US_PER_S));
    }
}

static void on_undone(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    const char *outcome = record_get_text(r, RF_OUTCOME);
    to_phase(s, k, INV_UNDONE, r);
    must_have_read(s, k, k->from, r);
    if (k->fail && ++k->fails >= 2) k->cool_until = instant_add(s->w->now, SPAN_HOUR(24));
    k->fail = false;
    if (text_eq(outcome, "foreign-version")) k->frozen_until = instant_add(s->w->now, SPAN_HOUR(24));
    gap(s, k);
}

static void on_person(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    bool cancel = r->kind == RECORD_CANCEL;
    enum action_class class;
    k->by_person = true;
    k->unacknowledged = false;
    if (cancel && class_parse(record_get_text(r, RF_CLASS), &class)) {
        s->inv->suspended[class] = instant_add(s->w->now, SPAN_HOUR(24));
    }
    if (cancel && k->cancelled) violated(s->w, "I10 %s is cancelled twice", record_get_text(r, RF_ACTION));
    k->cancelled = k->cancelled || cancel;
    if (undoing(k->phase) || (cancel && (k->phase == INV_INTENT || k->phase == INV_ABORTED)) || wanted(k->phase)) return;
    to_phase(s, k, cancel ? INV_CANCEL : INV_ROLLBACK, r);
    k->undo_sends = k->undo_records = 0;
    if (!cancel) k->frozen_until = instant_add(s->w->now, SPAN_HOUR(24));
}

static void on_applied(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    const char *outcome = record_get_text(r, RF_OUTCOME);
    uint16_t i = service_knob(s->def, record_get_text(r, RF_KNOB));
    bool whole = outcome[0] == '\0';
    to_phase(s, k, whole ? INV_APPLIED : INV_LATE, r);
    if (whole && !text_eq(k->read, "?")) must_have_read(s, k, k->to, r);
    if (whole && k->cancelled) k->phase = INV_CANCEL;    /* asked for while the write was under way: what comes is the undo */
    k->applied_at = s->w->now;
    if (i != NO_INDEX) k->interval_until = instant_add(s->w->now, s->def->knobs[i].interval);
    gap(s, k);
}

static void on_knob(struct swarm_service *s, struct inv_knob *k, const struct record *r)
{
    switch (r->kind) {
    case RECORD_INTENT: on_intent(s, k, r); break;
    case RECORD_ABORTED:
        to_phase(s, k, INV_ABORTED, r);
        if (k->sends > 0) violated(s->w, "I10 ABORTED, although a write went out");
        if (k->counted && s->inv->autos > 0) s->inv->autos--;
        k->counted = false;
        break;
    case RECORD_APPLIED: on_applied(s, k, r); break;
    case RECORD_PART: to_phase(s, k, INV_LATE, r); break;
    case RECORD_FAILED:
        to_phase(s, k, INV_FAILED, r);
        must_have_read(s, k, k->from, r);
        gap(s, k);
        break;
    case RECORD_VERDICT: on_verdict(s, k, r); break;
    case RECORD_CANCEL:
    case RECORD_ROLLBACK: on_person(s, k, r); break;
    case RECORD_UNDO:
    case RECORD_UNDO_RETRY:
        to_phase(s, k, r->kind == RECORD_UNDO ? INV_UNDO : INV_UNDO_RETRY, r);
        k->undo_records++;
        break;
    case RECORD_UNDONE: on_undone(s, k, r); break;
    case RECORD_UNDO_FAILED: to_phase(s, k, INV_UNDO_FAILED, r); k->unacknowledged = true; break;
    case RECORD_YIELDED: to_phase(s, k, INV_YIELDED, r); k->unacknowledged = true; break;
    case RECORD_HELD: to_phase(s, k, INV_HELD, r); k->unacknowledged = true; break;
    case RECORD_EXTERNAL: k->frozen_until = instant_add(s->w->now, SPAN_HOUR(24)); break;
    default: break;
    }
}

static void person_decided(struct invariants *v)
{
    v->autos = 0;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) v->knobs[i].counted = false;
}

static void acknowledge(struct invariants *v)
{
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        v->knobs[i].unacknowledged = false;
        v->knobs[i].frozen_until = INSTANT_NONE;
    }
}

/* Knobs are followed by name: a reload may move them. */
static struct inv_knob *by_name(struct invariants *v, const char *name)
{
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (v->names[i][0] == '\0') (void)text_copy(v->names[i], sizeof v->names[i], name);
        if (strcmp(v->names[i], name) == 0) return &v->knobs[i];
    }
    return &v->knobs[0];
}

void story_record(struct swarm_service *s, const struct record *r)
{
    struct invariants *v = s->inv;
    bool told = r->kind == RECORD_ACCEPTED || r->kind == RECORD_RETRY;
    if (record_has(r, RF_KNOB) && !told) on_knob(s, by_name(v, record_get_text(r, RF_KNOB)), r);
    switch (r->kind) {
    case RECORD_REQUEST: v->request = true; break;
    case RECORD_APPROVAL:
        if (!v->request) violated(s->w, "I4 an approval of a request that is over");
        v->approval = true;
        v->request = false;
        person_decided(v);
        break;
    case RECORD_VOID:
    case RECORD_EXPIRED: v->request = false; break;
    case RECORD_REJECT:
        v->request = false;
        person_decided(v);
        break;
    case RECORD_ACCEPTED:
    case RECORD_RETRY:
        person_decided(v);
        acknowledge(v);
        break;
    case RECORD_HALT:
        v->halted = v->halt_durable = true;
        break;
    case RECORD_RESUME:
        v->halted = v->halt_durable = false;
        person_decided(v);
        break;
    default: break;
    }
}
