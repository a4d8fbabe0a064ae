/* Durations counted in fine buckets: 0.25 ms up to 500 ms, 25 ms up to 10.5 s, one above. Recording is one add. */
#ifndef SIM_PLANT_HIST_H
#define SIM_PLANT_HIST_H

#include <stdint.h>

enum { HIST_FINE = 2000, HIST_COARSE = 400, HIST_CELLS = HIST_FINE + HIST_COARSE + 1 };
#define HIST_FINE_NS INT64_C(250000)
#define HIST_COARSE_NS INT64_C(25000000)

struct plant_hist {
    uint64_t count, sum_ns;
    uint64_t cell[HIST_CELLS];   /* (lower, upper]: a duration on a bound lies below it */
};

static inline void hist_record(struct plant_hist *h, int64_t ns)
{
    uint64_t v = ns > 0 ? (uint64_t)ns : 0, i = v > 0 ? (v - 1) / (uint64_t)HIST_FINE_NS : 0;
    if (i >= HIST_FINE) {
        i = HIST_FINE + (v - 1) / (uint64_t)HIST_COARSE_NS - HIST_FINE * HIST_FINE_NS / HIST_COARSE_NS;
        if (i >= HIST_CELLS) i = HIST_CELLS - 1;
    }
    h->count++;
    h->sum_ns += v;
    h->cell[i]++;
}

/* Index of the first cell above `ns`, which must be a bound of a cell: cells below it hold the durations <= ns. */
unsigned hist_cells_below(int64_t ns);
/* ret = now - before. */
void hist_difference(struct plant_hist *ret, const struct plant_hist *now, const struct plant_hist *before);
/* q in 0..1 in ms, linear within the cell; NaN when empty. */
double hist_quantile_ms(const struct plant_hist *h, double q);
/* NaN when empty. */
double hist_mean_ms(const struct plant_hist *h);

#endif
