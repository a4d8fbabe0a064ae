/* Rows 32, 47 to 51: people, and what the shell says about store, lease and modules. */
#include "loop/control_step.h"

bool guard_32(const struct step *s)
{
    return s->e->knob == NO_KNOB || s->e->knob == s->c->active;
}
void act_32(struct step *s)
{
    enum state state = (enum state)s->c->state;
    uint8_t knob = s->c->active;
    if (s->c->knobs[knob].slot.cancelled) {
        refuse(s, REASON_CLASS_SUSPENDED, "it is cancelled already, and is being taken back");
        return;
    }
    if (state == STATE_INTENT) {
        emit_plain(s, RECORD_ABORTED, knob);
        emit_plain(s, RECORD_CANCEL, knob);
        go_idle_or(s, STATE_PERSON);
    } else {
        emit_plain(s, RECORD_CANCEL, knob);
        if (state == STATE_SETTLING || state == STATE_OBSERVING) {
            go(s, STATE_UNDO_INTENT);
            s->c->active = knob;
            s->o->notes |= CN_READ_SOON;
        }
    }
    s->o->notes |= CN_NOTIFY;
    done(s);
}

static bool all_readable(const struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (!s->e->reads[k].present || !s->e->reads[k].readable) return false;
    }
    return true;
}

bool guard_47(const struct step *s)
{
    return s->e->kind == CE_NORMAL_NOW || s->c->state == STATE_PERSON;
}
void act_47(struct step *s)
{
    bool accept = s->e->kind == CE_NORMAL_NOW;
    if (!all_readable(s)) {
        refuse(s, REASON_OWNED,
               "a knob cannot be read now, so its value cannot be acknowledged; try again when the target answers");
        return;
    }
    enum record_kind kind = accept ? RECORD_ACCEPTED : RECORD_RETRY;
    for (unsigned k = 0; k < s->p->knob_count; k++) {   /* what was read goes into the records: the fold needs no more */
        const struct control_read *r = &s->e->reads[k];
        struct control_knob *knob = &s->c->knobs[k];
        bool news = read_value(r) != knob->believed || r->version != knob->believed_version;
        if (!news || s->o->record_count + 2 > CONTROL_RECORDS) continue;
        (void)emit(s, kind, k);
        emit_done(s);
    }
    emit(s, kind, NO_KNOB)->clear = s->e->clear_excluded;
    emit_done(s);
    go_idle_or(s, accept ? STATE_WATCHING : STATE_OPEN);
    if (accept) s->o->notes |= CN_REBASE_ACCEPTED | CN_UNFREEZE;
    done(s);
}

static bool other_unended(const struct step *s, unsigned knob)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (k != knob && !story_ended((enum story)s->c->knobs[k].slot.story)) return true;
    }
    return false;
}

static const char *why_not_taken_back(const struct step *s, unsigned knob)
{
    const struct control_slot *a = &s->c->knobs[knob].slot;
    bool running = (1u << s->c->state & IN_FLIGHT) && s->c->active == knob;
    enum story story = (enum story)a->story;
    if (story == STORY_NONE) return "trimtab has never changed this knob";
    if (story == STORY_FAILED || story == STORY_ABORTED) return "the change never took effect, there is nothing to take back";
    if (story == STORY_UNDONE) return "it has already been taken back";
    if (s->e->kind == CE_CANCEL && story != STORY_KEPT && story != STORY_PARTIAL && !running) {
        return "only a running or a kept action can be cancelled; use rollback";
    }
    if (!s->e->reads[knob].present) return "the knob has not been read yet; try again";
    if (class_of(s, knob) != READ_NEW) return "the value read now is not the one trimtab wrote, so somebody else's value stands";
    if (other_unended(s, knob)) return "another action of this service is not finished; take that back first";
    if (!running && s->c->state != STATE_HALTED && !story_ended(story)) return "the action is being resolved; try again";
    if (s->c->store_failed) return "the audit store fails, and nothing is written without a record";
    return NULL;
}

bool guard_48(const struct step *s)
{
    bool in_window = s->c->state == STATE_SETTLING || s->c->state == STATE_OBSERVING;
    return s->e->knob < s->p->knob_count && !(s->e->kind == CE_CANCEL && in_window && s->e->knob == s->c->active);
}
void act_48(struct step *s)
{
    uint8_t knob = s->e->knob;
    const struct control_slot *a = &s->c->knobs[knob].slot;
    const char *why = why_not_taken_back(s, knob);
    if (why) {
        refuse(s, REASON_OWNED, why);
        return;
    }
    if (a->story == STORY_INTENT) emit_plain(s, RECORD_APPLIED, knob);
    emit_plain(s, s->e->kind == CE_CANCEL ? RECORD_CANCEL : RECORD_ROLLBACK, knob);
    go(s, STATE_UNDO_INTENT);
    s->c->active = knob;
    s->o->notes |= CN_READ_SOON | CN_NOTIFY;
    done(s);
}

static void halt_record(struct step *s)
{
    emit(s, RECORD_HALT, NO_KNOB)->automatic = false;
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
    done(s);
}

bool guard_49(const struct step *s)
{
    bool undo_possible = (1u << s->c->state & IN_FLIGHT) && s->c->state != STATE_INTENT && !s->c->store_failed &&
                         !s->c->follower;
    return s->e->kind == CE_HALT || !undo_possible;
}
void act_49(struct step *s)
{
    struct control *c = s->c;
    bool unsent = c->state == STATE_INTENT;
    uint8_t knob = c->active;
    if (c->store_failed || c->follower) {  /* the flag stops writes at once; the record follows when the store is good */
        c->halted = true;
        c->epoch++;
        go(s, STATE_HALTED);
        done(s);
        return;
    }
    if (unsent) emit_plain(s, RECORD_ABORTED, knob);
    halt_record(s);
    go(s, STATE_HALTED);
}

bool guard_490(const struct step *s)
{
    return s->c->state != STATE_INTENT && !s->c->store_failed && !s->c->follower;
}
void act_490(struct step *s)
{
    enum state state = (enum state)s->c->state;
    uint8_t knob = s->c->active;
    halt_record(s);
    if (state == STATE_WRITING || state == STATE_READBACK) {
        if (!s->c->knobs[knob].slot.cancelled) emit_plain(s, RECORD_CANCEL, knob);
        return;
    }
    emit_plain(s, RECORD_ROLLBACK, knob);
    if (state == STATE_SETTLING || state == STATE_OBSERVING) {
        go(s, STATE_UNDO_INTENT);
        s->c->active = knob;
        s->o->notes |= CN_READ_SOON;
    }
}

bool guard_50(const struct step *s) { (void)s; return true; }
void act_50(struct step *s)
{
    if (!s->c->halted) {
        refuse(s, REASON_NONE, "it is not halted");
        return;
    }
    emit_plain(s, RECORD_RESUME, NO_KNOB);
    go(s, STATE_RECOVERING);
    s->o->notes |= CN_READ_SOON | CN_NOTIFY;
    done(s);
}

/* What happened while the store failed must not be lost with the fold. */
static void record_what_is_owed(struct step *s)
{
    struct control *c = s->c;
    if (c->release_owed && instant_reached(s->e->now, c->release_until)) emit_plain(s, RECORD_RELEASE, NO_KNOB);
    if (c->halt_owed && !c->halted) emit_plain(s, RECORD_HALT, NO_KNOB);
    c->release_owed = c->halt_owed = false;
}

bool guard_51(const struct step *s) { (void)s; return true; }
void act_51(struct step *s)
{
    struct control *c = s->c;
    switch (s->e->kind) {
    case CE_FREEZE:
        c->frozen |= s->e->bits;
        if (s->e->bits & FREEZE_STORE) c->store_failed = true;
        break;
    case CE_THAW:
        c->frozen &= (uint8_t)~s->e->bits;
        if (s->e->bits & FREEZE_STORE && c->store_failed) s->o->notes |= CN_REFOLD;
        break;
    case CE_LEASE_LOST:
        c->follower = true;
        break;
    default:                               /* CE_FOLDED */
        c->store_failed = false;
        c->waiting_ack = false;
        c->follower = false;
        c->frozen &= (uint8_t)~FREEZE_STORE;
        go(s, STATE_RECOVERING);
        c->state_since = s->e->now;
        record_what_is_owed(s);
        s->o->notes |= CN_READ_SOON;
        break;
    }
}
