/* Ten times a second: the surroundings, replicas, going down and coming up. */
#include <string.h>

#include "sim/plant_state.h"

#define SLOW_S ((double)PLANT_SLOW_NS * 1e-9)

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
    env_restarted(&p->env, cold_cache);
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
    struct plant_env *v = &p->env;
    if (p->down_until_ns != 0 && p->now_ns >= p->down_until_ns) come_up(p);
    uint64_t admitted = p->totals.offered - p->totals.refused;
    env_step(v, p->now_ns / 1000, SLOW_S, (double)(admitted - p->admitted_before), p->peak_batch);
    p->admitted_before = admitted;
    p->totals.lookups = v->lookups;
    p->totals.hits = v->hits;
    p->totals.peaks += p->peak_batch;
    p->totals.peak_steps++;
    p->peak_batch = 0;
    if (v->restart_due && p->down_until_ns == 0) plant_restart(p);
    plant_scale(p);
}
