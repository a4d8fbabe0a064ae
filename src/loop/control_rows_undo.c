/* Rows 39 to 45: taking a change back. Stopped only by halt, a lost lease, a failing audit store or a third value. */
#include "loop/control_step.h"

#define NONE_READS_LIMIT 3

static bool asked_by_a_person(const struct control_slot *a)
{
    return a->origin == ORIGIN_CANCEL || a->origin == ORIGIN_ROLLBACK;
}

static bool undo_recorded(const struct control_slot *a)
{
    return a->story == STORY_UNDO || a->story == STORY_UNDO_RETRY;
}

bool guard_39(const struct step *s)
{
    enum read_class class = class_of(s, s->c->active);
    bool stopped = s->c->halted && !asked_by_a_person(&s->c->knobs[s->c->active].slot);
    return (class == READ_NEW || class == READ_MIX) && !stopped && !s->c->follower;
}
void act_39(struct step *s)
{
    s->c->none_reads = 0;
    if (undo_recorded(slot_of(s))) {
        send_write(s, true);
        return;
    }
    emit_plain(s, RECORD_UNDO, s->c->active);
    s->o->notes |= CN_READ_SOON;
}

static void undone(struct step *s, bool by_others)
{
    struct control *c = s->c;
    unsigned knob = c->active;
    const struct control_slot *a = slot_of(s);
    bool person = asked_by_a_person(a);
    uint16_t version = s->e->reads[knob].version;
    bool foreign = !by_others && s->p->knobs[knob].cas == CAS_VERSION && version != 0 && a->answered != 0 &&
                   a->answered != version;   /* the target named the version of our undo, and another one is in force */
    struct control_record *r = emit(s, RECORD_UNDONE, knob);
    r->by_others = by_others;
    r->foreign_version = foreign;
    emit_done(s);
    s->o->notes |= CN_REGIME | CN_NOTIFY;
    if (c->halted) go(s, STATE_HALTED);
    else if (person || c->handed) go(s, c->incident_open || person ? STATE_PERSON : STATE_WATCHING);
    else go(s, c->incident_open ? STATE_OPEN : STATE_WATCHING);
}

bool guard_40(const struct step *s) { return class_of(s, s->c->active) == READ_OLD; }
void act_40(struct step *s) { undone(s, true); }

bool guard_41(const struct step *s) { return class_of(s, s->c->active) == READ_THIRD; }
void act_41(struct step *s) { yield(s, s->c->active); }

bool guard_410(const struct step *s)
{
    return reads_none(s, s->c->active);
}
void act_410(struct step *s)
{
    if (++s->c->none_reads < NONE_READS_LIMIT) return;
    halt_service(s);
}

bool guard_42(const struct step *s)
{
    return s->e->kind == CE_ANSWER || instant_reached(s->e->now, s->c->deadline);
}
void act_42(struct step *s)
{
    struct instant deadline = s->c->deadline;
    uint8_t knob = s->c->active;
    if (s->e->kind == CE_ANSWER) slot_of(s)->answered = s->e->answer_version;
    go(s, STATE_UNDO_READBACK);
    s->c->active = knob;
    s->c->deadline = deadline;
    s->o->notes |= CN_READ_SOON;
}

bool guard_43(const struct step *s) { return class_of(s, s->c->active) == READ_OLD; }
void act_43(struct step *s) { undone(s, false); }

static bool first_try(const struct step *s) { return s->c->knobs[s->c->active].slot.story == STORY_UNDO; }

static bool at_deadline(const struct step *s) { return instant_reached(s->e->now, s->c->deadline); }

bool guard_44(const struct step *s)
{
    enum read_class class = class_of(s, s->c->active);
    return (class == READ_NEW || class == READ_MIX) && at_deadline(s) && first_try(s);
}
void act_44(struct step *s)
{
    uint8_t knob = s->c->active;
    emit_plain(s, RECORD_UNDO_RETRY, knob);
    go(s, STATE_UNDO_INTENT);
    s->c->active = knob;
    s->o->notes |= CN_READ_SOON;
}

bool guard_45(const struct step *s)
{
    if (!has_read(s, s->c->active)) return false;
    enum read_class class = class_of(s, s->c->active);
    return class == READ_THIRD || (at_deadline(s) && class != READ_OLD);
}
void act_45(struct step *s)
{
    emit_plain(s, RECORD_UNDO_FAILED, s->c->active);
    halt_service(s);
}
