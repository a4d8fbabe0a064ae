/* Bounds for a share seen as successes out of trials (errors out of requests). */
#ifndef STATS_RATE_H
#define STATS_RATE_H

#include <stdbool.h>

#define STATS_Z95 1.9599639845400545  /* two-sided 95 % */

struct stats_bounds { double lo, hi; };

/* Wilson score interval, within [0, 1]. Counts may be fractions (increases over a window are extrapolated).
 * trials <= 0: [0, 1], nothing is known. hits is limited to 0..trials; NaN gives NaN. */
struct stats_bounds stats_wilson(double hits, double trials, double z);

/* True when the data show a rise: the lower bound after stands above the upper bound before. */
bool stats_rate_worse(double hits_before, double trials_before, double hits_after, double trials_after);

#endif
