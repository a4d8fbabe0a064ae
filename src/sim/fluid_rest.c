#include "sim/fluid_rest.h"

#include <math.h>

#include "stats/elem.h"

/* Half the variance of arrivals less completions, as a part of the arrivals; a plain Poisson stream into a fixed service time would
 * have 0.5. Measured at a use of 0.985 to 0.995. */
static const double last_use = 0.95, diffusion_size = 0.35;

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
    }
}

static double diffusion(double use)
{
    return use > last_use ? diffusion_size * (use / (1.0 - use) - last_use / (1.0 - last_use)) : 0;
}

double rest_queue(const struct rest *r, double use, double scale)
{
    double part;
    if (use < fluid_uses[0]) return r->queue[0] * scale * use / fluid_uses[0];
    unsigned u = place(fluid_uses, FLUID_USES, use, &part);
    return mix(r->queue[u], r->queue[u + 1], part) * scale + diffusion(use);
}

struct rest_point rest_times(const struct rest *r, double use)
{
    double part;
    unsigned u = place(fluid_uses, FLUID_USES, use, &part);
    return (struct rest_point){mix(r->mean[u], r->mean[u + 1], part), mix(r->p50[u], r->p50[u + 1], part),
                               mix(r->p99[u], r->p99[u + 1], part)};
}

double rest_solve(const struct rest *r, double scale, double inside, double offered, double capacity)
{
    double low = 0, high = 0.99999, want = inside + offered, use = want / capacity;
    /* Far from the limit the queue hardly depends on the use: a few substitutions settle it. */
    for (int i = 0; i < 8 && use < 0.97; i++) {
        double next = (want - rest_queue(r, fmax(use, 0), scale)) / capacity;
        if (fabs(next - use) < 1e-9) return fmax(next, 0);
        use = next;
    }
    if (rest_queue(r, high, scale) + high * capacity < want) return 1;
    for (int i = 0; i < 40 && high - low > 1e-9; i++) {
        double mid = 0.5 * (low + high);
        if (rest_queue(r, mid, scale) + mid * capacity < want) low = mid;
        else high = mid;
    }
    return 0.5 * (low + high);
}
