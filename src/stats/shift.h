/* How far "after" moved from "before", with an interval that needs no distribution (loop.md section 3). */
#ifndef STATS_SHIFT_H
#define STATS_SHIFT_H

#include <stddef.h>

enum { STATS_SHIFT_MAX = 400 };  /* points a side */

/* d in the unit of the points (log points give log ratios); [lo, hi] covers the true shift with at least 95 %.
 * Too few points for any such interval (n = m = 3, say): lo = -inf, hi = +inf. No points: all NaN. */
struct stats_shift { double d, lo, hi; };

/* Hodges-Lehmann two-sample shift: the median of all after - before, and the interval between the order
 * statistics that the Mann-Whitney distribution gives (exact up to n + m = 50, normal beyond). n, m <=
 * STATS_SHIFT_MAX; scratch has room for n * m values, and is the only memory used. Assumes independent points. */
struct stats_shift stats_shift(const double *before, size_t n, const double *after, size_t m, double *scratch);

/* The same for blocks that follow one another in time: the interval is widened around d by
 * stats_widening(r), r = stats_lag1_climb. *ret_r (may be NULL) receives r. */
struct stats_shift stats_shift_blocks(const double *before, size_t n, const double *after, size_t m,
                                      double *scratch, double *ret_r);

/* Lag-1 autocorrelation around the mean, freed of its small-sample bias -(1 + 4r)/n and limited to 0..0.9.
 * Values in order of time. Constant values: 0. Fewer than 6: 0.9, for then nothing is known. */
double stats_lag1(const double *x, size_t n);
/* One r for two stretches with a gap between them, each around its own mean. */
double stats_lag1_two(const double *a, size_t n, const double *b, size_t m);

/* The same with the first stretch around the line that fits it best. Fewer than 12 points in all: 0.9. What is getting worse
 * climbs until it is cured; around its mean that climb would count as correlation and hide the cure. */
double stats_lag1_climb(const double *a, size_t n, const double *b, size_t m);

/* sqrt((1 + r) / (1 - r)): what an interval for independent points must be stretched by. r in [0, 1). */
double stats_widening(double r);

/* The largest c with P(U < c) < 0.025 for the Mann-Whitney U of n and m independent points;
 * 0 when there is none. [c-th smallest, c-th largest difference] covers with at least 95 %. `work` has room
 * for n * m values. */
size_t stats_shift_rank(size_t n, size_t m, double *work);

#endif
