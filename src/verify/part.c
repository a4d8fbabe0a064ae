#include "verify/part.h"

#include <math.h>

#include "stats/order.h"
#include "verify/verify.h"

static uint32_t known_values(const struct blocks *b, double *out)
{
    uint32_t n = 0, from = b->n > VERIFY_BLOCKS_MAX ? b->n - VERIFY_BLOCKS_MAX : 0;
    for (uint32_t i = from; i < b->n; i++) {
        if (!isnan(b->values[i])) out[n++] = b->values[i];
    }
    return n;
}

double verify_quantile(const struct blocks *b, double q)
{
    double x[VERIFY_BLOCKS_MAX];
    uint32_t n = known_values(b, x);
    return stats_quantile(x, n, q);
}

double verify_jitter(const struct blocks *b)
{
    double x[VERIFY_BLOCKS_MAX];
    uint32_t n = known_values(b, x);
    return stats_diff_sd(x, n);
}

void verify_add_queue_change(double *load, const struct blocks *b, const struct blocks *queue)
{
    double step_s = (double)b->step.us / 1e6;
    if (queue->n != b->n || queue->step.us != b->step.us || !(step_s > 0)) return;
    for (uint32_t i = 1; i < b->n; i++) load[i] += (queue->values[i] - queue->values[i - 1]) / step_s;
}

double verify_mean(const struct blocks *b)
{
    double x[VERIFY_BLOCKS_MAX];
    uint32_t n = known_values(b, x);
    return stats_mean(x, n);
}
