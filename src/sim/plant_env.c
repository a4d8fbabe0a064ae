#include "sim/plant_env.h"

#include <math.h>
#include <string.h>

#include "base/time.h"
#include "sim/load.h"
#include "stats/dist.h"
#include "stats/elem.h"

struct forces { double of[FAULT_KINDS]; };  /* factors multiplied, sizes added, over the active faults */

static double draw_normal(struct plant_env *v) { return stats_draw_normal(&v->rng, 0, 1); }

static void carry_out_once(struct plant_env *v, unsigned i, int64_t now_us)
{
    const struct plant_fault *f = &v->fault[i];
    uint64_t bit = UINT64_C(1) << i;
    if (now_us < f->at_us || (v->faults_done & bit)) return;
    v->faults_done |= bit;
    if (f->kind == FAULT_RESTART) v->restart_due = 1;
}

static void forces_now(struct plant_env *v, int64_t now_us, struct forces *r)
{
    const char *version = "v1";
    for (unsigned k = 0; k < FAULT_KINDS; k++) r->of[k] = fault_neutral((enum fault_kind)k);
    v->bad_instance = PLANT_GPUS_MAX;
    for (unsigned i = 0; i < v->fault_count; i++) {
        const struct plant_fault *f = &v->fault[i];
        double now = fault_value(f, now_us), neutral = fault_neutral((enum fault_kind)f->kind);
        bool active = now_us >= f->at_us && (f->until_us == 0 || now_us < f->until_us);
        r->of[f->kind] = neutral > 0 ? r->of[f->kind] * now : r->of[f->kind] + now;
        if (active && f->kind == FAULT_BAD_INSTANCE) v->bad_instance = f->instance;
        if (active && f->kind == FAULT_RELEASE) version = f->version;
        carry_out_once(v, i, now_us);
    }
    if (strncmp(version, v->version, sizeof v->version) != 0) {
        memset(v->version, 0, sizeof v->version);
        memcpy(v->version, version, strlen(version));
        v->version_changes++;
    }
}

/* A second of an AR(1) process of standard deviation `sigma` that forgets in `tau_s`. */
struct wander { double keep, push; };

static struct wander wander_of(double sigma, double tau_s)
{
    double keep = stats_exp(-1.0 / tau_s);
    return (struct wander){keep, sqrt(1.0 - keep * keep) * sigma};
}

enum { SECONDS_AT_ONCE = 32 };

/* Every second that has passed, drawn in turn for load and fetch. */
static void wobble_step(struct plant_env *v, int64_t now_us)
{
    const struct plant_config *c = &v->config;
    struct wander load = wander_of(c->load_sigma, c->load_tau_s), fetch = wander_of(c->fetch_wobble, c->fetch_tau_s);
    while (v->next_slow_us <= now_us) {
        double chance[2 * SECONDS_AT_ONCE];
        int64_t due = (now_us - v->next_slow_us) / US_PER_S + 1;
        unsigned n = due < SECONDS_AT_ONCE ? (unsigned)due : SECONDS_AT_ONCE;
        stats_draw_normals(&v->slow_rng, chance, 2 * n);
        for (unsigned i = 0; i < n; i++) {
            v->wobble = load.keep * v->wobble + load.push * chance[2 * i];
            v->fetch_wobble = fetch.keep * v->fetch_wobble + fetch.push * chance[2 * i + 1];
        }
        v->next_slow_us += n * US_PER_S;
    }
}

static void load_step(struct plant_env *v, int64_t now_us, const struct forces *f)
{
    const struct plant_config *c = &v->config;
    struct load_days days = {
        .amp = c->day_amp, .monday = c->monday, .weekend = c->weekend, .holiday = c->holiday,
        .holiday_first = c->holiday_first, .holiday_every = c->holiday_every,
        .cron_every = c->cron_every, .cron_minutes = c->cron_minutes, .cron_load = c->cron_load,
    };
    int64_t users_us = now_us + v->calendar_us + (int64_t)(f->of[FAULT_SEASON_SHIFT] * (double)US_PER_HOUR);
    double rate = c->rate * load_season(users_us, &days) * f->of[FAULT_LOAD];
    rate *= stats_exp(v->wobble - 0.5 * c->load_sigma * c->load_sigma);
    v->open_per_s = rate * (1.0 - c->closed_share);
    /* As many users as give their share of the load while answers take the usual 30 ms. */
    v->closed_users = rate * c->closed_share * (c->think_s + 0.030);
}

static void count_lookups(struct plant_env *v, double requests)
{
    double n = requests * v->config.lookups;
    double hits = n * v->hit + sqrt(n * v->hit * (1.0 - v->hit)) * draw_normal(v);
    if (hits > n) hits = n;
    v->lookups_carry += n;
    v->hits_carry += hits > 0 ? hits : 0;
    uint64_t whole = (uint64_t)v->lookups_carry, whole_hits = (uint64_t)v->hits_carry;
    v->lookups_carry -= (double)whole;
    v->hits_carry -= (double)whole_hits;
    v->lookups += whole;
    v->hits += whole_hits;
}

static void data_step(struct plant_env *v, double dt_s, double requests, const struct forces *f)
{
    const struct plant_config *c = &v->config;
    count_lookups(v, requests);
    double filled = requests * c->lookups * (1.0 - v->hit) * c->cache_item_kb / 1024.0;
    v->cache_fill_mb = fmin(v->cache_fill_mb + filled, v->cache_mb);
    v->hit = v->cache_fill_mb / (v->cache_fill_mb + c->cache_scale_mb * f->of[FAULT_WORKING_SET]);
    double hit_at_start = c->feature_cache_mb / (c->feature_cache_mb + c->cache_scale_mb);
    double misses = c->rate > 0 ? requests / dt_s / c->rate * (1.0 - v->hit) / (1.0 - hit_at_start) : 0;
    double use = fmin(c->upstream_other + c->upstream_self * misses, 0.98);
    double ms = v->hit * c->fetch_hit_ms + (1.0 - v->hit) * c->fetch_miss_ms / (1.0 - use);
    v->loss = fmin(f->of[FAULT_LOSS], 0.5);
    v->fetch_ms = ms * f->of[FAULT_UPSTREAM] * stats_exp(v->fetch_wobble);
}

static void memory_step(struct plant_env *v, double dt_s, double peak_batch, const struct forces *f)
{
    const struct plant_config *c = &v->config;
    double item = c->mem_item_mb + c->mem_work_mb * f->of[FAULT_WORK];
    double room = c->mem_mb * (1.0 - f->of[FAULT_FRAGMENTATION]) - c->mem_model_mb - v->cache_fill_mb;
    double limit = item > 0 ? floor(room / item) : PLANT_BATCH_MAX;
    v->batch_limit = (uint32_t)fmin(fmax(limit, 1), PLANT_BATCH_MAX);
    v->leaked_mb += f->of[FAULT_LEAK] * 0.01 * c->mem_mb / 3600.0 * dt_s;
    v->used_mb = c->mem_model_mb + v->cache_fill_mb + peak_batch * item + v->leaked_mb;
}

/* Over 92 % of the memory the host starts to suffer, at 100 % the process dies. */
static void host_step(struct plant_env *v, const struct forces *f)
{
    const struct plant_config *c = &v->config;
    double crowd = fmax(0, v->concurrency - c->conc_free) / c->cores;
    double pressure = fmin(fmax((v->used_mb / c->mem_mb - 0.92) / 0.08, 0), 1);
    v->host_ms = c->host_ms * f->of[FAULT_HOST] * (1.0 + c->host_conc * crowd) * (1.0 + 2.0 * pressure);
    if (v->used_mb >= c->mem_mb) v->restart_due = 1;
}

/* A triangle of 4 minutes between -1 and 1. */
static double triangle(int64_t now_us)
{
    double part = (double)(now_us % (4 * US_PER_MIN)) / (double)(4 * US_PER_MIN);
    return part < 0.5 ? 4.0 * part - 1.0 : 3.0 - 4.0 * part;
}

static void kernel_step(struct plant_env *v, int64_t now_us, const struct forces *f)
{
    const struct plant_config *c = &v->config;
    v->kernel_base_ms = c->kernel_base_ms;
    v->kernel_item_ms = c->kernel_item_ms * f->of[FAULT_WORK];
    v->kernel_knee_ms = c->kernel_knee_ms;
    v->kernel_factor = f->of[FAULT_KERNEL] * f->of[FAULT_RELEASE];
    v->bad_factor = f->of[FAULT_BAD_INSTANCE];
    v->swing = v->batch_max > 32 ? f->of[FAULT_SWING] * triangle(now_us) : 0;
}

void env_init(struct plant_env *v, const struct plant_config *c, const struct prng *rng)
{
    memset(v, 0, sizeof *v);
    v->config = *c;
    v->rng = *rng;
    v->batch_max = c->batch_max;
    v->concurrency = c->concurrency;
    v->cache_mb = v->cache_fill_mb = c->feature_cache_mb;
    v->replicas = c->replicas;
    v->placebo = c->placebo;
    const double shown[5] = {c->batch_max, c->concurrency, c->feature_cache_mb, c->replicas, c->placebo};
    memcpy(v->shown, shown, sizeof shown);
    v->hit = v->cache_mb / (v->cache_mb + c->cache_scale_mb);
    env_reseed(v, rng);
    v->wobble = c->load_sigma * stats_draw_normal(&v->slow_rng, 0, 1);
    memcpy(v->version, "v1", 2);
}

void env_reseed(struct plant_env *v, const struct prng *root) { prng_fork(&v->slow_rng, root, "wobble"); }

void env_step(struct plant_env *v, int64_t now_us, double dt_s, double requests, double peak_batch)
{
    struct forces f;
    forces_now(v, now_us, &f);
    v->lost = (uint32_t)f.of[FAULT_REPLICAS_LOST];
    wobble_step(v, now_us);
    load_step(v, now_us, &f);
    data_step(v, dt_s, requests, &f);
    memory_step(v, dt_s, peak_batch, &f);
    host_step(v, &f);
    kernel_step(v, now_us, &f);
}

void env_restarted(struct plant_env *v, bool cold)
{
    v->restart_due = 0;
    v->leaked_mb = 0;
    if (!cold) return;
    v->cache_fill_mb = 0;
    v->restarts++;
}

enum status env_fault_add(struct plant_env *v, const struct plant_fault *f, struct err *e)
{
    enum status s = fault_check(f, e);
    if (s != STATUS_OK) return s;
    if (v->fault_count == PLANT_FAULTS_MAX)
        return err_set(e, STATUS_LIMIT, "more than %d faults in one plant", PLANT_FAULTS_MAX);
    v->fault[v->fault_count++] = *f;
    return STATUS_OK;
}

void env_faults_lift(struct plant_env *v)
{
    memset(v->fault, 0, sizeof v->fault);
    v->fault_count = v->faults_done = 0;
}
