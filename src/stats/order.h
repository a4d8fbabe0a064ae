/* Robust and plain summaries of a handful of numbers. `x` is n known, finite or infinite values in any order;
 * functions that take a plain `double *` reorder it in place. n == 0, or a NaN among the values, gives NaN:
 * leave unknown points out before. No recursion, no allocation; nth and all built on it are O(n) on average
 * and O(n log n) at worst. */
#ifndef STATS_ORDER_H
#define STATS_ORDER_H

#include <stddef.h>

void stats_sort(double *x, size_t n);  /* ascending, NaN last */

/* The value that stands at index k (< n) after sorting; everything before it is <=, everything behind >=. */
double stats_nth(double *x, size_t n, size_t k);
double stats_median(double *x, size_t n);
/* Quantile of type 7 (linear between the points at (n - 1) q), q in [0, 1]; as R, NumPy and Prometheus's
 * quantile_over_time do. q outside gives NaN. */
double stats_quantile(double *x, size_t n, double q);
/* Median of |x - median|, not scaled (times 1.4826 it estimates a normal sd). Overwrites x with the
 * deviations. *ret_median (may be NULL) receives the median. */
double stats_mad(double *x, size_t n, double *ret_median);
/* Mean without the floor(n * share) smallest and as many largest values; share in [0, 0.5). */
double stats_trimmed_mean(double *x, size_t n, double share);

double stats_min(const double *x, size_t n);
double stats_max(const double *x, size_t n);
double stats_sum(const double *x, size_t n);   /* compensated; 0 for n == 0 */
double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n);    /* sample sd, divisor n - 1; NaN for n < 2 */
/* sd of successive differences / sqrt(2), x in order of time: a noise level that a ramp does not inflate
 * (loop.md section 3, harmful). NaN for n < 3. */
double stats_diff_sd(const double *x, size_t n);

/* Limits a residual to +-limit (loop.md section 1, learning). */
static inline double stats_clip(double r, double limit)
{
    return r > limit ? limit : r < -limit ? -limit : r;
}

#endif
