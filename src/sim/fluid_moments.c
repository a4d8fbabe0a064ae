#include "sim/fluid_moments.h"

#include <math.h>

#include "stats/dist.h"

void moments_add(struct moments *m, double mean, double sd, double skew)
{
    m->mean += mean;
    m->var += sd * sd;
    m->third += skew * sd * sd * sd;
}

/* Cornish and Fisher's quantile from three cumulants. An exponential has skew 2; beyond that the expansion runs away. */
static double skew_of(const struct moments *m)
{
    double sd = sqrt(fmax(m->var, 1e-12));
    return fmin(fmax(m->third / (sd * sd * sd), -2), 2);
}

double moments_quantile(const struct moments *m, double z)
{
    return m->mean + sqrt(fmax(m->var, 1e-12)) * (z + skew_of(m) / 6.0 * (z * z - 1.0));
}

/* Its inverse: the part of the requests that takes less than x. */
double moments_below(const struct moments *m, double x)
{
    double y = (x - m->mean) / sqrt(fmax(m->var, 1e-12)), k = skew_of(m) / 6.0;
    if (fabs(k) < 1e-6) return stats_normal_cdf(y);
    double root = 1.0 + 4.0 * k * (k + y);
    if (root < 0) return k > 0 ? 0 : 1;
    return stats_normal_cdf((sqrt(root) - 1.0) / (2.0 * k));
}

/* The same where some have a tail; both tails at once do not meet. */
static double part_below_with(const struct moments *m, const struct tail *t, double x)
{
    double plain = 1, sum = 0;
    for (unsigned i = 0; i < TAILS; i++) {
        if (!(t[i].part > 0)) continue;
        plain -= t[i].part;
        sum += t[i].part * moments_below(m, x - t[i].extra_ms);
    }
    return sum + plain * moments_below(m, x);
}

double moments_quantile_with(const struct moments *m, const struct tail *t, double part, double z)
{
    double low = moments_quantile(m, z), high = low;
    for (unsigned i = 0; i < TAILS; i++)
        if (t[i].part > 0) high = fmax(high, moments_quantile(m, 4) + t[i].extra_ms);
    for (int i = 0; i < 24 && high > low; i++) {
        double mid = 0.5 * (low + high);
        if (part_below_with(m, t, mid) < part) low = mid;
        else high = mid;
    }
    return low;
}

/* The cumulants whose quantiles are the median and p99 that were measured, as far as their skew goes. */
struct moments moments_of_rest(const struct rest_point *p, double unit_ms)
{
    double bend = MOMENTS_Z99 * MOMENTS_Z99 - 1.0, above = p->p99 - p->mean, lean = p->mean - p->p50;
    double sd = (above - bend * lean) / MOMENTS_Z99, skew = sd > 0 ? 6.0 * lean / sd : INFINITY;
    if (!(fabs(skew) <= 2)) {
        skew = lean > 0 ? 2 : -2;
        sd = above / (MOMENTS_Z99 + bend * skew / 6.0);
    }
    sd *= unit_ms;
    return (struct moments){p->mean * unit_ms, sd * sd, skew * sd * sd * sd};
}
