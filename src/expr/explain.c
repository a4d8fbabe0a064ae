/* Rules with their values filled in, as people read them. */
#include <math.h>
#include <string.h>

#include "expr/node.h"

struct explainer {
    struct buf *out;
    const struct expr *e;
    const struct evidence *evidence;
    const struct service_def *service;
    const double *values;
    uint16_t subject;   /* signal on the left of the present comparison: baseline(x) is then called "baseline" */
    bool exact;         /* three digits would make the two sides look equal */
};

static void print_value(const struct explainer *x, double v, enum unit unit)
{
    if (x->exact)
        buf_double(x->out, v);
    else
        buf_sig3(x->out, v);
    if (unit != UNIT_ONE && unit != UNIT_RATIO) buf_printf(x->out, " %s", unit_name(unit));
}

static void print_leaf_value(const struct explainer *x, const struct expr_node *n, double v)
{
    if (n->fn == FN_AGE && fabs(v) < 1e12)
        span_print(x->out, (struct span){(int64_t)(v * 1e6)});
    else if (n->fn == FN_DRIFT)
        print_value(x, v * 100, UNIT_PERCENT);
    else
        print_value(x, v, n->unit);
}

static const char *subject_name(const struct explainer *x, const struct expr_node *n)
{
    if (n->fn == FN_AGE) return age_subject_name((enum age_subject)n->subject);
    if (expr_is_signal_leaf(n)) return x->service->signals[n->subject].name;
    return x->service->knobs[n->subject].name;
}

static void print_leaf_name(const struct explainer *x, const struct expr_node *n)
{
    const char *name = subject_name(x, n);
    bool plain = n->fn == FN_VALUE || n->fn == FN_KNOB;
    bool same = n->subject == x->subject && (n->fn == FN_BASELINE || n->fn == FN_PROFILE || n->fn == FN_WEEK_AGO);
    if (plain || same) {
        buf_puts(x->out, plain ? name : fn_name(n->fn));
        return;
    }
    buf_printf(x->out, "%s(%s", fn_name(n->fn), name);
    if (n->window.us) {
        buf_puts(x->out, ", ");
        span_print_config(x->out, n->window);
    }
    buf_putc(x->out, ')');
}

static void print_leaf(const struct explainer *x, uint16_t at)
{
    const struct expr_node *n = &x->e->nodes[at];
    print_leaf_name(x, n);
    double v = x->values[at];
    if (isnan(v)) {
        buf_printf(x->out, " unknown (%s)", unknown_sentence(expr_leaf_why(n, x->evidence)));
    } else if (!n->boolean) {
        buf_putc(x->out, ' ');
        print_leaf_value(x, n, v);
    }
}

static uint16_t through_convert(const struct expr *e, uint16_t at)
{
    while (e->nodes[at].op == OP_CONVERT) at = e->nodes[at].left;
    return at;
}

static void print_number(const struct explainer *x, uint16_t at);

static void print_operand(const struct explainer *x, uint16_t at, int power)
{
    bool group = expr_op_power(x->e->nodes[through_convert(x->e, at)].op) < power;
    if (group) buf_putc(x->out, '(');
    print_number(x, at);
    if (group) buf_putc(x->out, ')');
}

static void print_number(const struct explainer *x, uint16_t at)
{
    at = through_convert(x->e, at);
    const struct expr_node *n = &x->e->nodes[at];
    int power = expr_op_power(n->op);
    if (n->op == OP_LITERAL) {
        buf_add(x->out, x->e->text + n->offset, n->length);
    } else if (n->op == OP_LEAF) {
        print_leaf(x, at);
    } else if (n->op == OP_NEGATE) {
        buf_putc(x->out, '-');
        print_operand(x, n->left, power);
    } else {
        print_operand(x, n->left, power);
        buf_printf(x->out, " %s ", expr_op_text(n->op));
        print_operand(x, n->right, power + 1);
    }
}

/* One side of a comparison; what is computed also shows its result. */
static void print_side(const struct explainer *x, uint16_t at)
{
    print_number(x, at);
    if (!expr_is_arithmetic(x->e->nodes[through_convert(x->e, at)].op) || isnan(x->values[at])) return;
    buf_puts(x->out, " = ");
    print_value(x, x->values[at], x->e->nodes[at].unit);
}

/* The first signal named on the left. */
static uint16_t first_signal(const struct expr *e, uint16_t at)
{
    const struct expr_node *n = &e->nodes[at];
    if (n->op == OP_LEAF) return expr_is_signal_leaf(n) ? n->subject : NO_INDEX;
    uint16_t found = n->left == NO_NODE ? NO_INDEX : first_signal(e, n->left);
    return found != NO_INDEX || n->right == NO_NODE ? found : first_signal(e, n->right);
}

static bool looks_equal(double a, double b)
{
    if (!isfinite(a) || !isfinite(b) || a == b) return false;
    struct buf l = BUF_INIT, r = BUF_INIT;
    buf_sig3(&l, a);
    buf_sig3(&r, b);
    bool same = strcmp(buf_text(&l), buf_text(&r)) == 0;
    buf_free(&l);
    buf_free(&r);
    return same;
}

static void print_compare(const struct explainer *all, uint16_t at)
{
    const struct expr_node *n = &all->e->nodes[at];
    struct explainer x = *all;
    x.subject = first_signal(x.e, n->left);
    x.exact = looks_equal(x.values[n->left], x.values[n->right]);
    print_side(&x, n->left);
    buf_printf(x.out, " %s ", expr_op_text(n->op));
    print_side(&x, n->right);
}

static void print_truth(const struct explainer *x, uint16_t at)
{
    double v = x->values[at];
    buf_printf(x->out, ": %s", tri_name(isnan(v) ? TRI_UNKNOWN : tri_of(v == 1)));
}

static void print_condition(const struct explainer *x, uint16_t at);

static void print_part(const struct explainer *x, uint16_t at, enum expr_op parent)
{
    enum expr_op op = x->e->nodes[at].op;
    bool group = (op == OP_AND || op == OP_OR) && op != parent;
    if (group) buf_putc(x->out, '(');
    print_condition(x, at);
    if (group) buf_putc(x->out, ')');
}

static void print_condition(const struct explainer *x, uint16_t at)
{
    const struct expr_node *n = &x->e->nodes[at];
    if (n->op == OP_AND || n->op == OP_OR) {
        print_part(x, n->left, n->op);
        buf_printf(x->out, " %s ", expr_op_text(n->op));
        print_part(x, n->right, n->op);
        return;
    }
    if (n->op == OP_NOT) {
        buf_puts(x->out, "not (");
        print_condition(x, n->left);
        buf_putc(x->out, ')');
    } else if (n->op == OP_BOOL) {
        buf_puts(x->out, "always");
    } else if (n->op == OP_LEAF) {
        print_leaf(x, at);
    } else {
        print_compare(x, at);
    }
    print_truth(x, at);
}

void expr_explain(struct buf *out, const struct expr *e, const struct evidence *evidence, const struct service_def *s)
{
    double values[EXPR_LIMIT_NODES];
    expr_run(e, evidence, values);
    struct explainer x = {.out = out, .e = e, .evidence = evidence, .service = s, .values = values,
                          .subject = NO_INDEX};
    print_condition(&x, (uint16_t)(e->n - 1));
}
