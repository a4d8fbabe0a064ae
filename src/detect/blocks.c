/* Points into blocks. A block is what came in since the last tick (or the last two, for layers of 60 s), so that
 * late ticks do not split it; it carries the time of the tick that closed it. */
#include "detect/series.h"

#include <string.h>

#include "stats/order.h"

void blocks_feed(struct series *s, const struct track *t, double value, uint32_t n, bool known)
{
    s->acc_points++;
    if (!known) return;
    if (s->acc_known < ACC_MAX) s->acc[s->acc_known] = value;
    s->acc_known++;
    s->acc_sum += value;
    if (n > 0) {
        s->has_n = 1;
        s->acc_n_sum += n;
        s->acc_n_count++;
    }
    (void)t;
}

static double few_median(const double *x, uint32_t n)
{
    if (n == 1) return x[0];
    if (n == 2) return (x[0] + x[1]) / 2;
    if (n == 3) {
        double lo = x[0] < x[1] ? x[0] : x[1], hi = x[0] < x[1] ? x[1] : x[0];
        return x[2] < lo ? lo : x[2] > hi ? hi : x[2];
    }
    double copy[ACC_MAX];
    memcpy(copy, x, n * sizeof *x);
    return stats_median(copy, n);
}

static void push(struct series *s, const struct track *t, double mean, double median, uint32_t known, double requests)
{
    uint32_t at = block_at(s->blocks);
    *block_mean(t, at) = to_float(mean) + 0.0F;       /* no -0: B is a set, whatever order it was filled in */
    *block_median(t, at) = to_float(median) + 0.0F;
    *block_known(t, at) = (uint8_t)(known < BLOCK_COUNT ? known : BLOCK_COUNT);
    *block_requests(t, (uint32_t)(s->blocks % SERIES_WEIGHTS)) = requests < 4e9 ? (uint32_t)requests : 4000000000u;
    s->blocks++;
}

void blocks_close(struct series *s, const struct track *t, bool excluded)
{
    uint32_t kept = s->acc_known < ACC_MAX ? s->acc_known : ACC_MAX;
    if (kept == 0) {
        push(s, t, NAN, NAN, 0, 0);
    } else {
        push(s, t, s->acc_sum / s->acc_known, few_median(s->acc, kept), s->acc_known, s->acc_n_sum);
    }
    if (excluded) *block_known(t, block_at(s->blocks - 1)) |= BLOCK_EXCLUDED;
    s->acc_points = s->acc_known = s->acc_n_count = 0;
    s->acc_sum = s->acc_n_sum = 0;
    s->block_tick = 0;
}

/* Ticks that never came: their blocks are unknown. */
void blocks_gap(struct series *s, const struct track *t, uint64_t missing)
{
    uint64_t n = missing / t->block_ticks;
    if (n > SERIES_BLOCKS) {
        s->blocks += n - SERIES_BLOCKS;
        n = SERIES_BLOCKS;
    }
    while (n-- > 0) push(s, t, NAN, NAN, 0, 0);
}

uint64_t block_oldest(const struct series *s)
{
    return s->blocks > SERIES_BLOCKS ? s->blocks - SERIES_BLOCKS : 0;
}

int64_t block_time(const struct series *s, const struct track *t, uint64_t q)
{
    int64_t closed = s->last_tick - (int64_t)s->block_tick * t->tick_us;
    return closed - (int64_t)(s->blocks - 1 - q) * t->step_us;
}

/* Marks the closed blocks that touch (from, to]. */
void blocks_mark(struct series *s, const struct track *t, int64_t from, int64_t to, unsigned mark)
{
    for (uint64_t q = block_oldest(s); q < s->blocks; q++) {
        int64_t end = block_time(s, t, q);
        if (end > from && end - t->step_us < to) *block_known(t, block_at(q)) |= (uint8_t)mark;
    }
}
