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

#define SWARM_SERVICES 8
#define SWARM_INSTANCES 3
#define SWARM_POLICIES 64
#define SWARM_PROCESSES 2
#define SWARM_LEASE SPAN_S(15)      /* a leader that has not renewed it for so long is followed by the other process */

enum later_kind {
    LATER_SEND, LATER_LAND, LATER_ANSWER, LATER_SAMPLE, LATER_READ, LATER_DURABLE, LATER_ACK, LATER_SECOND, LATER_COMMAND,
    LATER_FAULT, LATER_CALM, LATER_RESTART, LATER_VALUES, LATER_RELEASE, LATER_TAKEOVER, LATER_LEASE
};

struct swarm_append {
    struct swarm_append *next;
    uint64_t token;
    uint16_t service;
    struct record *records;      /* copies in the log's arena */
    uint32_t n;
    struct span ack_delay;
    uint8_t fate;                /* enum append_fate */
};

struct later {
    enum later_kind kind;
    uint32_t life;               /* of the process that waits for it; 0: the world's own */
    uint16_t service, knob, item;
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
    struct swarm_value at[SWARM_INSTANCES], boot;
    uint64_t version;
};

enum append_fate { APPEND_GOOD, APPEND_FAILS, APPEND_UNSURE, APPEND_FATAL };

/* A window of the configuration, by local time in a zone that keeps one offset while the runs last (May 2026). */
struct swarm_window {
    enum freeze_kind kind;
    uint8_t zone;                /* swarm_zones */
    uint16_t from, minutes;      /* minutes of the local day; it may run over midnight */
    bool first_only;             /* of a fleet only the first service */
};
struct swarm_zone { const char *name; int16_t offset_min; };
extern const struct swarm_zone swarm_zones[];
#define SWARM_WINDOWS 2

/* One service of the fleet, as it truly is. */
struct swarm_service {
    struct swarm *w;
    uint16_t index;
    struct service_def *def;     /* in the policy in force */
    struct fluid *fluid;
    struct swarm_knob knobs[POLICY_KNOBS_MAX];
    struct invariants *inv;
    double frozen_values[POLICY_SIGNALS_MAX];
    bool have_frozen;
    struct buf state;            /* its saved baselines */
    struct instant state_at;
};

/* A daemon. Mostly there is one; a takeover brings a second over the same log, and then the newest fencing token leads. */
struct swarm_process {
    struct loop *loop;           /* NULL while it is dead */
    uint32_t life;
    uint64_t token;
    bool told;                   /* it knows that it leads no longer */
    struct instant wake;         /* in the loop's own time */
    int64_t mono_offset;         /* loop instant - true time */
    int64_t step_before;         /* wall_step before the clock was set; matters until doubt_until */
    struct instant doubt_until;
    bool slept;                  /* a standstill or sleep makes it less than clear which step the loop has seen */
    struct instant paused_until;
    bool kill_asked;
    struct span kill_len;
    struct swarm_append *queue, **queue_end;
    struct instant last_durable, last_ack;
    unsigned acks;               /* on their way */
    bool store_frozen, fold_all;
    uint32_t fold_wanted;        /* a bit a service */
    bool giving_log;             /* records are being folded: the loop's picture is not whole */
};

struct inv_fleet;
struct swarm_disk;

struct swarm {
    struct swarm_options o;
    struct swarm_result *result;
    struct prng chance;
    struct policy *policies[SWARM_POLICIES];
    unsigned policy_n;
    struct policy *policy;
    struct swarm_service services[SWARM_SERVICES];
    unsigned n;
    struct swarm_service *about; /* whom a violation is about; NULL: all */
    struct swarm_process processes[SWARM_PROCESSES], *p;   /* p: the one that something happens to */
    uint32_t lives;
    uint64_t lease;              /* newest fencing token given out */
    struct heap heap;
    struct faults faults;
    struct inv_fleet *fleet;
    struct instant now, next_values, active_end, end;
    int64_t wall_step;           /* wall - (start + true time) */
    bool calm;
    /* shape */
    unsigned instances;
    enum control_cas cas;
    uint8_t mode;
    bool real;                   /* the log is the real store */
    bool hurried, eager;         /* eager: the fleet may change several services at a time */
    uint8_t groups;              /* services a group; 0: none */
    uint8_t per_hour;
    struct swarm_window windows[SWARM_WINDOWS];
    unsigned window_n;
    bool calls;                  /* the first service depends on the last one */
    /* the log, as it is durable */
    struct arena log_arena;
    struct record **log;
    size_t log_n, log_cap;
    struct swarm_disk *disk;     /* the real store over a bad disk; NULL: a list is the log */
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

/* swarm_shape.c: what a seed is */
void swarm_shape(struct swarm *w);
bool swarm_policies(struct swarm *w, struct err *e);
struct policy *swarm_policy(struct swarm *w, struct err *e);
bool swarm_policy_invalid(struct swarm *w, struct prng *chance);      /* false: a broken file was taken, or nothing was said */
void swarm_adopt(struct swarm *w, struct policy *p);

/* swarm_happen.c: what is due now */
void swarm_happen(struct swarm *w, struct later *l);
void swarm_leader(struct swarm *w);                                   /* p := the process that leads */

/* swarm_target.c */
void swarm_target_init(struct swarm_service *s);
void swarm_send(struct swarm_service *s, struct later *l);
void swarm_land(struct swarm_service *s, struct later *l);
void swarm_sample(struct swarm_service *s, struct later *l);
void swarm_hand(struct swarm_service *s, struct faults_item *i);
bool swarm_uniform(const struct swarm_service *s, unsigned knob, struct swarm_value *ret);

/* swarm_metrics.c */
void swarm_values(struct swarm *w);
void swarm_history(struct swarm *w);
void swarm_see(struct swarm_service *s, const uint16_t *signals, const struct point *points, uint32_t n);

/* swarm_store.c */
void swarm_append(struct swarm *w, const struct effect *f);
void swarm_durable(struct swarm *w);
void swarm_ack(struct swarm *w, struct later *l);
void swarm_second(struct swarm *w);
void swarm_look_again(struct swarm *w);
void swarm_store_dies(struct swarm *w);
void swarm_store_trouble(struct swarm *w);
void swarm_fold(struct swarm *w, uint32_t services);
/* A record that is durable now: it becomes part of the log that everybody sees. */
void swarm_keep(struct swarm *w, const struct record *r);

/* swarm_life.c */
bool swarm_start(struct swarm *w);
void swarm_kill(struct swarm *w, struct span down);
void swarm_kill_at(struct swarm *w, enum faults_kind k, uint16_t service);
void swarm_fault(struct swarm *w, struct faults_item *i);
void swarm_arm(struct swarm *w, const struct record *r);
void swarm_calm(struct swarm *w);
void swarm_takeover(struct swarm *w);
void swarm_lease(struct swarm *w);
static inline bool swarm_leads(const struct swarm *w) { return w->p->token == w->lease; }

/* swarm_people.c */
void swarm_person(struct swarm *w, struct faults_item *i);
void swarm_halt_at_write(struct swarm *w, uint16_t service);

static inline struct faults_item *swarm_fault_now(struct swarm_service *s, enum faults_kind k)
{
    return faults_now(&s->w->faults, k, s->index, s->w->now);
}

#endif
