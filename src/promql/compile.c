/* Compiling, and what is known of a query without running it. */
#include <string.h>

#include "promql/ast.h"
#include "promql/labels.h"

/* Bucket values of rate() times the range, or of increase(), are requests; through sum and nothing else. */
static double observations_scale(const struct pq_node *n)
{
    while (n->kind == NODE_PAREN || (n->kind == NODE_AGGREGATE && n->aggregation == AGG_SUM)) n = n->a;
    if (n->kind != NODE_CALL || n->arg_count != 1) return 0;
    const struct pq_node *m = n->args[0];
    while (m->kind == NODE_PAREN) m = m->a;
    if (m->kind != NODE_SELECTOR || m->range_ms == 0) return 0;
    if (strcmp(n->function->word, "rate") == 0) return (double)m->range_ms / 1000.0;
    return strcmp(n->function->word, "increase") == 0 ? 1.0 : 0;
}

static void mark_quantiles(struct pq_node *n)
{
    if (!n) return;
    if (n->kind == NODE_CALL && strcmp(n->function->word, "histogram_quantile") == 0)
        n->observations_scale = observations_scale(n->args[1]);
    for (uint32_t i = 0; i < n->arg_count; i++) mark_quantiles(n->args[i]);
    mark_quantiles(n->a);
    mark_quantiles(n->b);
}

const struct pq *pq_compile(struct arena *a, const char *text, size_t len, struct pq_error *error)
{
    struct pq_error ignored;
    if (!error) error = &ignored;
    memset(error, 0, sizeof *error);
    struct pq *q = ARENA_NEW(a, struct pq);
    if (q) q->text = arena_strndup(a, text, len > PQ_LIMIT_BYTES ? PQ_LIMIT_BYTES : len);
    if (q) q->match_failed = ARENA_NEW(a, bool);
    struct compile c = {.lexer = {.text = q ? q->text : NULL, .len = len, .arena = a}, .arena = a, .q = q, .error = error};
    if (!q || !q->text || !q->match_failed) {
        text_copy(error->text, sizeof error->text, "out of memory");
        return NULL;
    }
    q->len = len;
    if (len > PQ_LIMIT_BYTES)
        return pq_compile_fail(&c, PQ_LIMIT_BYTES, 1, "the expression is longer than %d bytes", PQ_LIMIT_BYTES);
    const char *nul = memchr(text, '\0', len);
    if (nul) return pq_compile_fail(&c, (size_t)(nul - text), 1, "a NUL byte");
    q->root = pq_parse_query(&c);
    if (!q->root || !pq_check_types(&c, q->root)) return NULL;
    mark_quantiles(q->root);
    return q;
}

enum pq_type pq_type(const struct pq *q) { return q->root->type; }

/* ---- reach ---- */

/* Calls `each` for every selector with how far back before the query's time it begins. */
struct reach_walk { const struct pq_node *wanted; int64_t reach_ms; };

static int64_t own_reach(const struct pq_node *n)
{
    int64_t r = n->range_ms ? n->range_ms : n->kind == NODE_SELECTOR ? PQ_LOOKBACK.us / US_PER_MS : 0;
    return r + n->offset_ms;
}

static void walk_reach(const struct pq_node *n, int64_t above, struct reach_walk *w)
{
    if (!n) return;
    if (n->kind == NODE_SELECTOR || n->kind == NODE_SUBQUERY) above += own_reach(n);
    if (n->kind == NODE_SELECTOR && (!w->wanted || w->wanted == n) && above > w->reach_ms) w->reach_ms = above;
    for (uint32_t i = 0; i < n->arg_count; i++) walk_reach(n->args[i], above, w);
    walk_reach(n->a, above, w);
    walk_reach(n->b, above, w);
}

struct span pq_reach(const struct pq *q)
{
    struct reach_walk w = {0};
    walk_reach(q->root, 0, &w);
    return SPAN_MS(w.reach_ms);
}

static void walk_range(const struct pq_node *n, int64_t *widest)
{
    if (!n) return;
    if (n->range_ms > *widest) *widest = n->range_ms;
    for (uint32_t i = 0; i < n->arg_count; i++) walk_range(n->args[i], widest);
    walk_range(n->a, widest);
    walk_range(n->b, widest);
}

struct span pq_range(const struct pq *q)
{
    int64_t ms = 0;
    walk_range(q->root, &ms);
    return SPAN_MS(ms);
}

uint32_t pq_selector_count(const struct pq *q) { return q->selector_count; }

void pq_selector(const struct pq *q, uint32_t i, struct pq_selector *ret)
{
    const struct pq_node *n = q->selectors[i];
    struct reach_walk w = {.wanted = n};
    walk_reach(q->root, 0, &w);
    *ret = (struct pq_selector){.name = n->name, .matchers = (const struct pq_matcher *const *)n->matchers,
                                .n = n->matcher_count, .reach = SPAN_MS(w.reach_ms), .range = SPAN_MS(n->range_ms)};
}

uint32_t pq_metric_names(const struct pq *q, const char **names, uint32_t cap)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->selector_count; i++) {
        const char *name = q->selectors[i]->name;
        bool known = false;
        for (uint32_t j = 0; j < n && j < cap && !known; j++) known = text_eq(names[j], name);
        if (known) continue;
        if (n < cap) names[n] = name;
        n++;
    }
    return n;
}

/* ---- quantiles ---- */

static bool number_of(const struct pq_node *n, double *ret)
{
    while (n->kind == NODE_PAREN) n = n->a;
    if (n->kind == NODE_NUMBER) *ret = n->number;
    return n->kind == NODE_NUMBER;
}

static bool matcher_quantile(const struct pq_node *n, double *ret);

static bool find_quantile(const struct pq_node *n, double *ret)
{
    if (!n) return false;
    if (n->kind == NODE_CALL && strcmp(n->function->word, "histogram_quantile") == 0) return number_of(n->args[0], ret);
    if (n->kind == NODE_SELECTOR && matcher_quantile(n, ret)) return true;
    for (uint32_t i = 0; i < n->arg_count; i++)
        if (find_quantile(n->args[i], ret)) return true;
    return find_quantile(n->a, ret) || find_quantile(n->b, ret);
}

bool pq_quantile(const struct pq *q, double *ret)
{
    double v;
    if (!find_quantile(q->root, &v)) return false;
    if (ret) *ret = v;
    return true;
}

#include "base/num.h"

static bool matcher_quantile(const struct pq_node *n, double *ret)
{
    for (uint32_t i = 0; i < n->matcher_count; i++) {
        const struct pq_matcher *m = n->matchers[i];
        const char *v = pq_matcher_value(m);
        if (pq_matcher_kind(m) == PQ_EQ && text_eq(pq_matcher_name(m), "quantile") && num_parse_all(v, strlen(v), ret))
            return true;
    }
    return false;
}
