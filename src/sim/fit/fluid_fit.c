/* Writes fluid_table.h: how a pooled queue with greedy batches behaves at rest, measured with the request-by-request plant.
 * Run again after a change of the plant's flow:  ninja fluid_fit && build/src/sim/fluid_fit > src/sim/fluid_table.h */
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "sim/plant.h"

static const double uses[] = {.05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95};
static const double shares[] = {.05, .15, .25, .35, .5, .65, .8, .95};
static const double gpus[] = {2, 4, 8, 13, 26, 52};
enum { BATCH = 32, CYCLE_MS = 20 };

static void cell(double use, double share, double g)
{
    struct plant_config c;
    struct err e;
    struct plant_window w;
    plant_config_reference(&c);
    c.replicas = g;
    c.batch_max = BATCH;
    c.kernel_item_ms = share * CYCLE_MS / BATCH;
    c.kernel_base_ms = (1 - share) * CYCLE_MS * 0.6;
    c.host_ms = (1 - share) * CYCLE_MS * 0.4;
    c.fetch_hit_ms = c.fetch_miss_ms = c.closed_share = c.load_sigma = c.host_conc = 0;
    c.queue_cap = 8000;
    c.concurrency = 256;
    c.mem_mb = 1e7;
    c.timeout_ms = 60000;
    c.rate = use * g * BATCH / CYCLE_MS * 1000;
    struct plant *p = plant_new(&c, 1, &e);
    if (!p) {
        fprintf(stderr, "fluid_fit: %s\n", e.text);
        exit(1);
    }
    double seconds = 2e6 / c.rate;
    plant_advance(p, 3 * US_PER_S);
    plant_window_take(p, &w);
    plant_advance(p, 3 * US_PER_S + (int64_t)(seconds * 1e6));
    plant_window_take(p, &w);
    plant_free(p);
    printf("{%d, %d, %d, %d, %d}", (int)(w.queue / (g * BATCH) * 1e4 + 0.5), (int)(w.mean_ms / CYCLE_MS * 1e3 + 0.5),
           (int)(w.p50_ms / CYCLE_MS * 1e3 + 0.5), (int)(w.p99_ms / CYCLE_MS * 1e3 + 0.5),
           (int)(w.batch_peak / BATCH * 1e3 + 0.5));
}

static void grid(const char *name, const double *v, size_t n, int scale)
{
    printf("static const double %s[] = {", name);
    for (size_t i = 0; i < n; i++) printf(scale == 1 ? "%s%d" : "%s%de-2", i ? ", " : "", (int)(v[i] * scale + 0.5));
    printf("};\n");
}

int main(void)
{
    enum { USES = ARRAY_LEN(uses), SHARES = ARRAY_LEN(shares), GPUS = ARRAY_LEN(gpus) };
    printf("/* Written by fluid_fit; do not edit. */\n#ifndef SIM_FLUID_TABLE_H\n#define SIM_FLUID_TABLE_H\n\n");
    printf("#include <stdint.h>\n\n");
    printf("enum { FLUID_USES = %d, FLUID_SHARES = %d, FLUID_GPUS = %d };\n\n", USES, SHARES, GPUS);
    printf("/* Load over capacity; part of the full cycle that grows with the batch; replicas. */\n");
    grid("fluid_uses", uses, USES, 100);
    grid("fluid_shares", shares, SHARES, 100);
    grid("fluid_gpus", gpus, GPUS, 1);
    printf("\n/* Queue in 1/10,000 of replicas x batch_max; mean, median and p99 of wait + cycle in 1/1,000 of the full"
           " cycle;\n * the largest batch of 100 ms in 1/1,000 of batch_max. */\n");
    printf("struct fluid_cell { int16_t queue, mean, p50, p99, peak; };\n");
    printf("static const struct fluid_cell fluid_cells[FLUID_GPUS][FLUID_SHARES][FLUID_USES] = {\n");
    for (size_t g = 0; g < GPUS; g++) {
        printf("    {\n");
        for (size_t s = 0; s < SHARES; s++) {
            printf("        {");
            for (size_t u = 0; u < USES; u++) {
                cell(uses[u], shares[s], gpus[g]);
                printf(u + 1 == USES ? "},\n" : u % 3 == 2 ? ",\n         " : ", ");
            }
        }
        printf("    },\n");
    }
    printf("};\n\n#endif\n");
    return 0;
}
