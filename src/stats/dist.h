/* Distributions without libm: the same draws and values on every machine. Draws are for simulator and tests;
 * the core draws nothing. */
#ifndef STATS_DIST_H
#define STATS_DIST_H

#include <stdint.h>

#include "base/prng.h"

double stats_draw_exponential(struct prng *p, double mean);
double stats_draw_normal(struct prng *p, double mean, double sd);
/* The same numbers as n calls with mean 0 and sd 1, in a third of the time. */
void stats_draw_normals(struct prng *p, double *out, unsigned n);
/* exp of a normal: median exp(mu), sd of the log sigma. */
double stats_draw_lognormal(struct prng *p, double mu, double sigma);
double stats_draw_gamma(struct prng *p, double shape, double scale);  /* shape > 0; mean shape * scale */
/* Exact for every mean in [0, 1e15]; constant time from mean 30 on. A mean <= 0 gives 0. */
uint64_t stats_draw_poisson(struct prng *p, double mean);

/* P(Z <= x) of the standard normal; relative error below 1e-13, in the far lower tail too. */
double stats_normal_cdf(double x);
/* Its inverse for q in (0, 1), relative error below 1e-13 (absolute near 0); 0 and 1 give -inf and +inf, outside NaN. */
double stats_normal_quantile(double q);
/* ln k!, absolute error below 1e-13 relative to max(1, ln k!). */
double stats_log_factorial(uint64_t k);

#endif
