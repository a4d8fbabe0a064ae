/* Rows 52 to 54: after a start, a resume, a failing store or a won lease, what the log left open is resolved first,
 * by what the target reports now. */
#include "loop/control_step.h"

static int open_knob(const struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (!story_ended((enum story)s->c->knobs[k].slot.story)) return (int)k;
    }
    return -1;
}

static bool late(const struct step *s, unsigned knob)
{
    return instant_reached(s->e->now, instant_add(s->c->state_since, s->p->knobs[knob].readback));
}

void doubt_reopened_watches(struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        struct control_slot *a = &s->c->knobs[k].slot;
        bool over = story_ended((enum story)a->story) && instant_reached(s->e->now, a->late_after);
        if (a->late_open && over) a->late_doubt = true;
    }
}

bool guard_52(const struct step *s) { return s->c->halted || open_knob(s) < 0; }
void act_52(struct step *s)
{
    struct control *c = s->c;
    if (c->halted) {
        go(s, STATE_HALTED);
        return;
    }
    if (any_late_hit(s) >= 0) {
        act_26(s);
        s->o->row = 52;
        return;
    }
    if (c->request.present) {
        emit(s, RECORD_VOID, NO_KNOB)->reason = REASON_RESTARTED;
        emit_done(s);
    }
    if (control_unacknowledged(c) || (c->handed && c->incident_open)) go(s, STATE_PERSON);
    else if (c->incident_open) go(s, STATE_OPEN);
    else go(s, s->e->warm ? STATE_WATCHING : STATE_LEARNING);
}

static bool begins_with(const struct step *s, enum story a, enum story b)
{
    int k = open_knob(s);
    return k >= 0 && (s->c->knobs[k].slot.story == a || s->c->knobs[k].slot.story == b);
}

bool guard_53(const struct step *s)
{
    return !s->c->halted && begins_with(s, STORY_INTENT, STORY_APPLIED);
}

static void use_row(struct step *s, control_act *act, uint16_t row)
{
    (void)row;
    act(s);
    s->o->row = 53;
}

static void recover_intent(struct step *s, unsigned knob)
{
    struct control_slot *a = slot_of(s);
    enum read_class class = class_of(s, knob);
    bool other = other_knob_changed(s) >= 0;
    a->sent = true;                        /* an INTENT found by RECOVERING counts as sent */
    a->late_open = true;
    if (class == READ_NEW && !a->cancelled && (a->released || other)) {
        s->c->state = STATE_READBACK;
        use_row(s, act_33, 33);
    } else if (class == READ_NEW) {
        use_row(s, act_24, 24);
    } else if (class == READ_OLD && instant_reached(s->e->now, a->late_after)) {
        use_row(s, act_25, 25);
    } else if (class == READ_MIX && late(s, knob)) {
        s->c->state = STATE_READBACK;
        use_row(s, act_27, 27);
    } else if (class == READ_THIRD) {
        yield(s, knob);
    } else if (reads_none(s, knob) && late(s, knob)) {
        act_29(s);
    } else {
        s->c->active = NO_KNOB;            /* nothing yet: stay in RECOVERING */
    }
}

static void resume_phase(struct step *s, unsigned knob)
{
    struct control *c = s->c;
    struct control_slot *a = slot_of(s);
    struct instant settled = instant_add(a->applied_at, a->settle);
    bool settling = !a->extended && !instant_reached(s->e->now, settled);
    go(s, settling ? STATE_SETTLING : STATE_OBSERVING);
    c->active = (uint8_t)knob;
    struct span windows = a->extended ? (struct span){2 * a->window.us} : a->window;
    c->phase_until = settling ? settled : instant_add(settled, windows);
    s->o->notes |= settling ? 0u : CN_WINDOW_START;
}

/* A gap in what was seen: the window cannot be judged, so it is extended once, then 38. What is left of the settle time is still
 * waited for: a halt lifted at once must not let the window begin in it. */
static void after_long_gap(struct step *s, unsigned knob)
{
    struct control *c = s->c;
    struct instant settled = instant_add(slot_of(s)->applied_at, slot_of(s)->settle);
    if (slot_of(s)->extended) {
        act_38(s);
        return;
    }
    emit_plain(s, RECORD_EXTENDED, knob);
    go(s, STATE_OBSERVING);
    c->active = (uint8_t)knob;
    c->phase_until = instant_add(instant_max(s->e->now, settled), slot_of(s)->window);
    s->o->notes |= CN_WINDOW_START;
}

static void recover_applied(struct step *s, unsigned knob)
{
    enum read_class class = class_of(s, knob);
    if (class == READ_NEW && slot_of(s)->released) hold(s, true);
    else if (class == READ_NEW && other_knob_changed(s) >= 0) act_33(s);
    else if (class == READ_NEW && s->e->short_gap) resume_phase(s, knob);
    else if (class == READ_NEW) after_long_gap(s, knob);
    else if (class == READ_OLD || class == READ_THIRD) yield(s, knob);
    else if (class == READ_MIX && late(s, knob)) act_27(s);
    else if (reads_none(s, knob) && late(s, knob)) act_29(s);
    else s->c->active = NO_KNOB;
}

void act_53(struct step *s)
{
    unsigned knob = (unsigned)open_knob(s);
    s->c->active = (uint8_t)knob;
    if (s->c->knobs[knob].slot.story == STORY_INTENT) recover_intent(s, knob);
    else recover_applied(s, knob);
    if (s->c->state == STATE_RECOVERING) s->c->active = NO_KNOB;
    s->o->row = 53;
}

bool guard_54(const struct step *s)
{
    return !s->c->halted && open_knob(s) >= 0 && !begins_with(s, STORY_INTENT, STORY_APPLIED);
}

static void recover_undo(struct step *s, unsigned knob)
{
    enum read_class class = class_of(s, knob);
    bool first = slot_of(s)->story == STORY_UNDO;
    if (class == READ_OLD) act_43(s);
    else if ((class == READ_NEW || class == READ_MIX) && first) act_44(s);
    else if ((class == READ_NEW || class == READ_MIX) && late(s, knob)) act_45(s);
    else if ((class == READ_THIRD || reads_none(s, knob)) && late(s, knob)) act_45(s);
}

void act_54(struct step *s)
{
    unsigned knob = (unsigned)open_knob(s);
    struct control_slot *a = &s->c->knobs[knob].slot;
    s->c->active = (uint8_t)knob;
    if (a->story == STORY_UNDO || a->story == STORY_UNDO_RETRY) {
        recover_undo(s, knob);
    } else {
        go(s, STATE_UNDO_INTENT);
        s->c->active = (uint8_t)knob;
        s->o->notes |= CN_READ_SOON;
    }
    if (s->c->state == STATE_RECOVERING) s->c->active = NO_KNOB;
    s->o->row = 54;
}
