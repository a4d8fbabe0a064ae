/* The target, the network and the life of the process. */
#include "explore/world.h"

#include <string.h>

#include "base/check.h"

struct explore_options options = {CAS_VALUE, 1, 2, false};

struct control_policy world_policy(const struct world *w)
{
    struct control_policy p = {
        .knob_count = KNOBS, .late_watch = SPAN_MIN(10), .approval = SPAN_S(10), .release_watch = SPAN_MIN(30),
        .append_timeout = SPAN_S(5), .renotify = SPAN_HOUR(4), .protect_cool = SPAN_HOUR(24), .suspend = SPAN_HOUR(24),
        .freeze_knob = SPAN_HOUR(24),
    };
    for (unsigned k = 0; k < KNOBS; k++) {
        p.knobs[k] = (struct control_knob_policy){
            .class = (uint8_t)(k ? CLASS_CACHE : CLASS_BATCH), .tier = k ? options.tier_b : 1, .cas = (uint8_t)options.cas,
            .listed = !w->k[k].forbidden, .versions_with = (uint8_t)k, .interval = SPAN_HOUR(4), .protect = SPAN_HOUR(24),
            .readback = SPAN_S(10),
        };
    }
    return p;
}

bool world_in_flight(const struct control *c) { return control_in_flight(c); }

bool phase_ended(uint8_t ph)
{
    switch (ph) {
    case PH_NOTHING: case PH_FAILED: case PH_ABORTED: case PH_UNDONE: case PH_UNDO_FAILED: case PH_YIELDED: case PH_HELD:
    case PH_KEPT: case PH_PARTIAL: return true;
    default: return false;
    }
}

uint8_t world_value(const struct world *w, unsigned k)
{
    const uint8_t *real = w->k[k].real;
    return real[0] == real[1] ? real[0] : 0;
}

void world_read(const struct world *w, unsigned k, struct control_read *r)
{
    memset(r, 0, sizeof *r);
    r->present = true;
    r->readable = !w->unreadable;
    if (!r->readable) return;
    r->values[r->n++] = w->k[k].real[0];
    if (w->k[k].real[1] != w->k[k].real[0]) r->values[r->n++] = w->k[k].real[1];
    if (options.cas == CAS_VERSION && r->n == 1) r->version = w->k[k].version;
}

uint8_t world_fresh_version(const struct world *w, unsigned k)
{
    uint32_t used = 1u << w->k[k].version;
    const struct control *both[] = {&w->live, &w->log};
    for (unsigned i = 0; i < 2; i++) {
        const struct control_knob *c = &both[i]->knobs[k];
        used |= 1u << c->believed_version | 1u << c->slot.version | 1u << c->slot.answered;
    }
    for (unsigned j = 0; j < MESSAGES; j++) used |= 1u << w->msg[j].version;
    used |= 1u << w->answer_version;
    uint8_t v = 1;
    while (used >> v & 1) v++;
    CHECK(v < 16);
    return v;
}

static bool accepts(const struct world *w, const struct message *m, unsigned instance)
{
    if (options.cas == CAS_NONE) return true;
    if (options.cas == CAS_VERSION && m->version) return m->version == w->k[m->knob].version;
    return w->k[m->knob].real[instance] == m->expect;
}

void world_land(struct world *w, const struct message *m, unsigned mask)
{
    struct truth *t = &w->k[m->knob];
    const struct control_slot *slot = &w->log.knobs[m->knob].slot;
    bool any = false, inside = t->window && !m->expired;
    for (unsigned i = 0; i < 2; i++) {
        if (!(mask >> i & 1) || !accepts(w, m, i)) continue;
        uint8_t r = t->real[i];
        const struct control *c = w->live.store_failed ? &w->log : &w->live;   /* what will still be believed */
        bool believed = c->knobs[m->knob].believed == r;
        if (t->foreign && r != m->value && (options.cas != CAS_NONE || believed)) {
            if (options.cas == CAS_VERSION && m->version) violated("I12 a person's change is overwritten");
            if (!(m->forward && r == slot->old) && inside) t->over = 1;
        }
        t->real[i] = m->value;
        any = true;
    }
    if (!any) return;
    t->foreign = 0;
    t->ours = inside;
    t->version = options.cas == CAS_VERSION ? world_fresh_version(w, m->knob) : 0;
    if (!m->forward || !inside) return;
    if (t->automatic && !t->applied && (t->phase == PH_INTENT || t->phase == PH_ABORTED) && w->autos < 3) w->autos++;
    t->applied = 1;
    uint8_t other = w->k[1 - m->knob].phase;
    if (other == PH_INTENT || other == PH_APPLIED) violated("I1 a late write lands while another action is watched");
}

bool world_post(struct world *w, const struct message *m)
{
    for (unsigned j = 0; j < MESSAGES; j++) {
        if (w->msg[j].present) continue;
        w->msg[j] = *m;
        w->msg[j].present = 1;
        return true;
    }
    return false;
}

void world_end_window(struct world *w, unsigned k)
{
    w->k[k].window = 0;
    for (unsigned j = 0; j < MESSAGES; j++) {
        if (w->msg[j].present && w->msg[j].knob == k) w->msg[j].expired = 1;
    }
}

/* What the shell tells at every start: the halt file, modules that are silent. */
void world_start(struct world *w, bool new_process)
{
    struct control_event folded = event_at(CE_FOLDED, false), freeze = event_at(CE_FREEZE, false);
    struct control_event halt = event_at(CE_HALT, false);
    w->unacked = 0;
    w->follower = 0;
    w->answer = 0;
    w->answer_version = 0;
    (void)act(w, &folded, FATE_GOOD);
    if (w->silent) {
        freeze.bits = FREEZE_MODULE;
        (void)act(w, &freeze, FATE_GOOD);
    }
    if (new_process && w->halted && !w->live.halted) (void)act(w, &halt, FATE_GOOD);
}

/* Nobody knows any more whether the write of an open INTENT was refused: it counts as sent. */
static void forget_answers(struct world *w)
{
    for (unsigned k = 0; k < KNOBS; k++) {
        bool may_land = instant_before(T0, w->log.knobs[k].slot.late_after);
        if (w->k[k].phase == PH_INTENT && may_land) w->k[k].window = 1;
        /* Nor, where the log has no version since instances differed, who wrote our value. */
        const struct control_knob *c = &w->log.knobs[k];
        bool ours = !phase_ended(w->k[k].phase) && world_value(w, k) == c->slot.new_;
        if (options.cas == CAS_VERSION && c->believed_version == 0 && ours) w->k[k].foreign = 0;
    }
}

void world_crash(struct world *w)
{
    bool was_bad = w->store_bad;
    forget_answers(w);
    w->live = w->log;
    w->store_bad = 0;
    w->release = instant_before(T0, w->log.release_until);   /* seen only while the store failed: lost with the process */
    world_start(w, true);
    if (was_bad) {
        struct control_event freeze = event_at(CE_FREEZE, false);
        freeze.bits = FREEZE_STORE;
        w->store_bad = 1;
        (void)act(w, &freeze, FATE_GOOD);
    }
}

void world_refold(struct world *w)
{
    struct control_policy p = world_policy(w);
    struct control kept = w->live;
    forget_answers(w);
    control_restart(&kept, &p, T0);
    w->live = w->log;
    w->live.frozen = kept.frozen;
    w->live.halt_owed = kept.halt_owed;
    w->live.release_owed = kept.release_owed;
    w->store_bad = 0;
    world_start(w, false);
}
