#include "expr/reach.h"

#include <math.h>

/* One limit on one leaf: the values of `leaf` for which it holds lie between low and high. */
struct limit {
    uint16_t leaf;
    double low, high;
    bool low_open, high_open;
};
#define LIMITS_MAX 64

struct chain {
    const struct expr *e;
    struct limit limits[LIMITS_MAX];
    unsigned n;
};

static enum expr_op mirrored(enum expr_op op)
{
    switch (op) {
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    default: return op;
    }
}

static enum expr_op opposite(enum expr_op op)
{
    switch (op) {
    case OP_GT: return OP_LE;
    case OP_GE: return OP_LT;
    case OP_LT: return OP_GE;
    case OP_LE: return OP_GT;
    case OP_EQ: return OP_NE;
    default: return OP_EQ;
    }
}

static void add_limit(struct chain *c, enum expr_op op, uint16_t leaf, double bound)
{
    struct limit l = {.leaf = leaf, .low = -INFINITY, .high = INFINITY};
    if (op == OP_NE || c->n == LIMITS_MAX) return;
    if (op == OP_GT || op == OP_GE || op == OP_EQ) l.low = bound;
    if (op == OP_LT || op == OP_LE || op == OP_EQ) l.high = bound;
    l.low_open = op == OP_GT;
    l.high_open = op == OP_LT;
    c->limits[c->n++] = l;
}

/* The comparisons of a leaf with a constant that all must hold; of an `or` when negated (De Morgan). */
static void gather(struct chain *c, uint16_t at, bool negated)
{
    const struct expr_node *n = &c->e->nodes[at];
    if (n->op == OP_NOT) {
        gather(c, n->left, !negated);
    } else if (n->op == (negated ? OP_OR : OP_AND)) {
        gather(c, n->left, negated);
        gather(c, n->right, negated);
    } else if (expr_is_compare(n->op)) {
        const struct expr_node *l = &c->e->nodes[n->left], *r = &c->e->nodes[n->right];
        enum expr_op op = negated ? opposite(n->op) : n->op;
        if (l->op == OP_LEAF && r->constant) add_limit(c, op, n->left, r->number);
        if (r->op == OP_LEAF && l->constant) add_limit(c, mirrored(op), n->right, l->number);
    }
}

static bool same_leaf(const struct expr *e, uint16_t a, uint16_t b)
{
    const struct expr_node *x = &e->nodes[a], *y = &e->nodes[b];
    return x->fn == y->fn && x->subject == y->subject && x->window.us == y->window.us;
}

static bool exclude_each_other(const struct limit *a, const struct limit *b)
{
    double low = a->low > b->low ? a->low : b->low, high = a->high < b->high ? a->high : b->high;
    if (low != high) return low > high;
    bool open = (a->low == low && a->low_open) || (b->low == low && b->low_open) ||
                (a->high == high && a->high_open) || (b->high == high && b->high_open);
    return open;
}

static bool contradicts(const struct expr *e, uint16_t at, bool negated)
{
    struct chain c = {.e = e};
    gather(&c, at, negated);
    for (unsigned i = 0; i < c.n; i++)
        for (unsigned k = i + 1; k < c.n; k++)
            if (same_leaf(e, c.limits[i].leaf, c.limits[k].leaf) && exclude_each_other(&c.limits[i], &c.limits[k]))
                return true;
    return false;
}

enum tri expr_reach(const struct expr *e)
{
    double values[EXPR_LIMIT_NODES];
    for (uint16_t i = 0; i < e->n; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (n->constant)
            values[i] = n->number;
        else if (n->op == OP_LEAF)
            values[i] = NAN;
        else
            values[i] = expr_apply(n, values[n->left], n->right == NO_NODE ? 0 : values[n->right]);
        if (!isnan(values[i])) continue;
        if (n->op == OP_AND && contradicts(e, i, false)) values[i] = 0;
        if (n->op == OP_OR && contradicts(e, i, true)) values[i] = 1;
    }
    double root = values[e->n - 1];
    return isnan(root) ? TRI_UNKNOWN : tri_of(root == 1);
}
