#include "sim/naive.h"

#include <math.h>
#include <stddef.h>

void naive_init(struct naive *n)
{
    *n = (struct naive){.alpha = 0.2, .ratio = 1.15, .queue_limit = 250, .gpu_high = 0.7, .gpu_low = 0.5,
                        .batch_cap = 128, .replica_cap = 64};
}

static void learn(struct naive *n, double p99_ms)
{
    n->baseline = n->started ? n->alpha * p99_ms + (1.0 - n->alpha) * n->baseline : p99_ms;
    n->started = true;
}

static struct naive_decision raise_to(const char *knob, double from, double to, double cap)
{
    if (to > cap) to = cap;
    if (!(to > from)) return (struct naive_decision){.kind = DECISION_ALERT};
    return (struct naive_decision){.kind = DECISION_TUNE, .knob = knob, .from = from, .to = to};
}

struct naive_decision naive_step(struct naive *n, const struct naive_signals *s)
{
    struct naive_decision noop = {.kind = DECISION_NOOP};
    if (isnan(s->p99_ms) || isnan(s->queue) || isnan(s->gpu_util)) return noop;
    learn(n, s->p99_ms);  /* the bug: what comes next is compared with itself in part */
    if (!(s->p99_ms > n->ratio * n->baseline && s->queue > n->queue_limit)) return noop;
    if (s->gpu_util > n->gpu_high) return raise_to("batch_max", s->batch_max, s->batch_max * 2, n->batch_cap);
    if (s->gpu_util < n->gpu_low) return raise_to("replicas", s->replicas, s->replicas + 1, n->replica_cap);
    return (struct naive_decision){.kind = DECISION_ALERT};
}
