/* Stage 3: symptoms + evidence -> ranked causes, one verdict each. Pure. loop.md section 1 "Causes", facts in README.md. */
#ifndef LOCATE_LOCATE_H
#define LOCATE_LOCATE_H

#include "base/buf.h"
#include "base/time.h"
#include "model/evidence.h"
#include "model/excluded.h"
#include "model/plan.h"
#include "model/policy.h"

#define LOCATE_SHARE_DEMOTES 0.10    /* a cause that explains less of the growth ranks below all others */
#define LOCATE_SHARE_PROMOTES 0.30   /* one that explains more ranks above measured ones that do not */
#define LOCATE_GROWTH_MIN 0.02       /* of the baseline: a smaller growth of latency cannot be split into shares */
#define LOCATE_RELEASE_AGE SPAN_MIN(30)

struct locate_context {
    uint16_t symptom;                       /* that drives the incident */
    const struct excluded_list *excluded;   /* NULL: none */
    bool release_incident;                  /* age(deploy) < 30 m at ONSET: sticks */
    struct span incident_age;               /* since opened */
    bool outage;
};
/* Fills `out` with the causes of the driving symptom and of any symptom, ranked, at most CAUSES_MAX; at most one is CHOSEN: the
 * best true one with a candidate left or advice. Deterministic. Order, first difference wins:
 *   true or unknown before false; in a release incident its true recent-release causes; `rank:` as a position among the
 *   others; not demoted (share under 10 %); group, most upstream first, where a measured cause of up to 30 % stands behind
 *   the furthest group that has a true one over 30 %; larger share; more known signals; smaller blast radius of the first
 *   candidate left (advice 0, then tier, then hot, reload, restart); place in the playbook.
 * A release incident is advice-only and an outage is not tuned: causes with a knob (outage: outside that group) are then
 * EXCLUDED with all_tried set, however true. */
void locate_rank(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx,
                 struct cause_list *out);
/* share(part) = (part - baseline(part)) / (latency_mean - baseline(latency_mean)); p99 without a mean. Clamped to 0..1.
 * NaN: cannot be told (a value unknown, no latency configured, or latency grew by less than LOCATE_GROWTH_MIN). */
double locate_share(const struct service_def *s, const struct evidence *e, uint16_t part_signal);
/* Needs that ranking itself has (values and baselines of share signals); call at load, before the evidence is laid out.
 * false: the table is full. */
bool locate_needs(const struct service_def *s, struct needs *needs);
/* "compute-bound: chosen; gpu_util 0.78 > 0.7: true; explains 84 % of the growth; candidates: batch_max up, replicas up" */
void locate_explain(struct buf *out, const struct service_def *s, const struct evidence *e, const struct cause_result *r);

#endif
