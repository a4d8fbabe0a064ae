/* One simulated inference service, request by request: loop.md section 8. Arrivals (open, closed-loop users, repeats) ->
 * feature fetch with a limit on how many at a time -> one pooled queue with a cap -> greedy batches on G GPUs.
 * Deterministic: configuration, seed and the calls made give the same bytes on every compiler. One flat block of memory,
 * so that a clone is a copy. Time is plant time in microseconds, 0 at creation (a Monday 00:00 for the daily wave). */
#ifndef SIM_PLANT_H
#define SIM_PLANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "sim/load.h"
#include "sim/plant_config.h"
#include "sim/plant_fault.h"

struct plant;

/* NULL and *e on a bad configuration or lack of memory. `sizes` (may be NULL): work sizes as load_tables_sizes takes
 * them; else built-in lognormal sizes. */
struct plant *plant_new(const struct plant_config *c, uint64_t seed, struct err *e);
struct plant *plant_new_sizes(const struct plant_config *c, uint64_t seed, double *sizes, size_t n, struct err *e);
struct plant *plant_clone(const struct plant *p);  /* NULL: out of memory */
void plant_free(struct plant *p);                  /* takes NULL */
/* Forks every stream of chance by `purpose`: a twin with the same state and another future. */
void plant_reseed(struct plant *p, const char *purpose);

/* Adds a scheduled fault; LIMIT when there are PLANT_FAULTS_MAX, INVALID as fault_check says. */
enum status plant_fault_add(struct plant *p, const struct plant_fault *f, struct err *e);
/* Ends every fault now; those still to come are dropped. What they broke heals by itself (replicas start again). */
void plant_faults_lift(struct plant *p);

/* Runs until `until_us`. Many small calls end in the same state as one large call. Earlier than now: does nothing. */
void plant_advance(struct plant *p, int64_t until_us);
int64_t plant_now_us(const struct plant *p);

/* Knobs: batch_max, concurrency, feature_cache_mb, replicas, placebo. Values are text, as a server takes them. */
const char *const *plant_knob_names(size_t *ret_n);
/* Appends the value in force. NOT_FOUND: no such knob. */
enum status plant_knob_get(const struct plant *p, const char *knob, struct buf *out, struct err *e);
/* Whole numbers only (placebo: any). INVALID (a server's 400) when it is no number or outside the knob's limits;
 * with knob_clamps a value outside is clamped instead. On OK *ret_in_force (may be NULL) is the value then in force. */
enum status plant_knob_set(struct plant *p, const char *knob, const char *text, size_t len, double *ret_in_force,
                           struct err *e);
/* Counts successful knob changes since creation: an ETag. */
uint64_t plant_knob_version(const struct plant *p);
/* A restart as an operator or a crash does it: what is inside fails, counters and cache start anew. */
void plant_restart(struct plant *p);
uint64_t plant_restarts(const struct plant *p);   /* since creation: by fault, memory or hand */
/* false: restarting or reloading; connections are refused and there is no page. */
bool plant_up(const struct plant *p);

/* What truly happened since the last call (or creation), independent of scrapes and restarts. */
struct plant_window {
    double seconds;
    uint64_t offered, completed, refused, failed, timeouts;
    double p50_ms, p99_ms, mean_ms;   /* of completed requests; NaN when none */
    double queue;                     /* mean number waiting for a fetch slot or a batch */
    double gpu_util;                  /* kernel time over replicas x time */
    double throughput;                /* completed per second */
    double fetch_ms, kernel_ms, batch; /* means; NaN when none */
    double batch_peak;                /* the largest batch of each 100 ms: it is what needs memory; mean */
    double cache_hit;                 /* ratio; NaN when no lookup */
    double gpu_memory;                /* used part of a replica's memory, at the end */
    double replicas;                  /* serving, mean */
    double batch_limit, concurrency_limit;   /* settings in force at the end; of flows only, else 0 */
    double replica_spread;            /* kernel time of the slowest replica over the median; of flows only, else 0 */
};
void plant_window_take(struct plant *p, struct plant_window *ret);

/* The model_version in service. */
const char *plant_version(const struct plant *p);

/* A hash over the whole state. */
uint64_t plant_digest(const struct plant *p);
/* Appends the state as bytes (same format on every little-endian machine). */
void plant_save(const struct plant *p, struct buf *out);
/* CORRUPT when the bytes are not a state that plant_save of this build wrote. */
enum status plant_load(const void *bytes, size_t len, struct plant **ret, struct err *e);

#endif
