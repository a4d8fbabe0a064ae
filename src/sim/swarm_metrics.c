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

static void spoil_times(struct swarm_service *s, struct tick_points *p)
{
    struct faults_item *stale = swarm_fault_now(s, FAULTS_METRICS_STALE);
    struct faults_item *skew = swarm_fault_now(s, FAULTS_METRICS_SKEW);
    for (uint32_t i = 0; i < p->n; i++) {
        if (stale) p->points[i].at.us -= (int64_t)(US_PER_MIN + stale->size * 9e8);
        if (skew) p->points[i].at.us += (int64_t)((skew->size - 0.5) * 6e7);
    }
}

static void spoil_values(struct swarm_service *s, struct tick_points *p)
{
    struct faults_item *frozen = swarm_fault_now(s, FAULTS_METRICS_FROZEN);
    struct faults_item *one = swarm_fault_now(s, FAULTS_METRICS_ONE_INSTANCE);
    struct faults_item *reset = swarm_fault_now(s, FAULTS_METRICS_RESET);
    struct faults_item *nan_one = swarm_fault_now(s, FAULTS_METRICS_NAN);
    if (!frozen) s->have_frozen = false;
    for (uint32_t i = 0; i < p->n; i++) {
        struct point *x = &p->points[i];
        if (frozen && s->have_frozen) x->value = s->frozen_values[p->signals[i]];
        if (frozen) s->frozen_values[p->signals[i]] = x->value;
        if (one) {
            x->value *= prng_between(&one->chance, 0.7, 1.5);
            x->n = x->n > 60 ? 60 : x->n;
        }
        if (reset && s->def->signals[p->signals[i]].unit == UNIT_PER_S) x->value = 0;
        if (nan_one && p->signals[i] == (uint16_t)(nan_one->size * s->def->signal_count)) {
            x->value = NAN;
            x->why = WHY_NAN;
        }
    }
    s->have_frozen = frozen != NULL;
}

static void drop(struct swarm_service *s, struct tick_points *p)
{
    struct faults_item *one = swarm_fault_now(s, FAULTS_METRICS_ONE_MISSING);
    uint32_t kept = 0;
    if (swarm_fault_now(s, FAULTS_METRICS_MISSING)) p->n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (one && p->signals[i] == (uint16_t)(one->size * s->def->signal_count)) continue;
        p->signals[kept] = p->signals[i];
        p->points[kept++] = p->points[i];
    }
    p->n = kept;
}

void swarm_see(struct swarm_service *s, const uint16_t *signals, const struct point *points, uint32_t n)
{
    if (!swarm_leads(s->w)) return;
    for (uint32_t i = 0; i < n; i++) invariants_known(s, signals[i], &points[i]);
}

static void deliver(struct swarm_service *s, struct tick_points *p)
{
    struct faults_item *late = swarm_fault_now(s, FAULTS_METRICS_LATE);
    if (late) {
        struct span by = SPAN_MS(1 + prng_below(&late->chance, 75000));
        struct later *l = swarm_later(s->w, LATER_VALUES, instant_add(s->w->now, by), true);
        l->service = s->index;
        l->n = p->n;
        l->signals = calloc(p->n + 1, sizeof *l->signals);
        l->points = calloc(p->n + 1, sizeof *l->points);
        CHECK(l->signals && l->points);
        memcpy(l->signals, p->signals, p->n * sizeof *l->signals);
        memcpy(l->points, p->points, p->n * sizeof *l->points);
        return;
    }
    struct event e = {.kind = EVENT_VALUES, .service = s->index, .u.values = {p->signals, p->points, p->n, false}};
    swarm_see(s, p->signals, p->points, p->n);
    swarm_step(s->w, &e);
}

/* What one process sees of the truth of the last tick. */
static void see(struct swarm_service *s, const struct plant_window *t)
{
    struct tick_points p = {.n = 0};
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        struct point x = point_of(t, &s->def->signals[i], swarm_mono(s->w, s->w->now));
        if (x.why != WHY_KNOWN) continue;
        p.signals[p.n] = i;
        p.points[p.n++] = x;
    }
    spoil_values(s, &p);
    spoil_times(s, &p);
    drop(s, &p);
    if (swarm_fault_now(s, FAULTS_METRICS_TWICE)) {
        memcpy(p.signals + p.n, p.signals, p.n * sizeof *p.signals);
        memcpy(p.points + p.n, p.points, p.n * sizeof *p.points);
        p.n *= 2;
    }
    deliver(s, &p);
}

void swarm_values(struct swarm *w)
{
    for (uint16_t i = 0; i < w->n; i++) {
        struct plant_window t;
        struct swarm_service *s = &w->services[i];
        w->about = s;
        fluid_advance(s->fluid, w->now.us);
        fluid_window_take(s->fluid, &t);
        for (unsigned n = 0; n < SWARM_PROCESSES && fluid_up(s->fluid); n++) {
            w->p = &w->processes[n];
            if (w->p->loop && instant_reached(w->now, w->p->paused_until)) see(s, &t);
        }
    }
}

static void learn(struct swarm *w)
{
    struct err err;
    struct plant_config config;
    plant_config_reference(&config);
    struct fluid *f = fluid_new(&config, 1, &err);
    struct loop *l = loop_new(w->policy, (struct instant){0}, swarm_wall(w), (struct loop_options){.alone = true});
    int64_t tick = w->policy->tick.us;
    uint32_t n = (uint32_t)(HISTORY.us / tick), signals = w->services[0].def->signal_count;
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
        for (uint32_t s = 0; s < signals; s++) points[(size_t)s * n + i] = point_of(&t, &w->services[0].def->signals[s], at);
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

static void add_plant_fault(struct swarm_service *s, const struct faults_item *i)
{
    static const struct { enum faults_kind item; enum fault_kind kind; double least, most; } map[] = {
        {FAULTS_PLANT_LOAD, FAULT_LOAD, 1.02, 1.3},          {FAULTS_PLANT_KERNEL, FAULT_KERNEL, 1.03, 1.5},
        {FAULTS_PLANT_UPSTREAM, FAULT_UPSTREAM, 1.5, 5},     {FAULTS_PLANT_WORKING_SET, FAULT_WORKING_SET, 1.2, 4},
        {FAULTS_PLANT_HOST, FAULT_HOST, 1.3, 3},             {FAULTS_PLANT_FRAGMENTATION, FAULT_FRAGMENTATION, 0.1, 0.5},
        {FAULTS_PLANT_REPLICAS_LOST, FAULT_REPLICAS_LOST, 1, 4}, {FAULTS_PLANT_BAD_INSTANCE, FAULT_BAD_INSTANCE, 2, 8},
    };
    struct plant_fault f = {.at_us = i->at.us, .until_us = instant_min(instant_add(i->at, i->len), s->w->active_end).us};
    if (i->kind == FAULTS_PLANT_REFERENCE) {
        struct plant_fault k = f;
        f.kind = FAULT_LOAD;
        f.size = 1.034;
        k.kind = FAULT_KERNEL;
        k.size = 1.06;
        (void)fluid_fault_add(s->fluid, &k, NULL);
    }
    for (unsigned m = 0; m < ARRAY_LEN(map); m++) {
        if (map[m].item != (enum faults_kind)i->kind) continue;
        f.kind = map[m].kind;
        f.size = map[m].least + i->size * (map[m].most - map[m].least);
        if (f.kind == FAULT_REPLICAS_LOST) f.size = floor(f.size);
    }
    (void)fluid_fault_add(s->fluid, &f, NULL);   /* over the plant's limit of faults: left out, the same in each run */
}

/* The same service in each place of a fleet, with chances of its own. */
static void begin_service(struct swarm_service *s)
{
    struct swarm *w = s->w;
    struct err err;
    struct plant_config config;
    plant_config_reference(&config);
    s->fluid = fluid_new(&config, w->o.seed + s->index * UINT64_C(7919), &err);
    CHECK(s->fluid != NULL);
    for (unsigned i = 0; i < w->faults.n; i++) {
        struct faults_item *x = &w->faults.items[i];
        bool plant = faults_group((enum faults_kind)x->kind) == FAULTS_PLANT;
        if (!plant || !faults_meets(x, s->index) || x->left_out) continue;
        add_plant_fault(s, x);
        x->bites++;
    }
    buf_add(&s->state, warmed.data, warmed.len);
    s->state_at = (struct instant){0};
}

void swarm_history(struct swarm *w)
{
    if (warmed.len == 0) learn(w);
    for (unsigned i = 0; i < w->n; i++) begin_service(&w->services[i]);
}

void swarm_end(void) { buf_free(&warmed); }
