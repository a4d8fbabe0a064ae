/* What people do, each through the real control step. A command reads every knob first, except those that must not wait. */
#include "explore/moves.h"

static struct control_event command(const struct world *w, enum control_event_kind kind, uint8_t knob, bool reads)
{
    struct control_event e = event_at(kind, false);
    event_reads(&e, w, reads ? 3 : 0);
    e.knob = knob;
    e.plan = w->live.request.plan;
    return e;
}

void people_free(struct moves *m)
{
    const struct world *w = m->w;
    if (w->live.state == STATE_HALTED && w->live.halted && !w->live.store_failed && !w->unacked) {
        struct control_event e = command(w, CE_RESUME, NO_KNOB, false);
        moves_step(m, w, &e, "resume");
    }
    if (w->live.state != STATE_AWAITING || w->live.store_failed || w->follower) return;
    uint8_t k = w->live.request.knob;
    struct control_event e = command(w, CE_APPROVE, NO_KNOB, true);
    e.remeasure_ok = gates_open(w) && candidate_ok(w, k) && world_value(w, k) == w->live.request.from;
    e.remeasure_reason = REASON_FACTS_CHANGED;
    moves_step(m, w, &e, "approve");
    e = command(w, CE_REJECT, NO_KNOB, false);
    moves_step(m, w, &e, "reject");
}

static void halts(struct moves *m)
{
    const struct world *w = m->w;
    if (w->live.halted || w->halted) return;
    struct world next = *w;
    next.budget--;
    next.halted = 1;
    struct control_event e = command(w, CE_HALT, NO_KNOB, false);
    moves_step(m, &next, &e, "halt");
    e = command(w, CE_HALT_UNDO, NO_KNOB, false);
    if (world_in_flight(&w->live)) moves_step(m, &next, &e, "halt --undo");
}

static void take_back(struct moves *m)
{
    static const char *const rollback[KNOBS] = {"rollback A", "rollback B"}, *const cancel[KNOBS] = {"cancel A", "cancel B"};
    const struct world *w = m->w;
    struct world next = *w;
    next.budget--;
    struct control_event e = command(w, CE_CANCEL, NO_KNOB, false);
    moves_step(m, &next, &e, "cancel the running action");
    for (uint8_t k = 0; k < KNOBS; k++) {
        if (w->k[k].phase == PH_NOTHING) continue;
        e = command(w, CE_ROLLBACK, k, true);
        moves_step(m, &next, &e, rollback[k]);
        e = command(w, CE_CANCEL, k, true);
        if (!world_in_flight(&w->live) || w->live.active != k) moves_step(m, &next, &e, cancel[k]);
    }
}

void people(struct moves *m)
{
    const struct world *w = m->w;
    halts(m);
    if (w->live.store_failed || w->follower) return;
    take_back(m);
    struct world next = *w;
    next.budget--;
    struct control_event e = command(w, CE_NORMAL_NOW, NO_KNOB, true);
    moves_step(m, &next, &e, "normal now");
    e = command(w, CE_RETRY, NO_KNOB, true);
    moves_step(m, &next, &e, "retry");
}
