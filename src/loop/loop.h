/* The loop: the only room that knows all six stages. One step function: state + event in, update out.
 * No clock, I/O, randomness, lock or log. The same entry for daemon, simulator and replay. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "base/arena.h"
#include "base/memory.h"
#include "loop/event.h"
#include "model/view.h"

struct loop;

struct loop_options {
    bool dry_run;                     /* all writes carry dry = true */
    bool alone;                       /* no lease: always leader */
    uint64_t token;                   /* fencing token; 0 alone */
    struct span save_every;           /* how often EFFECT_SAVE_STATE comes; 0: 15 min */
    bool in_step;                     /* rounds of all services fall on the same instants, for replay; else they are spread */
    const struct memory *cold;        /* for what is rarely looked at, outlives the loop; NULL: the heap */
    uint64_t speed;                   /* nominal seconds a wall second; 0: 1. Time-outs of the disk stay wall time */
};

/* The loop takes one reference of the policy. All services begin in RECOVERING until their log has been folded
 * (EVENT_RECORD.. then EVENT_FOLDED, also for an empty log). NULL: out of memory. */
struct loop *loop_new(struct policy *policy, struct instant now, struct wall wall, struct loop_options options);
void loop_free(struct loop *l);       /* takes NULL */

/* Is the record one of the whole loop, and not of a service? Then EVENT_RECORD brings it with ALL_SERVICES. */
bool loop_record_of_all(const struct record *r);

/* Never fails: what cannot be done shows up as an effect (notice, reply) or a reason. */
void loop_step(struct loop *l, const struct event *e, struct update *ret);

/* Deep copy, saved bytes and digest of all state, for simulator, oracle and tests. */
struct loop *loop_clone(const struct loop *l);
void loop_save(const struct loop *l, struct buf *out);
struct loop *loop_load(struct policy *policy, const void *bytes, size_t len);
uint64_t loop_digest(const struct loop *l);

/* For people; all memory in `a`. */
void loop_view(const struct loop *l, uint16_t service, struct arena *a, struct service_view *ret);
/* All windows of the configuration and those that people have open; texts live in `a` or in the policy. */
void loop_windows(const struct loop *l, struct arena *a, struct window_view **ret, uint32_t *ret_n);
void loop_modules(const struct loop *l, struct module_view ret[MODULE_COUNT]);
struct loop_counters {
    uint64_t ticks, unexpected_events, decisions[DECISION_COUNT], actions, verdicts[VERDICT_COUNT], rollbacks, incidents;
    uint16_t services, in_flight, awaiting, halted, with_person;
};
void loop_counters(const struct loop *l, struct loop_counters *ret);
const struct policy *loop_policy(const struct loop *l);
const struct decision *loop_decision(const struct loop *l, uint16_t service);   /* of the last tick; cheap */
const struct control *loop_control(const struct loop *l, uint16_t service);   /* for the simulator's checker */
/* Asked by whoever sends, right before the bytes leave: is the write still the one that was planned? `epoch` is EFFECT_WRITE's.
 * false: a halt came meanwhile (loop.md section 2: each write carries the halt epoch), or a reload took the service away. */
bool loop_may_send(const struct loop *l, uint16_t service, uint32_t epoch);
size_t loop_bytes(const struct loop *l);
/* The baselines of one service, as EFFECT_SAVE_STATE carries them: what the shell keeps when it ends. */
void loop_service_state(const struct loop *l, uint16_t service, struct buf *out);

#endif
