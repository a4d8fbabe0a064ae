/* The latency of many requests as numbers, for the fluid form: cumulants, a part of the requests that takes longer, quantiles. */
#ifndef SIM_FLUID_MOMENTS_H
#define SIM_FLUID_MOMENTS_H

#include "sim/fluid_rest.h"

#define MOMENTS_Z99 2.3263478740408408   /* normal quantile of 0.99 */

/* Latency as three cumulants in ms: independent parts add. */
struct moments { double mean, var, third; };
/* A part of the requests takes so much longer. Both tails at once do not meet. */
struct tail { double part, extra_ms; };
enum { TAIL_BAD, TAIL_LOSS, TAILS };

void moments_add(struct moments *m, double mean, double sd, double skew);
/* The cumulants whose quantiles are the median and p99 of the table, as far as their skew goes; times `unit_ms`. */
struct moments moments_of_rest(const struct rest_point *p, double unit_ms);
/* The quantile at normal deviate z, and its inverse: the part of the requests that takes less than x. */
double moments_quantile(const struct moments *m, double z);
double moments_below(const struct moments *m, double x);
/* The quantile `part` (normal deviate z) with TAILS tails; those with part 0 do not count. */
double moments_quantile_with(const struct moments *m, const struct tail *t, double part, double z);

#endif
