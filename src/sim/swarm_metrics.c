/* The metrics of the swarm's service: the truth of the fluid plant, once a tick, through whatever is wrong with the scrape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/swarm_inside.h"
#include "sim/world.h"

#define HISTORY SPAN_HOUR(26)

/* A warmed service costs a second; its baselines are the same for all runs, so they are learned once a process. */
static struct buf warmed;

static struct point point_of(const struct plant_window *t, const struct signal_def *d, struct instant at)
{
    double v = world_signal_of(t, d->name);
    uint32_t n = d->is_quantile ? (uint32_t)t->completed : 0;
    return (struct point){at, v, n, isfinite(v) ? WHY_KNOWN : WHY_MISSING};
}

struct tick_points { uint16_t signals[2 * POLICY_SIGNALS_MAX]; struct point points[2 * POLICY_SIGNALS_MAX]; uint32_t n; };

static void spoil_times(struct swarm *w, struct tick_points *p)
{
    struct faults_item *stale = faults_now(&w->faults, FAULTS_METRICS_STALE, w->now);
    struct faults_item *skew = faults_now(&w->faults, FAULTS_METRICS_SKEW, w->now);
    for (uint32_t i = 0; i < p->n; i++) {
        if (stale) p->points[i].at.us -= (int64_t)(US_PER_MIN + stale->size * 9e8);
        if (skew) p->points[i].at.us += (int64_t)((skew->size - 0.5) * 6e7);
    }
}

static void spoil_values(struct swarm *w, struct tick_points *p)
{
    struct faults_item *frozen = faults_now(&w->faults, FAULTS_METRICS_FROZEN, w->now);
    struct faults_item *one = faults_now(&w->faults, FAULTS_METRICS_ONE_INSTANCE, w->now);
    struct faults_item *reset = faults_now(&w->faults, FAULTS_METRICS_RESET, w->now);
    struct faults_item *nan_one = faults_now(&w->faults, FAULTS_METRICS_NAN, w->now);
    if (!frozen) w->have_frozen = false;
    for (uint32_t i = 0; i < p->n; i++) {
        struct point *x = &p->points[i];
        if (frozen && w->have_frozen) x->value = w->frozen_values[p->signals[i]];
        if (frozen) w->frozen_values[p->signals[i]] = x->value;
        if (one) {
            x->value *= prng_between(&one->chance, 0.7, 1.5);
            x->n = x->n > 60 ? 60 : x->n;
        }
        if (reset && w->service->signals[p->signals[i]].unit == UNIT_PER_S) x->value = 0;
        if (nan_one && p->signals[i] == (uint16_t)(nan_one->size * w->service->signal_count)) {
            x->value = NAN;
            x->why = WHY_NAN;
        }
    }
    w->have_frozen = frozen != NULL;
}

static void drop(struct swarm *w, struct tick_points *p)
{
    struct faults_item *one = faults_now(&w->faults, FAULTS_METRICS_ONE_MISSING, w->now);
    uint32_t kept = 0;
    if (faults_now(&w->faults, FAULTS_METRICS_MISSING, w->now)) p->n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (one && p->signals[i] == (uint16_t)(one->size * w->service->signal_count)) continue;
        p->signals[kept] = p->signals[i];
        p->points[kept++] = p->points[i];
    }
    p->n = kept;
}

void swarm_see_judge(struct swarm *w, const uint16_t *signals, const struct point *points, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (signals[i] == w->service->judge.latency) invariants_known_judge(w, &points[i]);
    }
}

static void deliver(struct swarm *w, struct tick_points *p)
{
    struct faults_item *late = faults_now(&w->faults, FAULTS_METRICS_LATE, w->now);
    if (late) {
        struct later *l = swarm_later(w, LATER_VALUES, instant_add(w->now, SPAN_MS(1 + prng_below(&late->chance, 75000))), true);
        l->n = p->n;
        l->signals = calloc(p->n + 1, sizeof *l->signals);
        l->points = calloc(p->n + 1, sizeof *l->points);
        CHECK(l->signals && l->points);
        memcpy(l->signals, p->signals, p->n * sizeof *l->signals);
        memcpy(l->points, p->points, p->n * sizeof *l->points);
        return;
    }
    struct event e = {.kind = EVENT_VALUES, .u.values = {p->signals, p->points, p->n}};
    swarm_see_judge(w, p->signals, p->points, p->n);
    swarm_step(w, &e);
}

void swarm_values(struct swarm *w)
{
    struct tick_points p = {.n = 0};
    struct plant_window t;
    fluid_advance(w->fluid, w->now.us);
    fluid_window_take(w->fluid, &t);
    if (!w->loop || !instant_reached(w->now, w->paused_until) || !fluid_up(w->fluid)) return;
    for (uint16_t i = 0; i < w->service->signal_count; i++) {
        struct point x = point_of(&t, &w->service->signals[i], swarm_mono(w, w->now));
        if (x.why != WHY_KNOWN) continue;
        p.signals[p.n] = i;
        p.points[p.n++] = x;
    }
    spoil_values(w, &p);
    spoil_times(w, &p);
    drop(w, &p);
    if (faults_now(&w->faults, FAULTS_METRICS_TWICE, w->now)) {
        memcpy(p.signals + p.n, p.signals, p.n * sizeof *p.signals);
        memcpy(p.points + p.n, p.points, p.n * sizeof *p.points);
        p.n *= 2;
    }
    deliver(w, &p);
}

static void learn(struct swarm *w)
{
    struct err err;
    struct plant_config config;
    plant_config_reference(&config);
    struct fluid *f = fluid_new(&config, 1, &err);
    struct loop *l = loop_new(w->policy, (struct instant){0}, swarm_wall(w), (struct loop_options){.alone = true});
    int64_t tick = w->policy->tick.us;
    uint32_t n = (uint32_t)(HISTORY.us / tick), signals = w->service->signal_count;
    struct point *points = calloc((size_t)n * signals, sizeof *points);
    struct wall *walls = calloc(n, sizeof *walls);
    CHECK(f && l && points && walls);
    struct plant_window t;
    fluid_advance(f, 600 * US_PER_S);
    fluid_window_take(f, &t);
    for (uint32_t i = 0; i < n; i++) {
        struct instant at = {(int64_t)i * tick - HISTORY.us};
        fluid_advance(f, 600 * US_PER_S + (int64_t)(i + 1) * tick);
        fluid_window_take(f, &t);
        walls[i] = (struct wall){swarm_wall(w).us + at.us};
        for (uint32_t s = 0; s < signals; s++) points[(size_t)s * n + i] = point_of(&t, &w->service->signals[s], at);
    }
    for (uint32_t s = 0; s < signals; s++) {
        struct update u;
        struct event e = {.kind = EVENT_HISTORY, .wall = swarm_wall(w)};
        e.u.history.signal = (uint16_t)s;
        e.u.history.points = points + (size_t)s * n;
        e.u.history.walls = walls;
        e.u.history.n = n;
        e.u.history.last = s + 1 == signals;
        loop_step(l, &e, &u);
    }
    loop_service_state(l, 0, &warmed);
    free(points);
    free(walls);
    loop_free(l);
    fluid_free(f);
}

static void add_plant_fault(struct swarm *w, const struct faults_item *i)
{
    static const struct { enum faults_kind item; enum fault_kind kind; double least, most; } map[] = {
        {FAULTS_PLANT_LOAD, FAULT_LOAD, 1.02, 1.3},          {FAULTS_PLANT_KERNEL, FAULT_KERNEL, 1.03, 1.5},
        {FAULTS_PLANT_UPSTREAM, FAULT_UPSTREAM, 1.5, 5},     {FAULTS_PLANT_WORKING_SET, FAULT_WORKING_SET, 1.2, 4},
        {FAULTS_PLANT_HOST, FAULT_HOST, 1.3, 3},             {FAULTS_PLANT_FRAGMENTATION, FAULT_FRAGMENTATION, 0.1, 0.5},
        {FAULTS_PLANT_REPLICAS_LOST, FAULT_REPLICAS_LOST, 1, 4}, {FAULTS_PLANT_BAD_INSTANCE, FAULT_BAD_INSTANCE, 2, 8},
    };
    struct plant_fault f = {.at_us = i->at.us, .until_us = instant_min(instant_add(i->at, i->len), w->active_end).us};
    if (i->kind == FAULTS_PLANT_REFERENCE) {
        struct plant_fault k = f;
        f.kind = FAULT_LOAD;
        f.size = 1.034;
        k.kind = FAULT_KERNEL;
        k.size = 1.06;
        (void)fluid_fault_add(w->fluid, &k, NULL);
    }
    for (unsigned m = 0; m < ARRAY_LEN(map); m++) {
        if (map[m].item != (enum faults_kind)i->kind) continue;
        f.kind = map[m].kind;
        f.size = map[m].least + i->size * (map[m].most - map[m].least);
        if (f.kind == FAULT_REPLICAS_LOST) f.size = floor(f.size);
    }
    (void)fluid_fault_add(w->fluid, &f, NULL);   /* over the plant's limit of faults: left out, the same in each run */
}

void swarm_history(struct swarm *w)
{
    struct err err;
    struct plant_config config;
    plant_config_reference(&config);
    w->fluid = fluid_new(&config, w->o.seed, &err);
    CHECK(w->fluid != NULL);
    for (unsigned i = 0; i < w->faults.n; i++) {
        struct faults_item *x = &w->faults.items[i];
        if (faults_group((enum faults_kind)x->kind) == FAULTS_PLANT && !x->left_out) add_plant_fault(w, x);
    }
    if (warmed.len == 0) learn(w);
    buf_add(&w->state, warmed.data, warmed.len);
    w->state_at = (struct instant){0};
}

void swarm_end(void) { buf_free(&warmed); }
