#include "sim/plant_hist.h"

#include <math.h>

#include "base/check.h"

unsigned hist_cells_below(int64_t ns)
{
    if (ns <= HIST_FINE * HIST_FINE_NS) {
        CHECK(ns % HIST_FINE_NS == 0);
        return (unsigned)(ns / HIST_FINE_NS);
    }
    CHECK(ns % HIST_COARSE_NS == 0);
    unsigned i = HIST_FINE + (unsigned)((ns - HIST_FINE * HIST_FINE_NS) / HIST_COARSE_NS);
    return i < HIST_CELLS ? i : HIST_CELLS - 1;
}

void hist_difference(struct plant_hist *ret, const struct plant_hist *now, const struct plant_hist *before)
{
    ret->count = now->count - before->count;
    ret->sum_ns = now->sum_ns - before->sum_ns;
    for (unsigned i = 0; i < HIST_CELLS; i++) ret->cell[i] = now->cell[i] - before->cell[i];
}

static double cell_start_ms(unsigned i)
{
    if (i <= HIST_FINE) return (double)i * 0.25;
    return (double)HIST_FINE * 0.25 + (double)(i - HIST_FINE) * 25.0;
}

double hist_quantile_ms(const struct plant_hist *h, double q)
{
    if (h->count == 0) return NAN;
    double rank = q * (double)h->count, seen = 0;
    for (unsigned i = 0; i < HIST_CELLS; i++) {
        double n = (double)h->cell[i];
        if (n > 0 && seen + n >= rank) {
            double part = rank > seen ? (rank - seen) / n : 0;
            return cell_start_ms(i) + part * (cell_start_ms(i + 1) - cell_start_ms(i));
        }
        seen += n;
    }
    return cell_start_ms(HIST_CELLS - 1);
}

double hist_mean_ms(const struct plant_hist *h)
{
    return h->count ? (double)h->sum_ns / (double)h->count * 1e-6 : (double)NAN;
}
