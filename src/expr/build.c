#include "expr/build.h"

#include <math.h>
#include <stdio.h>

#include "expr/fault.h"
#include "expr/unit.h"

enum { HINT = sizeof((struct expr_error){0}).hint };

static const char *quote(const struct expr_builder *b, char out[EXPR_QUOTE], const struct expr_node *n)
{
    return expr_quote(out, b->text, n->offset, n->length);
}

static void kind(char out[32], const struct expr_node *n)
{
    if (n->boolean)
        text_copy(out, 32, "true or false");
    else
        expr_unit_kind(out, n->unit);
}

uint16_t expr_build_node(struct expr_builder *b, struct expr_node node)
{
    if (b->n < EXPR_LIMIT_NODES) {
        b->nodes[b->n] = node;
        return b->n++;
    }
    expr_fault(b->error, b->text, node.offset, node.length, "split it into two symptoms or two causes",
               "the rule has more than %d parts", EXPR_LIMIT_NODES);
    return NO_NODE;
}

/* The value of constants is known right away. */
static uint16_t add_computed(struct expr_builder *b, struct expr_node node)
{
    const struct expr_node *l = &b->nodes[node.left];
    const struct expr_node *r = node.right == NO_NODE ? l : &b->nodes[node.right];
    node.constant = l->constant && r->constant;
    if (node.constant) node.number = expr_apply(&node, l->number, r->number);
    return expr_build_node(b, node);
}

static uint16_t convert(struct expr_builder *b, uint16_t at, enum unit to)
{
    const struct expr_node *n = &b->nodes[at];
    if (n->unit == to || n->bare || unit_dimension(n->unit) != unit_dimension(to)) return at;
    struct expr_node node = {.op = OP_CONVERT, .unit = to, .left = at, .right = NO_NODE, .offset = n->offset,
                             .length = n->length};
    node.divide = expr_unit_factor(n->unit, to, &node.factor);
    return add_computed(b, node);
}

static uint16_t fault(struct expr_builder *b, const struct expr_node *at, const char *hint, const char *text)
{
    expr_fault(b->error, b->text, at->offset, at->length, hint, "%s", text);
    return NO_NODE;
}

static uint16_t not_boolean(struct expr_builder *b, const struct expr_node *n)
{
    char q[EXPR_QUOTE], k[32], text[160], hint[HINT];
    kind(k, n);
    snprintf(text, sizeof text, "%s is %s, not true or false", quote(b, q, n), k);
    snprintf(hint, sizeof hint, "compare it with something: %s > ...", q);
    return fault(b, n, hint, text);
}

static uint16_t not_number(struct expr_builder *b, const struct expr_node *n, enum expr_op op)
{
    char q[EXPR_QUOTE], text[160];
    snprintf(text, sizeof text, "%s is true or false, '%s' takes numbers", quote(b, q, n), expr_op_text(op));
    return fault(b, n, expr_is_compare(op) ? "write it without the comparison, or with 'not' before it"
                                           : "join conditions with 'and' or 'or'", text);
}

static struct expr_node spanning(const struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    const struct expr_node *l = &b->nodes[left], *r = &b->nodes[right];
    return (struct expr_node){.op = op, .left = left, .right = right, .offset = l->offset,
                              .length = r->offset + r->length - l->offset};
}

/* What would be right instead of a bare constant beside a value with a unit. */
static void bare_hint(const struct expr_builder *b, char hint[HINT], const struct expr_node *bare,
                      const struct expr_node *other)
{
    char q[EXPR_QUOTE], o[EXPR_QUOTE];
    quote(b, q, bare);
    quote(b, o, other);
    if (other->unit == UNIT_PERCENT)
        snprintf(hint, HINT, "write '%s %%' if that many percent are meant", q);
    else
        snprintf(hint, HINT, "write '%s %s', or divide %s by %s", q, unit_name(other->unit), o,
                 unit_dimension(other->unit) == DIM_TIME ? "a time" : "something of its unit");
}

static void mismatch_hint(const struct expr_builder *b, char hint[HINT], const struct expr_node *l,
                          const struct expr_node *r)
{
    char q[EXPR_QUOTE];
    if (l->bare || r->bare) {
        bare_hint(b, hint, l->bare ? l : r, l->bare ? r : l);
    } else if (l->op == OP_LEAF && l->fn == FN_VALUE && r->op == OP_LITERAL && r->unit == UNIT_PERCENT) {
        quote(b, q, l);
        if (l->unit == UNIT_ONE)
            snprintf(hint, HINT, "declare it with 'unit: ratio' if it is a share, or write drift(%s)", q);
        else
            snprintf(hint, HINT, "for a change in %% write drift(%s) or divide by baseline(%s)", q, q);
    } else {
        snprintf(hint, HINT, "both sides must be of one kind");
    }
}

static uint16_t mismatch(struct expr_builder *b, uint16_t left, uint16_t right)
{
    const struct expr_node *l = &b->nodes[left], *r = &b->nodes[right];
    char ql[EXPR_QUOTE], qr[EXPR_QUOTE], kl[32], kr[32], text[200], hint[HINT];
    kind(kl, l);
    kind(kr, r);
    mismatch_hint(b, hint, l, r);
    snprintf(text, sizeof text, "%s is %s, %s is %s", quote(b, ql, l), kl, quote(b, qr, r), kr);
    struct expr_node both = spanning(b, OP_LITERAL, left, right);
    return fault(b, l->constant == r->constant ? &both : l->constant ? l : r, hint, text);
}

/* May a bare constant stand beside this? Zero is zero in every unit. */
static bool takes_bare(const struct expr_node *bare, const struct expr_node *other)
{
    return bare->number == 0 || other->bare || other->unit == UNIT_ONE || other->unit == UNIT_RATIO;
}

/* A quotient is a ratio and may meet a count; a % beside a count is a mistake. */
static bool same_kind(enum unit l, enum unit r)
{
    if (unit_dimension(l) == unit_dimension(r)) return true;
    return (l == UNIT_ONE && r == UNIT_RATIO) || (l == UNIT_RATIO && r == UNIT_ONE);
}

/* Brings both sides of + - or a comparison to one unit, which is returned in *ret. */
static bool align(struct expr_builder *b, uint16_t *left, uint16_t *right, enum unit *ret)
{
    const struct expr_node *l = &b->nodes[*left], *r = &b->nodes[*right];
    bool fits = l->bare ? takes_bare(l, r) : r->bare ? takes_bare(r, l) : same_kind(l->unit, r->unit);
    if (!fits) {
        mismatch(b, *left, *right);
        return false;
    }
    /* Constants follow what is measured, so that signals are compared as they were read. */
    *ret = l->bare || (l->constant && !r->constant) ? r->unit : l->unit;
    *left = convert(b, *left, *ret);
    if (*left != NO_NODE) *right = convert(b, *right, *ret);
    return *left != NO_NODE && *right != NO_NODE;
}

static uint16_t build_sum(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    struct expr_node node = spanning(b, op, left, right);
    node.bare = b->nodes[left].bare && b->nodes[right].bare;
    if (!align(b, &left, &right, &node.unit)) return NO_NODE;
    node.left = left;
    node.right = right;
    return add_computed(b, node);
}

static uint16_t no_meaning(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    char kl[32], kr[32], text[160];
    kind(kl, &b->nodes[left]);
    kind(kr, &b->nodes[right]);
    snprintf(text, sizeof text, "%s %s %s has no meaning here", kl, op == OP_MUL ? "times" : "divided by", kr);
    struct expr_node both = spanning(b, op, left, right);
    return fault(b, &both, op == OP_MUL ? "multiply by a plain number, a ratio or a %"
                                        : "divide by a plain number or by something of the same kind", text);
}

static uint16_t build_product(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    const struct expr_node *l = &b->nodes[left], *r = &b->nodes[right];
    struct expr_node node = spanning(b, op, left, right);
    if (op == OP_DIV && r->constant && r->number == 0)
        return fault(b, r, "the result would always be unknown", "division by zero");
    enum unit as_left = l->unit, as_right = r->unit;
    bool fits = true;
    if (r->bare)
        node.unit = l->unit;  /* a bare factor keeps the unit, even % */
    else if (l->bare && op == OP_MUL)
        node.unit = r->unit;
    else if (op == OP_MUL)
        fits = expr_unit_product(l->unit, r->unit, &as_left, &as_right, &node.unit);
    else
        fits = expr_unit_quotient(l->unit, r->unit, &as_left, &as_right, &node.unit);
    if (!fits) return no_meaning(b, op, left, right);
    node.bare = l->bare && r->bare;
    node.left = convert(b, left, as_left);
    if (node.left == NO_NODE) return NO_NODE;
    node.right = convert(b, right, as_right);
    return node.right == NO_NODE ? NO_NODE : add_computed(b, node);
}

static uint16_t build_compare(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    struct expr_node node = spanning(b, op, left, right);
    enum unit unit;
    if (!align(b, &left, &right, &unit)) return NO_NODE;
    node.left = left;
    node.right = right;
    node.boolean = true;
    return add_computed(b, node);
}

uint16_t expr_build_binary(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right)
{
    const struct expr_node *l = &b->nodes[left], *r = &b->nodes[right];
    if (op == OP_AND || op == OP_OR) {
        if (!l->boolean) return not_boolean(b, l);
        if (!r->boolean) return not_boolean(b, r);
        struct expr_node node = spanning(b, op, left, right);
        node.boolean = true;
        return add_computed(b, node);
    }
    if (l->boolean) return not_number(b, l, op);
    if (r->boolean) return not_number(b, r, op);
    if (op == OP_MUL || op == OP_DIV) return build_product(b, op, left, right);
    return expr_is_compare(op) ? build_compare(b, op, left, right) : build_sum(b, op, left, right);
}

uint16_t expr_build_negate(struct expr_builder *b, uint16_t operand, uint32_t offset)
{
    const struct expr_node *x = &b->nodes[operand];
    if (x->boolean) return not_number(b, x, OP_NEGATE);
    struct expr_node node = {.op = OP_NEGATE, .unit = x->unit, .bare = x->bare, .left = operand, .right = NO_NODE,
                             .offset = offset, .length = x->offset + x->length - offset};
    return add_computed(b, node);
}

uint16_t expr_build_not(struct expr_builder *b, uint16_t operand, uint32_t offset)
{
    const struct expr_node *x = &b->nodes[operand];
    if (!x->boolean) return not_boolean(b, x);
    struct expr_node node = {.op = OP_NOT, .boolean = true, .left = operand, .right = NO_NODE, .offset = offset,
                             .length = x->offset + x->length - offset};
    return add_computed(b, node);
}

bool expr_build_is_rule(const struct expr_builder *b, uint16_t root)
{
    const struct expr_node *n = &b->nodes[root];
    if (n->boolean) return true;
    char q[EXPR_QUOTE], k[32], hint[HINT];
    kind(k, n);
    quote(b, q, n);
    if (n->op == OP_LEAF && n->fn == FN_VALUE)
        snprintf(hint, sizeof hint, "compare it, for example %s > 1.15 * baseline(%s)", q, q);
    else
        snprintf(hint, sizeof hint, "compare it with something: %s > ...", q);
    return expr_fault(b->error, b->text, n->offset, n->length, hint, "a rule must be true or false, %s is %s", q, k);
}
