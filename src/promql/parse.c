/* Pratt parser. Every function returns NULL after pq_compile_fail and the caller passes it on. */
#include <stdarg.h>
#include <string.h>

#include "promql/parse.h"
#include "promql/sort.h"

/* ---- errors and tokens ---- */

void *pq_compile_fail(struct compile *c, size_t at, size_t len, const char *fmt, ...)
{
    if (c->failed) return NULL;
    c->failed = true;
    struct pq_error *e = c->error;
    if (!e) return NULL;
    memset(e, 0, sizeof *e);
    e->offset = at;
    e->length = len;
    e->pos = text_pos_at(c->q->text, at);
    va_list ap;
    va_start(ap, fmt);
    struct buf b = BUF_INIT;
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    text_copy(e->text, sizeof e->text, buf_text(&b));
    buf_free(&b);
    return NULL;
}

void pq_compile_hint(struct compile *c, const char *fmt, ...)
{
    if (!c->error) return;
    va_list ap;
    va_start(ap, fmt);
    struct buf b = BUF_INIT;
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    text_copy(c->error->hint, sizeof c->error->hint, buf_text(&b));
    buf_free(&b);
}

void *pq_parse_fail_here(struct compile *c, const char *what)
{
    const struct token *t = &c->token;
    if (t->kind == TOK_ERROR) return pq_compile_fail(c, t->at, t->len, "%s", t->why);
    if (t->kind == TOK_END) return pq_compile_fail(c, t->at, 1, "%s, but the expression ends", what);
    return pq_compile_fail(c, t->at, t->len, "%s, not '%.*s'", what, (int)(t->len > 60 ? 60 : t->len), c->q->text + t->at);
}

void pq_parse_advance(struct compile *c)
{
    c->token = c->ahead;
    if (c->token.kind != TOK_END && c->token.kind != TOK_ERROR) pq_lex_next(&c->lexer, &c->ahead);
}

bool pq_parse_accept(struct compile *c, enum token_kind kind)
{
    if (c->token.kind != kind) return false;
    pq_parse_advance(c);
    return true;
}

bool pq_parse_expect(struct compile *c, enum token_kind kind, const char *what)
{
    if (pq_parse_accept(c, kind)) return true;
    pq_parse_fail_here(c, what);
    return false;
}

static bool same_word(const char *text, size_t len, const char *word)
{
    for (size_t i = 0; i < len; i++, word++) {
        char ch = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
        if (*word == '\0' || ch != *word) return false;
    }
    return *word == '\0';
}

static bool is_word(const struct compile *c, const struct token *t, const char *word)
{
    return t->kind == TOK_WORD && same_word(c->q->text + t->at, t->len, word);
}

static bool accept_word(struct compile *c, const char *word)
{
    if (!is_word(c, &c->token, word)) return false;
    pq_parse_advance(c);
    return true;
}

struct pq_node *pq_parse_node(struct compile *c, enum node_kind kind, size_t at)
{
    if (++c->nodes > PQ_LIMIT_NODES)
        return pq_compile_fail(c, at, 1, "the expression is too large: more than %d parts", PQ_LIMIT_NODES);
    struct pq_node *n = ARENA_NEW(c->arena, struct pq_node);
    if (!n) return pq_compile_fail(c, at, 1, "out of memory");
    n->kind = kind;
    n->at = at;
    return n;
}

struct pq_node *pq_parse_node_end(struct compile *c, struct pq_node *n)
{
    size_t end = c->token.at;
    while (end > n->at && strchr(" \t\r\n", c->q->text[end - 1])) end--;
    n->len = end - n->at;
    return n;
}

const char *pq_parse_word_text(struct compile *c, const struct token *t)
{
    const char *s = arena_strndup(c->arena, c->q->text + t->at, t->len);
    return s ? s : pq_compile_fail(c, t->at, t->len, "out of memory");
}

static struct pq_node *parse_expr(struct compile *c, int strength);

/* ---- [range], offset, @ ---- */

static bool parse_span(struct compile *c, int64_t *ret_ms, bool may_be_negative)
{
    bool minus = may_be_negative && c->token.kind == TOK_SUB;
    if (minus || (may_be_negative && c->token.kind == TOK_ADD)) pq_parse_advance(c);
    const struct token *t = &c->token;
    if (t->kind != TOK_DURATION && t->kind != TOK_NUMBER) {
        pq_parse_fail_here(c, "a duration such as 5m expected");
        return false;
    }
    if (!(t->number < 1e11)) {
        pq_compile_fail(c, t->at, t->len, "the duration is too long");
        return false;
    }
    int64_t ms = t->kind == TOK_DURATION ? t->ms : (int64_t)(t->number * 1000.0);
    if (ms <= 0 && !may_be_negative) {
        pq_compile_fail(c, t->at, t->len, "the duration must be greater than 0");
        return false;
    }
    *ret_ms = minus ? -ms : ms;
    pq_parse_advance(c);
    return true;
}

static struct pq_node *parse_range(struct compile *c, struct pq_node *n)
{
    struct token open = c->token;
    int64_t range, step = 0;
    pq_parse_advance(c);
    if (!parse_span(c, &range, false)) return NULL;
    bool sub = pq_parse_accept(c, TOK_COLON);
    if (sub && c->token.kind != TOK_RBRACKET && !parse_span(c, &step, false)) return NULL;
    if (!pq_parse_expect(c, TOK_RBRACKET, "']' expected")) return NULL;
    if (sub) {
        struct pq_node *s = pq_parse_node(c, NODE_SUBQUERY, n->at);
        if (!s) return NULL;
        s->a = n;
        s->type = PQ_MATRIX;
        s->range_ms = range;
        s->step_ms = step;
        return pq_parse_node_end(c, s);
    }
    if (n->kind != NODE_SELECTOR || n->range_ms) {
        pq_compile_fail(c, open.at, 1, "only a selector can have a range");
        pq_compile_hint(c, "a range of any other expression is a subquery: [5m:30s]");
        return NULL;
    }
    if (n->offset_ms || n->at_kind) return pq_compile_fail(c, open.at, 1, "the range stands before offset and @");
    n->range_ms = range;
    n->type = PQ_MATRIX;
    return pq_parse_node_end(c, n);
}

static bool takes_time(const struct pq_node *n) { return n->kind == NODE_SELECTOR || n->kind == NODE_SUBQUERY; }

static struct pq_node *parse_at(struct compile *c, struct pq_node *n)
{
    struct token at = c->token;
    pq_parse_advance(c);
    if (!takes_time(n)) return pq_compile_fail(c, at.at, 1, "@ stands after a selector or a subquery only");
    if (n->at_kind) return pq_compile_fail(c, at.at, 1, "@ is given twice");
    if (is_word(c, &c->token, "start") || is_word(c, &c->token, "end")) {
        n->at_kind = is_word(c, &c->token, "start") ? AT_START : AT_END;
        pq_parse_advance(c);
        if (!pq_parse_expect(c, TOK_LPAREN, "'(' expected") || !pq_parse_expect(c, TOK_RPAREN, "')' expected")) return NULL;
        return pq_parse_node_end(c, n);
    }
    bool minus = pq_parse_accept(c, TOK_SUB);
    if (!minus) pq_parse_accept(c, TOK_ADD);
    if (c->token.kind != TOK_NUMBER && c->token.kind != TOK_DURATION)
        return pq_parse_fail_here(c, "a time in seconds since 1970, start() or end() expected");
    if (!(c->token.number < 9e12)) return pq_compile_fail(c, c->token.at, c->token.len, "the time is out of range");
    n->at_kind = AT_TIME;
    double ms = (minus ? -c->token.number : c->token.number) * 1000.0;
    n->at_ms = (int64_t)(ms < 0 ? ms - 0.5 : ms + 0.5);
    pq_parse_advance(c);
    return pq_parse_node_end(c, n);
}

static struct pq_node *parse_postfix(struct compile *c, struct pq_node *n)
{
    bool offset_seen = false;
    while (n) {
        struct token t = c->token;
        if (t.kind == TOK_LBRACKET) {
            n = parse_range(c, n);
            offset_seen = false;
        } else if (t.kind == TOK_AT) {
            n = parse_at(c, n);
        } else if (is_word(c, &t, "offset")) {
            pq_parse_advance(c);
            if (!takes_time(n)) return pq_compile_fail(c, t.at, t.len, "offset stands after a selector or a subquery only");
            if (offset_seen) return pq_compile_fail(c, t.at, t.len, "offset is given twice");
            if (!parse_span(c, &n->offset_ms, true)) return NULL;
            offset_seen = true;
            pq_parse_node_end(c, n);
        } else {
            break;
        }
    }
    return n;
}

/* ---- label lists ---- */

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool parse_names(struct compile *c, struct names *out)
{
    if (!pq_parse_expect(c, TOK_LPAREN, "'(' expected before label names")) return false;
    out->items = ARENA_NEW_N(c->arena, 64, const char *);
    out->n = 0;
    while (out->items && c->token.kind != TOK_RPAREN) {
        const struct token t = c->token;
        if (t.kind != TOK_WORD && t.kind != TOK_STRING) { pq_parse_fail_here(c, "a label's name expected"); return false; }
        if (out->n == 64) { pq_compile_fail(c, t.at, t.len, "at most 64 label names"); return false; }
        const char *name = t.kind == TOK_STRING ? t.string : pq_parse_word_text(c, &t);
        if (!name) return false;
        out->items[out->n++] = name;
        pq_parse_advance(c);
        if (!pq_parse_accept(c, TOK_COMMA)) break;
    }
    if (!pq_parse_expect(c, TOK_RPAREN, "',' or ')' expected") || !out->items) return false;
    pq_sort(out->items, out->n, sizeof *out->items, by_text);
    return true;
}

/* ---- calls and aggregations ---- */

static bool parse_args(struct compile *c, struct pq_node **args, uint32_t cap, uint32_t *ret_n)
{
    if (!pq_parse_expect(c, TOK_LPAREN, "'(' expected")) return false;
    uint32_t n = 0;
    while (c->token.kind != TOK_RPAREN) {
        if (n == cap) { pq_compile_fail(c, c->token.at, 1, "too many arguments"); return false; }
        if (!(args[n++] = parse_expr(c, 0))) return false;
        if (!pq_parse_accept(c, TOK_COMMA)) break;
        if (c->token.kind == TOK_RPAREN) { pq_parse_fail_here(c, "an argument expected after ','"); return false; }
    }
    *ret_n = n;
    return pq_parse_expect(c, TOK_RPAREN, "',' or ')' expected");
}

static bool parse_grouping(struct compile *c, struct pq_node *n)
{
    bool by = is_word(c, &c->token, "by");
    if (!by && !is_word(c, &c->token, "without")) return true;
    pq_parse_advance(c);
    n->by = by;
    n->without = !by;
    return parse_names(c, &n->labels);
}

static struct pq_node *parse_aggregate(struct compile *c, enum aggregation agg)
{
    static const char params[] = {
#define X(id, word, param) param,
        AGGREGATION_TABLE(X)
#undef X
    };
    struct pq_node *n = pq_parse_node(c, NODE_AGGREGATE, c->token.at), *args[2];
    uint32_t count;
    if (!n) return NULL;
    struct token word = c->token;
    pq_parse_advance(c);
    n->type = PQ_VECTOR;
    n->aggregation = agg;
    if (!parse_grouping(c, n)) return NULL;
    bool grouped = n->by || n->without;
    if (!parse_args(c, args, 2, &count)) return NULL;
    if (!grouped && !parse_grouping(c, n)) return NULL;
    uint32_t want = params[agg] ? 2 : 1;
    if (count != want)
        return pq_compile_fail(c, word.at, word.len, "%s takes %u argument%s, not %u", pq_aggregation_text(agg), want,
                            want == 1 ? "" : "s", count);
    n->a = args[want - 1];
    n->b = want == 2 ? args[0] : NULL;
    return pq_parse_node_end(c, n);
}

static struct pq_node *parse_call(struct compile *c)
{
    struct token word = c->token;
    const char *name = pq_parse_word_text(c, &word);
    if (!name) return NULL;
    const struct function *f = pq_function_find(name);
    if (!f) {
        pq_compile_fail(c, word.at, word.len, "%s is not a function of the supported PromQL", name);
        const char *near = pq_function_nearest(name);
        if (near) pq_compile_hint(c, "did you mean %s?", near);
        return NULL;
    }
    struct pq_node *n = pq_parse_node(c, NODE_CALL, word.at), *args[16];
    if (!n) return NULL;
    pq_parse_advance(c);
    if (!parse_args(c, args, 16, &n->arg_count)) return NULL;
    n->function = f;
    n->type = f->result == 's' ? PQ_SCALAR : PQ_VECTOR;
    n->args = ARENA_NEW_N(c->arena, n->arg_count + 1, struct pq_node *);
    if (!n->args) return pq_compile_fail(c, word.at, word.len, "out of memory");
    memcpy(n->args, args, n->arg_count * sizeof args[0]);
    return pq_parse_node_end(c, n);
}

static bool find_aggregation(struct compile *c, const struct token *t, enum aggregation *ret)
{
    for (int i = 0; i < AGG_COUNT_OF; i++)
        if (is_word(c, t, pq_aggregation_text((enum aggregation)i))) { *ret = (enum aggregation)i; return true; }
    return false;
}

static struct pq_node *parse_word(struct compile *c)
{
    enum aggregation agg;
    bool call = c->ahead.kind == TOK_LPAREN;
    bool grouping = is_word(c, &c->ahead, "by") || is_word(c, &c->ahead, "without");
    if ((call || grouping) && find_aggregation(c, &c->token, &agg)) return parse_aggregate(c, agg);
    if (call) return parse_call(c);
    bool inf = is_word(c, &c->token, "inf");
    if ((inf || is_word(c, &c->token, "nan")) && c->ahead.kind != TOK_LBRACE) {
        struct pq_node *n = pq_parse_node(c, NODE_NUMBER, c->token.at);
        if (!n) return NULL;
        n->type = PQ_SCALAR;
        n->number = inf ? __builtin_inf() : __builtin_nan("");
        pq_parse_advance(c);
        return pq_parse_node_end(c, n);
    }
    return pq_parse_selector(c);
}

/* ---- expressions ---- */

static struct pq_node *parse_literal(struct compile *c)
{
    struct token t = c->token;
    struct pq_node *n = pq_parse_node(c, t.kind == TOK_STRING ? NODE_STRING : NODE_NUMBER, t.at);
    if (!n) return NULL;
    n->type = t.kind == TOK_STRING ? PQ_STRING : PQ_SCALAR;
    n->number = t.number;
    n->string = t.string;
    pq_parse_advance(c);
    return pq_parse_node_end(c, n);
}

static struct pq_node *parse_paren(struct compile *c)
{
    struct pq_node *n = pq_parse_node(c, NODE_PAREN, c->token.at);
    if (!n) return NULL;
    pq_parse_advance(c);
    n->a = parse_expr(c, 0);
    if (!n->a || !pq_parse_expect(c, TOK_RPAREN, "')' expected")) return NULL;
    n->type = n->a->type;
    return pq_parse_node_end(c, n);
}

/* -x and +x bind as * does, so that -2^2 is -(2^2) and -1*3 is (-1)*3. */
static struct pq_node *parse_sign(struct compile *c)
{
    struct token t = c->token;
    pq_parse_advance(c);
    struct pq_node *a = parse_expr(c, 6);
    if (!a) return NULL;
    struct pq_node *n = pq_parse_node(c, t.kind == TOK_SUB ? NODE_MINUS : NODE_PAREN, t.at);
    if (!n) return NULL;
    n->a = a;
    n->type = a->type;
    if (a->type != PQ_SCALAR && a->type != PQ_VECTOR)
        return pq_compile_fail(c, t.at, 1, "a sign stands before a scalar or a vector, not a %s", pq_type_text(a->type));
    return pq_parse_node_end(c, n);
}

static struct pq_node *parse_operand(struct compile *c)
{
    switch (c->token.kind) {
    case TOK_NUMBER: case TOK_DURATION: case TOK_STRING: return parse_postfix(c, parse_literal(c));
    case TOK_LPAREN: return parse_postfix(c, parse_paren(c));
    case TOK_LBRACE: return parse_postfix(c, pq_parse_selector(c));
    case TOK_WORD: return parse_postfix(c, parse_word(c));
    case TOK_ADD: case TOK_SUB: return parse_sign(c);
    default: return pq_parse_fail_here(c, "an expression expected");
    }
}

static const struct { const char *text; int strength; char sort; } operators[] = {
#define X(id, text, strength, sort) {text, strength, sort},
    OPERATOR_TABLE(X)
#undef X
};
const char *pq_operator_text(enum operator op) { return operators[op].text; }
char pq_operator_sort(enum operator op) { return operators[op].sort; }

static const char *const aggregations[] = {
#define X(id, word, param) word,
    AGGREGATION_TABLE(X)
#undef X
};
const char *pq_aggregation_text(enum aggregation a) { return aggregations[a]; }
const char *pq_aggregation(uint32_t i) { return i < AGG_COUNT_OF ? aggregations[i] : NULL; }

static bool at_operator(const struct compile *c, enum operator *ret)
{
    const struct token *t = &c->token;
    if (t->kind == TOK_END || t->kind == TOK_ERROR) return false;
    for (int i = 0; i < OP_COUNT_OF; i++)
        if (same_word(c->q->text + t->at, t->len, operators[i].text)) { *ret = (enum operator)i; return true; }
    return false;
}

/* bool, on(...), ignoring(...), group_left(...), group_right(...) behind an operator. */
static bool parse_modifiers(struct compile *c, struct pq_node *n)
{
    n->returns_bool = accept_word(c, "bool");
    n->on = is_word(c, &c->token, "on");
    n->matching_given = n->on || is_word(c, &c->token, "ignoring");
    if (!n->matching_given) return true;
    pq_parse_advance(c);
    if (!parse_names(c, &n->labels)) return false;
    bool left = is_word(c, &c->token, "group_left");
    if (!left && !is_word(c, &c->token, "group_right")) return true;
    pq_parse_advance(c);
    n->card = left ? GROUP_LEFT : GROUP_RIGHT;
    return c->token.kind != TOK_LPAREN || parse_names(c, &n->include);
}

static struct pq_node *parse_binary(struct compile *c, struct pq_node *left, enum operator op)
{
    struct pq_node *n = pq_parse_node(c, NODE_BINARY, left->at);
    if (!n) return NULL;
    pq_parse_advance(c);
    n->op = op;
    n->a = left;
    if (!parse_modifiers(c, n)) return NULL;
    int strength = operators[op].strength;
    n->b = parse_expr(c, op == OP_POW ? strength : strength + 1);
    if (!n->b) return NULL;
    n->type = n->a->type == PQ_SCALAR && n->b->type == PQ_SCALAR ? PQ_SCALAR : PQ_VECTOR;
    return pq_parse_node_end(c, n);
}

static struct pq_node *parse_expr(struct compile *c, int strength)
{
    if (++c->depth > PQ_LIMIT_DEPTH)
        return pq_compile_fail(c, c->token.at, 1, "the expression is nested deeper than %d", PQ_LIMIT_DEPTH);
    struct pq_node *left = parse_operand(c);
    enum operator op;
    while (left && at_operator(c, &op) && operators[op].strength >= strength) left = parse_binary(c, left, op);
    c->depth--;
    return c->failed ? NULL : left;
}

struct pq_node *pq_parse_query(struct compile *c)
{
    pq_lex_next(&c->lexer, &c->token);
    c->ahead = c->token;
    if (c->token.kind != TOK_END && c->token.kind != TOK_ERROR) pq_lex_next(&c->lexer, &c->ahead);
    struct pq_node *root = parse_expr(c, 0);
    if (root && c->token.kind != TOK_END) return pq_parse_fail_here(c, "an operator or the end expected");
    return c->failed ? NULL : root;
}
