/* A queue at rest: what fluid_table.h says for one share of batch-dependent time and one number of replicas. */
#ifndef SIM_FLUID_REST_H
#define SIM_FLUID_REST_H

#include "sim/fluid_table.h"

/* One column over the use of capacity, interpolated. queue in requests per (replica x batch_max); times per full cycle. */
struct rest { double queue[FLUID_USES], mean[FLUID_USES], p50[FLUID_USES], p99[FLUID_USES]; };
struct rest_point { double mean, p50, p99; };

/* Outside the table's range the nearest edge holds. */
void rest_column(struct rest *r, double share, double gpus);
/* `scale` = replicas x batch_max. Mean requests waiting at a use in 0..1 (below 1), the diffusion term of a Poisson stream
 * included: 0.35 use / (1 - use) beyond the table's last use. Grows with use without bound. */
double rest_queue(const struct rest *r, double use, double scale);
/* Without the diffusion term. */
struct rest_point rest_times(const struct rest *r, double use);
/* The use in 0..1 at which a second that began with `inside` requests waiting, in which `offered` came and `capacity` could leave,
 * ends at rest: rest_queue(use) + use * capacity = inside + offered. 1: more than can leave. */
double rest_solve(const struct rest *r, double scale, double inside, double offered, double capacity);

#endif
