/* The explorer's world: one service with two knobs of three values on two instances, a network, a store, people, and the
 * REAL control step of src/loop with the fold of its log beside it.
 *
 * Time is abstract. Every state is looked at from the same instant T0. A short timer (read-back, settle, window, approval,
 * append) ends when an event says so (it then comes SHORT_JUMP later); a long one (gap, late watch, interval, protection, freeze,
 * suspension) runs until an event of its own ends it. world_normalise brings every time back to one of five values. */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include "loop/control.h"

#define KNOBS 2
#define VALUES 3                      /* ids 1, 2, 3; one notch is +1; 1 is what an instance starts with */
#define MESSAGES 2
#define T0 ((struct instant){1000000 * US_PER_S})
#define SHORT_JUMP SPAN_S(20)
#define WORLD_BYTES 320               /* packed */

/* Where the story of a knob's newest action stands, told by the records alone. */
#define PHASE_TABLE(X)                                                                                            \
    X(NOTHING) X(INTENT) X(APPLIED) X(FAILED) X(ABORTED) X(BAD) X(INCONCLUSIVE) X(CANCEL) X(ROLLBACK) X(UNDO)     \
    X(UNDO_RETRY) X(UNDONE) X(UNDO_FAILED) X(YIELDED) X(HELD) X(KEPT) X(PARTIAL) X(LATE)
#define X(id) PH_##id,
enum phase { PHASE_TABLE(X) PH_COUNT };
#undef X

struct message { uint8_t present, knob, value, expect, mask, forward, expired; uint8_t version; };

enum { CLASS_CANCELLED = 1, ACTION_CANCELLED = 2 };

struct truth {                        /* of one knob; the loop does not see it */
    uint8_t real[2], version;
    uint8_t foreign;                  /* a person's value stands here */
    uint8_t over;                     /* our late write has fallen on a person's value */
    uint8_t ours;                     /* the last write was ours, inside the late window */
    uint8_t window;                   /* a write of ours may still land */
    uint8_t cancelled;                /* CLASS_CANCELLED: less than a day ago; ACTION_CANCELLED: this action */
    uint8_t applied, released, sent, forbidden, phase, automatic, confirmed;
};

struct world {
    struct truth k[KNOBS];
    struct message msg[MESSAGES];
    uint8_t unreadable, outage, store_bad, silent, release, halted, budget, autos, answer, answer_version, follower, unacked;
    struct control live, log;         /* log: the fold of what is durable */
};

struct explore_options { enum control_cas cas; uint8_t tier_b; uint8_t budget; bool packed; };   /* packed: no canon in the key */

/* world.c */
extern struct explore_options options;
struct control_policy world_policy(const struct world *w);
bool world_in_flight(const struct control *c);
bool phase_ended(uint8_t ph);
uint8_t world_value(const struct world *w, unsigned k);                 /* uniform value, 0: instances differ */
void world_read(const struct world *w, unsigned k, struct control_read *r);
void world_land(struct world *w, const struct message *m, unsigned mask);
bool world_post(struct world *w, const struct message *m);
uint8_t world_fresh_version(const struct world *w, unsigned k);
void world_crash(struct world *w);                                      /* volatile control is lost, the log is folded */
void world_refold(struct world *w);                                     /* the same process folds its log again */
void world_start(struct world *w, bool new_process);
void world_end_window(struct world *w, unsigned k);

/* pack.c */
void world_normalise(struct world *w, struct instant now);
unsigned world_pack(const struct world *w, uint8_t out[WORLD_BYTES]);
void world_unpack(const uint8_t *in, struct world *w);
void world_key(const struct world *w, uint64_t key[2]);

/* check.c: what must never be. The first violation of a step is kept. */
extern const char *violation;
extern bool quiet;
void violated(const char *what);
void check_record(struct world *w, const struct control_record *r);
void check_send(struct world *w, const struct control_output *o);
void check_state(const struct world *w);
bool check_rest(const struct world *w, const char **ret_why);

/* act.c: one event through the real control step, and what may become of its records and its write. */
enum fate {                           /* of the append and of the write */
    FATE_GOOD, FATE_APPEND_FAILS, FATE_ACK_LATE, FATE_DELAYED, FATE_LOST, FATE_HALF_DELAYED, FATE_HALF, FATE_REFUSED, FATE_COUNT
};
struct step_result { uint16_t row; bool has_records, has_send, refused; };
struct step_result act(struct world *w, const struct control_event *e, enum fate fate);
struct control_event event_at(enum control_event_kind kind, bool later);
void event_reads(struct control_event *e, const struct world *w, unsigned mask);
void event_decide(struct control_event *e, const struct world *w, bool advice);
bool gates_open(const struct world *w);
bool candidate_ok(const struct world *w, unsigned k);

/* events.c: every way on from a state. */
typedef void successor_fn(void *user, const struct world *next, uint16_t row, const char *what);
void successors(const struct world *w, successor_fn *fn, void *user);

/* calm.c: once faults stop the service comes to rest. NULL: it does; else why not. */
const char *calm_check(const struct world *w);
void calm_init(void);
void calm_free(void);

/* words.c */
const char *phase_name(uint8_t ph);
void world_print(const struct world *w);

#endif
