/* Stage 5, the arithmetic of it: how long a change takes to settle, and how a person does it by hand. Ladders are in
 * model/ladder.h, classes of reads in loop/control.h. The sequence INTENT -> write -> read back -> APPLIED
 * is rows 13 to 29 and 39 to 45 of the state table (loop/control). Pure. */
#ifndef EXECUTE_EXECUTE_H
#define EXECUTE_EXECUTE_H

#include <stdbool.h>

#include "base/status.h"
#include "base/time.h"
#include "model/policy.h"
#include "model/value.h"

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
