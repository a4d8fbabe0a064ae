/* Inside of the swarm: shared by swarm*.c and invariants*.c only. */
#ifndef SIM_SWARM_INSIDE_H
#define SIM_SWARM_INSIDE_H

#include "base/arena.h"
#include "loop/control.h"
#include "loop/loop.h"
#include "sim/faults.h"
#include "sim/fluid.h"
#include "sim/heap.h"
#include "sim/invariants.h"
#include "sim/swarm.h"

#define SWARM_INSTANCES 3
#define SWARM_APPENDS 64
#define SWARM_POLICIES 64

enum later_kind {
    LATER_SEND, LATER_LAND, LATER_ANSWER, LATER_SAMPLE, LATER_READ, LATER_DURABLE, LATER_ACK, LATER_SECOND, LATER_COMMAND,
    LATER_FAULT, LATER_CALM, LATER_RESTART, LATER_VALUES, LATER_RELEASE
};

struct later {
    enum later_kind kind;
    uint32_t life;               /* of the process that waits for it; 0: the world's own */
    uint16_t knob, item;
    uint32_t action, epoch;
    uint64_t token;
    bool is_undo, answered_only, checked;
    uint8_t instances;           /* LAND: how many instances take it, from the first */
    enum answer_kind answer;
    enum status status;
    struct knob_value value, expect;
    struct read_vector *vector;
    struct instant sampled;      /* READ: when the target was looked at; SEND: when it was planned */
    struct command command;
    char action_text[64];
    struct point *points;
    uint16_t *signals;
    uint32_t n;
};

struct swarm_value { char text[32]; };

struct swarm_knob {              /* the truth at the target */
    bool present;
    struct swarm_value at[SWARM_INSTANCES], boot;
    uint64_t version;
};

struct swarm_append {
    uint64_t token;
    uint32_t life;
    struct record *records;      /* copies in the log's arena */
    uint32_t n;
    struct span ack_delay;
    uint8_t fate;                /* enum append_fate */
};

enum append_fate { APPEND_GOOD, APPEND_FAILS, APPEND_UNSURE, APPEND_FATAL };

struct swarm {
    struct swarm_options o;
    struct swarm_result *result;
    struct prng chance;
    struct policy *policies[SWARM_POLICIES];
    unsigned policy_n;
    struct policy *policy;
    struct service_def *service;
    struct loop *loop;           /* NULL while the process is dead */
    struct fluid *fluid;
    struct heap heap;
    struct faults faults;
    struct invariants *inv;
    struct instant now, next_values, active_end, end;
    struct instant wake;         /* in the loop's own time */
    int64_t mono_offset, wall_step;   /* loop instant - true time; wall - (start + true time) */
    uint32_t life;
    struct instant paused_until;
    bool kill_asked, calm;
    struct span kill_len;
    /* target */
    struct swarm_knob knobs[POLICY_KNOBS_MAX];
    unsigned instances;
    enum control_cas cas;
    uint8_t mode;
    bool hurried;
    double frozen_values[POLICY_SIGNALS_MAX];
    bool have_frozen;
    /* store */
    struct arena log_arena;
    struct record **log;
    size_t log_n, log_cap;
    struct swarm_append queue[SWARM_APPENDS];
    unsigned queue_head, queue_n;
    struct instant last_durable, last_ack;
    bool store_frozen, fold_wanted;
    unsigned acks;               /* on their way */
    bool giving_log;             /* records are being folded: the loop's picture is not whole */
    struct buf state;
    struct instant state_at;
    struct buf scratch;
    uint64_t ids;
};

/* swarm.c */
void swarm_step(struct swarm *w, struct event *e);
struct later *swarm_later(struct swarm *w, enum later_kind kind, struct instant at, bool of_process);
struct instant swarm_mono(const struct swarm *w, struct instant t);   /* the process's monotonic time */
struct wall swarm_wall(const struct swarm *w);
void swarm_mix(struct swarm *w, const void *bytes, size_t len);
void swarm_tell(struct swarm *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
void later_free(struct later *l);

/* swarm_target.c */
void swarm_target_init(struct swarm *w);
void swarm_send(struct swarm *w, struct later *l);
void swarm_land(struct swarm *w, struct later *l);
void swarm_sample(struct swarm *w, struct later *l);
void swarm_hand(struct swarm *w, struct faults_item *i);
bool swarm_uniform(const struct swarm *w, unsigned knob, struct swarm_value *ret);

/* swarm_metrics.c */
void swarm_values(struct swarm *w);
void swarm_history(struct swarm *w);
void swarm_see_judge(struct swarm *w, const uint16_t *signals, const struct point *points, uint32_t n);

/* swarm_store.c */
void swarm_append(struct swarm *w, const struct effect *f);
void swarm_durable(struct swarm *w);
void swarm_ack(struct swarm *w, struct later *l);
void swarm_second(struct swarm *w);
void swarm_store_dies(struct swarm *w);
void swarm_store_trouble(struct swarm *w);
void swarm_fold_all(struct swarm *w);

/* swarm_life.c */
bool swarm_policies(struct swarm *w, struct err *e);
bool swarm_start(struct swarm *w);
void swarm_kill(struct swarm *w, struct span down);
void swarm_kill_at(struct swarm *w, enum faults_kind k);
void swarm_reload(struct swarm *w, struct faults_item *i);
void swarm_fault(struct swarm *w, struct faults_item *i);
void swarm_arm(struct swarm *w, enum record_kind kind);
void swarm_calm(struct swarm *w);

/* swarm_people.c */
void swarm_person(struct swarm *w, struct faults_item *i);

#endif
