/* The engine from which trimtab grew (spec section 11), as a contender to compare with, its bug included: it learns its
 * baseline BEFORE it compares, starting from the first value, so that the first sample never fires and a step is soon
 * forgotten. It remembers no earlier action, verifies nothing and takes nothing back. */
#ifndef SIM_NAIVE_H
#define SIM_NAIVE_H

#include <stdbool.h>

#include "model/enums.h"

struct naive {
    double alpha;                /* 0.2 */
    double ratio, queue_limit;   /* rule 1: p99 over ratio * baseline and queue over queue_limit (1.15, 250) */
    double gpu_high, gpu_low;    /* rule 2: above -> batch size x2, below -> one replica more, between -> tell a person */
    double batch_cap, replica_cap;
    double baseline;             /* of p99; meaningless until started */
    bool started;
};

/* What one tick shows. NaN: unknown; then the tick is passed over. */
struct naive_signals { double p99_ms, queue, gpu_util, batch_max, replicas; };

struct naive_decision {
    enum decision_kind kind;     /* noop, tune, alert */
    const char *knob;            /* "batch_max" or "replicas" when tuning, else NULL */
    double from, to;
};

void naive_init(struct naive *n);
struct naive_decision naive_step(struct naive *n, const struct naive_signals *s);

#endif
