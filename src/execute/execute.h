/* Stage 5, the arithmetic of it: ladders, classes of reads, deadlines. The sequence INTENT -> write -> read back -> APPLIED
 * is rows 13 to 29 and 39 to 45 of the state table (loop/control). Pure. */
#ifndef EXECUTE_EXECUTE_H
#define EXECUTE_EXECUTE_H

#include <stdbool.h>

#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/value.h"

/* The next rung in `dir` from the value read. An off-ladder value goes to the nearest rung at least min_step away.
 * NOT_FOUND: at the bound; INVALID: the value is not a number or outside [min, max]; DENIED: direction not allowed.
 * Never returns a value off the ladder, outside [min, max] or more than one notch away (invariant 3).
 * The exact rule is in model/ladder.h, which `check` and decide use too. */
enum status execute_next_rung(const struct knob_def *k, const struct knob_value *now, enum direction dir,
                              struct knob_value *ret, struct err *err);
/* All rungs of the ladder in [min, max], ascending; returns the count (also when > cap). */
uint32_t execute_rungs(const struct knob_def *k, double *out, uint32_t cap);

/* By value alone: OLD, NEW (all equal), MIX (only old and new), THIRD, NONE (any instance unreadable, or none asked).
 * A value equal to both counts as NEW. */
enum read_class execute_classify(const struct read_vector *r, const struct knob_value *old, const struct knob_value *new_);
/* The version rule of loop.md section 4 ("Reads") on top of the class by value. A value equal to the old one must carry
 * old_at's version, one equal to the new one new_at's; else the class is THIRD: somebody wrote in between. NULL: any version
 * will do. So: READBACK passes (INTENT's snapshot, NULL); after APPLIED (NULL, the version adopted); after an undo was sent
 * (NULL, NULL). Compared only for a knob kept in one place (n == 1): instances each count versions of their own. */
enum read_class execute_classify_versions(const struct read_vector *r, const struct knob_value *old,
                                          const struct knob_value *new_, const struct knob_value *old_at,
                                          const struct knob_value *new_at);

/* Until when a write must read back: the knob's own, else the service's for hot, reload or restart. */
struct span execute_deadline(const struct service_def *s, const struct knob_def *k);
/* Settle by class (loop.md section 1): a cache that grows waits for the fill, at most 30 min. Rates in requests/s, item size
 * in bytes; 0 or NaN = unknown, then the plain settle time. */
struct span execute_settle(const struct service_def *s, const struct knob_def *k, const struct knob_value *from,
                           const struct knob_value *to, double miss_rate_per_s, double item_bytes);
#define EXECUTE_SETTLE_MAX SPAN_MIN(30)

/* How a person repeats or undoes it with a shell: one line per place, "curl -X PUT ... --data '32' 'http://...'" or
 * "printf '%s' '32' > '/etc/...'". Secrets never appear: a token is read from its file by the shell, header values that look
 * like one become <secret>. <old> and <version> are for the person to fill in from a fresh read. */
struct buf;
void execute_by_hand(struct buf *out, const struct service_def *s, const struct knob_def *k, const struct knob_value *v);

#endif
