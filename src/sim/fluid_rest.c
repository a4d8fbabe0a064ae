#include "sim/fluid_rest.h"

#include <math.h>

#include "stats/elem.h"

/* Position of v in an ascending grid: *ret_part in 0..1 of the way from the returned index to the next. */
static unsigned place(const double *grid, unsigned n, double v, double *ret_part)
{
    unsigned i = 0;
    while (i + 2 < n && v >= grid[i + 1]) i++;
    double part = (v - grid[i]) / (grid[i + 1] - grid[i]);
    *ret_part = fmin(fmax(part, 0), 1);
    return i;
}

static double mix(double a, double b, double part) { return a + (b - a) * part; }

/* Replicas act through the relative noise of the flow, so the way between two columns goes by the logarithm. */
static unsigned place_gpus(double gpus, double *ret_part)
{
    unsigned i = place(fluid_gpus, FLUID_GPUS, gpus, ret_part);
    if (*ret_part > 0 && *ret_part < 1)
        *ret_part = stats_log(gpus / fluid_gpus[i]) / stats_log(fluid_gpus[i + 1] / fluid_gpus[i]);
    return i;
}

void rest_column(struct rest *r, double share, double gpus)
{
    double by_gpu, by_share;
    unsigned g = place_gpus(gpus, &by_gpu), s = place(fluid_shares, FLUID_SHARES, share, &by_share);
    for (unsigned u = 0; u < FLUID_USES; u++) {
        const struct fluid_cell *a = &fluid_cells[g][s][u], *b = &fluid_cells[g][s + 1][u];
        const struct fluid_cell *c = &fluid_cells[g + 1][s][u], *d = &fluid_cells[g + 1][s + 1][u];
        r->queue[u] = mix(mix(a->queue, b->queue, by_share), mix(c->queue, d->queue, by_share), by_gpu) * 1e-4;
        r->mean[u] = mix(mix(a->mean, b->mean, by_share), mix(c->mean, d->mean, by_share), by_gpu) * 1e-3;
        r->p50[u] = mix(mix(a->p50, b->p50, by_share), mix(c->p50, d->p50, by_share), by_gpu) * 1e-3;
        r->p99[u] = mix(mix(a->p99, b->p99, by_share), mix(c->p99, d->p99, by_share), by_gpu) * 1e-3;
        r->peak[u] = mix(mix(a->peak, b->peak, by_share), mix(c->peak, d->peak, by_share), by_gpu) * 1e-3;
    }
}

double rest_queue(const struct rest *r, double use)
{
    double part;
    if (use < fluid_uses[0]) return r->queue[0] * use / fluid_uses[0];
    unsigned u = place(fluid_uses, FLUID_USES, use, &part);
    return mix(r->queue[u], r->queue[u + 1], part);
}

struct rest_point rest_times(const struct rest *r, double use)
{
    double part;
    unsigned u = place(fluid_uses, FLUID_USES, use, &part);
    return (struct rest_point){mix(r->mean[u], r->mean[u + 1], part), mix(r->p50[u], r->p50[u + 1], part),
                               mix(r->p99[u], r->p99[u + 1], part), mix(r->peak[u], r->peak[u + 1], part)};
}

double rest_reflect(double from, double end, double var, double u)
{
    double lowest = 0.5 * (end - sqrt(end * end - 2.0 * var * stats_log(u)));
    double below = from + lowest;
    return from + end - (below < 0 ? below : 0);
}
