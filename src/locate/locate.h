/* Stage 3: symptoms + evidence -> ranked causes, one verdict each. Pure. loop.md section 1 "Causes", facts/playbook. */
#ifndef LOCATE_LOCATE_H
#define LOCATE_LOCATE_H

#include "base/buf.h"
#include "base/time.h"
#include "model/evidence.h"
#include "model/excluded.h"
#include "model/plan.h"
#include "model/policy.h"

struct locate_context {
    uint16_t symptom;                       /* that drives the incident */
    const struct excluded_list *excluded;
    bool release_incident;                  /* age(deploy) < 30 m at ONSET: sticks */
    struct span incident_age;               /* since opened: for the five minutes of waiting */
    bool outage;
};
/* Fills `out` ranked; at most one CHOSEN: the best true one with a candidate left or advice. Deterministic. */
void locate_rank(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx,
                 struct cause_list *out);
/* share(part) = (part - baseline(part)) / (latency_mean - baseline(latency_mean)); p99 without a mean. NaN: cannot be told. */
double locate_share(const struct service_def *s, const struct evidence *e, uint16_t part_signal);
/* Needs that ranking itself has (values and baselines of share signals); call at load, before the evidence is laid out. */
bool locate_needs(const struct service_def *s, struct needs *needs);
void locate_explain(struct buf *out, const struct service_def *s, const struct evidence *e, const struct cause_result *r);

#endif
