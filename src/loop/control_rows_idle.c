/* Rows 1 to 19, 26 and 46: no action is running. */
#include "loop/control_step.h"

bool guard_1(const struct step *s) { return s->e->warm && !(s->e->slo && s->e->opens); }
void act_1(struct step *s)
{
    emit_plain(s, RECORD_WARM, NO_KNOB);
    go_idle_or(s, STATE_WATCHING);
}

static void open_incident(struct step *s, struct instant onset, bool handed)
{
    struct control_record *r = emit(s, RECORD_INCIDENT, NO_KNOB);
    r->incident = s->c->incidents + 1;
    r->symptom = s->e->symptom_index;
    r->onset = onset;
    r->held = handed;
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
}

/* The same incident, driven by another symptom: what was tried in it stays tried. */
static void update_incident(struct step *s)
{
    struct control_record *r = emit(s, RECORD_INCIDENT, NO_KNOB);
    r->symptom = s->e->symptom_index;
    if (instant_is_set(s->e->symptom_since)) r->onset = s->e->symptom_since;
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
}

bool guard_2(const struct step *s) { return s->e->slo && s->e->opens; }
void act_2(struct step *s)
{
    open_incident(s, s->e->now, true);
    go_idle_or(s, STATE_PERSON);
    s->o->notes |= CN_FREEZE_BASELINE | CN_PAGE;
}

bool guard_3(const struct step *s) { return s->e->symptom == TRI_TRUE; }
void act_3(struct step *s)
{
    s->c->onset = s->e->now;
    s->c->symptom = s->e->symptom_index;
    go_idle_or(s, STATE_SUSPECT);
    s->o->notes |= CN_FREEZE_BASELINE;
}

bool guard_4(const struct step *s)
{
    /* Once a spell: in WATCHING the notice has been given when the state was entered blind. */
    return s->e->blind && s->e->symptom == TRI_UNKNOWN;
}
void act_4(struct step *s)
{
    bool was_suspect = s->c->state == STATE_SUSPECT;
    go_idle_or(s, STATE_WATCHING);
    s->o->notes |= CN_BLIND | (was_suspect ? CN_UNFREEZE | CN_DROP_SUSPECT : 0u);
}

static int any_external(const struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (differs(s, k)) return (int)k;
    }
    return -1;
}

bool guard_5(const struct step *s) { return any_external(s) >= 0; }
void act_5(struct step *s)
{
    bool awaiting = s->c->state == STATE_AWAITING;
    unsigned knob = (unsigned)any_external(s);
    if (awaiting) {
        emit(s, RECORD_VOID, NO_KNOB)->reason = REASON_EXTERNAL;
        emit_done(s);
    }
    external(s, knob);
    if (awaiting) {
        go_idle_or(s, STATE_OPEN);
    }
}

bool guard_6(const struct step *s) { (void)s; return true; }
void act_6(struct step *s)
{
    struct control *c = s->c;
    enum state state = (enum state)c->state;
    bool unsent = state == STATE_INTENT;
    bool judged = state == STATE_SETTLING || state == STATE_OBSERVING;
    emit_plain(s, RECORD_RELEASE, NO_KNOB);
    s->o->notes |= CN_NOTIFY;
    if (unsent) {
        emit(s, RECORD_ABORTED, c->active)->reason = REASON_RELEASE;
        emit_done(s);
        go_idle_or(s, STATE_OPEN);
    } else if (judged) {
        hold(s, true);
        s->o->row = 33;
    }
    done(s);
}

bool guard_7(const struct step *s)
{
    bool moved = s->c->incident_open && s->e->symptom_index != s->c->symptom;
    return s->e->opens && (s->c->state == STATE_SUSPECT || moved);
}
void act_7(struct step *s)
{
    bool known = s->c->incident_open && s->c->symptom != NO_INDEX;   /* retry may have opened one about nothing */
    if (known) update_incident(s);
    else open_incident(s, s->c->state == STATE_SUSPECT ? s->c->onset : s->e->now, false);
    go_idle_or(s, STATE_OPEN);
}

bool guard_8(const struct step *s) { return s->e->hopeless; }
void act_8(struct step *s)
{
    go_idle_or(s, STATE_WATCHING);
    s->o->notes |= CN_UNFREEZE | CN_DROP_SUSPECT;
}

static void close(struct step *s)
{
    emit_plain(s, RECORD_CLOSED, NO_KNOB);
    go_idle_or(s, STATE_WATCHING);
    s->o->notes |= CN_UNFREEZE | CN_NOTIFY;
}

bool guard_9(const struct step *s) { return s->e->clears; }
void act_9(struct step *s) { close(s); }

bool guard_10(const struct step *s) { return s->e->decision.kind == CD_SHUT; }
void act_10(struct step *s) { (void)s; }

bool guard_11(const struct step *s)
{
    if (s->e->decision.kind != CD_WOULD) return false;
    for (unsigned i = 0; i < CONTROL_WOULD; i++) {
        if (s->c->would_plans[i] == s->e->decision.plan) return false;
    }
    return true;
}

static void fill_plan(struct control_record *r, const struct control_decision *d)
{
    r->knob = d->knob;
    r->direction = d->direction;
    r->old = d->from;
    r->new_ = d->to;
    r->cause = d->cause;
    r->plan = d->plan;
    r->reason = d->reason;
    r->settle = d->settle;
    r->window = d->window;
    r->automatic = false;
}

void act_11(struct step *s)
{
    fill_plan(emit(s, RECORD_WOULD, NO_KNOB), &s->e->decision);
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
}

bool guard_12(const struct step *s) { return s->e->decision.kind == CD_HANDOVER; }
void act_12(struct step *s)
{
    struct control_record *r = emit(s, RECORD_HANDOVER, NO_KNOB);
    r->reason = s->e->decision.reason;
    r->cause = s->e->decision.cause;
    emit_done(s);
    go_idle_or(s, STATE_PERSON);
    s->o->notes |= CN_PAGE;
}

/* The read of this very event must be what the plan starts from: never plan on a value that has moved. */
static bool plan_is_fresh(const struct step *s)
{
    const struct control_decision *d = &s->e->decision;
    if (d->knob >= s->p->knob_count) return false;
    const struct control_knob *k = &s->c->knobs[d->knob];
    return read_value(&s->e->reads[d->knob]) == d->from && k->believed == d->from && d->from != 0 && d->to != 0 &&
           !k->slot.late_open && story_ended((enum story)k->slot.story);
}

static void start_intent(struct step *s, const struct control_decision *d, bool automatic)
{
    struct control_record *r = emit(s, RECORD_INTENT, NO_KNOB);
    fill_plan(r, d);
    r->action = s->c->actions + 1;
    r->automatic = automatic;
    r->version = s->e->reads[d->knob].version;
    r->read = d->from;
    emit_done(s);
    go(s, STATE_INTENT);
    s->c->active = d->knob;
    s->c->deadline = instant_add(s->e->now, SPAN_S(60));
    s->o->notes |= CN_READ_SOON;
}

bool guard_13(const struct step *s) { return s->e->decision.kind == CD_TUNE && plan_is_fresh(s) && s->c->frozen == 0; }
void act_13(struct step *s) { start_intent(s, &s->e->decision, true); }

bool guard_14(const struct step *s) { return s->e->decision.kind == CD_ASK && plan_is_fresh(s); }
void act_14(struct step *s)
{
    struct control_record *r = emit(s, RECORD_REQUEST, NO_KNOB);
    fill_plan(r, &s->e->decision);
    r->expiry = instant_add(s->e->now, s->p->approval);
    emit_done(s);
    go_idle_or(s, STATE_AWAITING);
    s->o->notes |= CN_PAGE;
}

static bool bound_to_request(const struct step *s)
{
    return s->c->request.present && s->e->plan == s->c->request.plan;
}

static struct control_decision decision_of_request(const struct control_request *q)
{
    return (struct control_decision){.kind = CD_TUNE, .knob = q->knob, .direction = q->direction, .from = q->from, .to = q->to,
                                     .cause = q->cause, .plan = q->plan, .settle = q->settle, .window = q->window};
}

static bool request_still_true(const struct step *s)
{
    const struct control_request *q = &s->c->request;
    const struct control_read *r = &s->e->reads[q->knob];
    return s->e->remeasure_ok && s->c->frozen == 0 && !control_late_watch(s->c) && !control_unacknowledged(s->c) &&
           read_value(r) == q->from && s->c->knobs[q->knob].believed == q->from && !differs(s, q->knob);
}

bool guard_15(const struct step *s) { return bound_to_request(s) && request_still_true(s); }
void act_15(struct step *s)
{
    struct control_decision d = decision_of_request(&s->c->request);
    fill_plan(emit(s, RECORD_APPROVAL, NO_KNOB), &d);
    emit_done(s);
    start_intent(s, &d, false);
    done(s);
}

static enum reason void_reason(const struct step *s)
{
    const struct control_decision *d = &s->e->decision;
    if (s->e->kind == CE_POLICY) return REASON_POLICY_CHANGED;
    if (s->e->kind == CE_APPROVE) return s->e->remeasure_reason ? s->e->remeasure_reason : REASON_FACTS_CHANGED;
    bool other_plan = (d->kind == CD_ASK || d->kind == CD_TUNE || d->kind == CD_WOULD) && d->plan != s->c->request.plan;
    return other_plan || d->kind == CD_HANDOVER ? REASON_FACTS_CHANGED : REASON_NONE;
}

bool guard_16(const struct step *s)
{
    if (s->e->kind == CE_APPROVE) return bound_to_request(s) && !request_still_true(s);
    return void_reason(s) != REASON_NONE;
}
void act_16(struct step *s)
{
    enum reason why = void_reason(s);
    bool read = s->e->kind == CE_APPROVE && s->c->request.knob < s->p->knob_count;   /* the record shows what it has now */
    emit(s, RECORD_VOID, read ? s->c->request.knob : NO_KNOB)->reason = why;
    emit_done(s);
    go_idle_or(s, STATE_OPEN);
    s->o->notes |= CN_NOTIFY;
    if (s->e->kind == CE_APPROVE) refuse(s, why, "the facts have changed since the request was made; nothing was written");
}

bool guard_17(const struct step *s) { return bound_to_request(s); }
void act_17(struct step *s)
{
    struct control_decision d = decision_of_request(&s->c->request);
    fill_plan(emit(s, RECORD_REJECT, NO_KNOB), &d);
    emit_done(s);
    go_idle_or(s, STATE_OPEN);
    done(s);
}

bool guard_18(const struct step *s) { return instant_reached(s->e->now, s->c->request.expiry); }
void act_18(struct step *s)
{
    struct control_decision d = decision_of_request(&s->c->request);
    fill_plan(emit(s, RECORD_EXPIRED, NO_KNOB), &d);
    emit_done(s);
    go_idle_or(s, STATE_OPEN);
    s->o->notes |= CN_NOTIFY;
}

bool guard_19(const struct step *s) { return s->e->clears; }
void act_19(struct step *s)
{
    emit(s, RECORD_VOID, NO_KNOB)->reason = REASON_SYMPTOM_GONE;
    emit_done(s);
    close(s);
}

bool guard_26(const struct step *s) { return any_late_hit(s) >= 0; }
void act_26(struct step *s)
{
    unsigned knob = (unsigned)any_late_hit(s);
    const struct control_slot *a = &s->c->knobs[knob].slot;
    enum read_class class = class_of(s, knob);
    bool kept = a->story == STORY_KEPT || a->story == STORY_PARTIAL;
    /* In doubt it can be a person's write as well. */
    bool ours = s->c->knobs[knob].believed == a->old && (class == READ_NEW || class == READ_MIX) && !kept && !a->late_doubt;
    if (!ours || (s->c->state == STATE_PERSON && s->e->person_may_have_repaired)) {
        yield(s, knob);
        return;
    }
    struct control_record *r = emit(s, RECORD_APPLIED, knob);
    r->late = true;
    emit_done(s);
    go(s, STATE_UNDO_INTENT);
    s->c->active = (uint8_t)knob;
    s->o->notes |= CN_REGIME | CN_NOTIFY | CN_READ_SOON;
}

bool guard_46(const struct step *s)
{
    return s->e->clears || instant_reached(s->e->now, s->c->renotify_at);
}
void act_46(struct step *s)
{
    if (s->e->clears) {
        close(s);
        return;
    }
    s->c->renotify_at = instant_add(s->e->now, s->p->renotify);
    s->o->notes |= CN_RENOTIFY;
}
