#include <math.h>

#include "expr/node.h"

const char *expr_op_text(enum expr_op op)
{
#define X(id, text, power) text,
    static const char *const texts[] = {EXPR_OP_TABLE(X)};
#undef X
    return texts[op];
}

int expr_op_power(enum expr_op op)
{
#define X(id, text, power) power,
    static const signed char powers[] = {EXPR_OP_TABLE(X)};
#undef X
    return powers[op];
}

enum unknown_why expr_leaf_why(const struct expr_node *leaf, const struct evidence *evidence)
{
    if (!evidence || leaf->need >= evidence->needs->n) return WHY_MISSING;
    const struct datum *d = &evidence->items[leaf->need];
    if (d->why != WHY_KNOWN) return d->why;
    return isfinite(d->value) ? WHY_KNOWN : WHY_NAN;
}

static double leaf_value(const struct expr_node *leaf, const struct evidence *evidence)
{
    return expr_leaf_why(leaf, evidence) == WHY_KNOWN ? evidence->items[leaf->need].value : NAN;
}

static double known(double v) { return isfinite(v) ? v : NAN; }
static double truth(bool b) { return b ? 1 : 0; }

static double kleene_and(double l, double r)
{
    if (l == 0 || r == 0) return 0;
    return isnan(l) || isnan(r) ? NAN : 1;
}

static double kleene_or(double l, double r)
{
    if (l == 1 || r == 1) return 1;
    return isnan(l) || isnan(r) ? NAN : 0;
}

static double compare(enum expr_op op, double l, double r)
{
    if (isnan(l) || isnan(r)) return NAN;
    switch (op) {
    case OP_GT: return truth(l > r);
    case OP_GE: return truth(l >= r);
    case OP_LT: return truth(l < r);
    case OP_LE: return truth(l <= r);
    case OP_EQ: return truth(l == r);
    default: return truth(l != r);
    }
}

double expr_apply(const struct expr_node *node, double l, double r)
{
    switch (node->op) {
    case OP_CONVERT: return known(node->divide ? l / node->factor : l * node->factor);
    case OP_NEGATE: return -l;
    case OP_MUL: return known(l * r);
    case OP_DIV: return known(l / r);
    case OP_ADD: return known(l + r);
    case OP_SUB: return known(l - r);
    case OP_NOT: return isnan(l) ? NAN : 1 - l;
    case OP_AND: return kleene_and(l, r);
    case OP_OR: return kleene_or(l, r);
    default: return compare(node->op, l, r);
    }
}

void expr_run(const struct expr *e, const struct evidence *evidence, double values[EXPR_LIMIT_NODES])
{
    for (uint16_t i = 0; i < e->n; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (n->constant)
            values[i] = n->number;
        else if (n->op == OP_LEAF)
            values[i] = leaf_value(n, evidence);
        else
            values[i] = expr_apply(n, values[n->left], n->right == NO_NODE ? 0 : values[n->right]);
    }
}

enum tri expr_eval(const struct expr *e, const struct evidence *evidence)
{
    double values[EXPR_LIMIT_NODES];
    expr_run(e, evidence, values);
    double root = values[e->n - 1];
    return isnan(root) ? TRI_UNKNOWN : tri_of(root == 1);
}

const char *expr_text(const struct expr *e)
{
    return e->text;
}
