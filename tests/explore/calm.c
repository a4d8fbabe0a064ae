/* Liveness: from every state, once faults stop, the service comes to rest within a bounded number of ticks. A run that meets a
 * state already proven (same answers of the world) ends there. */
#include "explore/moves.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define CALM_TICKS 90
#define PROVEN_SLOTS (UINT64_C(1) << 22)

static uint64_t *proven;

void calm_init(void)
{
    proven = calloc(PROVEN_SLOTS, sizeof *proven);
    CHECK(proven != NULL);
}

void calm_free(void)
{
    free(proven);
    proven = NULL;
}

static void stop_faults(struct world *w, bool lands)
{
    w->unreadable = w->outage = w->budget = 0;
    for (unsigned j = 0; j < MESSAGES; j++) {
        struct message m = w->msg[j];
        w->msg[j].present = 0;
        if (m.present && lands && w->k[m.knob].window && !m.expired) world_land(w, &m, m.mask);
    }
    if (w->follower) world_crash(w), w->store_bad = 0;
    if (w->live.store_failed || w->store_bad) store_good(w);
    if (w->unacked) {
        struct control_event e = event_at(CE_ACK, false);
        e.token = w->live.token;
        w->unacked = 0;
        (void)act(w, &e, FATE_GOOD);
    }
    if (w->silent) {
        struct control_event e = event_at(CE_THAW, false);
        e.bits = FREEZE_MODULE;
        w->silent = 0;
        (void)act(w, &e, FATE_GOOD);
    }
    w->release = 0;
    w->live.release_until = w->log.release_until = INSTANT_NONE;
    world_normalise(w, T0);
}

static void calm_tick(struct world *w, enum symptom_now symptom, enum verdict verdict)
{
    uint8_t s = w->live.state;
    bool fast = s == STATE_INTENT || s == STATE_UNDO_INTENT || s == STATE_READBACK || s == STATE_UNDO_READBACK;
    bool clears = symptom == SYM_FALSE && (s == STATE_OPEN || s == STATE_PERSON || s == STATE_AWAITING);
    struct tick t = {.symptom = clears ? SYM_CLEARS : symptom, .later = s != STATE_INTENT, .poll = fast, .only_active = fast,
                     .verdict = verdict};
    struct control_event e;
    tick_event(w, &t, &e);
    if (s == STATE_WRITING || s == STATE_UNDO_WRITING) {
        e = event_at(CE_ANSWER, false);
        e.answer = (enum answer_kind)w->answer;
        e.answer_version = w->answer_version;
        e.knob = w->live.active;
    }
    (void)act(w, &e, FATE_GOOD);
}

static void time_passes(struct world *w)
{
    if (world_in_flight(&w->live)) return;
    gap_ends(w);
    for (unsigned k = 0; k < KNOBS; k++) {
        if (window_may_end(w, k)) window_ends(w, k);
        w->live.knobs[k].slot.late_after = w->log.knobs[k].slot.late_after = INSTANT_NONE;
    }
    world_normalise(w, T0);
}

static bool seen_before(const uint64_t key[2], unsigned variant)
{
    uint64_t mark = (key[0] ^ key[1] * UINT64_C(0x94D049BB133111EB)) * 16 + variant + 1;
    return proven[mark % PROVEN_SLOTS] == mark;
}

static void remember(const uint64_t (*keys)[2], unsigned n, unsigned variant)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t mark = (keys[i][0] ^ keys[i][1] * UINT64_C(0x94D049BB133111EB)) * 16 + variant + 1;
        proven[mark % PROVEN_SLOTS] = mark;
    }
}

static const char *run(const struct world *from, unsigned variant)
{
    static const enum verdict verdicts[] = {VERDICT_EFFECTIVE, VERDICT_INEFFECTIVE, VERDICT_INCONCLUSIVE};
    struct world w = *from;
    uint64_t keys[CALM_TICKS][2];
    const char *why = NULL;
    unsigned same = 0;
    stop_faults(&w, variant & 1);
    for (unsigned i = 0; i < CALM_TICKS; i++) {
        world_key(&w, keys[i]);
        bool stays = i && keys[i][0] == keys[i - 1][0] && keys[i][1] == keys[i - 1][1];
        same = stays ? same + 1 : 0;
        if (same >= 4 || (i % 3 == 0 && seen_before(keys[i], variant))) {
            if (same >= 4 && !check_rest(&w, &why)) return why;
            remember((const uint64_t(*)[2])keys, i, variant);
            return NULL;
        }
        calm_tick(&w, variant & 1 ? SYM_FALSE : SYM_TRUE, verdicts[variant >> 1]);
        if (i % 3 == 2) time_passes(&w);
    }
    return "liveness: the calm service never comes to rest";
}

const char *calm_check(const struct world *w)
{
    const char *why = NULL;
    quiet = true;
    for (unsigned variant = 0; variant < 6 && !why; variant++) why = run(w, variant);
    quiet = false;
    violation = NULL;
    return why;
}
