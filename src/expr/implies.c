#include <math.h>

#include "expr/node.h"

/* A node of one of the two rules. */
struct at { const struct expr *e; uint16_t i; };

static const struct expr_node *node_of(struct at x) { return &x.e->nodes[x.i]; }
static struct at left_of(struct at x) { return (struct at){x.e, node_of(x)->left}; }
static struct at right_of(struct at x) { return (struct at){x.e, node_of(x)->right}; }

static bool same(struct at a, struct at b)
{
    const struct expr_node *x = node_of(a), *y = node_of(b);
    if (x->constant && y->constant) return x->number == y->number && x->unit == y->unit && x->boolean == y->boolean;
    if (x->op != y->op) return false;
    if (x->op == OP_LEAF) return x->fn == y->fn && x->subject == y->subject && x->window.us == y->window.us;
    if (x->op == OP_CONVERT && x->unit != y->unit) return false;
    if (!same(left_of(a), left_of(b))) return false;
    return x->right == NO_NODE || same(right_of(a), right_of(b));
}

/* +1: limits from below (> >=), -1: from above, 0: neither. */
static int side(enum expr_op op)
{
    return op == OP_GT || op == OP_GE ? 1 : op == OP_LT || op == OP_LE ? -1 : 0;
}

/* Both compare the same thing with a constant, and a is at least as strict. */
static bool stricter(struct at a, struct at b)
{
    const struct expr_node *x = node_of(a), *y = node_of(b);
    if (!expr_is_compare(x->op) || !expr_is_compare(y->op)) return false;
    const struct expr_node *limit_x = node_of(right_of(a)), *limit_y = node_of(right_of(b));
    if (!limit_x->constant || !limit_y->constant || !same(left_of(a), left_of(b))) return false;
    double over = limit_x->number - limit_y->number;
    bool strict_y = y->op == OP_GT || y->op == OP_LT, strict_x = x->op == OP_GT || x->op == OP_LT;
    if (side(y->op) == 0 || (x->op != OP_EQ && side(x->op) != side(y->op))) return false;
    return side(y->op) * over > 0 || (over == 0 && (strict_x || !strict_y));
}

/* Does one of the conditions that a joins with `and` say what b says? */
static bool says(struct at a, struct at b)
{
    if (same(a, b) || stricter(a, b)) return true;
    return node_of(a)->op == OP_AND && (says(left_of(a), b) || says(right_of(a), b));
}

static bool implies(struct at a, struct at b)
{
    enum expr_op op = node_of(b)->op;
    if (says(a, b)) return true;
    if (op == OP_AND) return implies(a, left_of(b)) && implies(a, right_of(b));
    return op == OP_OR && (implies(a, left_of(b)) || implies(a, right_of(b)));
}

bool expr_implies(const struct expr *a, const struct expr *b)
{
    return implies((struct at){a, (uint16_t)(a->n - 1)}, (struct at){b, (uint16_t)(b->n - 1)});
}
