/* The state behind plant.h. Private to plant*.c and page*.c. Plain data without pointers and without holes: digest, save and
 * clone work on its bytes. */
#ifndef SIM_PLANT_STATE_H
#define SIM_PLANT_STATE_H

#include "sim/plant.h"
#include "sim/plant_env.h"
#include "sim/plant_hist.h"

/* Requests inside at most: waiting (8,000), fetching and in batches together. A power of two: the rings wrap by mask. */
enum { PLANT_NODES = 16384, PLANT_WHEEL = 8192, PLANT_ATTEMPTS = 4, PLANT_NONE = 0xffff };
/* Fetches end in slices; wheel x slice = 409.6 ms is the longest fetch. */
#define PLANT_SLICE_NS INT64_C(50000)
#define PLANT_SLOW_NS INT64_C(100000000)   /* load, cache, memory, faults change in such steps */
#define PLANT_FETCH_MAX_NS ((PLANT_WHEEL - 2) * PLANT_SLICE_NS)
#define PLANT_NEVER INT64_MAX

struct plant_node {              /* a request inside */
    int64_t arrived_ns, ready_ns;
    int32_t fetch_ns;
    float work;
    uint16_t next;               /* in its list */
    uint8_t attempt, closed;     /* repeats so far; from a closed-loop user */
    uint32_t unused;
};

enum gpu_phase { GPU_ABSENT, GPU_STARTING, GPU_PENDING, GPU_IDLE, GPU_BUSY };

struct plant_gpu {
    int64_t free_ns;             /* BUSY: end of the batch; IDLE: since */
    int64_t start_ns;            /* STARTING: when it will serve */
    int64_t kernel_ns;           /* of the running batch */
    uint64_t busy_ns, batches, items;  /* since process start */
    int64_t begin_ns;            /* of the running batch */
    uint32_t phase, n, retire, unused;
    uint16_t batch[PLANT_BATCH_MAX];
};

/* Ever growing; the page shows the difference to `page_base`. */
struct plant_totals {
    uint64_t offered, completed, refused, failed, timeouts, repeats, batches, items, busy_ns, queue_slices, gpu_ns,
        lookups, hits, slices, peaks, peak_steps;
    struct plant_hist latency, fetch, kernel, wait;
};

struct plant_ring { uint32_t head, tail; uint16_t at[PLANT_NODES]; };

struct plant {
    uint64_t magic;
    struct plant_env env;
    struct load_tables tables;
    struct prng arrival_rng, request_rng, kernel_rng;

    int64_t now_ns, next_slow_ns;
    int64_t down_until_ns;       /* not serving before; 0 = serving */
    int64_t process_start_us;
    uint64_t admitted_before;    /* offered - refused at the last slow step */

    /* flow */
    double until_arrival;        /* exponential units left until the next arrival */
    uint64_t repeats_waiting[PLANT_ATTEMPTS];
    uint64_t closed_inside;
    int64_t next_done_ns;        /* least free_ns of the busy GPUs */
    uint32_t next_done, idle, fetching, free_node, slots, peak_batch;
    struct plant_gpu gpu[PLANT_GPUS_MAX];
    struct plant_ring slot_wait, queue;
    uint16_t wheel[PLANT_WHEEL];
    struct plant_node node[PLANT_NODES];

    struct plant_totals totals, page_base, window_base;
    int64_t window_ns;
};

static inline uint32_t ring_count(const struct plant_ring *r) { return r->tail - r->head; }
static inline void ring_push(struct plant_ring *r, uint32_t node) { r->at[r->tail++ & (PLANT_NODES - 1)] = (uint16_t)node; }
static inline uint32_t ring_first(const struct plant_ring *r) { return r->at[r->head & (PLANT_NODES - 1)]; }
static inline uint32_t ring_pop(struct plant_ring *r) { return r->at[r->head++ & (PLANT_NODES - 1)]; }

/* plant_flow.c: one slice of 50 us starting at now_ns. */
void plant_flow_slice(struct plant *p);
/* Everything inside fails (restart). */
void plant_flow_drop(struct plant *p);
void plant_flow_find_done(struct plant *p);
/* plant_slow.c: the step at now_ns. */
void plant_slow_step(struct plant *p);
/* A gap in service until `until_ns`; the process that comes after it has fresh counters. */
void plant_slow_down(struct plant *p, int64_t until_ns, bool cold_cache);
/* plant_scale.c: bring the replicas towards the wanted number at now_ns. */
void plant_scale(struct plant *p);

#endif
