/* Points of signals and blocks of them. A point that is not known carries why; its value is then NaN. */
#ifndef MODEL_SERIES_H
#define MODEL_SERIES_H

#include <stdint.h>

#include "base/time.h"
#include "model/enums.h"

struct point {
    struct instant at;      /* when the sample was true: the scrape's start, or the target's own timestamp */
    double value;           /* in the signal's unit; NaN unless why == WHY_KNOWN */
    uint32_t n;             /* requests behind it where that makes sense (p99, ratios); 0 = not applicable */
    enum unknown_why why;
};

/* How many values fell into each bin; edge[i] is the upper end of bin i, the last is +Inf. */
#define HISTOGRAM_BINS_MAX 48
struct histogram {
    uint32_t bins;
    double edge[HISTOGRAM_BINS_MAX], count[HISTOGRAM_BINS_MAX];
};

/* Medians (or means, see the producer) of consecutive non-overlapping blocks of `step`. loop.md section 1, "Block". */
struct blocks {
    const double *values;        /* NaN where unknown */
    uint32_t n, known;
    struct span step;            /* 30 s, or the signal's rate range if that is longer */
    struct instant first;        /* start of block 0 */
};

#endif
