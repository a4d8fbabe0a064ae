/* How far the value of a rule is from its limit and from its reference. */
#include <math.h>

#include "expr/node.h"

static bool names(const struct expr *e, uint16_t at, uint16_t signal)
{
    if (at == NO_NODE) return false;
    const struct expr_node *n = &e->nodes[at];
    if (n->op == OP_LEAF) return expr_is_signal_leaf(n) && n->subject == signal;
    return names(e, n->left, signal) || names(e, n->right, signal);
}

/* The comparison that speaks about `signal` on its left; of an `or` only a branch that is true. */
static uint16_t find_compare(const struct expr *e, const double *values, uint16_t at, uint16_t signal)
{
    const struct expr_node *n = &e->nodes[at];
    if (expr_is_compare(n->op)) return names(e, n->left, signal) ? at : NO_NODE;
    if (n->op != OP_AND && n->op != OP_OR) return NO_NODE;
    const uint16_t sides[] = {n->left, n->right};
    for (int i = 0; i < 2; i++) {
        if (n->op == OP_OR && values[sides[i]] != 1) continue;
        uint16_t found = find_compare(e, values, sides[i], signal);
        if (found != NO_NODE) return found;
    }
    return NO_NODE;
}

bool expr_margin(const struct expr *e, const struct evidence *evidence, uint16_t signal, double *value, double *limit)
{
    double values[EXPR_LIMIT_NODES];
    expr_run(e, evidence, values);
    uint16_t at = find_compare(e, values, (uint16_t)(e->n - 1), signal);
    if (at == NO_NODE) return false;
    double v = values[e->nodes[at].left], l = values[e->nodes[at].right];
    if (isnan(v) || isnan(l)) return false;
    *value = v;
    *limit = l;
    return true;
}

/* The reference leaf of `signal` below `at`. */
static uint16_t find_reference(const struct expr *e, uint16_t at, uint16_t signal)
{
    if (at == NO_NODE) return NO_NODE;
    const struct expr_node *n = &e->nodes[at];
    bool reference = n->op == OP_LEAF && (n->fn == FN_BASELINE || n->fn == FN_PROFILE || n->fn == FN_WEEK_AGO);
    if (reference && n->subject == signal) return at;
    uint16_t found = find_reference(e, n->left, signal);
    return found != NO_NODE ? found : find_reference(e, n->right, signal);
}

bool expr_reference(const struct expr *e, const struct evidence *evidence, uint16_t signal, double *value,
                    double *reference)
{
    double values[EXPR_LIMIT_NODES];
    expr_run(e, evidence, values);
    uint16_t at = find_compare(e, values, (uint16_t)(e->n - 1), signal);
    if (at == NO_NODE) return false;
    const struct expr_node *left = &e->nodes[e->nodes[at].left];
    double v = values[e->nodes[at].left], r = values[e->nodes[at].right];
    uint16_t leaf = find_reference(e, e->nodes[at].right, signal);
    if (left->op == OP_LEAF && left->fn == FN_DRIFT) {
        v = 1 + v;
        r = 1;
    } else if (leaf != NO_NODE) {
        r = values[leaf];
    }
    if (isnan(v) || isnan(r)) return false;
    *value = v;
    *reference = r;
    return true;
}
