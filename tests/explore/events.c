/* Every way on from a state: time and reads in the loop's own step, what the environment does by itself, and, while the budget of
 * adversarial events lasts, faults and people. */
#include "explore/world.h"

#include <string.h>

#include "explore/moves.h"

static void hand_on(struct moves *m, struct world *next, uint16_t row, const char *what)
{
    check_state(next);
    m->fn(m->user, next, row, what);
    violation = NULL;
}

static const char *const fate_words[FATE_COUNT] = {
    "", "; the append fails", "; durable, and the ack is late", "; the write stays in the network", "; the write is lost",
    "; one instance now, the other later", "; one instance only", "; the write is refused",
};

static void with_fate(struct moves *m, const struct world *from, const struct control_event *e, enum fate fate, const char *what)
{
    static char text[160];
    struct world next = *from;
    next.budget--;
    struct step_result r = act(&next, e, fate);
    (void)snprintf(text, sizeof text, "%s%s", what, fate_words[fate]);
    hand_on(m, &next, r.row, text);
}

/* `from` has already paid for the event itself. */
static void step(struct moves *m, const struct world *from, const struct control_event *e, const char *what)
{
    struct world next = *from;
    struct step_result r = act(&next, e, FATE_GOOD);
    bool undo = next.live.state == STATE_UNDO_WRITING;
    hand_on(m, &next, r.row, what);
    if (!from->budget) return;
    if (r.has_records && !from->store_bad && !from->unacked) {
        with_fate(m, from, e, FATE_APPEND_FAILS, what);
        with_fate(m, from, e, FATE_ACK_LATE, what);
    }
    if (!r.has_send) return;
    for (enum fate f = FATE_DELAYED; f < FATE_COUNT; f++) {
        if (undo && f == FATE_HALF_DELAYED) continue;
        with_fate(m, from, e, f, what);
    }
}

void tick_event(const struct world *w, const struct tick *t, struct control_event *e)
{
    uint8_t state = w->live.state;
    *e = event_at(t->poll ? CE_POLL : CE_TICK, t->later);
    event_reads(e, w, t->only_active && w->live.active < KNOBS ? 1u << w->live.active : t->no_reads ? 0 : 3);
    e->symptom = t->symptom == SYM_TRUE ? TRI_TRUE : t->symptom >= SYM_UNKNOWN ? TRI_UNKNOWN : TRI_FALSE;
    e->opens = t->symptom == SYM_TRUE;
    e->hopeless = t->symptom == SYM_FALSE || t->symptom == SYM_CLEARS;
    e->clears = t->symptom == SYM_CLEARS;
    e->blind = t->symptom == SYM_BLIND;
    e->slo = state == STATE_LEARNING;
    e->warm = state != STATE_LEARNING || t->later;
    e->early_harm = t->harm == 1;
    e->neighbour = t->harm == 2;
    e->outage = w->outage && world_in_flight(&w->live);
    e->settle_over = state == STATE_SETTLING && t->later;
    e->window_over = state == STATE_OBSERVING && t->later;
    if (e->window_over) e->verdict = t->verdict;
    e->old_known_good = !t->old_doubtful;
    e->short_gap = t->short_gap;
    uint8_t active = w->live.active;
    e->policy_allows_new = active >= KNOBS || !w->k[active].forbidden;
    e->service_gates_open = gates_open(w);
    bool decides = !t->poll && e->symptom == TRI_TRUE && (state == STATE_OPEN || state == STATE_AWAITING);
    if (decides) event_decide(e, w, t->advice);
    if (t->alert_mode && (e->decision.kind == CD_TUNE || e->decision.kind == CD_ASK)) e->decision.kind = CD_WOULD;
}

static void tick(struct moves *m, struct tick t)
{
    struct control_event e;
    tick_event(m->w, &t, &e);
    const char *poll = t.no_reads ? "time passes" : t.later ? "read, deadline over" : "read";
    step(m, m->w, &e, t.poll ? poll : t.later ? "tick, timer over" : "tick");
}

/* Mode alert for one tick; it costs, so that logs of plans do not multiply the states. */
static void would(struct moves *m)
{
    struct world paid = *m->w;
    struct control_event e;
    paid.budget--;
    tick_event(&paid, &(struct tick){.symptom = SYM_TRUE, .alert_mode = true}, &e);
    step(m, &paid, &e, "tick in mode alert");
}

static void observing_ticks(struct moves *m)
{
    static const enum verdict verdicts[] = {VERDICT_EFFECTIVE, VERDICT_PARTIAL, VERDICT_INEFFECTIVE, VERDICT_HARMFUL,
                                            VERDICT_INCONCLUSIVE};
    tick(m, (struct tick){.symptom = SYM_TRUE});
    tick(m, (struct tick){.symptom = SYM_TRUE, .harm = 1});
    tick(m, (struct tick){.symptom = SYM_TRUE, .harm = 2});
    tick(m, (struct tick){.symptom = SYM_FALSE, .later = true, .verdict = VERDICT_EFFECTIVE});
    tick(m, (struct tick){.symptom = SYM_UNKNOWN, .later = true, .verdict = VERDICT_EFFECTIVE});
    for (unsigned i = 0; i < 5; i++) {
        tick(m, (struct tick){.symptom = SYM_TRUE, .later = true, .verdict = verdicts[i]});
    }
    tick(m, (struct tick){.symptom = SYM_TRUE, .later = true, .verdict = VERDICT_INCONCLUSIVE, .old_doubtful = true});
}

static void forward_ticks(struct moves *m, uint8_t state)
{
    bool settling = state == STATE_SETTLING;
    if (state == STATE_INTENT) {
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .only_active = true});
        tick(m, (struct tick){.symptom = SYM_FALSE, .poll = true, .only_active = true});
        tick(m, (struct tick){.symptom = SYM_TRUE});
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .no_reads = true, .later = true});
    } else if (state == STATE_OBSERVING) {
        observing_ticks(m);
    } else {
        tick(m, (struct tick){.symptom = SYM_TRUE});
        tick(m, (struct tick){.symptom = SYM_TRUE, .later = true});
        tick(m, (struct tick){.symptom = SYM_TRUE, .harm = 1});
        if (!settling) tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .only_active = true});
        if (!settling) tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .only_active = true, .later = true});
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .no_reads = true, .later = true});
    }
}

static void answers(struct moves *m)
{
    struct control_event e = event_at(CE_ANSWER, false);
    e.answer = (enum answer_kind)m->w->answer;
    e.answer_version = m->w->answer_version;
    e.knob = m->w->live.active;
    step(m, m->w, &e, e.answer == ANSWER_REFUSED ? "the write is answered: refused" : "the write is answered");
    if (m->w->answer != ANSWER_REFUSED) {
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .no_reads = true, .later = true});
    }
}

static void recovering_ticks(struct moves *m)
{
    tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .short_gap = true});
    tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .short_gap = true, .later = true});
    tick(m, (struct tick){.symptom = SYM_TRUE, .later = true});
    tick(m, (struct tick){.symptom = SYM_TRUE, .later = true, .old_doubtful = true});
    tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .no_reads = true, .later = true});
}

static void idle_ticks(struct moves *m, uint8_t state)
{
    tick(m, (struct tick){.symptom = SYM_TRUE});
    switch (state) {
    case STATE_LEARNING: tick(m, (struct tick){.symptom = SYM_FALSE, .later = true}); break;
    case STATE_WATCHING: tick(m, (struct tick){.symptom = SYM_FALSE}); break;
    case STATE_SUSPECT:
        tick(m, (struct tick){.symptom = SYM_FALSE});
        tick(m, (struct tick){.symptom = SYM_BLIND});
        break;
    case STATE_OPEN:
        tick(m, (struct tick){.symptom = SYM_TRUE, .advice = true});
        if (m->w->budget) would(m);    /* fallthrough */
    case STATE_PERSON: tick(m, (struct tick){.symptom = SYM_CLEARS}); break;
    case STATE_AWAITING:
        tick(m, (struct tick){.symptom = SYM_TRUE, .later = true});
        tick(m, (struct tick){.symptom = SYM_CLEARS});
        break;
    default: break;
    }
}

static void time_events(struct moves *m)
{
    uint8_t state = m->w->live.state;
    if (m->w->live.store_failed || m->w->follower) return;
    if (m->w->live.waiting_ack) {
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true});
        tick(m, (struct tick){.symptom = SYM_TRUE, .later = true});
        return;
    }
    switch (state) {
    case STATE_INTENT: case STATE_READBACK: case STATE_SETTLING: case STATE_OBSERVING: forward_ticks(m, state); break;
    case STATE_WRITING: case STATE_UNDO_WRITING: answers(m); break;
    case STATE_UNDO_INTENT: case STATE_UNDO_READBACK:
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .only_active = true});
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .only_active = true, .later = true});
        tick(m, (struct tick){.symptom = SYM_TRUE, .poll = true, .no_reads = true, .later = true});
        break;
    case STATE_RECOVERING: recovering_ticks(m); break;
    case STATE_HALTED: tick(m, (struct tick){.symptom = SYM_TRUE}); break;
    default: idle_ticks(m, state); break;
    }
}

void moves_emit(struct moves *m, struct world *next, uint16_t row, const char *what)
{
    world_normalise(next, T0);
    hand_on(m, next, row, what);
}

void moves_step(struct moves *m, const struct world *from, const struct control_event *e, const char *what)
{
    step(m, from, e, what);
}

void successors(const struct world *w, successor_fn *fn, void *user)
{
    struct moves m = {w, fn, user};
    violation = NULL;
    time_events(&m);
    free_moves(&m);
    people_free(&m);
    if (w->budget == 0) return;
    faults(&m);
    people(&m);
}
