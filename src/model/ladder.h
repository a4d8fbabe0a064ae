/* Ladders of knobs: which values a knob may take, and which one is one notch away. Here and not in a stage because
 * `check`, decide and execute need the same answer (loop.md section 1, "Notch and ladder"; invariant 3).
 *
 * Rungs. x F from min: min, min F, min F^2, .. up to max; a whole-number knob rounds each rung up ("+25 % rounded up" is x1.25:
 * 1, 2, 3, 4, 5, 7, 9). + S from min: min, min + S, ... A list: its entries within [min, max]. max is a rung only if
 * the ladder hits it.
 *
 * One notch. From a rung: the neighbouring rung. From a value between two rungs: the nearer end of the gap in that direction.
 * Only if that end is nearer than min_step the value counts as standing on it, and the notch leads to the rung after it: 48 on
 * {4, 8, .., 128} goes up to 64 and down to 32; with a min step of 20 up to 128 and down to 16, and no further whatever the
 * min step. A neighbour of a rung that is nearer than min_step is no move at all: the ladder contradicts the min step there. */
#ifndef MODEL_LADDER_H
#define MODEL_LADDER_H

#include <stdint.h>

#include "base/status.h"
#include "model/policy.h"
#include "model/value.h"

#define LADDER_RUNGS_MAX 65536   /* of a x or list ladder; a longer one is cut there */

/* The value one notch from `now`. NOT_FOUND: no further notch in that direction; INVALID: `now` is not a number or outside
 * [min, max]; DENIED: the direction is not allowed. *ret is set on OK only and is always a rung within [min, max]. */
enum status ladder_next(const struct knob_def *k, const struct knob_value *now, enum direction dir, struct knob_value *ret,
                        struct err *err);
/* All rungs in [min, max], ascending; fills at most `cap` and returns how many there are (saturating at UINT32_MAX). */
uint32_t ladder_rungs(const struct knob_def *k, double *out, uint32_t cap);

#endif
