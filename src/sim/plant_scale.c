/* Replicas come and go: a new one takes minutes, a leaving one ends its batch first. */
#include "sim/plant_state.h"

static void bring_in(struct plant *p, struct plant_gpu *g, uint32_t index)
{
    const struct plant_config *c = &p->env.config;
    g->retire = 0;
    if (g->phase == GPU_ABSENT || g->phase == GPU_PENDING) {
        g->phase = index < (uint32_t)c->schedulable ? GPU_STARTING : GPU_PENDING;
        if (g->phase == GPU_STARTING)
            g->start_ns = p->now_ns + (int64_t)(prng_between(&p->env.rng, c->start_min_s, c->start_max_s) * 1e9);
    } else if (g->phase == GPU_STARTING && p->now_ns >= g->start_ns) {
        g->phase = GPU_IDLE;
        g->free_ns = p->now_ns;
        p->idle++;
    }
}

static void take_out(struct plant *p, struct plant_gpu *g)
{
    if (g->phase == GPU_BUSY) {
        g->retire = 1;
        return;
    }
    if (g->phase == GPU_IDLE) p->idle--;
    g->phase = GPU_ABSENT;
}

void plant_scale(struct plant *p)
{
    uint32_t wanted = (uint32_t)p->env.replicas, serving = 0;
    wanted = wanted > p->env.lost ? wanted - p->env.lost : 0;
    for (uint32_t i = 0; i < PLANT_GPUS_MAX; i++) {
        struct plant_gpu *g = &p->gpu[i];
        if (i < wanted) bring_in(p, g, i);
        else take_out(p, g);
        if (g->phase == GPU_IDLE || g->phase == GPU_BUSY) serving++;
    }
    p->slots = (uint32_t)p->env.concurrency * serving;
    p->totals.gpu_ns += (uint64_t)serving * (uint64_t)PLANT_SLOW_NS;
}
