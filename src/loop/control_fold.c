/* The durable facts as a fold over the audit log. Live control calls the same function for what it emits,
 * so that a crash at any instant loses none of them. */
#include <string.h>

#include "base/check.h"
#include "loop/control_step.h"

struct fold {
    const struct control_policy *p;
    struct control *c;
    const struct control_record *r;
    struct control_knob *k;          /* NULL without a knob */
};

static void a_person_decided(struct control *c)
{
    c->n_auto = 0;
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) c->knobs[k].slot.counted = false;
}

/* loop.md section 2: the breaker is acknowledged by normal-now, retry and resume; an approval or a rejection is none. */
static void acknowledge_harm(struct control *c)
{
    c->breaker = false;
    c->harmful[0] = c->harmful[1] = INSTANT_NONE;
}

static void believe(struct fold *f, uint16_t value)
{
    if (f->k->believed != value || !f->k->seen) f->k->believed_since = f->r->at;
    f->k->believed = value;
    f->k->believed_version = f->r->version;
    f->k->seen = true;
}

/* Knobs kept in one document share its version: our own write to one is no news about the others. */
static void forget_shared_versions(struct fold *f)
{
    for (unsigned k = 0; k < f->p->knob_count; k++) {
        bool shared = f->p->knobs[k].versions_with == f->p->knobs[f->r->knob].versions_with;
        if (shared && k != f->r->knob) f->c->knobs[k].believed_version = 0;
    }
}

static void start_gap(struct fold *f)
{
    const struct control_slot *a = &f->k->slot;
    struct instant until = instant_add(instant_add(f->r->at, a->settle), a->window);
    f->c->gap_until = instant_max(f->c->gap_until, until);
}

static void count_harm(struct control *c, const struct control_record *r)
{
    if (r->verdict != VERDICT_HARMFUL || !r->fail) return;
    c->harmful[1] = c->harmful[0];
    c->harmful[0] = r->at;
    bool both = instant_is_set(c->harmful[1]);
    if (both && span_less(instant_since(c->harmful[0], c->harmful[1]), SPAN_HOUR(24))) c->breaker = true;
}

static void close_incident(struct control *c)
{
    c->incident_open = false;
    c->symptom = NO_INDEX;
    c->handed = false;
    c->release_incident = false;
    c->excluded.n = 0;
    c->request.present = false;
    memset(c->would_plans, 0, sizeof c->would_plans);
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) c->knobs[k].skip_until = INSTANT_NONE;
}

static void acknowledge_all(struct fold *f)
{
    for (unsigned k = 0; k < f->p->knob_count; k++) {
        struct control_knob *knob = &f->c->knobs[k];
        knob->slot.unacknowledged = false;
        knob->frozen_until = INSTANT_NONE;
    }
}

/* Gate in-flight lets no action begin before the late watches of earlier ones are over: an INTENT says that they were. */
static void fold_watches_over(struct fold *f)
{
    for (unsigned k = 0; k < f->p->knob_count; k++) f->c->knobs[k].slot.late_open = false;
}

static void fold_intent(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    fold_watches_over(f);
    const struct control_record *r = f->r;
    bool kept_once = a->kept_once && a->new_ == r->old;
    memset(a, 0, sizeof *a);
    *a = (struct control_slot){
        .action = r->action, .old = r->old, .new_ = r->new_, .version = r->version, .cause = r->cause,
        .direction = r->direction, .story = STORY_INTENT, .automatic = r->automatic, .counted = r->automatic,
        .late_open = true, .applied_at = INSTANT_NONE, .intent_at = r->at, .settle = r->settle, .window = r->window,
        .kept_once = kept_once,
    };
    a->late_after = instant_add(instant_add(r->at, f->p->knobs[r->knob].readback), f->p->late_watch);
    f->c->actions = r->action;
    f->c->request.present = false;
    if (r->automatic && f->c->n_auto < UINT8_MAX) f->c->n_auto++;
    believe(f, r->old);
}

static void fold_aborted(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    if (a->counted && f->c->n_auto > 0) f->c->n_auto--;
    a->counted = false;
    a->late_open = false;
    a->story = STORY_ABORTED;
}

static void fold_taken_back(struct control_slot *a)
{
    a->origin = ORIGIN_CANCEL;
    a->story = STORY_CANCEL;
}

/* A CANCEL that came before the value was in force takes it back now (row 24). */
static void fold_applied(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    const struct control_record *r = f->r;
    a->story = r->late || r->part ? STORY_APPLIED_LATE : STORY_APPLIED;
    a->applied_at = r->at;
    a->sent = true;
    f->k->interval_until = instant_add(r->at, f->p->knobs[r->knob].interval);
    f->c->request.present = false;
    believe(f, a->new_);
    forget_shared_versions(f);
    if (r->late || r->part) {
        a->origin = r->by_others ? ORIGIN_CANCEL : ORIGIN_LATE;
    } else {
        a->confirmed = true;
        a->late_open = false;
        if (a->cancelled) fold_taken_back(a);
    }
    start_gap(f);
}

static void fold_failed(struct fold *f)
{
    struct control_knob *k = f->k;
    bool second = instant_is_set(k->failed_at) &&
                  span_less(instant_since(f->r->at, k->failed_at), f->p->freeze_knob);
    k->slot.story = STORY_FAILED;
    k->failed_at = f->r->at;
    if (second) k->frozen_until = instant_add(f->r->at, f->p->freeze_knob);
    if (k->slot.cancelled) f->c->handed = true;
    if (f->r->watch_over) k->slot.late_open = false;
    start_gap(f);
}

static void fold_verdict(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    const struct control_record *r = f->r;
    count_harm(f->c, r);
    if (r->held) {
        a->story = STORY_HELD;
        a->unacknowledged = true;
        f->c->handed = true;
        believe(f, r->read);
    } else if (r->undo) {
        bool bad = r->verdict == VERDICT_INEFFECTIVE || r->verdict == VERDICT_HARMFUL;
        a->story = bad ? STORY_VERDICT_BAD : STORY_VERDICT_UNDO;
        a->origin = bad ? ORIGIN_BAD : ORIGIN_INCONCLUSIVE;
        a->fail = r->fail;
    } else {
        a->story = r->verdict == VERDICT_PARTIAL ? STORY_PARTIAL : STORY_KEPT;
        a->kept_once = true;
        f->k->fails = 0;
        f->k->protect_until = instant_add(r->at, f->p->knobs[r->knob].protect);
    }
}

static void fold_cancel(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    unsigned class = f->p->knobs[f->r->knob].class;
    CHECK(class < CLASS_COUNT);
    f->c->suspended[class] = instant_max(f->c->suspended[class], instant_add(f->r->at, f->p->suspend));
    f->c->request.present = false;
    a->cancelled = true;
    if (a->story == STORY_INTENT || a->story == STORY_ABORTED) {
        a->origin = ORIGIN_CANCEL;
        if (a->story == STORY_ABORTED) f->c->handed = true;
    } else if (a->story == STORY_APPLIED || story_ended((enum story)a->story)) {
        fold_taken_back(a);
        a->unacknowledged = false;
    }                                  /* else it is being taken back already, for its own reason */
}

static void fold_rollback(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    bool undoing = a->story == STORY_UNDO || a->story == STORY_UNDO_RETRY;
    a->origin = ORIGIN_ROLLBACK;
    a->unacknowledged = false;
    if (undoing) return;
    a->story = STORY_ROLLBACK;
    f->c->request.present = false;
    f->k->frozen_until = instant_add(f->r->at, f->p->freeze_knob);
    if (f->r->read == a->new_) believe(f, a->new_);   /* halt --undo comes without a read */
}

static void fold_undo(struct fold *f)
{
    struct control_slot *a = &f->k->slot;
    a->story = f->r->kind == RECORD_UNDO ? STORY_UNDO : STORY_UNDO_RETRY;
    if (a->undo_sends < UINT8_MAX) a->undo_sends++;
    if (f->r->version && f->r->read == f->k->believed) f->k->believed_version = f->r->version;   /* after MIX it was not known */
    a->late_open = true;
    a->late_after = instant_add(instant_add(f->r->at, f->p->knobs[f->r->knob].readback), f->p->late_watch);
    start_gap(f);
}

static void fold_undone(struct fold *f)
{
    struct control *c = f->c;
    struct control_slot *a = &f->k->slot;
    const struct control_record *r = f->r;
    bool one_send = a->story == STORY_UNDO;
    a->story = STORY_UNDONE;
    if (a->confirmed && a->undo_sends <= 1 && (one_send || a->undo_sends == 0)) a->late_open = false;
    believe(f, a->old);
    forget_shared_versions(f);
    if (a->origin == ORIGIN_BAD && a->fail) {
        if (f->k->fails < UINT8_MAX) f->k->fails++;
        if (f->k->fails >= 2) f->k->cool_until = instant_add(r->at, f->p->protect_cool);
    }
    if (c->incident_open) (void)excluded_add(&c->excluded, a->cause, r->knob, (enum direction)a->direction);
    if (a->origin == ORIGIN_CANCEL || a->origin == ORIGIN_ROLLBACK) c->handed = c->incident_open;
    if (r->foreign_version || (r->by_others && a->undo_sends <= 1)) {
        f->k->frozen_until = instant_max(f->k->frozen_until, instant_add(r->at, f->p->freeze_knob));
    }
    a->origin = ORIGIN_NONE;
    a->fail = false;
    start_gap(f);
}

static void fold_person_must_look(struct fold *f, enum story story)
{
    struct control_slot *a = &f->k->slot;
    a->story = (uint8_t)story;
    a->unacknowledged = true;
    f->c->handed = true;
    if (story != STORY_UNDO_FAILED) believe(f, f->r->read);
    if (story == STORY_YIELDED) f->k->frozen_until = INSTANT_NEVER;
    f->c->request.present = false;
    start_gap(f);
}

static void fold_external(struct fold *f)
{
    believe(f, f->r->read);
    f->k->frozen_until = instant_max(f->k->frozen_until, instant_add(f->r->at, f->p->freeze_knob));
    f->c->request.present = false;
}

static void fold_accepted(struct fold *f)
{
    struct control *c = f->c;
    a_person_decided(c);
    acknowledge_harm(c);
    if (f->k) {                       /* one record a knob tells what was read */
        believe(f, f->r->read);
        f->k->slot.unacknowledged = false;
        f->k->frozen_until = INSTANT_NONE;
        return;
    }
    acknowledge_all(f);
    if (f->r->kind == RECORD_ACCEPTED) {
        close_incident(c);
        return;
    }
    c->handed = false;
    c->incident_open = true;
    if (f->r->clear) c->excluded.n = 0;
}

static void fold_release(struct fold *f)
{
    f->c->release_until = instant_add(f->r->at, f->p->release_watch);
    for (unsigned k = 0; k < f->p->knob_count; k++) {
        struct control_slot *a = &f->c->knobs[k].slot;
        if (a->story == STORY_INTENT || a->story == STORY_APPLIED) a->released = true;
    }
}

static void fold_incident(struct fold *f)
{
    struct control *c = f->c;
    if (c->incident_open && c->incidents == f->r->incident) {   /* another symptom drives it now */
        c->symptom = f->r->symptom;
        if (c->onset.us != f->r->onset.us) c->opened = f->r->at;
        c->onset = f->r->onset;
        c->handed = false;
        c->release_incident = c->release_incident || instant_before(f->r->onset, c->release_until);
        return;
    }
    c->incident_open = true;
    c->handed = false;
    c->incidents = f->r->incident;
    c->symptom = f->r->symptom;
    c->onset = f->r->onset;
    c->opened = f->r->at;
    c->excluded.n = 0;
    memset(c->would_plans, 0, sizeof c->would_plans);
    c->release_incident = instant_before(f->r->onset, c->release_until);
    if (f->r->held) c->handed = true;
}

static void fold_would(struct fold *f)
{
    struct control *c = f->c;
    memmove(c->would_plans, c->would_plans + 1, sizeof c->would_plans - sizeof c->would_plans[0]);
    c->would_plans[CONTROL_WOULD - 1] = f->r->plan;
    c->would_gap_until = instant_add(instant_add(f->r->at, f->r->settle), f->r->window);
    if (f->k) f->k->would_until = instant_add(f->r->at, f->p->knobs[f->r->knob].interval);
}

static void fold_request(struct fold *f)
{
    const struct control_record *r = f->r;
    f->c->request = (struct control_request){true, r->knob, r->direction, r->old, r->new_, r->cause, r->plan, r->expiry,
                                             r->settle, r->window};
}

static void fold_request_end(struct fold *f)
{
    struct control_request *q = &f->c->request;
    if (f->r->kind == RECORD_REJECT) {
        a_person_decided(f->c);
        if (q->present) (void)excluded_add(&f->c->excluded, q->cause, q->knob, (enum direction)q->direction);
    }
    if (f->r->kind == RECORD_APPROVAL) a_person_decided(f->c);
    if (f->r->kind == RECORD_EXPIRED && q->present) f->c->knobs[q->knob].skip_until = instant_add(f->r->at, SPAN_HOUR(1));
    q->present = false;
}

static void fold_halt(struct fold *f)
{
    struct control *c = f->c;
    c->halted = f->r->kind == RECORD_HALT;
    c->request.present = false;
    if (c->halted) c->epoch = f->r->epoch + 1;
    if (c->halted) return;
    a_person_decided(c);
    acknowledge_harm(c);
}

static void fold_action(struct fold *f)
{
    switch (f->r->kind) {
    case RECORD_INTENT: fold_intent(f); break;
    case RECORD_ABORTED: fold_aborted(f); break;
    case RECORD_APPLIED: fold_applied(f); break;
    case RECORD_FAILED: fold_failed(f); break;
    case RECORD_PART:
        f->k->slot.story = STORY_PART;
        f->k->slot.origin = ORIGIN_LATE;
        break;
    case RECORD_EXTENDED: f->k->slot.extended = true; break;
    case RECORD_VERDICT: fold_verdict(f); break;
    case RECORD_CANCEL: fold_cancel(f); break;
    case RECORD_ROLLBACK: fold_rollback(f); break;
    case RECORD_UNDO:
    case RECORD_UNDO_RETRY: fold_undo(f); break;
    case RECORD_UNDONE: fold_undone(f); break;
    case RECORD_UNDO_FAILED: fold_person_must_look(f, STORY_UNDO_FAILED); break;
    case RECORD_YIELDED: fold_person_must_look(f, STORY_YIELDED); break;
    case RECORD_HELD: fold_person_must_look(f, STORY_HELD); break;
    case RECORD_EXTERNAL: fold_external(f); break;
    default: break;
    }
}

void control_fold(const struct control_policy *p, struct control *c, const struct control_record *r)
{
    struct fold f = {p, c, r, r->knob < p->knob_count ? &c->knobs[r->knob] : NULL};
    switch (r->kind) {
    case RECORD_INCIDENT: fold_incident(&f); break;
    case RECORD_CLOSED: close_incident(c); break;
    case RECORD_HANDOVER: c->handed = true; break;
    case RECORD_WOULD: fold_would(&f); break;
    case RECORD_REQUEST: fold_request(&f); break;
    case RECORD_APPROVAL:
    case RECORD_REJECT:
    case RECORD_VOID:
    case RECORD_EXPIRED: fold_request_end(&f); break;
    case RECORD_RELEASE: fold_release(&f); break;
    case RECORD_HALT:
    case RECORD_RESUME: fold_halt(&f); break;
    case RECORD_ACCEPTED:
    case RECORD_RETRY: fold_accepted(&f); break;
    default:
        if (f.k) fold_action(&f);
        break;
    }
}
