/* What must never be: the invariants of the specification's section 12 that this world can show, checked against the truth. */
#include "explore/world.h"

#include <string.h>

const char *violation;
bool quiet;

void violated(const char *what)
{
    if (!quiet && !violation) violation = what;
}

static bool may_follow(uint8_t from, uint8_t to)
{
    bool undo = from == PH_UNDO || from == PH_UNDO_RETRY;
    bool wanted = from == PH_BAD || from == PH_INCONCLUSIVE || from == PH_CANCEL || from == PH_ROLLBACK || from == PH_LATE;
    bool kept = from == PH_KEPT || from == PH_PARTIAL;
    bool told = from == PH_HELD || from == PH_YIELDED || from == PH_UNDO_FAILED;
    switch (to) {
    case PH_INTENT: return phase_ended(from);
    case PH_APPLIED: case PH_FAILED: case PH_ABORTED: return from == PH_INTENT;
    case PH_LATE:
        return from == PH_INTENT || from == PH_FAILED || from == PH_ABORTED || from == PH_UNDONE || from == PH_APPLIED || told;
    case PH_BAD: return from == PH_APPLIED || from == PH_LATE;
    case PH_INCONCLUSIVE: case PH_KEPT: case PH_PARTIAL: return from == PH_APPLIED;
    case PH_HELD: return from == PH_INTENT || from == PH_APPLIED || from == PH_LATE;
    case PH_YIELDED: return true;
    case PH_CANCEL: case PH_ROLLBACK: return from == PH_APPLIED || kept || told || from == PH_LATE;
    case PH_UNDO: return wanted;
    case PH_UNDO_RETRY: return from == PH_UNDO;
    case PH_UNDONE: return undo || wanted;
    case PH_UNDO_FAILED: return undo;
    default: return false;
    }
}

static void check_kept(const struct world *w, unsigned k)
{
    const struct truth *t = &w->k[k];
    uint16_t wrote = w->log.knobs[k].slot.new_;
    if (t->released) violated("a verdict is kept although a release interfered");
    if (t->forbidden) violated("I4 kept although the policy forbids it");
    if (t->cancelled) violated("kept although cancelled");
    if (t->real[0] != wrote || t->real[1] != wrote) violated("I15 a verdict on a value that is not in force");
    if (t->foreign) violated("a verdict is kept on a value that a person wrote");
}

static void check_other_knob(const struct world *w, unsigned k)
{
    const struct control_knob *other = &w->live.knobs[1 - k];
    if (w->unreadable || other->slot.unacknowledged) return;
    if (world_value(w, 1 - k) != other->believed) violated("a verdict although the other knob was changed by others meanwhile");
}

static void to_phase(struct world *w, unsigned k, uint8_t to)
{
    struct truth *t = &w->k[k];
    if (!may_follow(t->phase, to)) violated("I10 the story of an action is broken");
    t->phase = to;
    if (to == PH_INTENT && !phase_ended(w->k[1 - k].phase)) violated("I10 a new INTENT while another story has no end");
    if (to == PH_KEPT || to == PH_PARTIAL) check_kept(w, k);
    if (to == PH_KEPT || to == PH_PARTIAL || to == PH_BAD) check_other_knob(w, k);
    if (to == PH_BAD && t->released) violated("a bad verdict although a release interfered");
    uint16_t old = w->log.knobs[k].slot.old;
    if (to == PH_UNDONE && (t->real[0] != old || t->real[1] != old)) violated("I8 UNDONE, and the value is not the snapshot");
}

static void on_intent(struct world *w, unsigned k, const struct control_record *r)
{
    struct truth *t = &w->k[k];
    to_phase(w, k, PH_INTENT);
    t->automatic = r->automatic;
    t->cancelled &= CLASS_CANCELLED;
    t->applied = t->released = t->sent = t->confirmed = 0;
    if (r->new_ > VALUES || r->new_ != r->old + 1) violated("I3 not one notch up the ladder");
}

static void on_verdict(struct world *w, unsigned k, const struct control_record *r)
{
    bool bad = r->verdict == VERDICT_INEFFECTIVE || r->verdict == VERDICT_HARMFUL;
    if (r->held) to_phase(w, k, PH_HELD);
    else if (r->undo) to_phase(w, k, bad ? PH_BAD : PH_INCONCLUSIVE);
    else to_phase(w, k, r->verdict == VERDICT_PARTIAL ? PH_PARTIAL : PH_KEPT);
}

static bool undoing(uint8_t ph)
{
    return ph == PH_UNDO || ph == PH_UNDO_RETRY || ph == PH_BAD || ph == PH_INCONCLUSIVE || ph == PH_CANCEL ||
           ph == PH_ROLLBACK || ph == PH_LATE;
}

static void on_person(struct world *w, unsigned k, const struct control_record *r)
{
    struct truth *t = &w->k[k];
    bool cancel = r->kind == RECORD_CANCEL;
    if (cancel && t->cancelled & ACTION_CANCELLED) violated("I10 an action is cancelled twice");
    if (cancel) t->cancelled = CLASS_CANCELLED | ACTION_CANCELLED;
    if (t->phase == PH_INTENT || t->phase == PH_ABORTED) {
        if (!cancel) violated("I10 a ROLLBACK of what was not applied");
        return;
    }
    if (undoing(t->phase)) return;
    to_phase(w, k, cancel ? PH_CANCEL : PH_ROLLBACK);
    t->foreign = t->over = 0;          /* the person has seen what is in force */
}

static void on_external(const struct world *w, unsigned k)
{
    const struct truth *t = &w->k[k];
    uint16_t believed = w->log.knobs[k].believed;   /* the same value under a new version is nobody's loss */
    if (t->ours && t->window && believed != w->log.knobs[k].slot.new_ && world_value(w, k) != believed) {
        violated("our own late write is taken for a person's");
    }
}

static void on_knob(struct world *w, unsigned k, const struct control_record *r)
{
    switch (r->kind) {
    case RECORD_INTENT: on_intent(w, k, r); break;
    case RECORD_APPLIED:
        to_phase(w, k, r->late || r->part ? PH_LATE : PH_APPLIED);
        if (w->k[k].phase == PH_APPLIED && w->k[k].cancelled & ACTION_CANCELLED) w->k[k].phase = PH_CANCEL;
        if (r->late || r->part) break;
        if (w->k[k].real[0] != w->k[k].real[1]) violated("APPLIED says everywhere, and an instance has another value");
        world_end_window(w, k);
        break;
    case RECORD_PART: to_phase(w, k, PH_LATE); break;
    case RECORD_FAILED: to_phase(w, k, PH_FAILED); break;
    case RECORD_ABORTED: to_phase(w, k, PH_ABORTED); break;
    case RECORD_VERDICT: on_verdict(w, k, r); break;
    case RECORD_CANCEL:
    case RECORD_ROLLBACK: on_person(w, k, r); break;
    case RECORD_UNDO: to_phase(w, k, PH_UNDO); break;
    case RECORD_UNDO_RETRY: to_phase(w, k, PH_UNDO_RETRY); break;
    case RECORD_UNDONE:
        if (w->k[k].confirmed && w->k[k].phase != PH_UNDO_RETRY) world_end_window(w, k);
        to_phase(w, k, PH_UNDONE);
        break;
    case RECORD_UNDO_FAILED: to_phase(w, k, PH_UNDO_FAILED); break;
    case RECORD_YIELDED:
        to_phase(w, k, PH_YIELDED);
        w->k[k].over = 0;
        break;
    case RECORD_HELD:
        to_phase(w, k, PH_HELD);
        w->k[k].over = 0;
        break;
    case RECORD_EXTERNAL: on_external(w, k); break;
    default: break;
    }
    if (r->kind == RECORD_APPLIED && !r->late && !r->part) w->k[k].confirmed = 1;
}

static void person_decided(struct world *w) { w->autos = 0; }

/* The record is durable; `w->log` does not have it yet. */
void check_record(struct world *w, const struct control_record *r)
{
    if (r->knob < KNOBS && r->kind != RECORD_ACCEPTED && r->kind != RECORD_RETRY) on_knob(w, r->knob, r);
    switch (r->kind) {
    case RECORD_HALT: w->halted = 1; break;
    case RECORD_RESUME: w->halted = 0;     /* fallthrough */
    case RECORD_APPROVAL: case RECORD_REJECT: person_decided(w); break;
    case RECORD_ACCEPTED: case RECORD_RETRY:
        person_decided(w);
        for (unsigned k = 0; k < KNOBS; k++) w->k[k].foreign = w->k[k].over = 0;
        break;
    case RECORD_RELEASE:
        for (unsigned k = 0; k < KNOBS; k++) {
            struct truth *t = &w->k[k];
            if ((t->phase == PH_INTENT && t->sent) || t->phase == PH_APPLIED) t->released = 1;
        }
        break;
    default: break;
    }
}

static void check_others(const struct world *w, unsigned k)
{
    for (unsigned j = 0; j < KNOBS; j++) {
        if (j != k && !phase_ended(w->k[j].phase)) violated("I1 a forward write while another action is not ended");
        if (w->k[j].window) violated("I1 a forward write while an earlier write may still land");
        if (w->live.knobs[j].slot.unacknowledged) violated("I1 a forward write while a person has not acknowledged the last one");
    }
}

static void check_stops(const struct world *w, unsigned k)
{
    const struct control *c = &w->live;
    if (w->halted || c->halted) violated("I6 a forward write while halted");
    if (w->outage) violated("I6 a forward write in an outage");
    if (w->release) violated("I6 a forward write in a release watch");
    if (w->silent || w->store_bad) violated("I6 a forward write while frozen");
    if (w->k[k].cancelled & CLASS_CANCELLED || instant_before(T0, c->suspended[k ? CLASS_CACHE : CLASS_BATCH])) {
        violated("I6 a forward write of a cancelled class");
    }
    if (w->k[k].forbidden) violated("I4 a forward write of an unlisted knob");
    if (instant_before(T0, c->knobs[k].cool_until)) violated("I6 a forward write while cooling");
    if (instant_before(T0, c->knobs[k].protect_until)) violated("I6 a forward write while protected");
    if (instant_before(T0, c->knobs[k].interval_until)) violated("I6 a forward write inside the interval");
    if (instant_before(T0, c->gap_until)) violated("I6 a forward write inside the gap");
    if (w->follower) violated("I14 a write without the lease");
}

static void check_forward(const struct world *w, unsigned k)
{
    const struct truth *t = &w->k[k];
    check_others(w, k);
    check_stops(w, k);
    if (t->foreign && t->automatic) violated("I12 a forward write on a person's value");
    if (t->automatic && k == 1 && options.tier_b == 2) violated("I4 tier 2 without an approval");
    if (t->automatic && w->autos >= 3) violated("I5 a fourth automatic change in a row");
    if (w->live.n_auto < w->autos) violated("I5 n_auto of the log is below the true number of automatic changes");
    if (t->phase != PH_INTENT) violated("I2 a write without a durable intent");
    if (t->sent) violated("I9 a write is sent twice");
    if (options.cas == CAS_NONE && world_value(w, k) != w->live.knobs[k].slot.old) violated("I12 the old value has moved");
}

static void check_undo(const struct world *w, unsigned k)
{
    const struct truth *t = &w->k[k];
    uint8_t origin = w->live.knobs[k].slot.origin;
    if (t->foreign) violated("I12 an undo over a person's value");
    if (t->over) violated("I12 an undo although our late write had fallen on a person's value");
    if (w->halted && origin != ORIGIN_ROLLBACK && origin != ORIGIN_CANCEL) violated("I6 an automatic undo while halted");
    if (w->store_bad) violated("an undo while the store fails");
    if (w->follower) violated("I14 a write without the lease");
    if (t->phase != PH_UNDO && t->phase != PH_UNDO_RETRY) violated("I2 an undo without a record");
}

void check_send(struct world *w, const struct control_output *o)
{
    const struct control_slot *slot = &w->log.knobs[o->knob].slot;
    if (o->value != (o->is_undo ? slot->old : slot->new_)) violated("I3 the value sent is not the recorded one");
    if (w->unacked) violated("I2 a write while a record is not acknowledged");
    if (o->epoch != w->live.epoch) violated("I14 a write under another halt epoch");
    if (o->is_undo) check_undo(w, o->knob);
    else check_forward(w, o->knob);
}

static bool until_same(struct instant a, struct instant b)
{
    bool ra = instant_before(T0, a), rb = instant_before(T0, b);
    return ra == rb;
}

static bool slots_same(const struct control_slot *a, const struct control_slot *b)
{
    if (a->late_open && !b->late_open) return false;   /* the other way round is safe: a restart watches again */
    return a->action == b->action && a->old == b->old && a->new_ == b->new_ && a->cause == b->cause &&
           a->direction == b->direction && a->story == b->story && a->origin == b->origin && a->automatic == b->automatic &&
           a->counted == b->counted && a->confirmed == b->confirmed && a->extended == b->extended && a->released == b->released &&
           a->unacknowledged == b->unacknowledged && a->cancelled == b->cancelled && a->fail == b->fail &&
           a->kept_once == b->kept_once && a->undo_sends == b->undo_sends && a->version == b->version &&
           instant_is_set(a->applied_at) == instant_is_set(b->applied_at) && a->settle.us == b->settle.us &&
           a->window.us == b->window.us;
}

static bool knobs_same(const struct control_knob *a, const struct control_knob *b)
{
    bool believed = !b->seen || a->believed == b->believed;
    return believed && a->fails == b->fails && until_same(a->interval_until, b->interval_until) &&
           until_same(a->protect_until, b->protect_until) && until_same(a->cool_until, b->cool_until) &&
           until_same(a->frozen_until, b->frozen_until) && until_same(a->skip_until, b->skip_until) &&
           instant_is_set(a->failed_at) == instant_is_set(b->failed_at) && slots_same(&a->slot, &b->slot);
}

static bool excluded_same(const struct control *a, const struct control *b)
{
    if (a->excluded.n != b->excluded.n) return false;
    for (unsigned i = 0; i < a->excluded.n; i++) {
        if (!excluded_has(&b->excluded, a->excluded.items[i].cause, a->excluded.items[i].knob, a->excluded.items[i].direction)) {
            return false;
        }
    }
    return true;
}

static const char *folds_to(const struct control *a, const struct control *b)
{
    if (a->halted != b->halted || a->epoch != b->epoch) return "I9 the halt differs from the fold of the log";
    if (a->n_auto != b->n_auto || a->actions != b->actions) return "I9 the counters differ from the fold of the log";
    if (a->incident_open != b->incident_open || a->handed != b->handed || a->release_incident != b->release_incident ||
        (a->incident_open && (a->symptom != b->symptom || instant_is_set(a->onset) != instant_is_set(b->onset))) ||
        a->incidents != b->incidents || memcmp(a->would_plans, b->would_plans, sizeof a->would_plans) != 0) {
        return "I9 the incident differs from the fold of the log";
    }
    if (!until_same(a->gap_until, b->gap_until) || !until_same(a->release_until, b->release_until)) {
        return "I9 gap or release watch differ from the fold of the log";
    }
    if (!excluded_same(a, b)) return "I9 what is excluded differs from the fold of the log";
    if (a->request.present != b->request.present || (a->request.present && a->request.plan != b->request.plan)) {
        return "I9 the request differs from the fold of the log";
    }
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        if (!until_same(a->suspended[i], b->suspended[i])) return "I9 a suspension differs from the fold of the log";
    }
    for (unsigned i = 0; i < 2; i++) {
        bool alike = instant_is_set(a->harmful[i]) == instant_is_set(b->harmful[i]);
        if (!alike) return "I9 the breaker differs from the fold of the log";
    }
    for (unsigned k = 0; k < KNOBS; k++) {
        if (!knobs_same(&a->knobs[k], &b->knobs[k])) return "I9 the facts of a knob differ from the fold of the log";
    }
    return NULL;
}

static bool stays_halted(const struct world *w)
{
    uint8_t state = w->live.state, active = w->live.active;
    if (state == STATE_HALTED || state == STATE_RECOVERING) return true;
    if (active >= KNOBS) return false;
    uint8_t origin = w->live.knobs[active].slot.origin;
    if (state == STATE_WRITING || state == STATE_READBACK) return w->live.knobs[active].slot.cancelled;
    bool undo = state == STATE_UNDO_INTENT || state == STATE_UNDO_WRITING || state == STATE_UNDO_READBACK;
    return undo && (origin == ORIGIN_ROLLBACK || origin == ORIGIN_CANCEL);
}

void check_state(const struct world *w)
{
    bool sure = !w->live.store_failed && !w->store_bad && !w->follower;
    if (w->halted && !w->live.halted && sure) violated("I6 a halt is lost without a resume");
    if (w->halted && sure && !stays_halted(w)) violated("a halted service left H without resume");
    if (sure) {
        const char *why = folds_to(&w->live, &w->log);
        if (why) violated(why);
    }
    for (unsigned k = 0; k < KNOBS; k++) {
        if (w->live.state == STATE_OBSERVING && w->live.active == k && w->k[k].phase != PH_APPLIED) {
            violated("I1 a value is observed that no APPLIED stands for");
        }
    }
}

bool check_rest(const struct world *w, const char **ret_why)
{
    uint8_t s = w->live.state;
    if (s != STATE_WATCHING && s != STATE_PERSON && s != STATE_HALTED && s != STATE_OPEN) {
        *ret_why = "liveness: the calm service rests in no state to rest in";
        return false;
    }
    if (s == STATE_HALTED) return true;
    for (unsigned k = 0; k < KNOBS; k++) {
        if (!phase_ended(w->k[k].phase)) {
            *ret_why = "liveness: a story never ends";
            return false;
        }
        if (world_value(w, k) != w->live.knobs[k].believed && !w->live.knobs[k].slot.unacknowledged) {
            *ret_why = "I15 in calm the real value differs from the believed one, and nobody is told";
            return false;
        }
    }
    return true;
}
