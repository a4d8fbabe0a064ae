/* Draws of stats/dist.h. */
#include <math.h>
#include <stdbool.h>

#include "stats/dist.h"
#include "stats/elem.h"

/* Uniform in (0, 1]: its logarithm is finite. */
static double unit_above_zero(struct prng *p) { return 1 - prng_unit(p); }

double stats_draw_exponential(struct prng *p, double mean)
{
    return -mean * stats_log(unit_above_zero(p));
}

/* Marsaglia's polar method; the second of each pair is dropped, so that the generator's state is all there is. */
static double standard_normal(struct prng *p)
{
    for (;;) {
        double x = 2 * prng_unit(p) - 1, y = 2 * prng_unit(p) - 1, s = x * x + y * y;
        if (s < 1 && s > 0) return x * sqrt(-2 * stats_log(s) / s);
    }
}

double stats_draw_normal(struct prng *p, double mean, double sd) { return mean + sd * standard_normal(p); }

enum { AT_ONCE = 64 };

/* Draws without a branch on chance: a pair that is refused is overwritten by the next. */
static void normals(struct prng *p, double *out, unsigned n)
{
    double s[AT_ONCE], log_s[AT_ONCE];
    struct prng q = *p;
    for (unsigned k = 0; k < n;) {
        double x = 2 * prng_unit(&q) - 1, y = 2 * prng_unit(&q) - 1, r = x * x + y * y;
        out[k] = x;
        s[k] = log_s[k] = r;
        k += (unsigned)(r < 1) & (unsigned)(r > 0);
    }
    *p = q;
    stats_log_each(log_s, n);
    for (unsigned k = 0; k < n; k++) out[k] *= sqrt(-2 * log_s[k] / s[k]);
}

void stats_draw_normals(struct prng *p, double *out, unsigned n)
{
    for (; n > AT_ONCE; n -= AT_ONCE, out += AT_ONCE) normals(p, out, AT_ONCE);
    normals(p, out, n);
}

double stats_draw_lognormal(struct prng *p, double mu, double sigma)
{
    return stats_exp(stats_draw_normal(p, mu, sigma));
}

/* Marsaglia and Tsang (2000): a cubed, shifted normal, accepted by its exact density; shape >= 1. */
static double gamma_from_one(struct prng *p, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = standard_normal(p), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = unit_above_zero(p);
        if (stats_log(u) < 0.5 * x * x + d - d * v + d * stats_log(v)) return d * v;
    }
}

double stats_draw_gamma(struct prng *p, double shape, double scale)
{
    if (shape >= 1) return scale * gamma_from_one(p, shape);
    double g = gamma_from_one(p, shape + 1);
    return scale * g * stats_exp(stats_log(unit_above_zero(p)) / shape);
}

/* Counts the uniform factors until their product falls below e^-mean. */
static uint64_t poisson_by_product(struct prng *p, double mean)
{
    double floor_product = stats_exp(-mean), product = prng_unit(p);
    uint64_t k = 0;
    for (; product > floor_product; k++) product *= prng_unit(p);
    return k;
}

/* ln of the chance of exactly k. For large k by the distance from the mean: the plain form subtracts numbers of
 * the size of k and would keep no digit. */
static double log_poisson(double k, double mean)
{
    if (k < 16) return k * stats_log(mean) - mean - stats_log_factorial((uint64_t)k);
    double t = (mean - k) / k, inv = 1 / k;
    double stirling = inv * (1.0 / 12 - inv * inv * (1.0 / 360 - inv * inv / 1260));
    return k * (stats_log1p(t) - t) - 0.5 * stats_log(6.283185307179586 * k) - stirling;
}

/* Hoermann's transformed rejection (1993, PTRS), for means from 10 on. */
static uint64_t poisson_by_rejection(struct prng *p, double mean)
{
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = prng_unit(p) - 0.5, v = unit_above_zero(p), edge = 0.5 - fabs(u);
        double k = floor((2 * a / edge + b) * u + mean + 0.43);
        if (!(k >= 0 && k < 0x1p63)) continue;
        if (edge >= 0.07 && v <= quick) return (uint64_t)k;
        if (edge < 0.013 && v > edge) continue;
        double height = stats_log(v * inv_alpha / (a / (edge * edge) + b));
        if (height <= log_poisson(k, mean)) return (uint64_t)k;
    }
}

uint64_t stats_draw_poisson(struct prng *p, double mean)
{
    if (!(mean > 0)) return 0;
    return mean < 30 ? poisson_by_product(p, mean) : poisson_by_rejection(p, mean);
}
