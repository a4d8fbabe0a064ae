#include "stats/scale.h"

#include <math.h>

#include "stats/order.h"

static double larger(double a, double b) { return b > a ? b : a; }

double stats_scale(double *x, size_t n, struct stats_floors floors, double *ret_median)
{
    double sd = stats_sd(x, n), median;
    double scale = 1.4826 * stats_mad(x, n, &median);
    if (ret_median) *ret_median = median;
    if (median != median) return NAN;
    scale = larger(scale, 0.5 * sd);
    scale = larger(scale, floors.rel * fabs(median));
    scale = larger(scale, floors.resolution);
    return larger(scale, floors.p99_noise * fabs(median));
}
