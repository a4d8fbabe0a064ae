/* METRIC{label="value", ...} */
#include <string.h>

#include "promql/parse.h"

static bool add_matcher(struct compile *c, struct pq_node *n, enum pq_match_kind kind, const char *name,
                        const char *value, const struct token *t)
{
    if (n->matcher_count >= 64) {
        pq_compile_fail(c, t->at, t->len, "a selector may have at most 64 matchers");
        return false;
    }
    const char *why = NULL;
    struct pq_matcher *m = pq_matcher_new(c->arena, kind, name, value, c->q->match_failed, &why);
    if (!m) {
        pq_compile_fail(c, t->at, t->len, "regular expression refused: %s", why ? why : "out of memory");
        return false;
    }
    n->matchers[n->matcher_count++] = m;
    if (kind == PQ_EQ && strcmp(name, "__name__") == 0) n->name = value;
    return true;
}

/* NAME op "value", or "metric name" alone. */
static bool parse_matcher(struct compile *c, struct pq_node *n)
{
    struct token name = c->token;
    if (name.kind != TOK_WORD && name.kind != TOK_STRING) {
        pq_parse_fail_here(c, "a label's name expected");
        return false;
    }
    const char *label = name.kind == TOK_STRING ? name.string : pq_parse_word_text(c, &name);
    if (!label) return false;
    pq_parse_advance(c);
    enum token_kind op = c->token.kind;
    if (name.kind == TOK_STRING && (op == TOK_COMMA || op == TOK_RBRACE)) {
        if (n->name) {
            pq_compile_fail(c, name.at, name.len, "the metric's name is given twice");
            return false;
        }
        return add_matcher(c, n, PQ_EQ, "__name__", label, &name);
    }
    if (op != TOK_EQ && op != TOK_NE && op != TOK_RE && op != TOK_NRE) {
        pq_parse_fail_here(c, "one of = != =~ !~ expected");
        if (op == TOK_EQEQ) pq_compile_hint(c, "a label is matched with a single =");
        return false;
    }
    pq_parse_advance(c);
    struct token value = c->token;
    if (value.kind != TOK_STRING) {
        pq_parse_fail_here(c, "a text in quotes expected");
        return false;
    }
    pq_parse_advance(c);
    enum pq_match_kind kind = op == TOK_EQ ? PQ_EQ : op == TOK_NE ? PQ_NE : op == TOK_RE ? PQ_RE : PQ_NRE;
    return add_matcher(c, n, kind, label, value.string, &value);
}

static bool register_selector(struct compile *c, struct pq_node *n)
{
    struct pq *q = c->q;
    struct pq_node **more = ARENA_NEW_N(c->arena, q->selector_count + 1, struct pq_node *);
    if (!more) {
        pq_compile_fail(c, n->at, n->len, "out of memory");
        return false;
    }
    if (q->selector_count) memcpy(more, q->selectors, q->selector_count * sizeof *more);
    n->index = q->selector_count;
    more[q->selector_count++] = n;
    q->selectors = more;
    return true;
}

static bool selects_something(const struct pq_node *n)
{
    for (uint32_t i = 0; i < n->matcher_count; i++)
        if (!pq_matcher_takes_empty(n->matchers[i])) return true;
    return false;
}

struct pq_node *pq_parse_selector(struct compile *c)
{
    struct pq_node *n = pq_parse_node(c, NODE_SELECTOR, c->token.at);
    if (!n) return NULL;
    n->type = PQ_VECTOR;
    n->matchers = ARENA_NEW_N(c->arena, 64, struct pq_matcher *);
    if (!n->matchers) return pq_compile_fail(c, n->at, 1, "out of memory");
    struct token name = c->token;
    const char *metric = NULL;
    if (name.kind == TOK_WORD) {
        metric = pq_parse_word_text(c, &name);
        if (!metric) return NULL;
        pq_parse_advance(c);
        n->name = metric;
    }
    if (pq_parse_accept(c, TOK_LBRACE)) {
        while (c->token.kind != TOK_RBRACE) {
            if (!parse_matcher(c, n)) return NULL;
            if (!pq_parse_accept(c, TOK_COMMA)) break;
        }
        if (!pq_parse_expect(c, TOK_RBRACE, "',' or '}' expected")) return NULL;
    }
    n->name = NULL;
    if (metric && !add_matcher(c, n, PQ_EQ, "__name__", metric, &name)) return NULL;
    for (uint32_t i = 0; i < n->matcher_count && !n->name; i++) {
        const struct pq_matcher *m = n->matchers[i];
        if (pq_matcher_kind(m) == PQ_EQ && strcmp(pq_matcher_name(m), "__name__") == 0) n->name = pq_matcher_value(m);
    }
    pq_parse_node_end(c, n);
    if (!selects_something(n)) {
        pq_compile_fail(c, n->at, n->len, "this selects every series");
        pq_compile_hint(c, "name a metric, or add a matcher that the empty text does not pass");
        return NULL;
    }
    return register_selector(c, n) ? n : NULL;
}
