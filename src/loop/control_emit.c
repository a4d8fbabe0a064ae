/* Records and moves shared by the rows. Every durable fact changes through control_fold only. */
#include <string.h>

#include "base/check.h"
#include "loop/control_step.h"

struct control_slot *slot_of(struct step *s)
{
    CHECK(s->c->active < s->p->knob_count);
    return &s->c->knobs[s->c->active].slot;
}

struct control_record *emit(struct step *s, enum record_kind kind, unsigned knob)
{
    CHECK(s->o->record_count < CONTROL_RECORDS);
    struct control_record *r = &s->o->records[s->o->record_count++];
    memset(r, 0, sizeof *r);
    r->kind = kind;
    r->at = s->e->now;
    r->knob = (uint8_t)knob;
    r->epoch = s->c->epoch;
    r->incident = s->c->incident_open ? s->c->incidents : 0;
    r->symptom = s->c->symptom;
    r->onset = s->c->onset;
    r->expiry = INSTANT_NEVER;
    r->cause = NO_INDEX;
    if (knob != NO_KNOB) {
        const struct control_slot *a = &s->c->knobs[knob].slot;
        r->old = a->old;
        r->new_ = a->new_;
        r->action = a->action;
        r->cause = a->cause;
        r->direction = a->direction;
        r->automatic = a->automatic;
        r->settle = a->settle;
        r->window = a->window;
        r->read = read_value(&s->e->reads[knob]);
        r->version = s->e->reads[knob].present ? s->e->reads[knob].version : 0;
    }
    return r;
}

void emit_done(struct step *s)
{
    CHECK(s->o->record_count > 0);
    control_fold(s->p, s->c, &s->o->records[s->o->record_count - 1]);
}

void emit_plain(struct step *s, enum record_kind kind, unsigned knob)
{
    (void)emit(s, kind, knob);
    emit_done(s);
}

void go(struct step *s, enum state next)
{
    struct control *c = s->c;
    if (c->state != (uint8_t)next) c->state_since = s->e->now;
    c->state = (uint8_t)next;
    if (!(1u << next & IN_FLIGHT)) c->active = NO_KNOB;
    c->none_reads = 0;
    c->mix_since = INSTANT_NONE;
    c->deadline = INSTANT_NEVER;
    c->renotify_at = next == STATE_PERSON ? instant_add(s->e->now, s->p->renotify) : INSTANT_NEVER;
    if (next != STATE_SETTLING && next != STATE_OBSERVING) c->phase_until = INSTANT_NEVER;
}

void go_idle_or(struct step *s, enum state next)
{
    go(s, s->c->halted ? STATE_HALTED : next);
}

/* The late watch is reopened at the send, not at the answer: an answer proves nothing. */
void send_write(struct step *s, bool is_undo)
{
    struct control *c = s->c;
    struct control_slot *a = slot_of(s);
    unsigned knob = c->active;
    struct span readback = s->p->knobs[knob].readback;
    a->late_open = true;
    a->late_doubt = false;
    a->late_after = instant_add(instant_add(s->e->now, readback), s->p->late_watch);
    a->answered = 0;
    if (!is_undo) a->sent = true;
    s->o->send = true;
    s->o->is_undo = is_undo;
    s->o->knob = (uint8_t)knob;
    s->o->value = is_undo ? a->old : a->new_;
    s->o->expect = is_undo ? a->new_ : a->old;
    s->o->expect_version = c->knobs[knob].believed_version;
    s->o->epoch = c->epoch;
    go(s, is_undo ? STATE_UNDO_WRITING : STATE_WRITING);
    c->deadline = instant_add(s->e->now, readback);
}

void refuse(struct step *s, enum reason why, const char *sentence)
{
    s->o->reply = REPLY_REFUSED;
    s->o->why_refused = why;
    s->o->refused = sentence;
}

void done(struct step *s) { s->o->reply = REPLY_DONE; }

/* H(service) without a person: the loop stops itself where it cannot know what is in force. */
void halt_service(struct step *s)
{
    struct control_record *r = emit(s, RECORD_HALT, NO_KNOB);
    r->automatic = true;
    emit_done(s);
    go(s, STATE_HALTED);
    s->o->notes |= CN_PAGE | CN_BY_HAND;
}

/* Somebody else's value stands: no write, the knob is frozen until a person has looked. */
void yield(struct step *s, unsigned knob)
{
    struct control_record *r = emit(s, RECORD_YIELDED, knob);
    r->verdict = VERDICT_INCONCLUSIVE;
    emit_done(s);
    go_idle_or(s, STATE_PERSON);
    s->o->notes |= CN_PAGE | CN_BY_HAND;
}

void hold(struct step *s, bool release)
{
    struct control_record *r = emit(s, RECORD_VERDICT, s->c->active);
    r->verdict = VERDICT_INCONCLUSIVE;
    r->held = true;
    r->reason = release ? REASON_RELEASE : REASON_NONE;
    emit_done(s);
    go_idle_or(s, STATE_PERSON);
    s->o->notes |= CN_PAGE | CN_BY_HAND;
}

void external(struct step *s, unsigned knob)
{
    (void)emit(s, RECORD_EXTERNAL, knob);
    emit_done(s);
    s->o->notes |= CN_REGIME | CN_NOTIFY;
}

void verdict(struct step *s, enum verdict v, bool undo, bool fail)
{
    struct control_record *r = emit(s, RECORD_VERDICT, s->c->active);
    r->verdict = v;
    r->undo = undo;
    r->fail = fail;
    emit_done(s);
    s->o->notes |= CN_NOTIFY;
}
