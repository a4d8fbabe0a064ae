#include "expr/parse.h"

#include <stdio.h>
#include <string.h>

#include "expr/fault.h"

bool expr_advance(struct expr_parser *p)
{
    if (!expr_lex(p->text, p->at, &p->token, p->error)) return false;
    p->at = p->token.offset + p->token.length;
    return true;
}

uint16_t expr_unexpected(struct expr_parser *p, const char *wanted, const char *hint)
{
    const struct expr_token *t = &p->token;
    char q[EXPR_QUOTE];
    if (t->kind == TOKEN_END)
        expr_fault(p->error, p->text, t->offset, 0, hint, "the rule ends where %s should stand", wanted);
    else
        expr_fault(p->error, p->text, t->offset, t->length, hint, "unexpected '%s' where %s should stand",
                   expr_quote(q, p->text, t->offset, t->length), wanted);
    return NO_NODE;
}

static bool enter(struct expr_parser *p)
{
    if (++p->depth <= EXPR_LIMIT_DEPTH) return true;
    return expr_fault(p->error, p->text, p->token.offset, p->token.length, "write it flatter",
                      "the rule is nested more than %d deep", EXPR_LIMIT_DEPTH);
}

static uint16_t parse_number(struct expr_parser *p)
{
    struct expr_node node = {.op = OP_LITERAL, .constant = true, .bare = !p->token.has_unit, .unit = p->token.unit,
                             .number = p->token.number, .left = NO_NODE, .right = NO_NODE,
                             .offset = p->token.offset, .length = p->token.length};
    return expr_advance(p) ? expr_build_node(&p->build, node) : NO_NODE;
}

static uint16_t parse_bool(struct expr_parser *p)
{
    struct expr_node node = {.op = OP_BOOL, .constant = true, .boolean = true, .left = NO_NODE, .right = NO_NODE,
                             .number = p->token.kind == TOKEN_TRUE ? 1 : 0,
                             .offset = p->token.offset, .length = p->token.length};
    return expr_advance(p) ? expr_build_node(&p->build, node) : NO_NODE;
}

static uint16_t parse_group(struct expr_parser *p)
{
    uint32_t open = p->token.offset;
    if (!enter(p) || !expr_advance(p)) return NO_NODE;
    uint16_t inner = expr_parse(p, POWER_OR);
    if (inner == NO_NODE) return NO_NODE;
    if (p->token.kind != TOKEN_CLOSE) {
        char hint[80];
        struct text_pos pos = text_pos_at(p->text, open);
        snprintf(hint, sizeof hint, "the '(' of line %u, column %u is still open", pos.line, pos.col);
        return expr_unexpected(p, "')'", hint);
    }
    p->depth--;
    /* Errors quote the group with its parentheses. */
    struct expr_node *n = &p->build.nodes[inner];
    n->offset = open;
    n->length = p->token.offset + 1 - open;
    return expr_advance(p) ? inner : NO_NODE;
}

/* "-" and "not": the operand binds at least as tight as given. */
static uint16_t parse_prefix_operator(struct expr_parser *p, int power)
{
    struct expr_token op = p->token;
    if (!enter(p) || !expr_advance(p)) return NO_NODE;
    uint16_t operand = expr_parse(p, power);
    if (operand == NO_NODE) return NO_NODE;
    p->depth--;
    if (op.op == OP_NOT) return expr_build_not(&p->build, operand, op.offset);
    return expr_build_negate(&p->build, operand, op.offset);
}

static uint16_t parse_prefix(struct expr_parser *p)
{
    switch (p->token.kind) {
    case TOKEN_NUMBER: return parse_number(p);
    case TOKEN_TRUE:
    case TOKEN_FALSE: return parse_bool(p);
    case TOKEN_NAME: return expr_parse_name(p);
    case TOKEN_OPEN: return parse_group(p);
    case TOKEN_OPERATOR:
        if (p->token.op == OP_SUB) return parse_prefix_operator(p, POWER_UNARY);
        if (p->token.op == OP_NOT) return parse_prefix_operator(p, POWER_COMPARE);
        break;
    case TOKEN_END:
    case TOKEN_CLOSE:
    case TOKEN_COMMA: break;
    }
    return expr_unexpected(p, "a value", NULL);
}

/* 0: the token is no operator between two values. */
static int power_of(const struct expr_token *t)
{
    return t->kind == TOKEN_OPERATOR && t->op != OP_NOT ? expr_op_power(t->op) : 0;
}

uint16_t expr_parse(struct expr_parser *p, int power)
{
    uint16_t left = parse_prefix(p);
    while (left != NO_NODE && power_of(&p->token) >= power) {
        struct expr_token op = p->token;
        if (!expr_advance(p)) return NO_NODE;
        uint16_t right = expr_parse(p, expr_op_power(op.op) + 1);
        if (right == NO_NODE) return NO_NODE;
        left = expr_build_binary(&p->build, op.op, left, right);
        if (left != NO_NODE && expr_is_compare(op.op) && power_of(&p->token) == POWER_COMPARE)
            return expr_unexpected(p, "'and' or 'or'", "compare two things at a time: a < b and b < c");
    }
    return left;
}

static uint16_t parse_rule(struct expr_parser *p)
{
    if (!expr_advance(p)) return NO_NODE;
    if (p->token.kind == TOKEN_END) {
        expr_fault(p->error, p->text, 0, 0, "for example latency_p99 > 1.15 * baseline(latency_p99)",
                   "the rule is empty");
        return NO_NODE;
    }
    uint16_t root = expr_parse(p, POWER_OR);
    if (root == NO_NODE) return NO_NODE;
    if (p->token.kind == TOKEN_COMMA)
        return expr_unexpected(p, "an operator or the end", "numbers are written without thousands separators");
    if (p->token.kind == TOKEN_CLOSE) return expr_unexpected(p, "an operator or the end", "there is no '(' for it");
    if (p->token.kind != TOKEN_END)
        return expr_unexpected(p, "an operator or the end", "join conditions with 'and' or 'or'");
    return expr_build_is_rule(&p->build, root) ? root : NO_NODE;
}

/* Evidence slots for the leaves, all or none. */
static bool assign_needs(struct expr_parser *p, struct needs *needs)
{
    uint16_t before = needs->n;
    for (uint16_t i = 0; i < p->build.n; i++) {
        struct expr_node *n = &p->build.nodes[i];
        if (n->op != OP_LEAF) continue;
        int need = needs_add(needs, (struct need){.fn = n->fn, .subject = n->subject, .window = n->window});
        if (need < 0) {
            needs->n = before;
            return expr_fault(p->error, p->text, n->offset, n->length, "use fewer different functions and windows",
                              "the rules of this service need more than %d different readings", NEEDS_MAX);
        }
        n->need = (uint16_t)need;
    }
    return true;
}

static const struct expr *keep(struct arena *a, struct expr_parser *p)
{
    size_t bytes = p->build.n * sizeof p->build.nodes[0];
    struct expr *e = arena_alloc(a, sizeof *e + bytes);
    if (!e) return NULL;
    e->text = p->text;
    e->n = p->build.n;
    memcpy(e->nodes, p->build.nodes, bytes);
    return e;
}

const struct expr *expr_compile(struct arena *a, const char *text, size_t len, struct expr_scope *scope,
                                struct expr_error *error)
{
    *error = (struct expr_error){.pos = {1, 1}};
    if (len > EXPR_LIMIT_BYTES) {
        expr_fault(error, "", 0, 0, "split it into two symptoms or two causes", "the rule is longer than %d bytes",
                   EXPR_LIMIT_BYTES);
        return NULL;
    }
    const char *copy = arena_strndup(a, text, len);
    if (!copy) {
        expr_fault(error, "", 0, 0, NULL, "out of memory");
        return NULL;
    }
    if (strlen(copy) != len) {
        expr_fault(error, copy, strlen(copy), 1, NULL, "the rule holds a NUL byte");
        return NULL;
    }
    struct expr_parser p = {.text = copy, .service = scope->service, .error = error,
                            .build = {.text = copy, .error = error}};
    if (parse_rule(&p) == NO_NODE || !assign_needs(&p, scope->needs)) return NULL;
    const struct expr *e = keep(a, &p);
    if (!e) expr_fault(error, "", 0, 0, NULL, "out of memory");
    return e;
}
