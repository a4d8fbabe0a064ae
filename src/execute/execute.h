/* Stage 5, the arithmetic of it: ladders, classes of reads, deadlines. The sequence INTENT -> write -> read back -> APPLIED
 * is rows 13 to 29 and 39 to 45 of the state table (loop/control). Pure. */
#ifndef EXECUTE_EXECUTE_H
#define EXECUTE_EXECUTE_H

#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/value.h"

/* The next rung in `dir` from the value read. An off-ladder value goes to the nearest rung at least min_step away.
 * NOT_FOUND: at the bound; INVALID: the value is not a number or outside [min, max]; DENIED: direction not allowed.
 * Never returns a value off the ladder, outside [min, max] or more than one notch away (invariant 3). */
enum status execute_next_rung(const struct knob_def *k, const struct knob_value *now, enum direction dir,
                              struct knob_value *ret, struct err *err);
/* All rungs of the ladder in [min, max], ascending; returns the count (also when > cap). `check` uses it. */
uint32_t execute_rungs(const struct knob_def *k, double *out, uint32_t cap);
/* OLD, NEW (all equal), MIX (only old and new), THIRD, NONE (any instance unreadable). */
enum read_class execute_classify(const struct read_vector *r, const struct knob_value *old, const struct knob_value *new_);
struct span execute_deadline(const struct service_def *s, const struct knob_def *k);
/* Settle by class (loop.md section 1): cache knobs wait for the fill. rates in requests/s, item size in bytes; 0 = unknown. */
struct span execute_settle(const struct service_def *s, const struct knob_def *k, const struct knob_value *from,
                           const struct knob_value *to, double miss_rate_per_s, double item_bytes);
/* "curl -X PUT ... '32'": how a person repeats or undoes it. */
struct buf;
void execute_by_hand(struct buf *out, const struct service_def *s, const struct knob_def *k, const struct knob_value *v);

#endif
