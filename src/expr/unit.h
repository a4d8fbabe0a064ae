/* Inside of the room: the algebra of units.
 *   +, -, comparison: both sides of one dimension; the right side is converted into the unit of the left one.
 *   Plain numbers and ratios may meet, but "%" wants its sign. A bare constant (no unit) meets plain numbers and
 *   ratios; 0 meets everything.
 *   * and /: plain numbers and ratios keep the other side's unit. time * rate = number, time * byte rate = bytes,
 *   number / time = rate, number / rate = time, bytes / time = byte rate, bytes / byte rate = time,
 *   equal dimensions divide to a ratio. Everything else is an error. */
#ifndef EXPR_UNIT_H
#define EXPR_UNIT_H

#include "base/buf.h"
#include "model/enums.h"

/* How a value in `from` becomes one in `to` of the same dimension: times *ret_factor, or by it when true is returned.
 * The factor is whole, so that 80 ms is exactly 0.08 s. */
bool expr_unit_factor(enum unit from, enum unit to, double *ret_factor);
/* "a time in ms", "a plain number", "a ratio", "a size in MB". At most 31 bytes. */
void expr_unit_kind(char out[32], enum unit unit);
/* The unit meant by a misspelt word, or NULL. */
const char *expr_unit_nearest(const char *word);

/* Product or quotient of two units. First both sides are converted to *ret_left and *ret_right, then the result is in
 * *ret. false: no meaning. */
bool expr_unit_product(enum unit left, enum unit right, enum unit *ret_left, enum unit *ret_right, enum unit *ret);
bool expr_unit_quotient(enum unit left, enum unit right, enum unit *ret_left, enum unit *ret_right, enum unit *ret);

#endif
