#include "stats/rate.h"

#include <math.h>

static double limit(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

struct stats_bounds stats_wilson(double hits, double trials, double z)
{
    if (trials <= 0) return (struct stats_bounds){0, 1};
    hits = limit(hits, 0, trials);
    double p = hits / trials, zz = z * z / trials;
    double middle = (p + zz / 2) / (1 + zz);
    double half = z * sqrt(p * (1 - p) / trials + zz / (4 * trials)) / (1 + zz);
    struct stats_bounds b = {limit(middle - half, 0, 1), limit(middle + half, 0, 1)};
    if (hits == 0) b.lo = 0;  /* exact, where rounding would leave a speck */
    if (hits == trials) b.hi = 1;
    return b;
}

bool stats_rate_worse(double hits_before, double trials_before, double hits_after, double trials_after)
{
    struct stats_bounds before = stats_wilson(hits_before, trials_before, STATS_Z95);
    struct stats_bounds after = stats_wilson(hits_after, trials_after, STATS_Z95);
    return after.lo > before.hi;
}
