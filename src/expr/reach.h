/* Inside of the room: rules that no evidence can make true, or none false. */
#ifndef EXPR_REACH_H
#define EXPR_REACH_H

#include "expr/node.h"

/* TRUE or FALSE when the rule is that (or unknown) whatever the evidence says: constants, and limits on one value
 * that exclude each other (x > 0.9 and x < 0.5) or leave nothing out (x > 1 or x <= 1). TRI_UNKNOWN: it depends. */
enum tri expr_reach(const struct expr *e);

#endif
