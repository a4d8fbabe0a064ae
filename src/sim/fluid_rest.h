/* A queue at rest: what fluid_table.h says for one share of batch-dependent time and one number of replicas. */
#ifndef SIM_FLUID_REST_H
#define SIM_FLUID_REST_H

#include "sim/fluid_table.h"

/* One column over the use of capacity, interpolated. queue in requests per (replica x batch_max); times per full cycle;
 * peak, the largest batch of 100 ms, per batch_max. */
struct rest { double queue[FLUID_USES], mean[FLUID_USES], p50[FLUID_USES], p99[FLUID_USES], peak[FLUID_USES]; };
struct rest_point { double mean, p50, p99, peak; };

/* Outside the table's range the nearest edge holds. */
void rest_column(struct rest *r, double share, double gpus);
/* Mean requests waiting at a use, per (replica x batch_max). Beyond the table's last use (0.95) its value there. */
double rest_queue(const struct rest *r, double use);
struct rest_point rest_times(const struct rest *r, double use);
/* A sum of drift and noise over a step, held at or above 0: exact in law for any step, by the joint law of a Brownian path's end
 * and its lowest point. `end` = drift + noise over the step, `var` the noise's variance, `u` uniform in (0, 1).
 * Returns where a path from `from` >= 0 ends. */
double rest_reflect(double from, double end, double var, double u);

#endif
