/* Inside of the room: a compiled rule is one flat array of nodes, children before their parents. */
#ifndef EXPR_NODE_H
#define EXPR_NODE_H

#include "expr/expr.h"

#define NO_NODE UINT16_MAX

/* X(ID, text, binding power). Operators bind tighter with more power. */
#define EXPR_OP_TABLE(X)                                                                          \
    X(LITERAL, "", 9) X(BOOL, "", 9) X(LEAF, "", 9) X(CONVERT, "", 9) X(NEGATE, "-", 8)           \
    X(MUL, "*", 6) X(DIV, "/", 6) X(ADD, "+", 5) X(SUB, "-", 5)                                   \
    X(GT, ">", 4) X(GE, ">=", 4) X(LT, "<", 4) X(LE, "<=", 4) X(EQ, "==", 4) X(NE, "!=", 4)       \
    X(NOT, "not", 3) X(AND, "and", 2) X(OR, "or", 1)

#define X(id, ...) OP_##id,
enum expr_op { EXPR_OP_TABLE(X) OP_COUNT };
#undef X

#define POWER_OR 1
#define POWER_COMPARE 4
#define POWER_UNARY 8

struct expr_node {
    enum expr_op op;
    enum unit unit;              /* of the value; ONE where boolean or bare */
    bool boolean;
    bool constant;               /* no leaf below it */
    bool bare;                   /* a constant without a unit: takes the unit of what it meets */
    bool divide;                 /* CONVERT: by, not times, factor; so that whole factors stay exact */
    uint16_t left, right;        /* NO_NODE: none. Always below the own index */
    enum fn fn;                  /* LEAF */
    uint16_t subject, need;
    struct span window;
    double number;               /* value of a constant; BOOL: 0 or 1 */
    double factor;               /* CONVERT */
    uint32_t offset, length;     /* in the source */
};

struct expr {
    const char *text;
    uint16_t n;                  /* nodes; the last one is the root */
    struct expr_node nodes[];
};

/* All node values, same index; NaN is unknown, 0 and 1 are false and true. evidence NULL: every leaf is unknown. */
void expr_run(const struct expr *e, const struct evidence *evidence, double values[EXPR_LIMIT_NODES]);
/* One step of it, for constants at compile time. */
double expr_apply(const struct expr_node *node, double left, double right);
enum unknown_why expr_leaf_why(const struct expr_node *leaf, const struct evidence *evidence);

const char *expr_op_text(enum expr_op op);
int expr_op_power(enum expr_op op);
static inline bool expr_is_compare(enum expr_op op) { return op >= OP_GT && op <= OP_NE; }
static inline bool expr_is_arithmetic(enum expr_op op) { return op >= OP_NEGATE && op <= OP_SUB; }
/* Signal functions: everything but knobs and ages. */
static inline bool expr_is_signal_leaf(const struct expr_node *n)
{
    return n->op == OP_LEAF && n->fn != FN_KNOB && n->fn != FN_CHANGED && n->fn != FN_AGE;
}

#endif
