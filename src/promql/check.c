/* Types of arguments, and what can be known of a query before it runs. */
#include <string.h>

#include "promql/ast.h"
#include "promql/labels.h"

const char *pq_type_text(enum pq_type t)
{
    static const char *const names[] = {"scalar", "vector", "text", "range"};
    return names[t];
}

static enum pq_type type_of_letter(char c)
{
    return c == 's' ? PQ_SCALAR : c == 'v' ? PQ_VECTOR : c == 't' ? PQ_STRING : PQ_MATRIX;
}

static bool want_type(struct compile *c, const struct pq_node *n, enum pq_type want, const char *who)
{
    if (n->type == want) return true;
    pq_compile_fail(c, n->at, n->len, "%s takes a %s here, not a %s", who, pq_type_text(want), pq_type_text(n->type));
    if (want == PQ_MATRIX && n->type == PQ_VECTOR && n->kind == NODE_SELECTOR) pq_compile_hint(c, "give it a range: [5m]");
    if (want == PQ_MATRIX && n->type == PQ_VECTOR && n->kind != NODE_SELECTOR) pq_compile_hint(c, "make it a subquery: [5m:]");
    if (want == PQ_VECTOR && n->type == PQ_MATRIX) pq_compile_hint(c, "wrap the range, for example in rate()");
    return false;
}

static bool check_call(struct compile *c, struct pq_node *n)
{
    const struct function *f = n->function;
    const char *p = f->arguments;
    uint32_t i = 0;
    while (*p) {
        char kind = *p++;
        bool optional = *p == '?', repeats = *p == '*';
        if (optional || repeats) p++;
        for (; i < n->arg_count; ) {
            if (!want_type(c, n->args[i], type_of_letter(kind), f->word)) return false;
            i++;
            if (!repeats) { kind = '\0'; break; }
        }
        if (kind && !optional && !repeats && i >= n->arg_count) {
            pq_compile_fail(c, n->at, n->len, "%s needs a %s as argument %u", f->word, pq_type_text(type_of_letter(kind)), i + 1);
            return false;
        }
    }
    if (i == n->arg_count) return true;
    pq_compile_fail(c, n->args[i]->at, n->args[i]->len, "%s takes no more than %u argument%s", f->word, i, i == 1 ? "" : "s");
    return false;
}

static bool check_aggregate(struct compile *c, struct pq_node *n)
{
    const char *word = pq_aggregation_text(n->aggregation);
    if (n->b && !want_type(c, n->b, n->aggregation == AGG_COUNT_VALUES ? PQ_STRING : PQ_SCALAR, word)) return false;
    return want_type(c, n->a, PQ_VECTOR, word);
}

static bool check_binary(struct compile *c, struct pq_node *n)
{
    const char *word = pq_operator_text(n->op);
    const struct pq_node *sides[] = {n->a, n->b};
    for (int i = 0; i < 2; i++) {
        if (sides[i]->type == PQ_SCALAR || sides[i]->type == PQ_VECTOR) continue;
        pq_compile_fail(c, sides[i]->at, sides[i]->len, "%s takes scalars and vectors, not a %s", word,
                        pq_type_text(sides[i]->type));
        return false;
    }
    bool vectors = n->a->type == PQ_VECTOR && n->b->type == PQ_VECTOR;
    char sort = pq_operator_sort(n->op);
    if (n->returns_bool && sort != 'c') {
        pq_compile_fail(c, n->at, n->len, "bool stands after comparisons only, not after %s", word);
    } else if (sort == 's' && !vectors) {
        pq_compile_fail(c, n->at, n->len, "%s works on two vectors", word);
    } else if (sort == 's' && n->card != ONE_TO_ONE) {
        pq_compile_fail(c, n->at, n->len, "%s takes no group_left or group_right", word);
    } else if (sort == 'c' && !n->returns_bool && n->type == PQ_SCALAR) {
        pq_compile_fail(c, n->at, n->len, "a comparison of two scalars needs bool");
        pq_compile_hint(c, "write %s bool", word);
    } else if (n->matching_given && !vectors) {
        pq_compile_fail(c, n->at, n->len, "on and ignoring match two vectors");
    } else {
        for (uint32_t i = 0; n->on && i < n->include.n; i++)
            if (pq_names_have(&n->labels, n->include.items[i]))
                pq_compile_fail(c, n->at, n->len, "label %s stands both in on and in group_", n->include.items[i]);
    }
    return !c->failed;
}

bool pq_check_types(struct compile *c, struct pq_node *n)
{
    if (!n) return true;
    for (uint32_t i = 0; i < n->arg_count; i++)
        if (!pq_check_types(c, n->args[i])) return false;
    if (!pq_check_types(c, n->a) || !pq_check_types(c, n->b)) return false;
    switch (n->kind) {
    case NODE_CALL: return check_call(c, n);
    case NODE_AGGREGATE: return check_aggregate(c, n);
    case NODE_BINARY: return check_binary(c, n);
    case NODE_SUBQUERY: return want_type(c, n->a, PQ_VECTOR, "a subquery") ;
    default: return true;
    }
}
