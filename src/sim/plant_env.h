/* What changes slowly around a simulated service: load, faults, cache, upstream, memory, host, knobs, version. Shared by the
 * request-by-request plant and the fluid one, so that both live in the same world. Private to plant*.c, fluid*.c, page*.c.
 * Plain data without pointers and holes. */
#ifndef SIM_PLANT_ENV_H
#define SIM_PLANT_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/prng.h"
#include "base/status.h"
#include "sim/plant_config.h"
#include "sim/plant_fault.h"

enum { PLANT_FAULTS_MAX = 32, PLANT_GPUS_MAX = 64, PLANT_BATCH_MAX = 256 };

struct plant_env {
    struct plant_config config;  /* as created; the knobs below hold what is in force */
    struct prng rng;
    struct prng slow_rng;        /* of load and fetch wobble, once a second: both forms of one seed see the same path */
    int64_t next_slow_us;
    double batch_max, concurrency, cache_mb, replicas, placebo;
    uint64_t knob_version, version_changes, restarts;   /* restarts: with a cold cache, not reloads */
    char version[PLANT_VERSION_MAX];
    uint64_t fault_count, faults_done;   /* bits of one-time faults already carried out */
    struct plant_fault fault[PLANT_FAULTS_MAX];

    int64_t calendar_us;         /* plant time 0 lies so long after a Monday 00:00; for a past before the start it is negative */
    double shown[5];             /* with knobs_dead: what reads of the knobs say */
    double wobble;               /* log of M */
    double open_per_s, closed_users;
    double hit, cache_fill_mb, fetch_ms, fetch_wobble, loss;
    double leaked_mb, used_mb;
    double host_ms, kernel_base_ms, kernel_item_ms, kernel_knee_ms, kernel_factor, bad_factor, swing;
    double lookups_carry, hits_carry;
    uint64_t lookups, hits;      /* ever */
    uint32_t bad_instance, batch_limit, lost, restart_due;
};

/* Configuration is valid. `rng` is taken over by value. */
void env_init(struct plant_env *v, const struct plant_config *c, const struct prng *rng);
/* Another path of load and fetch wobble from here on. */
void env_reseed(struct plant_env *v, const struct prng *root);
/* The step at `now_us` after `dt_s` seconds in which `requests` were let in and the largest batch was `peak_batch`. Sets
 * restart_due when a restart fault fires or memory is exhausted; the caller restarts the process and clears it. */
void env_step(struct plant_env *v, int64_t now_us, double dt_s, double requests, double peak_batch);
/* A new process: leak gone; cold: cache empty. */
void env_restarted(struct plant_env *v, bool cold);
enum status env_fault_add(struct plant_env *v, const struct plant_fault *f, struct err *e);
void env_faults_lift(struct plant_env *v);

/* See plant_knob_get, plant_knob_set. *ret_reload: batch_max changed on a server that reloads for it. */
enum status env_knob_get(const struct plant_env *v, const char *knob, struct buf *out, struct err *e);
enum status env_knob_set(struct plant_env *v, const char *knob, const char *text, size_t len, double *ret_in_force,
                         bool *ret_reload, struct err *e);

#endif
