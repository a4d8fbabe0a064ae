/* Small summaries of block medians that the loop needs to fill verify_input. NaN blocks are unknown and left out;
 * nothing known gives NaN. */
#ifndef VERIFY_PART_H
#define VERIFY_PART_H

#include "model/series.h"

double verify_quantile(const struct blocks *b, double q);   /* type 7; of at most VERIFY_BLOCKS_MAX blocks, the newest */
double verify_jitter(const struct blocks *b);               /* sd of successive differences / sqrt 2; NaN below 3 known */
double verify_mean(const struct blocks *b);

#endif
