/* What changes slowly: load, faults, cache, memory, host, versions; ten times a second. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"
#include "sim/plant_state.h"
#include "stats/elem.h"

#define SLOW_S ((double)PLANT_SLOW_NS * 1e-9)

struct forces { double of[FAULT_KINDS]; };  /* factors multiplied, sizes added, over the active faults */

static double draw_normal(struct plant *p)
{
    return (double)p->tables.normal[prng_u64(&p->slow_rng) % LOAD_NOISE_CELLS];
}

static void carry_out_once(struct plant *p, unsigned i)
{
    const struct plant_fault *f = &p->fault[i];
    uint64_t bit = UINT64_C(1) << i;
    if (p->now_ns / 1000 < f->at_us || (p->faults_done & bit)) return;
    p->faults_done |= bit;
    if (f->kind == FAULT_RESTART) plant_restart(p);
}

static void forces_now(struct plant *p, struct forces *r)
{
    const char *version = "v1";
    int64_t now_us = p->now_ns / 1000;
    for (unsigned k = 0; k < FAULT_KINDS; k++) r->of[k] = fault_neutral((enum fault_kind)k);
    p->bad_instance = PLANT_GPUS_MAX;
    for (unsigned i = 0; i < p->fault_count; i++) {
        const struct plant_fault *f = &p->fault[i];
        double v = fault_value(f, now_us), neutral = fault_neutral((enum fault_kind)f->kind);
        bool active = now_us >= f->at_us && (f->until_us == 0 || now_us < f->until_us);
        r->of[f->kind] = neutral > 0 ? r->of[f->kind] * v : r->of[f->kind] + v;
        if (active && f->kind == FAULT_BAD_INSTANCE) p->bad_instance = f->instance;
        if (active && f->kind == FAULT_RELEASE) version = f->version;
        carry_out_once(p, i);
    }
    if (strncmp(version, p->version, sizeof p->version) != 0) {
        memset(p->version, 0, sizeof p->version);
        memcpy(p->version, version, strlen(version));
        p->version_changes++;
    }
}

static void load_step(struct plant *p, const struct forces *f)
{
    const struct plant_config *c = &p->config;
    double keep = stats_exp(-SLOW_S / c->load_tau_s);
    p->wobble = keep * p->wobble + sqrt(1.0 - keep * keep) * c->load_sigma * draw_normal(p);
    double rate = c->rate * load_season(p->now_ns / 1000, c->day_amp, c->weekend) * f->of[FAULT_LOAD];
    rate *= stats_exp(p->wobble - 0.5 * c->load_sigma * c->load_sigma);
    p->open_per_ns = rate * (1.0 - c->closed_share) * 1e-9;
    /* As many users as give their share of the load while answers take the usual 30 ms. */
    p->closed_users = rate * c->closed_share * (c->think_s + 0.030);
    p->think_per_ns = 1e-9 / c->think_s;
    p->backoff_per_ns = 1e-6 / c->backoff_ms;
}

static void count_lookups(struct plant *p, double requests)
{
    double n = requests * p->config.lookups;
    double hits = n * p->hit + sqrt(n * p->hit * (1.0 - p->hit)) * draw_normal(p);
    if (hits > n) hits = n;
    p->lookups_carry += n;
    p->hits_carry += hits > 0 ? hits : 0;
    uint64_t whole = (uint64_t)p->lookups_carry, whole_hits = (uint64_t)p->hits_carry;
    p->lookups_carry -= (double)whole;
    p->hits_carry -= (double)whole_hits;
    p->totals.lookups += whole;
    p->totals.hits += whole_hits;
}

static void data_step(struct plant *p, const struct forces *f)
{
    const struct plant_config *c = &p->config;
    double requests = (double)(p->totals.offered - p->offered_before);
    p->offered_before = p->totals.offered;
    count_lookups(p, requests);
    double filled = requests * c->lookups * (1.0 - p->hit) * c->cache_item_kb / 1024.0;
    p->cache_fill_mb = fmin(p->cache_fill_mb + filled, p->cache_mb);
    p->hit = p->cache_fill_mb / (p->cache_fill_mb + c->cache_scale_mb * f->of[FAULT_WORKING_SET]);
    double hit_at_start = c->feature_cache_mb / (c->feature_cache_mb + c->cache_scale_mb);
    double misses = c->rate > 0 ? requests / SLOW_S / c->rate * (1.0 - p->hit) / (1.0 - hit_at_start) : 0;
    double use = fmin(c->upstream_other + c->upstream_self * misses, 0.98);
    double ms = p->hit * c->fetch_hit_ms + (1.0 - p->hit) * c->fetch_miss_ms / (1.0 - use);
    p->fetch_mean_ns = ms * 1e6 * f->of[FAULT_UPSTREAM];
}

static void memory_step(struct plant *p, const struct forces *f)
{
    const struct plant_config *c = &p->config;
    double item = c->mem_item_mb + c->mem_work_mb * f->of[FAULT_WORK];
    p->fragmentation = f->of[FAULT_FRAGMENTATION];
    double room = c->mem_mb * (1.0 - p->fragmentation) - c->mem_model_mb - p->cache_fill_mb;
    double limit = item > 0 ? floor(room / item) : PLANT_BATCH_MAX;
    p->batch_limit = (uint32_t)fmin(fmax(limit, 1), PLANT_BATCH_MAX);
    p->leaked_mb += f->of[FAULT_LEAK] * 0.01 * c->mem_mb / 3600.0 * SLOW_S;
    p->used_mb = c->mem_model_mb + p->cache_fill_mb + p->peak_batch * item + p->leaked_mb;
    p->peak_batch = 0;
}

/* Over 92 % of the memory the host starts to suffer, at 100 % the process dies. */
static void host_step(struct plant *p, const struct forces *f)
{
    const struct plant_config *c = &p->config;
    double crowd = fmax(0, p->concurrency - c->conc_free) / c->cores;
    double pressure = fmin(fmax((p->used_mb / c->mem_mb - 0.92) / 0.08, 0), 1);
    p->host_ns = c->host_ms * 1e6 * f->of[FAULT_HOST] * (1.0 + c->host_conc * crowd) * (1.0 + 2.0 * pressure);
    if (p->used_mb >= c->mem_mb && p->down_until_ns == 0)
        plant_slow_down(p, p->now_ns + (int64_t)(c->restart_s * 1e9), true);
}

/* A triangle of 4 minutes between -1 and 1. */
static double triangle(int64_t now_ns)
{
    double part = (double)(now_ns / 1000 % (4 * US_PER_MIN)) / (double)(4 * US_PER_MIN);
    return part < 0.5 ? 4.0 * part - 1.0 : 3.0 - 4.0 * part;
}

static void kernel_step(struct plant *p, const struct forces *f)
{
    const struct plant_config *c = &p->config;
    p->kernel_base_ns = c->kernel_base_ms * 1e6;
    p->kernel_item_ns = c->kernel_item_ms * 1e6 * f->of[FAULT_WORK];
    p->kernel_knee_ns = c->kernel_knee_ms * 1e6;
    p->kernel_factor = f->of[FAULT_KERNEL] * f->of[FAULT_RELEASE];
    p->bad_factor = f->of[FAULT_BAD_INSTANCE];
    p->swing = p->batch_max > 32 ? f->of[FAULT_SWING] * triangle(p->now_ns) : 0;
}

void plant_slow_down(struct plant *p, int64_t until_ns, bool cold_cache)
{
    plant_flow_drop(p);
    for (uint32_t g = 0; g < PLANT_GPUS_MAX; g++) {
        struct plant_gpu *gpu = &p->gpu[g];
        if (gpu->phase == GPU_BUSY) {
            gpu->phase = gpu->retire ? GPU_ABSENT : GPU_IDLE;
            if (!gpu->retire) p->idle++;
            gpu->retire = 0;
        }
        gpu->free_ns = until_ns;
    }
    plant_flow_find_done(p);
    p->down_until_ns = until_ns;
    p->leaked_mb = 0;
    if (cold_cache) p->cache_fill_mb = 0;
}

static void come_up(struct plant *p)
{
    p->down_until_ns = 0;
    p->process_start_us = p->now_ns / 1000;
    p->page_base = p->totals;
    for (uint32_t g = 0; g < PLANT_GPUS_MAX; g++) p->gpu[g].busy_ns = p->gpu[g].batches = p->gpu[g].items = 0;
}

void plant_slow_step(struct plant *p)
{
    struct forces f;
    if (p->down_until_ns != 0 && p->now_ns >= p->down_until_ns) come_up(p);
    forces_now(p, &f);
    p->lost = (uint32_t)f.of[FAULT_REPLICAS_LOST];
    load_step(p, &f);
    data_step(p, &f);
    memory_step(p, &f);
    host_step(p, &f);
    kernel_step(p, &f);
    plant_scale(p);
}
