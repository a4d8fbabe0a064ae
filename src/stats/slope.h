/* The change of a signal along a fitted line. */
#ifndef STATS_SLOPE_H
#define STATS_SLOPE_H

#include <stddef.h>

/* Least squares line through (t[i], x[i]), as its change over `window` (same unit of time as t), in x's unit:
 * slope(x, w) of loop.md section 1. NaN for fewer than 2 points or all at one time. */
double stats_slope(const double *t, const double *x, size_t n, double window);

/* The same from the median of all pairwise slopes (Theil and Sen): up to 29 % wild points do not move it.
 * scratch has room for n * (n - 1) / 2 values; pairs at one time are left out. */
double stats_slope_robust(const double *t, const double *x, size_t n, double window, double *scratch);

#endif
