#include "sim/fluid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/prng.h"
#include "base/time.h"
#include "sim/fluid_moments.h"
#include "sim/plant_env.h"
#include "stats/dist.h"
#include "stats/elem.h"

struct fluid_sums {
    double seconds, offered, completed, refused, failed, timeouts;
    double raw1, raw2, raw3;     /* of latency, weighted by completions */
    double worst_p99;
    double queue, busy, available, fetch, batches, kernel, peaks;
    double tail_part[TAILS], tail_ms[TAILS];   /* weighted by completions */
    uint64_t lookups, hits;      /* the surroundings' counters at the start of the window */
};

/* Plain data without holes, like struct plant. */
struct fluid {
    struct plant_env env;
    struct prng rng, starts;     /* starts of replicas draw from a stream of their own: scaling moves no other chance */
    int64_t now_us, down_until_us, process_start_us, step_us;
    int64_t ready_us[PLANT_GPUS_MAX];  /* replica serves from here on; INT64_MAX: it does not exist or found no place */
    double waiting_fetch;        /* for a fetch slot */
    double rhythm, excess;       /* for a batch: what a greedy server leaves by its gulps, and what piled up beyond */
    double latency_s, repeats, admitted, peak_batch;
    struct fluid_sums sums;
};

_Static_assert(sizeof(struct fluid) % 8 == 0 && sizeof(struct fluid_sums) == 23 * 8, "whole words");

/* Capacity of the moment, per second and in ms. */
struct stage {
    double serving, batch, full_ms, share, noise, rate;   /* full cycle; its batch-dependent part; items per second */
    struct tail tail[TAILS];     /* items through the bad replica and their longer cycle; items with a lost packet */
    double fetch_ms, fetch_rate, slots;
};

static void scale_replicas(struct fluid *f)
{
    const struct plant_config *c = &f->env.config;
    double wanted = f->env.replicas - (double)f->env.lost;
    for (unsigned i = 0; i < PLANT_GPUS_MAX; i++) {
        if ((double)i >= wanted) f->ready_us[i] = INT64_MAX;
        else if (f->ready_us[i] == INT64_MAX && (double)i < c->schedulable)
            f->ready_us[i] = f->now_us + (int64_t)(prng_between(&f->starts, c->start_min_s, c->start_max_s) * 1e6);
    }
}

static double serving(const struct fluid *f)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PLANT_GPUS_MAX; i++) n += f->ready_us[i] <= f->now_us;
    return n;
}

static double kernel_ms(const struct plant_env *v, double noise, double b)
{
    double over = fmax(0, b - v->config.kernel_knee);
    return v->kernel_factor * noise * (v->kernel_base_ms + v->kernel_item_ms * b + v->kernel_knee_ms * over * over);
}

static struct stage stage_now(const struct fluid *f)
{
    const struct plant_env *v = &f->env;
    struct stage s = {.serving = serving(f), .batch = fmin(v->batch_max, v->batch_limit)};
    s.noise = stats_exp(0.5 * v->config.kernel_noise * v->config.kernel_noise);
    double kernel = kernel_ms(v, s.noise, s.batch);
    s.full_ms = v->host_ms + kernel;
    s.share = 1.0 - (v->host_ms + kernel_ms(v, s.noise, 0)) / s.full_ms;
    s.rate = s.serving * s.batch / s.full_ms * 1e3;
    if (v->bad_instance < PLANT_GPUS_MAX && f->ready_us[v->bad_instance] <= f->now_us) {
        double bad_ms = v->host_ms + kernel * v->bad_factor, own = s.batch / bad_ms * 1e3;
        s.rate += own - s.batch / s.full_ms * 1e3;
        s.tail[TAIL_BAD] = (struct tail){own / s.rate, bad_ms - s.full_ms};
    }
    s.tail[TAIL_LOSS] = (struct tail){v->loss, v->config.loss_ms};
    s.slots = v->concurrency * s.serving;
    s.fetch_ms = v->fetch_ms + v->loss * v->config.loss_ms;
    s.fetch_rate = s.fetch_ms > 0 ? s.slots / s.fetch_ms * 1e3 : INFINITY;
    return s;
}

static double offered_now(const struct fluid *f)
{
    const struct plant_env *v = &f->env;
    return v->open_per_s + v->closed_users / (v->config.think_s + f->latency_s) + f->repeats;
}

/* Requests waiting for one of many fetch slots at rest (Sakasegawa's formula for many servers). */
static double fetch_waiting(const struct fluid *f, const struct stage *s, double use)
{
    double spread = f->env.config.fetch_noise;
    double power = stats_exp(sqrt(2.0 * (s->slots + 1.0)) * stats_log(use));
    return power / (1.0 - use) * 0.5 * (1.0 + spread * spread);
}

static double step_s(const struct fluid *f) { return (double)f->step_us / 1e6; }

/* Use of the slots at which this step ends at rest; 1: more comes than can pass. */
static double fetch_use(const struct fluid *f, const struct stage *s, double offered)
{
    double low = 0, high = 0.9999, want = f->waiting_fetch + offered * step_s(f), most = s->fetch_rate * step_s(f);
    if (fetch_waiting(f, s, high) + high * most < want) return 1;
    if (want < 0.8 * most) return want / most;
    for (int i = 0; i < 30; i++) {
        double mid = 0.5 * (low + high);
        if (fetch_waiting(f, s, mid) + mid * most < want) low = mid;
        else high = mid;
    }
    return 0.5 * (low + high);
}

static double fetch_stage(struct fluid *f, const struct stage *s, double offered)
{
    if (isinf(s->fetch_rate)) return offered;
    double passed = fetch_use(f, s, offered) * s->fetch_rate;
    double inside = f->waiting_fetch + (offered - passed) * step_s(f);
    f->waiting_fetch = fmax(inside, 0);
    return passed;
}

/* Variance of arrivals less completions per second, over the arrivals; measured at a use of 0.985 to 0.995. Below 1, which a
 * Poisson stream would have. */
static const double flow_noise = 0.7;

/* Mean of a queue with that noise, at rest: what the table's values contain beyond the rhythm. */
static double noise_at_rest(double use) { return 0.5 * flow_noise * use / (1.0 - use); }

static double draw_open_unit(struct fluid *f) { return 1.0 - prng_unit(&f->rng); }

/* What piles up in a step: the excess wanders, held at 0 and at `room`, where requests are refused. Returns these. */
static double pile_up(struct fluid *f, double in, double rate, double room)
{
    double var = flow_noise * fmin(in, rate) * step_s(f);
    double end = (in - rate) * step_s(f) + sqrt(var) * stats_draw_normal(&f->rng, 0, 1);
    double before = f->excess;
    if (before < 0.5 * room) {
        double free = rest_reflect(before, end, var, draw_open_unit(f));
        f->excess = fmin(free, room);
        return free - f->excess;
    }
    double below = rest_reflect(fmax(room - before, 0), -end, var, draw_open_unit(f));
    f->excess = fmax(room - below, 0);
    return fmax(before + end - f->excess, 0);
}

/* The table was measured with kernels that spread by 5 %. The more they spread, the less the replicas fall into step, and the less
 * piles up for the next to come; large batches care less. Measured from 2 to 12 %, batch_max 32 and 128, 6 and 13 replicas. */
static double out_of_step(const struct fluid *f, const struct stage *s)
{
    double slope = fmin(fmax(3.7 - 1.5 * stats_log2(fmax(s->batch, 1) / 32), 0.5), 3.7);
    return fmax(1.0 - slope * (f->env.config.kernel_noise - 0.05), 0.5);
}

/* Of the batch stage: items a second, use of its capacity, mean excess over the second. */
struct flow { double in, out, use, excess; };

static struct moments latency(const struct fluid *f, const struct stage *s, const struct rest *r, const struct flow *w)
{
    struct moments m = {0};
    double spread = f->env.config.fetch_noise, grown = stats_expm1(spread * spread);
    moments_add(&m, f->env.fetch_ms, f->env.fetch_ms * sqrt(grown), (grown + 3.0) * sqrt(grown));
    double per_item_ms = 1e3 / fmax(w->out, 1e-9);
    m.mean += f->waiting_fetch * per_item_ms;
    struct rest_point p = rest_times(r, w->use);
    struct moments own = moments_of_rest(&p, s->full_ms);
    m.mean += own.mean;
    m.var += own.var;
    m.third += own.third;
    m.mean += (out_of_step(f, s) - 1.0) * rest_queue(r, w->use) * s->serving * s->batch * per_item_ms;
    m.mean += (w->excess - noise_at_rest(fmin(w->use, 0.95))) * per_item_ms;
    return m;
}

static void count_compute(struct fluid *f, const struct stage *s, const struct rest *r, double out, double use)
{
    double b = s->batch * use * (1.0 - s->share) / (1.0 - use * s->share);
    b = fmin(fmax(b, 1), s->batch);
    double ms = kernel_ms(&f->env, s->noise, b), gap = f->env.host_ms;
    ms += fmax(fmin(f->env.swing * (ms + gap), 0.9 * gap), -0.9 * ms);
    f->sums.peaks += f->peak_batch;
    f->sums.batches += out / b * step_s(f);
    f->sums.kernel += out / b * ms * step_s(f);
    f->sums.busy += fmin(out / b * ms * 1e-3, s->serving) * step_s(f);
    f->peak_batch = fmin(fmax(rest_times(r, use).peak * s->batch, b), s->batch);
}

static void count_answers(struct fluid *f, const struct stage *s, const struct moments *m, double out)
{
    double raw2 = m->var + m->mean * m->mean;
    f->sums.completed += out;
    f->sums.raw1 += out * m->mean;
    f->sums.raw2 += out * raw2;
    f->sums.raw3 += out * (m->third + 3.0 * m->mean * m->var + m->mean * m->mean * m->mean);
    f->sums.fetch += out * s->fetch_ms;
    f->sums.worst_p99 = fmax(f->sums.worst_p99, moments_quantile(m, MOMENTS_Z99));
    for (unsigned i = 0; i < TAILS; i++) {
        f->sums.tail_part[i] += out * s->tail[i].part;
        f->sums.tail_ms[i] += out * s->tail[i].part * s->tail[i].extra_ms;
    }
}

static double timed_out(const struct fluid *f, const struct stage *s, const struct moments *m, double out)
{
    double limit = f->env.config.timeout_ms, z = (limit - m->mean) / sqrt(fmax(m->var, 1e-12));
    double late = z > 5 ? 0 : stats_normal_cdf(-z);
    for (unsigned i = 0; i < TAILS; i++)
        if (s->tail[i].part > 0) late += s->tail[i].part * (1.0 - moments_below(m, limit - s->tail[i].extra_ms));
    return out * late;
}

/* Moves the queues on by a step; returns the refused, a second. A greedy server takes in gulps, so the cap bites half a gulp
 * early. */
static double queues_move(struct fluid *f, const struct stage *s, const struct rest *r, double offered, struct flow *w)
{
    double cap = f->env.config.queue_cap, scale = s->serving * s->batch * out_of_step(f, s), gulp = rest_queue(r, 0.95) * scale;
    w->in = fetch_stage(f, s, offered);
    double resting = fmin(w->in / s->rate, 0.95), rhythm = fmax(rest_queue(r, resting) * scale - noise_at_rest(resting), 0);
    double room = fmax(cap - 0.5 * gulp, 0.3 * cap) - rhythm, over = fmax(f->waiting_fetch - room, 0), before = f->excess;
    f->waiting_fetch -= over;
    double refused = pile_up(f, w->in, s->rate, fmax(room - f->waiting_fetch, 0));
    double dt = step_s(f);
    w->out = fmax(w->in - refused / dt - (f->excess - before) / dt - (rhythm - f->rhythm) / dt, 0);
    w->out = fmin(w->out, s->rate * 1.05);
    w->use = fmin(w->out / s->rate, 1);
    w->excess = 0.5 * (before + f->excess);
    f->rhythm = rhythm;
    return (over + refused) / dt;
}

static void serve_second(struct fluid *f, const struct stage *s, double offered)
{
    double dt = step_s(f);
    struct rest r;
    struct flow w = {0};
    rest_column(&r, s->share, s->serving);
    double refused = queues_move(f, s, &r, offered, &w);
    struct moments m = latency(f, s, &r, &w);
    double late = timed_out(f, s, &m, w.out);
    f->latency_s = m.mean * 1e-3;
    for (unsigned i = 0; i < TAILS; i++) f->latency_s += s->tail[i].part * s->tail[i].extra_ms * 1e-3;
    f->sums.queue += (f->waiting_fetch + f->rhythm + w.excess) * dt;
    f->sums.refused += refused * dt;
    /* Smoothed: the upstream answers faster than a second. */
    f->admitted += (dt > 1 ? 1.0 : 0.3) * (offered - refused - f->admitted);
    f->sums.timeouts += late * dt;
    count_answers(f, s, &m, w.out * dt);
    count_compute(f, s, &r, w.out, w.use);
    f->repeats = f->env.config.retry_max > 0 ? (refused + late) * f->env.config.retry_share : 0;
}

static void go_down(struct fluid *f, double seconds, bool cold)
{
    f->sums.failed += f->waiting_fetch + f->rhythm + f->excess;
    f->waiting_fetch = f->rhythm = f->excess = 0;
    f->down_until_us = f->now_us + (int64_t)(seconds * 1e6);
    env_restarted(&f->env, cold);
}

static void step(struct fluid *f)
{
    if (f->down_until_us != 0 && f->now_us >= f->down_until_us) {
        f->down_until_us = 0;
        f->process_start_us = f->now_us;
    }
    double dt = step_s(f);
    env_step(&f->env, f->now_us, dt, f->admitted * dt, f->peak_batch);
    if (f->env.restart_due && f->down_until_us == 0) fluid_restart(f);
    scale_replicas(f);
    struct stage s = stage_now(f);
    double offered = offered_now(f);
    f->sums.seconds += dt;
    f->sums.offered += offered * dt;
    f->sums.available += s.serving * dt;
    if (f->down_until_us != 0 || s.serving < 1) {
        f->sums.refused += offered * dt;
        f->repeats = f->admitted = 0;
        return;
    }
    serve_second(f, &s, offered);
}

struct fluid *fluid_new(const struct plant_config *c, uint64_t seed, struct err *e)
{
    if (plant_config_check(c, e) != STATUS_OK) return NULL;
    struct fluid *f = calloc(1, sizeof *f);
    if (!f) {
        err_set(e, STATUS_MEMORY, "out of memory for a simulated service");
        return NULL;
    }
    struct prng root, surroundings;
    prng_seed(&root, seed);
    prng_fork(&surroundings, &root, "surroundings at start");
    prng_fork(&f->rng, &root, "fluid");
    prng_fork(&f->starts, &root, "starts");
    env_init(&f->env, c, &surroundings);
    for (unsigned i = 0; i < PLANT_GPUS_MAX; i++) f->ready_us[i] = (double)i < c->replicas ? 0 : INT64_MAX;
    f->latency_s = 0.030;
    f->step_us = US_PER_S;
    f->admitted = c->rate;
    return f;
}

struct fluid *fluid_clone(const struct fluid *f)
{
    struct fluid *copy = malloc(sizeof *copy);
    if (copy) memcpy(copy, f, sizeof *copy);
    return copy;
}

void fluid_free(struct fluid *f) { free(f); }

void fluid_reseed(struct fluid *f, const char *purpose)
{
    struct prng root;
    prng_fork(&root, &f->env.rng, purpose);
    prng_fork(&f->env.rng, &root, "surroundings");
    env_reseed(&f->env, &root);
    prng_fork(&f->rng, &root, "fluid");
    prng_fork(&f->starts, &root, "starts");
}

enum status fluid_fault_add(struct fluid *f, const struct plant_fault *fault, struct err *e)
{
    return env_fault_add(&f->env, fault, e);
}

/* What an AR(1) process of correlation time tau has left of its standard deviation when it is averaged over t. */
static double left_of_sd(double t, double tau)
{
    double x = t / tau;
    return sqrt(2.0 / x * (1.0 + stats_expm1(-x) / x));
}

void fluid_coarse(struct fluid *f, int64_t step_us)
{
    struct plant_config *c = &f->env.config;
    double t = (double)step_us * 1e-6;
    f->step_us = step_us;
    c->load_sigma *= left_of_sd(t, c->load_tau_s);
    c->fetch_wobble *= left_of_sd(t, c->fetch_tau_s);
}

void fluid_faults_lift(struct fluid *f) { env_faults_lift(&f->env); }

void fluid_calendar(struct fluid *f, int64_t us) { f->env.calendar_us = us; }

void fluid_advance(struct fluid *f, int64_t until_us)
{
    while (f->now_us + f->step_us <= until_us) {
        step(f);
        f->now_us += f->step_us;
    }
}

int64_t fluid_now_us(const struct fluid *f) { return f->now_us; }

enum status fluid_knob_get(const struct fluid *f, const char *knob, struct buf *out, struct err *e)
{
    return env_knob_get(&f->env, knob, out, e);
}

enum status fluid_knob_set(struct fluid *f, const char *knob, const char *text, size_t len, double *ret_in_force,
                           struct err *e)
{
    bool reload = false;
    enum status s = env_knob_set(&f->env, knob, text, len, ret_in_force, &reload, e);
    if (reload) go_down(f, f->env.config.reload_s, false);
    return s;
}

uint64_t fluid_knob_version(const struct fluid *f) { return f->env.knob_version; }
void fluid_restart(struct fluid *f) { go_down(f, f->env.config.restart_s, true); }
bool fluid_up(const struct fluid *f) { return f->down_until_us == 0; }
const char *fluid_version(const struct fluid *f) { return f->env.version; }
uint64_t fluid_restarts(const struct fluid *f) { return f->env.restarts; }
int64_t fluid_process_start_us(const struct fluid *f) { return f->process_start_us; }

static double ratio(double part, double whole) { return whole > 0 ? part / whole : (double)NAN; }

/* A percentile of n requests is itself uncertain: 3.4 / sqrt(n) of its value at p99, 1.2 / sqrt(n) at the median. */
static double noisy(struct fluid *f, double value, double size)
{
    return value * (1.0 + size / sqrt(fmax(f->sums.completed, 1)) * stats_draw_normal(&f->rng, 0, 1));
}

static bool tails_of_window(const struct fluid_sums *s, struct tail ret[TAILS])
{
    bool any = false;
    for (unsigned i = 0; i < TAILS; i++) {
        ret[i] = (struct tail){s->tail_part[i] / s->completed, s->tail_ms[i] / fmax(s->tail_part[i], 1e-9)};
        any = any || ret[i].part > 0;
    }
    return any;
}

static void window_latency(struct fluid *f, struct plant_window *w)
{
    const struct fluid_sums *s = &f->sums;
    struct tail t[TAILS];
    w->p50_ms = w->p99_ms = w->mean_ms = w->fetch_ms = NAN;
    if (!(s->completed >= 1)) return;
    double m1 = s->raw1 / s->completed, m2 = s->raw2 / s->completed, m3 = s->raw3 / s->completed;
    struct moments m = {m1, m2 - m1 * m1, m3 - 3.0 * m1 * m2 + 2.0 * m1 * m1 * m1};
    double p50 = moments_quantile(&m, 0), p99 = fmin(moments_quantile(&m, MOMENTS_Z99), s->worst_p99);
    w->mean_ms = m1 + (s->tail_ms[TAIL_BAD] + s->tail_ms[TAIL_LOSS]) / s->completed;
    if (tails_of_window(s, t)) {
        p50 = moments_quantile_with(&m, t, 0.5, 0);
        p99 = moments_quantile_with(&m, t, 0.99, MOMENTS_Z99);
    }
    w->p50_ms = noisy(f, p50, 1.2);
    w->p99_ms = noisy(f, p99, 3.4);
    w->fetch_ms = s->fetch / s->completed;
}

void fluid_window_take(struct fluid *f, struct plant_window *ret)
{
    const struct fluid_sums *s = &f->sums;
    struct plant_window w = {.seconds = s->seconds,
                             .offered = (uint64_t)s->offered, .completed = (uint64_t)s->completed,
                             .refused = (uint64_t)s->refused, .failed = (uint64_t)s->failed,
                             .timeouts = (uint64_t)s->timeouts};
    w.queue = ratio(s->queue, s->seconds);
    w.gpu_util = ratio(s->busy, s->available);
    w.throughput = ratio(s->completed, s->seconds);
    w.kernel_ms = ratio(s->kernel, s->batches);
    w.batch = ratio(s->completed, s->batches);
    w.batch_peak = ratio(s->peaks, s->seconds);
    w.cache_hit = ratio((double)(f->env.hits - s->hits), (double)(f->env.lookups - s->lookups));
    w.gpu_memory = f->env.used_mb / f->env.config.mem_mb;
    w.replicas = ratio(s->available, s->seconds);
    w.replica_spread = f->env.bad_instance < PLANT_GPUS_MAX && f->env.bad_factor > 1 ? f->env.bad_factor : 1;
    w.batch_limit = f->env.batch_max;
    w.concurrency_limit = f->env.concurrency;
    window_latency(f, &w);
    f->sums = (struct fluid_sums){.lookups = f->env.lookups, .hits = f->env.hits};
    *ret = w;
}

uint64_t fluid_digest(const struct fluid *f)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i < sizeof *f; i += sizeof word) {
        memcpy(&word, (const char *)f + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    return h;
}
