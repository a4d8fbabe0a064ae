/* The scale that deviations are measured in: robust, and never so small that nothing becomes everything. */
#ifndef STATS_SCALE_H
#define STATS_SCALE_H

#include <stddef.h>

/* Floors, each 0 when it does not apply. */
struct stats_floors {
    double rel;         /* share of |median|, per unit of the signal (0.05 = 5 %) */
    double resolution;  /* smallest step the signal can show, in its unit */
    double p99_noise;   /* relative sd from stats_p99_noise, 0 where the signal is no p99 */
};

/* max(1.4826 * MAD, 0.5 * sd, rel * |median|, resolution, p99_noise * |median|) of the baseline values, sample sd
 * (loop.md section 1, zscore). One value has no sd: the other terms stand. Overwrites x. *ret_median (may be NULL)
 * receives the median. n == 0: NaN. 0 only when every floor is 0 and all values are equal: the caller reports
 * "low evidence" and does not divide. */
double stats_scale(double *x, size_t n, struct stats_floors floors, double *ret_median);

#endif
