#include "sim/plant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/plant_state.h"

#define PLANT_MAGIC UINT64_C(0x31746e616c706d74)  /* "tmplant1" on disk */

/* Bytes are the state: a hole between fields would make digests depend on what lay there before. */
_Static_assert(sizeof(struct plant_node) == 32, "a node has no holes");
_Static_assert(sizeof(struct plant_gpu) == 72 + 2 * PLANT_BATCH_MAX, "a gpu has no holes");
_Static_assert(sizeof(struct plant_ring) == 8 + 2 * PLANT_NODES, "a ring has no holes");
_Static_assert(sizeof(struct plant_fault) == 40 + PLANT_VERSION_MAX, "a fault has no holes");
_Static_assert(sizeof(struct plant_env) % 8 == 0, "the surroundings have no hole at their end");
_Static_assert(sizeof(struct plant_totals) % 8 == 0 && sizeof(struct plant) % 8 == 0, "whole words");

static void fork_streams(struct plant *p, const struct prng *root)
{
    prng_fork(&p->arrival_rng, root, "arrivals");
    prng_fork(&p->request_rng, root, "requests");
    prng_fork(&p->kernel_rng, root, "kernels");
    prng_fork(&p->env.rng, root, "surroundings");
}

static void start(struct plant *p, const struct plant_config *c, uint64_t seed)
{
    struct prng root, surroundings;
    prng_seed(&root, seed);
    prng_fork(&surroundings, &root, "surroundings at start");
    env_init(&p->env, c, &surroundings);
    fork_streams(p, &root);
    plant_flow_drop(p);
    for (uint32_t g = 0; g < (uint32_t)c->replicas; g++) p->gpu[g].phase = GPU_IDLE;
    p->idle = (uint32_t)c->replicas;
    p->until_arrival = load_exp(&p->tables, &p->arrival_rng);
    plant_flow_find_done(p);
}

struct plant *plant_new_sizes(const struct plant_config *c, uint64_t seed, double *sizes, size_t n, struct err *e)
{
    if (plant_config_check(c, e) != STATUS_OK) return NULL;
    struct plant *p = calloc(1, sizeof *p);
    if (!p) {
        err_set(e, STATUS_MEMORY, "out of memory for a simulated service (%zu bytes)", sizeof *p);
        return NULL;
    }
    p->magic = PLANT_MAGIC;
    load_tables_init(&p->tables, &(struct load_spread){c->work_sigma, c->kernel_noise, c->fetch_noise});
    if (sizes && n > 0) load_tables_sizes(&p->tables, sizes, n);
    start(p, c, seed);
    return p;
}

struct plant *plant_new(const struct plant_config *c, uint64_t seed, struct err *e)
{
    return plant_new_sizes(c, seed, NULL, 0, e);
}

struct plant *plant_clone(const struct plant *p)
{
    struct plant *copy = malloc(sizeof *copy);
    if (copy) memcpy(copy, p, sizeof *copy);
    return copy;
}

void plant_free(struct plant *p) { free(p); }

void plant_reseed(struct plant *p, const char *purpose)
{
    struct prng root;
    prng_fork(&root, &p->env.rng, purpose);
    fork_streams(p, &root);
    env_reseed(&p->env, &root);
}

enum status plant_fault_add(struct plant *p, const struct plant_fault *f, struct err *e)
{
    return env_fault_add(&p->env, f, e);
}

void plant_faults_lift(struct plant *p) { env_faults_lift(&p->env); }

enum status plant_knob_get(const struct plant *p, const char *knob, struct buf *out, struct err *e)
{
    return env_knob_get(&p->env, knob, out, e);
}

enum status plant_knob_set(struct plant *p, const char *knob, const char *text, size_t len, double *ret_in_force,
                           struct err *e)
{
    bool reload = false;
    enum status s = env_knob_set(&p->env, knob, text, len, ret_in_force, &reload, e);
    if (reload) plant_slow_down(p, p->now_ns + (int64_t)(p->env.config.reload_s * 1e9), false);
    return s;
}

uint64_t plant_knob_version(const struct plant *p) { return p->env.knob_version; }

void plant_advance(struct plant *p, int64_t until_us)
{
    int64_t until_ns = until_us * 1000;
    while (p->now_ns + PLANT_SLICE_NS <= until_ns) {
        if (p->now_ns >= p->next_slow_ns) {
            plant_slow_step(p);
            p->next_slow_ns += PLANT_SLOW_NS;
        }
        plant_flow_slice(p);
        p->now_ns += PLANT_SLICE_NS;
    }
}

int64_t plant_now_us(const struct plant *p) { return p->now_ns / 1000; }
const char *plant_version(const struct plant *p) { return p->env.version; }
uint64_t plant_restarts(const struct plant *p) { return p->env.restarts; }
bool plant_up(const struct plant *p) { return p->down_until_ns == 0; }

void plant_restart(struct plant *p)
{
    plant_slow_down(p, p->now_ns + (int64_t)(p->env.config.restart_s * 1e9), true);
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : (double)NAN; }

static void window_times(const struct plant *p, struct plant_window *w)
{
    struct plant_hist h;
    hist_difference(&h, &p->totals.latency, &p->window_base.latency);
    w->p50_ms = hist_quantile_ms(&h, 0.50);
    w->p99_ms = hist_quantile_ms(&h, 0.99);
    w->mean_ms = hist_mean_ms(&h);
    hist_difference(&h, &p->totals.fetch, &p->window_base.fetch);
    w->fetch_ms = hist_mean_ms(&h);
    hist_difference(&h, &p->totals.kernel, &p->window_base.kernel);
    w->kernel_ms = hist_mean_ms(&h);
}

void plant_window_take(struct plant *p, struct plant_window *ret)
{
    const struct plant_totals *now = &p->totals, *was = &p->window_base;
    struct plant_window w = {.seconds = (double)(p->now_ns - p->window_ns) * 1e-9};
    w.offered = now->offered - was->offered;
    w.completed = now->completed - was->completed;
    w.refused = now->refused - was->refused;
    w.failed = now->failed - was->failed;
    w.timeouts = now->timeouts - was->timeouts;
    w.queue = ratio((double)(now->queue_slices - was->queue_slices), (double)(now->slices - was->slices));
    w.gpu_util = ratio((double)(now->busy_ns - was->busy_ns), (double)(now->gpu_ns - was->gpu_ns));
    w.throughput = ratio((double)w.completed, w.seconds);
    w.batch = ratio((double)(now->items - was->items), (double)(now->batches - was->batches));
    w.batch_peak = ratio((double)(now->peaks - was->peaks), (double)(now->peak_steps - was->peak_steps));
    w.cache_hit = ratio((double)(now->hits - was->hits), (double)(now->lookups - was->lookups));
    w.replicas = ratio((double)(now->gpu_ns - was->gpu_ns) * 1e-9, w.seconds);
    w.gpu_memory = p->env.used_mb / p->env.config.mem_mb;
    window_times(p, &w);
    p->window_base = p->totals;
    p->window_ns = p->now_ns;
    *ret = w;
}

static uint64_t hash_words(const void *bytes, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, (const char *)bytes + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    return h;
}

uint64_t plant_digest(const struct plant *p) { return hash_words(p, sizeof *p); }

void plant_save(const struct plant *p, struct buf *out)
{
    buf_le64(out, sizeof *p);
    buf_le64(out, plant_digest(p));
    buf_add(out, p, sizeof *p);
}

enum status plant_load(const void *bytes, size_t len, struct plant **ret, struct err *e)
{
    struct reader r = {.p = bytes, .len = len};
    uint64_t size = read_le64(&r), digest = read_le64(&r);
    if (r.failed || size != sizeof(struct plant) || len - r.at != sizeof(struct plant))
        return err_set(e, STATUS_CORRUPT, "not a saved plant of this build: wrong length");
    struct plant *p = malloc(sizeof *p);
    if (!p) return err_set(e, STATUS_MEMORY, "out of memory for a saved plant");
    memcpy(p, (const char *)bytes + r.at, sizeof *p);
    if (p->magic != PLANT_MAGIC || plant_digest(p) != digest) {
        free(p);
        return err_set(e, STATUS_CORRUPT, "saved plant is damaged: its checksum does not match");
    }
    *ret = p;
    return STATUS_OK;
}
