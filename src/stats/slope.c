#include "stats/slope.h"

#include <math.h>

#include "stats/order.h"

double stats_slope(const double *t, const double *x, size_t n, double window)
{
    if (n < 2) return NAN;
    double mean_t = stats_mean(t, n), mean_x = stats_mean(x, n), tx = 0, tt = 0;
    for (size_t i = 0; i < n; i++) {
        tx += (t[i] - mean_t) * (x[i] - mean_x);
        tt += (t[i] - mean_t) * (t[i] - mean_t);
    }
    return tt > 0 ? tx / tt * window : (double)NAN;
}

double stats_slope_robust(const double *t, const double *x, size_t n, double window, double *scratch)
{
    size_t pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (t[j] != t[i]) scratch[pairs++] = (x[j] - x[i]) / (t[j] - t[i]);
    return stats_median(scratch, pairs) * window;
}
