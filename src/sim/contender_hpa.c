/* Scaling as Kubernetes' HorizontalPodAutoscaler does it, and AIMD on concurrency as latency limiters do. Both are set up by
 * somebody who knows the service: their targets come from its usual state. Metrics come once a tick, so of a
 * loop of 15 s every second round finds nothing new. */
#include <math.h>

#include "sim/contender_inside.h"

#define HPA_TOLERANCE 0.10
#define HPA_HOLD SPAN_MIN(5)
#define HPA_HEADROOM 1.05            /* target over usual use */
#define HPA_QUEUE 2.0                /* target over usual queue of a replica */

/* autoscaling/v2: the ratio counts pods that are not ready as using nothing when it would scale up. */
static double wanted_by(double ratio_ready, double ready, double spec)
{
    if (!isfinite(ratio_ready)) return spec;
    double ratio = ratio_ready;
    if (ratio > 1 && spec > ready) ratio = ratio_ready * ready / spec;
    if (fabs(ratio - 1) <= HPA_TOLERANCE || (ratio_ready > 1 && ratio < 1)) return spec;
    return ceil(ratio * (ratio > 1 ? spec : ready));
}

/* The largest wish of the last five minutes. */
static double held(struct tuner *t, double wanted)
{
    struct instant now = rig_now(t->rig);
    unsigned kept = 0;
    for (unsigned i = 0; i < t->hpa.n; i++) {
        if (span_less(HPA_HOLD, instant_since(now, t->hpa.at[i]))) continue;
        t->hpa.wanted[kept] = t->hpa.wanted[i];
        t->hpa.at[kept++] = t->hpa.at[i];
    }
    if (kept == 64) kept = 63;
    t->hpa.wanted[kept] = wanted;
    t->hpa.at[kept++] = now;
    t->hpa.n = kept;
    for (unsigned i = 0; i < kept; i++) wanted = fmax(wanted, t->hpa.wanted[i]);
    return wanted;
}

void hpa_tick(struct tuner *t, const struct plant_window *w)
{
    const struct plant_window *usual = &t->contest->oracle->usual;
    double spec = rig_get(t->rig, "replicas"), ready = fmin(w->replicas, spec);
    if (!isfinite(spec) || !(ready > 0)) return;
    double use = w->gpu_util / (HPA_HEADROOM * usual->gpu_util);
    double queue = w->queue / ready / fmax(HPA_QUEUE * usual->queue / usual->replicas, 1);
    double wanted = fmax(wanted_by(use, ready, spec), wanted_by(queue, ready, spec));
    double most = fmax(2 * spec, spec + 4);                            /* default behaviour: up by 100 % or 4 pods */
    double least = held(t, wanted);
    tuner_set(t, "replicas", wanted > spec ? fmin(wanted, most) : least < spec ? least : spec);
}

#define AIMD_BACKOFF 0.9
#define AIMD_LATENCY 1.15            /* over the usual p99: congested */

/* Up by one while latency is good and the limit is in use, down by a tenth when it is not. */
void aimd_tick(struct tuner *t, const struct plant_window *w)
{
    double now = rig_get(t->rig, "concurrency"), serving = fmax(w->replicas, 1);
    double used = w->throughput * w->fetch_ms * 1e-3 / serving;        /* Little: fetches inside, a replica */
    if (!isfinite(now)) return;
    if (!(w->p99_ms <= AIMD_LATENCY * t->contest->oracle->usual.p99_ms)) tuner_set(t, "concurrency", floor(now * AIMD_BACKOFF));
    else if (used > 0.5 * now) tuner_set(t, "concurrency", now + 1);
}
