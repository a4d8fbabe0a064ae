/* What the environment does: writes that arrive late, windows that end, values written by hand, restarts, outages, a failing
 * store, crashes, a lost lease. */
#include "explore/moves.h"

#include <string.h>

static void both(struct world *w, struct control *ret[2])
{
    ret[0] = &w->live;
    ret[1] = &w->log;
}

/* A late window ends when time has passed and, while somebody is looking, a good read has been as believed. */
bool window_may_end(const struct world *w, unsigned k)
{
    const struct control *c = &w->live;
    bool busy = world_in_flight(c) && c->active == k;
    if (!w->k[k].window || busy || c->waiting_ack) return false;
    if (c->store_failed || w->follower || c->state == STATE_RECOVERING) return true;
    return !w->unreadable && world_value(w, k) == c->knobs[k].believed;
}

void window_ends(struct world *w, unsigned k)
{
    struct control *c[2];
    both(w, c);
    world_end_window(w, k);
    for (unsigned i = 0; i < 2; i++) c[i]->knobs[k].slot.late_after = INSTANT_NONE;
    bool looking = !w->live.store_failed && !w->follower && w->live.state != STATE_RECOVERING;
    if (looking) w->live.knobs[k].slot.late_open = false;
}

void gap_ends(struct world *w)
{
    w->live.gap_until = w->log.gap_until = INSTANT_NONE;
}

void store_good(struct world *w)
{
    world_refold(w);
}

static void network(struct moves *m)
{
    for (unsigned j = 0; j < MESSAGES; j++) {
        if (!m->w->msg[j].present) continue;
        struct world next = *m->w;
        struct message msg = next.msg[j];
        next.msg[j].present = 0;
        world_land(&next, &msg, msg.mask);
        moves_emit(m, &next, 0, !msg.expired ? msg.forward ? "a forward write arrives late" : "an undo write arrives late"
                                             : "a write arrives after its late window");
        next = *m->w;
        next.msg[j].present = 0;
        moves_emit(m, &next, 0, "a write is lost in the network");
    }
}

static void windows(struct moves *m)
{
    static const char *const words[KNOBS] = {"the late window of A ends", "the late window of B ends"};
    for (unsigned k = 0; k < KNOBS; k++) {
        if (!window_may_end(m->w, k)) continue;
        struct world next = *m->w;
        window_ends(&next, k);
        moves_emit(m, &next, 0, words[k]);
    }
    bool gap = instant_before(T0, m->w->live.gap_until) || instant_before(T0, m->w->log.gap_until);
    if (gap && !world_in_flight(&m->w->live)) {
        struct world next = *m->w;
        gap_ends(&next);
        moves_emit(m, &next, 0, "the gap ends");
    }
}

static void ends(struct moves *m)
{
    const struct world *w = m->w;
    struct world next = *w;
    if (w->unreadable) {
        next.unreadable = 0;
        moves_emit(m, &next, 0, "the target can be read again");
    }
    next = *w;
    if (w->outage) {
        next.outage = 0;
        moves_emit(m, &next, 0, "the outage is over");
    }
    next = *w;
    if (w->release && !w->live.store_failed) {
        next.release = 0;
        next.live.release_until = next.log.release_until = INSTANT_NONE;
        moves_emit(m, &next, 0, "the release watch is over");
    }
    if (w->silent) {
        struct control_event e = event_at(CE_THAW, false);
        e.bits = FREEZE_MODULE;
        next = *w;
        next.silent = 0;
        moves_step(m, &next, &e, "the module beats again");
    }
}

static void store_and_lease(struct moves *m)
{
    const struct world *w = m->w;
    struct world next = *w;
    if (w->live.store_failed && !w->follower) {
        store_good(&next);
        moves_emit(m, &next, 51, "the store is good again, the log is folded");
    } else if (w->unacked && !w->follower) {
        struct control_event e = event_at(CE_ACK, false);
        e.token = w->live.token;
        next.unacked = 0;
        moves_step(m, &next, &e, "the ack arrives");
    }
    if (w->follower) {
        next = *w;
        next.store_bad = 0;
        world_crash(&next);
        moves_emit(m, &next, 51, "the lease is won again, the log is folded");
    }
}

void free_moves(struct moves *m)
{
    network(m);
    windows(m);
    ends(m);
    store_and_lease(m);
}

/* Writing what is there already, or what our own write in flight carries, cannot be told from it without versions. */
static bool looks_foreign(const struct world *w, unsigned k, uint8_t value)
{
    const struct control_slot *a = &w->log.knobs[k].slot;
    const struct truth *t = &w->k[k];
    bool live = t->window || !phase_ended(t->phase);
    uint16_t believed = w->live.store_failed ? w->log.knobs[k].believed : w->live.knobs[k].believed;
    if (options.cas != CAS_VERSION && (value == believed || (live && value == a->old))) return false;
    bool ours = t->phase != PH_NOTHING && value == a->new_ && live;
    bool adopted = t->phase != PH_INTENT && t->phase != PH_FAILED && t->phase != PH_ABORTED && t->phase != PH_UNDONE;
    return !ours || (options.cas == CAS_VERSION && adopted && w->live.knobs[k].believed_version != 0);
}

static void by_hand(struct moves *m)
{
    static const char *const words[KNOBS][VALUES + 1] = {
        {"", "a person writes A=1", "a person writes A=2", "a person writes A=3"},
        {"", "a person writes B=1", "a person writes B=2", "a person writes B=3"},
    };
    for (unsigned k = 0; k < KNOBS; k++) {
        for (uint8_t v = 1; v <= VALUES; v++) {
            if (world_value(m->w, k) == v && options.cas != CAS_VERSION) continue;
            struct world next = *m->w;
            struct truth *t = &next.k[k];
            next.budget--;
            t->foreign = looks_foreign(m->w, k, v);
            t->real[0] = t->real[1] = v;
            t->over = t->ours = 0;
            t->version = options.cas == CAS_VERSION ? world_fresh_version(&next, k) : 0;
            moves_emit(m, &next, 0, words[k][v]);
        }
    }
}

static void instances(struct moves *m)
{
    for (unsigned all = 0; all < 2; all++) {
        struct world next = *m->w;
        bool changed = false;
        next.budget--;
        for (unsigned k = 0; k < KNOBS; k++) {
            struct truth *t = &next.k[k];
            for (unsigned i = 0; i <= all; i++) {
                if (t->real[i] == 1) continue;
                changed = true;
                t->real[i] = 1;
                t->ours = 0;
                /* A person's value that is gone, or, of two instances that differ, cannot be told from ours. */
                if (all || options.cas == CAS_VERSION) t->foreign = 0;
            }
        }
        if (changed) moves_emit(m, &next, 0, all ? "all instances restart with defaults" : "instance 0 restarts with defaults");
    }
}

static void set(struct moves *m, size_t field, const char *what)
{
    struct world next = *m->w;
    uint8_t *flag = (uint8_t *)&next + field;
    if (*flag) return;
    *flag = 1;
    next.budget--;
    moves_emit(m, &next, 0, what);
}

static void freezes(struct moves *m)
{
    struct control_event e = event_at(CE_FREEZE, false);
    struct world next = *m->w;
    next.budget--;
    if (!m->w->silent) {
        next.silent = 1;
        e.bits = FREEZE_MODULE;
        moves_step(m, &next, &e, "a module is silent");
    }
    if (!m->w->live.store_failed && !m->w->unacked && !m->w->follower) {
        next = *m->w;
        next.budget--;
        next.store_bad = 1;
        e.bits = FREEZE_STORE;
        moves_step(m, &next, &e, "the store fails");
    }
}

static void process(struct moves *m)
{
    const struct world *w = m->w;
    struct world next = *w;
    next.budget--;
    if (!w->follower) {
        world_crash(&next);
        moves_emit(m, &next, 0, "CRASH and restart, or takeover by a newer leader");
        struct control_event e = event_at(CE_LEASE_LOST, false);
        next = *w;
        next.budget--;
        next.follower = 1;
        moves_step(m, &next, &e, "the lease is lost");
    }
    bool sends = w->live.state == STATE_INTENT && !w->live.waiting_ack && !w->live.store_failed && !w->follower;
    if (!sends) return;
    unsigned k = w->live.active;
    const struct control_slot *a = &w->log.knobs[k].slot;
    struct message msg = {1, (uint8_t)k, (uint8_t)a->new_, (uint8_t)a->old, 3, 1, 0, (uint8_t)w->live.knobs[k].believed_version};
    next = *w;
    next.budget--;
    next.k[k].window = next.k[k].sent = 1;
    if (!world_post(&next, &msg)) return;
    world_crash(&next);
    moves_emit(m, &next, 0, "TAKEOVER while the old leader's write is on its way");
}

static void release(struct moves *m)
{
    struct control_event e = event_at(CE_RELEASE, false);
    struct world next = *m->w;
    if (m->w->release || m->w->follower) return;
    next.budget--;
    next.release = 1;
    event_reads(&e, m->w, 0);
    moves_step(m, &next, &e, "a release");
}

static void policy(struct moves *m)
{
    struct control_event e = event_at(CE_POLICY, false);
    for (unsigned k = 0; k < KNOBS; k++) {
        struct world next = *m->w;
        if (next.k[k].forbidden) continue;
        next.budget--;
        next.k[k].forbidden = 1;
        moves_step(m, &next, &e, k ? "the policy now forbids B" : "the policy now forbids A");
    }
}

static void day_of_knob(struct world *w, struct control *c, unsigned k)
{
    struct control_knob *n = &c->knobs[k];
    n->would_until = n->interval_until = n->protect_until = n->cool_until = n->skip_until = n->failed_at = INSTANT_NONE;
    if (n->frozen_until.us != INSTANT_NEVER.us) n->frozen_until = INSTANT_NONE;
    w->k[k].cancelled &= ACTION_CANCELLED;
    if (!w->live.knobs[k].slot.unacknowledged) w->k[k].foreign = 0;
}

/* A day in which nothing happens; only from where something would come of it. */
static void day(struct moves *m)
{
    const struct world *w = m->w;
    uint8_t s = w->live.state;
    bool quiet_state = s == STATE_WATCHING || s == STATE_OPEN || s == STATE_PERSON || s == STATE_HALTED;
    bool open = w->k[0].window || w->k[1].window || w->live.knobs[0].slot.late_open || w->live.knobs[1].slot.late_open;
    if (!quiet_state || open || w->live.waiting_ack || w->live.store_failed || instant_before(T0, w->live.gap_until)) return;
    struct world next = *w;
    struct control *c[2];
    both(&next, c);
    next.budget--;
    memset(next.msg, 0, sizeof next.msg);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < KNOBS; k++) day_of_knob(&next, c[i], k);
        c[i]->suspended[CLASS_BATCH] = c[i]->suspended[CLASS_CACHE] = INSTANT_NONE;
        c[i]->would_gap_until = c[i]->harmful[0] = c[i]->harmful[1] = INSTANT_NONE;
    }
    moves_emit(m, &next, 0, "24 h pass");
}

void faults(struct moves *m)
{
    by_hand(m);
    instances(m);
    set(m, offsetof(struct world, unreadable), "the target cannot be read");
    set(m, offsetof(struct world, outage), "an outage begins");
    freezes(m);
    process(m);
    release(m);
    policy(m);
    day(m);
}
