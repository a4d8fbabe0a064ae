/* Rows 20 to 38: a forward write from INTENT to its verdict. */
#include "loop/control_step.h"

static bool past_deadline(const struct step *s) { return instant_reached(s->e->now, s->c->deadline); }

/* Everything that made the plan right must still be true at the send. */
static bool may_send(const struct step *s)
{
    unsigned k = s->c->active;
    return class_of(s, k) == READ_OLD && s->e->symptom == TRI_TRUE && s->e->service_gates_open && s->c->frozen == 0 &&
           !s->c->halted && !s->c->follower && !s->e->outage && !differs(s, k) && s->p->knobs[k].listed &&
           instant_reached(s->e->now, s->c->gap_until);
}

bool guard_20(const struct step *s) { return has_read(s, s->c->active) && may_send(s); }
void act_20(struct step *s) { send_write(s, false); }

bool guard_21(const struct step *s)
{
    return (has_read(s, s->c->active) && !may_send(s)) || past_deadline(s);
}
void act_21(struct step *s)
{
    emit(s, RECORD_ABORTED, s->c->active)->reason = REASON_FACTS_CHANGED;
    emit_done(s);
    go_idle_or(s, STATE_OPEN);
}

bool guard_22(const struct step *s)
{
    if (s->e->kind == CE_APPEND_FAILED) return true;
    return s->c->waiting_ack && !s->c->store_failed &&
           span_less(s->p->append_timeout, instant_since(s->e->now, s->c->ack_sent));
}
void act_22(struct step *s)
{
    s->c->store_failed = true;
    s->c->frozen |= FREEZE_STORE;
    s->o->notes |= CN_PAGE;
}

bool guard_23(const struct step *s) { return s->e->kind == CE_ANSWER || past_deadline(s); }
void act_23(struct step *s)
{
    struct instant deadline = s->c->deadline;
    uint8_t knob = s->c->active;
    if (s->e->kind == CE_ANSWER && (s->e->answer == ANSWER_REFUSED || s->e->answer == ANSWER_NOT_SENT)) {
        slot_of(s)->late_open = false;
    }
    go(s, STATE_READBACK);
    s->c->active = knob;
    s->c->deadline = deadline;
    s->o->notes |= CN_READ_SOON;
}

static bool cancelled(const struct step *s) { return s->c->knobs[s->c->active].slot.cancelled; }
static bool judged_by_harm(const struct step *s) { return s->e->early_harm || s->e->outage || s->e->neighbour; }

static void applied(struct step *s, bool part)
{
    struct control_record *r = emit(s, RECORD_APPLIED, s->c->active);
    r->part = part;
    r->by_others = part && cancelled(s);     /* the fold keeps the cancel as what the undo is for */
    emit_done(s);
    s->o->notes |= CN_REGIME;
}

static void start_undo(struct step *s)
{
    uint8_t knob = s->c->active;
    go(s, STATE_UNDO_INTENT);
    s->c->active = knob;
    s->o->notes |= CN_READ_SOON;
}

bool guard_24(const struct step *s) { return class_of(s, s->c->active) == READ_NEW; }
void act_24(struct step *s)
{
    struct control *c = s->c;
    uint8_t knob = c->active;
    bool cancel = cancelled(s);
    applied(s, false);
    if (cancel) {                            /* its CANCEL is on record since it was asked for */
        start_undo(s);
        return;
    }
    go(s, STATE_SETTLING);
    c->active = knob;
    c->phase_until = instant_add(s->e->now, slot_of(s)->settle);
    s->o->notes |= CN_NOTIFY;
}

bool guard_25(const struct step *s) { return class_of(s, s->c->active) == READ_OLD && past_deadline(s); }
void act_25(struct step *s)
{
    bool cancel = cancelled(s);
    struct control_record *r = emit(s, RECORD_FAILED, s->c->active);
    r->watch_over = !slot_of(s)->late_open || instant_reached(s->e->now, slot_of(s)->late_after);
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
    go_idle_or(s, cancel ? STATE_PERSON : STATE_OPEN);
}

/* While settling or observing MIX must last for a deadline's length: a rollout passes through it. */
bool guard_27(const struct step *s)
{
    const struct control *c = s->c;
    if (class_of(s, c->active) != READ_MIX) return false;
    if (c->state == STATE_READBACK) return past_deadline(s);
    return instant_is_set(c->mix_since) &&
           !span_less(instant_since(s->e->now, c->mix_since), s->p->knobs[c->active].readback);
}
void act_27(struct step *s)
{
    if (s->c->state == STATE_READBACK) applied(s, true);
    else emit_plain(s, RECORD_PART, s->c->active);
    s->o->notes |= CN_NOTIFY;
    start_undo(s);
}

bool guard_28(const struct step *s)
{
    enum read_class class = class_of(s, s->c->active);
    return class == READ_THIRD || (class == READ_OLD && s->c->state != STATE_READBACK);
}
void act_28(struct step *s) { yield(s, s->c->active); }

bool guard_29(const struct step *s)
{
    return reads_none(s, s->c->active) && past_deadline(s);
}
void act_29(struct step *s)
{
    emit_plain(s, RECORD_HELD, s->c->active);
    halt_service(s);
}

bool guard_30(const struct step *s) { return s->e->settle_over; }
void act_30(struct step *s)
{
    uint8_t knob = s->c->active;
    go(s, STATE_OBSERVING);
    s->c->active = knob;
    s->c->phase_until = instant_add(s->e->now, slot_of(s)->window);
    s->o->notes |= CN_WINDOW_START;
}

bool guard_31(const struct step *s)
{
    enum read_class class = class_of(s, s->c->active);
    if (!judged_by_harm(s) || cancelled(s)) return false;
    return s->c->state != STATE_READBACK || class == READ_NEW || class == READ_MIX;
}
void act_31(struct step *s)
{
    if (s->c->state == STATE_READBACK) applied(s, class_of(s, s->c->active) == READ_MIX);
    verdict(s, VERDICT_HARMFUL, true, s->e->early_harm || s->e->outage);
    s->o->notes |= CN_PAGE;
    start_undo(s);
}

bool guard_33(const struct step *s)
{
    const struct control_slot *a = &s->c->knobs[s->c->active].slot;
    bool interfered = a->released || other_knob_changed(s) >= 0;
    if (!interfered || a->cancelled) return false;
    if (s->c->state != STATE_READBACK) return true;
    enum read_class class = class_of(s, s->c->active);
    return class == READ_NEW || (class == READ_MIX && judged_by_harm(s));
}
void act_33(struct step *s)
{
    int other = other_knob_changed(s);
    bool release = slot_of(s)->released;
    if (other >= 0) {
        const struct control_slot *late = &s->c->knobs[other].slot;
        bool ours = late->late_open && read_has(&s->e->reads[other], late->new_) && !late->confirmed;
        emit_plain(s, ours ? RECORD_YIELDED : RECORD_EXTERNAL, (unsigned)other);
    }
    if (s->c->state == STATE_READBACK) applied(s, class_of(s, s->c->active) == READ_MIX);
    hold(s, release);
}

/* The window has ended and a verdict on a value that is in force everywhere is at hand. */
static bool ends(const struct step *s)
{
    return s->e->window_over && s->e->verdict != VERDICT_NONE && class_of(s, s->c->active) == READ_NEW;
}

static bool helped(const struct step *s)
{
    return ends(s) && (s->e->verdict == VERDICT_EFFECTIVE || s->e->verdict == VERDICT_PARTIAL);
}

bool guard_340(const struct step *s) { return helped(s) && !s->e->policy_allows_new; }
void act_340(struct step *s)
{
    verdict(s, VERDICT_INCONCLUSIVE, true, false);
    s->o->records[s->o->record_count - 1].reason = REASON_POLICY_CHANGED;
    start_undo(s);
}

bool guard_34(const struct step *s)
{
    return helped(s) && s->e->policy_allows_new && s->e->symptom == TRI_FALSE;
}
void act_34(struct step *s)
{
    verdict(s, VERDICT_EFFECTIVE, false, false);
    emit_plain(s, RECORD_CLOSED, NO_KNOB);
    go_idle_or(s, STATE_WATCHING);
    s->o->notes |= CN_REBASE_KEPT | CN_UNFREEZE;
}

bool guard_35(const struct step *s)
{
    return helped(s) && s->e->policy_allows_new && s->e->symptom != TRI_FALSE;
}
void act_35(struct step *s)
{
    verdict(s, VERDICT_PARTIAL, false, false);
    go_idle_or(s, STATE_OPEN);
}

bool guard_36(const struct step *s)
{
    return ends(s) && (s->e->verdict == VERDICT_INEFFECTIVE || s->e->verdict == VERDICT_HARMFUL);
}
void act_36(struct step *s)
{
    verdict(s, s->e->verdict, true, true);
    start_undo(s);
}

static bool inconclusive(const struct step *s)
{
    return s->e->window_over && s->e->verdict == VERDICT_INCONCLUSIVE;
}

bool guard_37(const struct step *s) { return inconclusive(s) && !s->c->knobs[s->c->active].slot.extended; }
void act_37(struct step *s)
{
    emit_plain(s, RECORD_EXTENDED, s->c->active);
    s->c->phase_until = instant_add(s->e->now, slot_of(s)->window);
    s->o->notes |= CN_NOTIFY;
}

bool guard_38(const struct step *s) { return inconclusive(s) && s->c->knobs[s->c->active].slot.extended; }
void act_38(struct step *s)
{
    if (!s->e->old_known_good) {
        hold(s, false);
        return;
    }
    verdict(s, VERDICT_INCONCLUSIVE, true, false);
    start_undo(s);
}
