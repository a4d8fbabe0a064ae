/* Small summaries of block medians that the loop needs to fill verify_input. NaN blocks are unknown and left out;
 * nothing known gives NaN. */
#ifndef VERIFY_PART_H
#define VERIFY_PART_H

#include "model/series.h"

double verify_quantile(const struct blocks *b, double q);   /* type 7; of at most VERIFY_BLOCKS_MAX blocks, the newest */
double verify_jitter(const struct blocks *b);               /* sd of successive differences / sqrt 2; NaN below 3 known */
double verify_mean(const struct blocks *b);

/* loop.md section 3: where arrivals are not measured, load is what was completed plus what the queue grew by. `load` holds the
 * values of `b`; blocks that do not fit together are left as they are. */
void verify_add_queue_change(double *load, const struct blocks *b, const struct blocks *queue);

#endif
