/* What a read means against what we believe and what our newest action wrote. loop.md section 4, "Reads", "Late watch". */
#include "loop/control_step.h"

bool read_is_uniform(const struct control_read *r)
{
    return r->present && r->readable && r->n == 1 && !r->more;
}

uint16_t read_value(const struct control_read *r)
{
    return read_is_uniform(r) ? r->values[0] : 0;
}

bool read_has(const struct control_read *r, uint16_t value)
{
    if (!r->present || !r->readable) return false;
    for (unsigned i = 0; i < r->n; i++) {
        if (r->values[i] == value) return true;
    }
    return false;
}

/* Somebody wrote since we last adopted a version, even if the value is the same. */
static bool alien_version(const struct control_policy *p, const struct control *c, unsigned knob, const struct control_read *r)
{
    return p->knobs[knob].cas == CAS_VERSION && r->version != 0 && c->knobs[knob].believed_version != 0 &&
           r->version != c->knobs[knob].believed_version;
}

enum read_class control_classify(const struct control_policy *p, const struct control *c, unsigned knob,
                                 const struct control_read *r)
{
    const struct control_slot *a = &c->knobs[knob].slot;
    if (!r->present || !r->readable) return READ_NONE;
    bool alien = alien_version(p, c, knob, r);
    bool before_applied = a->story == STORY_INTENT || a->story == STORY_FAILED || a->story == STORY_ABORTED ||
                          a->story == STORY_UNDONE;
    if (r->more) return READ_THIRD;
    for (unsigned i = 0; i < r->n; i++) {
        if (r->values[i] != a->old && r->values[i] != a->new_) return READ_THIRD;
    }
    if (r->n == 1 && r->values[0] == a->old) return alien && a->story == STORY_INTENT ? READ_THIRD : READ_OLD;
    if (r->n == 1) return alien && !before_applied ? READ_THIRD : READ_NEW;
    return alien && !story_ended(a->story) && a->story != STORY_INTENT ? READ_THIRD : READ_MIX;
}

bool has_read(const struct step *s, unsigned knob) { return s->e->reads[knob].present; }

/* No read in this event is no news: only an answer that failed is NONE. */
bool reads_none(const struct step *s, unsigned knob) { return has_read(s, knob) && !s->e->reads[knob].readable; }

enum read_class class_of(const struct step *s, unsigned knob)
{
    return control_classify(s->p, s->c, knob, &s->e->reads[knob]);
}

bool differs(const struct step *s, unsigned knob)
{
    const struct control_read *r = &s->e->reads[knob];
    const struct control_knob *k = &s->c->knobs[knob];
    if (!r->present || !r->readable || k->slot.unacknowledged || !k->seen) return false;
    return alien_version(s->p, s->c, knob, r) || read_value(r) != k->believed;
}

int other_knob_changed(const struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (k != s->c->active && differs(s, k)) return (int)k;
    }
    return -1;
}

bool late_hit(const struct step *s, unsigned knob)
{
    const struct control_read *r = &s->e->reads[knob];
    const struct control_knob *k = &s->c->knobs[knob];
    const struct control_slot *a = &k->slot;
    if (!a->late_open || !r->present || !r->readable || a->unacknowledged || !story_ended(a->story)) return false;
    if (read_is_uniform(r) && read_value(r) == k->believed) return false;
    bool undo_sent = a->story == STORY_UNDONE || a->story == STORY_UNDO_FAILED || a->story == STORY_YIELDED;
    bool forward = read_has(r, a->new_) && !a->confirmed && k->believed != a->new_;
    bool undo = read_has(r, a->old) && undo_sent && k->believed != a->old;
    return forward || undo;
}

int any_late_hit(const struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        if (late_hit(s, k)) return (int)k;
    }
    return -1;
}

/* The first good read that equals believed, late enough after the last send, ends the watch. NONE never does. */
void close_late_watches(struct step *s)
{
    struct control *c = s->c;
    bool sending = c->state == STATE_WRITING || c->state == STATE_READBACK || c->state == STATE_UNDO_WRITING ||
                   c->state == STATE_UNDO_READBACK;
    if (sending) return;
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        struct control_slot *a = &c->knobs[k].slot;
        const struct control_read *r = &s->e->reads[k];
        bool watched = (1u << c->state & IN_FLIGHT) && c->active == k;
        if (!a->late_open || watched || !instant_reached(s->e->now, a->late_after)) continue;
        if (read_is_uniform(r) && read_value(r) == c->knobs[k].believed) a->late_open = false;
    }
}

/* With no word of a knob in the log, the first uniform read is what we believe; no record: nobody changed anything. */
void adopt_first_reads(struct step *s)
{
    for (unsigned k = 0; k < s->p->knob_count; k++) {
        struct control_knob *knob = &s->c->knobs[k];
        const struct control_read *r = &s->e->reads[k];
        if (!r->present || !r->readable) continue;
        if (!knob->seen && read_is_uniform(r)) {
            knob->seen = true;
            knob->believed = read_value(r);
            knob->believed_version = r->version;
            knob->believed_since = INSTANT_NONE;
        } else if (knob->seen && knob->believed_version == 0 && read_value(r) == knob->believed) {
            knob->believed_version = r->version;
        }
    }
}
