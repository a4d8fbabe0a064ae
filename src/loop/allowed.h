/* What the whitelist says of turning a knob, for those who ask from outside a pass: the simulator's oracle. */
#ifndef LOOP_ALLOWED_H
#define LOOP_ALLOWED_H

#include "base/tri.h"
#include "model/evidence.h"
#include "model/policy.h"

/* May this knob, which stands at `now`, be turned that way as far as its precondition and the use of its limit go (loop.md
 * section 1, "The ceiling must bind")? `e`: of the service's needs. UNKNOWN: what they ask for is not known there. */
enum tri loop_allowed(const struct service_def *s, const struct knob_def *k, enum direction d, double now,
                      const struct evidence *e);

#endif
