/* Inside of the checker: shared by invariants*.c only. */
#ifndef SIM_INVARIANTS_INSIDE_H
#define SIM_INVARIANTS_INSIDE_H

#include "sim/swarm_inside.h"

/* Where the story of a knob's newest action stands, told by the durable records alone. */
#define INV_PHASES(X)                                                                                                  \
    X(NOTHING) X(INTENT) X(APPLIED) X(LATE) X(FAILED) X(ABORTED) X(BAD) X(INCONCLUSIVE) X(CANCEL) X(ROLLBACK) X(UNDO)  \
    X(UNDO_RETRY) X(UNDONE) X(UNDO_FAILED) X(YIELDED) X(HELD) X(KEPT) X(PARTIAL)
#define X(id) INV_##id,
enum inv_phase { INV_PHASES(X) INV_PHASE_COUNT };
#undef X

struct inv_knob {
    uint32_t action;
    char from[64], to[64];
    uint8_t phase;
    bool automatic, approved, fail, unacknowledged, by_person, counted, cancelled;
    unsigned sends, undo_sends, undo_records;
    uint8_t fails;
    struct span settle, window;
    const struct knob_def *def;      /* of the policy at the INTENT, or of one that came before the send was planned */
    enum mode mode;
    struct instant applied_at, interval_until, protect_until, cool_until, frozen_until, sent_at;
    char read[64];                   /* newest answer: the uniform value, "" when instances differ, "?" when unreadable */
    char read_before[64];            /* the answer before the newest */
    bool read_ok, read_ok_before;    /* read_ok: only values of this action were read */
    struct instant read_at, sampled_at, wrong_since;
};

struct invariants {
    struct inv_knob knobs[POLICY_KNOBS_MAX];
    char names[POLICY_KNOBS_MAX][64];
    struct instant suspended[CLASS_COUNT], gap_until, release_until, release_at, unrest_since, known_at[POLICY_SIGNALS_MAX];
    unsigned autos;                  /* automatic changes since the last decision of a person */
    uint32_t actions;
    uint64_t incidents;              /* the newest one's number */
    bool halted, halt_durable, approval, request;
    bool clock_moved;                /* the wall clock was set, and the process started anew since: times of the log are in doubt */
    int64_t wall_step;
};

/* Windows that people have opened, as far as the log has them. */
#define INV_WINDOWS 64
struct inv_window {
    enum freeze_kind kind;
    char service[64], id[16];        /* service: "" is all */
    int64_t until_us;                /* by the wall clock */
    struct instant durable;
    bool ending;                     /* a person has ended it, and that is not durable yet */
};
struct inv_windows { struct inv_window items[INV_WINDOWS]; unsigned n; };

/* invariants_window.c */
void window_send(struct swarm_service *s, struct instant planned);
void window_record(struct swarm *w, const struct record *r);
void window_service_record(struct swarm_service *s, const struct record *r);
void window_command(struct swarm *w, const struct command *c);
void window_killed(struct swarm *w);

/* invariants.c */
void inv_known(struct swarm_service *s, const char *signal, struct instant decided);

/* invariants_story.c */
void story_record(struct swarm_service *s, const struct record *r);
bool inv_ended(uint8_t phase);
const char *inv_phase_name(uint8_t phase);

/* invariants_fleet.c */
struct inv_windows *inv_windows(struct swarm *w);
void fleet_record(struct swarm_service *s, const struct record *r);
void fleet_busy(struct swarm_service *s);            /* after a record: has it an action that is not ended? */
void fleet_send(struct swarm_service *s, struct instant planned);
void fleet_command(struct swarm *w, uint16_t service, const struct command *c);

#endif
