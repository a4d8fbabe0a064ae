/* One event through the real control step; then the fate of what it asks for: the append and the write. */
#include "explore/world.h"

#include <string.h>

#include "base/check.h"

struct control_event event_at(enum control_event_kind kind, bool later)
{
    struct control_event e = {.kind = kind, .now = later ? instant_add(T0, SHORT_JUMP) : T0, .knob = NO_KNOB,
                              .symptom_index = 0};
    e.policy_allows_new = true;
    e.old_known_good = true;
    e.warm = true;
    return e;
}

void event_reads(struct control_event *e, const struct world *w, unsigned mask)
{
    for (unsigned k = 0; k < KNOBS; k++) {
        if (mask >> k & 1) world_read(w, k, &e->reads[k]);
    }
}

/* SERVICE gates, as far as this world has them. */
bool gates_open(const struct world *w)
{
    const struct control *c = &w->live;
    return !c->halted && c->frozen == 0 && !c->follower && !w->outage && instant_reached(T0, c->release_until) &&
           instant_reached(T0, c->gap_until) && !control_late_watch(c) && !control_unacknowledged(c);
}

/* CANDIDATE gates. */
bool candidate_ok(const struct world *w, unsigned k)
{
    const struct control_knob *c = &w->live.knobs[k];
    uint8_t v = world_value(w, k);
    bool timed = instant_reached(T0, c->cool_until) && instant_reached(T0, c->protect_until) &&
                 instant_reached(T0, c->interval_until) && instant_reached(T0, c->skip_until) &&
                 instant_reached(T0, c->frozen_until) && instant_reached(T0, w->live.suspended[k ? CLASS_CACHE : CLASS_BATCH]);
    return timed && !w->k[k].forbidden && !w->unreadable && v != 0 && v < VALUES && c->believed == v &&
           !excluded_has(&w->live.excluded, (uint16_t)k, (uint16_t)k, DIR_UP);
}

void event_decide(struct control_event *e, const struct world *w, bool advice)
{
    struct control_decision *d = &e->decision;
    *d = (struct control_decision){.kind = CD_SHUT, .knob = NO_KNOB, .cause = NO_INDEX};
    if (w->unreadable || !gates_open(w)) return;
    unsigned k = 0;
    while (k < KNOBS && !candidate_ok(w, k)) k++;
    if (advice || k == KNOBS) {
        d->kind = CD_HANDOVER;
        return;
    }
    bool ask = w->live.n_auto >= 3 || control_breaker(&w->live) || (k == 1 && options.tier_b == 2);
    uint8_t v = world_value(w, k);
    *d = (struct control_decision){.kind = ask ? CD_ASK : CD_TUNE, .knob = (uint8_t)k, .direction = DIR_UP, .from = v,
                                   .to = (uint16_t)(v + 1), .cause = (uint16_t)k, .settle = SPAN_S(10), .window = SPAN_S(10)};
    d->plan = (k + 1) * 100u + v;
}

/* A record as the log gives it back: only what its codec keeps (story.c, unstory.c). */
static struct control_record from_log(const struct control_record *r)
{
    bool plan = r->kind == RECORD_WOULD || r->kind == RECORD_REQUEST || r->kind == RECORD_APPROVAL || r->kind == RECORD_REJECT ||
                r->kind == RECORD_EXPIRED || r->kind == RECORD_INTENT;
    bool none = r->kind == RECORD_EXTERNAL || r->kind == RECORD_ACCEPTED || r->kind == RECORD_RETRY;
    bool action = r->knob < KNOBS && !none && (!plan || r->kind == RECORD_INTENT);
    struct control_record c = {.kind = r->kind, .at = r->at, .knob = r->knob < KNOBS ? r->knob : NO_KNOB,
                               .expiry = INSTANT_NEVER, .epoch = r->epoch, .automatic = r->automatic, .incident = r->incident,
                               .symptom = r->incident ? r->symptom : NO_INDEX, .onset = INSTANT_NONE, .cause = NO_INDEX};
    if (r->kind == RECORD_INCIDENT) {
        c.onset = r->onset;
        c.held = r->held;
    }
    if (action) c.action = r->action;
    if (r->knob < KNOBS) {
        c.read = r->read;
        c.version = r->version;
    }
    if (r->knob < KNOBS && (action || plan)) {
        c.direction = r->direction;
        c.old = r->old;
        c.new_ = r->new_;
        c.cause = r->cause;
        c.settle = r->settle;
        c.window = r->window;
    }
    if (plan) {
        c.plan = r->plan;
        c.expiry = r->expiry;
    }
    if (r->kind == RECORD_VERDICT) {
        c.verdict = r->verdict;
        c.fail = r->fail;
        c.held = r->held;
        c.undo = !r->held && r->undo;
    }
    if (r->kind == RECORD_APPLIED) {
        c.late = r->late;
        c.part = !r->late && r->part;
        c.by_others = c.part && r->by_others;
    }
    if (r->kind == RECORD_UNDONE) {
        c.by_others = r->by_others;
        c.foreign_version = !r->by_others && r->foreign_version;
    }
    if (r->kind == RECORD_RETRY) c.clear = r->clear;
    if (r->kind == RECORD_FAILED) c.watch_over = r->watch_over;
    return c;
}

static void check_fold(const struct control *log, const struct control_record *r, uint32_t epoch_before)
{
    const struct control_knob *k = r->knob < KNOBS ? &log->knobs[r->knob] : NULL;
    if (r->kind == RECORD_UNDONE && k && k->believed != k->slot.old) violated("I15 UNDONE, and the old value is not believed");
    if (r->kind == RECORD_APPLIED && k && k->believed != k->slot.new_) violated("I15 APPLIED, and the new value is not believed");
    if (r->kind == RECORD_HALT && log->epoch <= epoch_before) violated("I14 a halt without a new epoch");
}

static void make_durable(struct world *w, const struct control_policy *p, const struct control_output *o)
{
    for (unsigned i = 0; i < o->record_count; i++) {
        struct control_record r = from_log(&o->records[i]);
        check_record(w, &r);
        uint32_t epoch = w->log.epoch;
        control_fold(p, &w->log, &r);
        check_fold(&w->log, &r, epoch);
    }
}

static void append(struct world *w, const struct control_policy *p, const struct control_output *o, enum fate fate,
                   struct instant now)
{
    struct control_event e = {.kind = CE_ACK, .now = now, .knob = NO_KNOB, .token = w->live.token};
    struct control_output ignored;
    if (fate == FATE_APPEND_FAILS) {
        e.kind = CE_APPEND_FAILED;
        w->store_bad = 1;
        (void)control_step(p, &w->live, &e, &ignored);
        return;
    }
    make_durable(w, p, o);
    if (fate == FATE_ACK_LATE || w->unacked) {
        w->unacked = 1;                /* acknowledgements come in order */
        return;
    }
    (void)control_step(p, &w->live, &e, &ignored);
}

static void write(struct world *w, const struct control_output *o, enum fate fate)
{
    struct truth *t = &w->k[o->knob];
    struct message m = {1, o->knob, (uint8_t)o->value, (uint8_t)o->expect, 3, !o->is_undo, 0, (uint8_t)o->expect_version};
    check_send(w, o);
    t->window = 1;
    if (!o->is_undo) t->sent = 1;
    w->answer = ANSWER_OK;
    w->answer_version = 0;
    if (fate == FATE_REFUSED) {
        w->answer = ANSWER_REFUSED;
        world_end_window(w, o->knob);
        return;
    }
    if (fate == FATE_LOST) return;
    if (fate == FATE_DELAYED) {
        (void)world_post(w, &m);
        return;
    }
    world_land(w, &m, fate == FATE_GOOD ? 3 : 1);
    if (t->ours) w->answer_version = t->version;
    if (fate == FATE_HALF_DELAYED) {
        m.mask = 2;
        m.version = t->version;        /* the same write, on its way to the second instance */
        (void)world_post(w, &m);
    }
}

struct step_result act(struct world *w, const struct control_event *e, enum fate fate)
{
    struct control_policy p = world_policy(w);
    struct control_output o;
    bool seen[KNOBS];
    for (unsigned k = 0; k < KNOBS; k++) seen[k] = w->live.knobs[k].seen;
    struct step_result r = {.row = control_step(&p, &w->live, e, &o)};
    r.has_records = o.record_count > 0;
    r.has_send = o.send;
    r.refused = o.reply == REPLY_REFUSED;
    bool command = e->kind >= CE_APPROVE && e->kind <= CE_RETRY;
    if (command && o.reply == REPLY_NONE) violated("a person's command has no answer");
    if (o.unexpected) violated("an event that the table does not expect");
    if (o.send && o.record_count) violated("I2 a write in the same step as its record");
    for (unsigned k = 0; k < KNOBS; k++) {      /* with no word in the log the first read is what is believed */
        if (!seen[k] && w->live.knobs[k].seen) w->k[k].foreign = 0;
    }
    if (o.record_count) append(w, &p, &o, fate, e->now);
    if (o.send) write(w, &o, fate);
    world_normalise(w, e->now);
    return r;
}
