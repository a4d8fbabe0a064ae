/* Companion queries, for a server that evaluates: what our own evaluator tells beside a value. */
#include "promql/ast.h"

static void print_source(struct buf *out, const struct pq *q, const struct pq_node *n)
{
    buf_add(out, q->text + n->at, n->len);
}

/* The first quantile of a histogram in the tree whose requests can be counted. */
static const struct pq_node *counted(const struct pq_node *n)
{
    if (!n) return NULL;
    if (n->kind == NODE_CALL && n->observations_scale > 0) return n;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        const struct pq_node *found = counted(n->args[i]);
        if (found) return found;
    }
    const struct pq_node *found = counted(n->a);
    return found ? found : counted(n->b);
}

bool pq_print_observations(struct buf *out, const struct pq *q)
{
    const struct pq_node *call = counted(q->root);
    if (!call) return false;
    buf_puts(out, "sum(max without (le) (");
    print_source(out, q, call->args[1]);
    buf_puts(out, ")) * ");
    buf_double(out, call->observations_scale);
    return true;
}

static bool is_plain(const struct pq_node *n)
{
    return n->kind == NODE_SELECTOR && n->range_ms == 0 && n->offset_ms == 0 && n->at_kind == AT_NONE;
}

/* A selector inside a subquery is looked at in the past: its newest sample says nothing about now. */
static bool under_subquery(const struct pq_node *n, const struct pq_node *sought, bool below)
{
    if (!n) return false;
    if (n == sought) return below;
    below = below || n->kind == NODE_SUBQUERY;
    for (uint32_t i = 0; i < n->arg_count; i++)
        if (under_subquery(n->args[i], sought, below)) return true;
    return under_subquery(n->a, sought, below) || under_subquery(n->b, sought, below);
}

bool pq_print_newest(struct buf *out, const struct pq *q)
{
    uint32_t printed = 0;
    for (uint32_t i = 0; i < q->selector_count; i++) {
        const struct pq_node *n = q->selectors[i];
        if (!is_plain(n) || under_subquery(q->root, n, false)) continue;
        buf_puts(out, printed++ ? " or label_replace(max(timestamp(" : "min(label_replace(max(timestamp(");
        print_source(out, q, n);
        buf_puts(out, ")), \"selector\", \"");
        buf_printf(out, "%u", i);
        buf_puts(out, "\", \"\", \"\")");
    }
    if (printed) buf_putc(out, ')');
    return printed > 0;
}
