/* Binary operators between scalars and vectors, with matching as Prometheus does it. */
#include <math.h>
#include <string.h>

#include "promql/eval.h"
#include "promql/math.h"

/* false: a comparison that does not hold; the element is dropped unless bool is given. */
static bool compute(enum operator op, double a, double b, double *ret)
{
    switch (op) {
    case OP_ADD: *ret = a + b; return true;
    case OP_SUB: *ret = a - b; return true;
    case OP_MUL: *ret = a * b; return true;
    case OP_DIV: *ret = a / b; return true;
    case OP_MOD: *ret = fmod(a, b); return true;
    case OP_POW: *ret = pq_pow_of(a, b); return true;
    case OP_ATAN2: *ret = pq_atan2_of(a, b); return true;
    default: *ret = a; break;
    }
    switch (op) {
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    default: return false;
    }
}

static void scalars(const struct pq_node *n, struct value *a, const struct value *b)
{
    double v;
    bool holds = compute(n->op, a->scalar, b->scalar, &v);
    a->scalar = pq_operator_sort(n->op) == 'c' ? (double)holds : v;
}

/* Vector with scalar; `swapped`: the scalar stands on the left. A filter keeps the vector's own value. */
static bool with_scalar(struct eval *ev, const struct pq_node *n, struct value *v, double scalar, bool swapped)
{
    bool comparison = pq_operator_sort(n->op) == 'c';
    bool drop_name = !comparison || n->returns_bool;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        struct pq_element e = v->items[i];
        double r;
        bool holds = compute(n->op, swapped ? scalar : e.v, swapped ? e.v : scalar, &r);
        if (comparison && !n->returns_bool && !holds) continue;
        if (!comparison) e.v = r;
        else if (n->returns_bool) e.v = holds;
        if (drop_name) e.labels = pq_labels_without_name(ev, e.labels);
        v->items[kept++] = e;
    }
    v->n = kept;
    return !drop_name || pq_vector_check_unique(ev, v);
}

/* ---- matching ---- */

static struct pq_labels signature(struct eval *ev, const struct pq_node *n, struct pq_labels l)
{
    return n->on ? pq_labels_keep(ev, l, &n->labels) : pq_labels_drop(ev, l, &n->labels, true);
}

struct sides {
    uint32_t *left, *right;      /* group of each element: equal signatures, equal numbers */
    uint32_t groups;
};

static bool match_sides(struct eval *ev, const struct pq_node *n, const struct value *a, const struct value *b,
                        struct sides *ret)
{
    uint32_t all = a->n + b->n;
    struct pq_labels *keys = ARENA_NEW_N(ev->arena, all + 1, struct pq_labels);
    ret->left = ARENA_NEW_N(ev->arena, all + 1, uint32_t);
    if (!keys || !ret->left) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < a->n; i++) keys[i] = signature(ev, n, a->items[i].labels);
    for (uint32_t i = 0; i < b->n; i++) keys[a->n + i] = signature(ev, n, b->items[i].labels);
    ret->right = ret->left + a->n;
    return pq_group_by_labels(ev, keys, all, ret->left, &ret->groups);
}

static bool eval_set(struct eval *ev, const struct pq_node *n, const struct value *a, const struct value *b,
                     struct value *ret)
{
    struct sides s;
    if (!match_sides(ev, n, a, b, &s) || !pq_vector_room(ev, a->n + b->n, ret)) return false;
    bool *seen = ARENA_NEW_N(ev->arena, (size_t)s.groups + 1, bool);
    if (!seen) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    if (n->op == OP_OR) {
        for (uint32_t i = 0; i < a->n; i++) { seen[s.left[i]] = true; ret->items[ret->n++] = a->items[i]; }
        for (uint32_t i = 0; i < b->n; i++)
            if (!seen[s.right[i]]) ret->items[ret->n++] = b->items[i];
        return true;
    }
    for (uint32_t i = 0; i < b->n; i++) seen[s.right[i]] = true;
    for (uint32_t i = 0; i < a->n; i++)
        if (seen[s.left[i]] == (n->op == OP_AND)) ret->items[ret->n++] = a->items[i];
    return true;
}

static int by_labels(const struct pq_element *a, const struct pq_element *b) { return pq_labels_compare(a->labels, b->labels); }

/* Both series that share a match group, in a fixed order. */
static bool duplicate(struct eval *ev, const struct pq_node *n, const struct pq_element *x, const struct pq_element *y,
                      const char *side)
{
    struct buf group = BUF_INIT, pair = BUF_INIT;
    const struct pq_element *first = by_labels(x, y) <= 0 ? x : y, *second = first == x ? y : x;
    pq_labels_print(&group, signature(ev, n, x->labels));
    pq_labels_print(&pair, first->labels);
    buf_puts(&pair, ", ");
    pq_labels_print(&pair, second->labels);
    pq_eval_fail(ev, STATUS_INVALID, "found duplicate series for the match group %s on the %s hand-side of the operation: "
              "[%s];many-to-many matching not allowed: matching labels must be unique on one side",
              buf_text(&group), side, buf_text(&pair));
    buf_free(&group);
    buf_free(&pair);
    return false;
}

static struct pq_labels result_labels(struct eval *ev, const struct pq_node *n, struct pq_labels many, struct pq_labels one)
{
    static const struct names none = {NULL, 0};
    bool drop_name = pq_operator_sort(n->op) == 'a' || n->returns_bool;
    struct pq_labels l = many;
    if (n->card == ONE_TO_ONE)
        l = n->on ? pq_labels_keep(ev, l, &n->labels) : pq_labels_drop(ev, l, &n->labels, drop_name);
    else if (drop_name)
        l = pq_labels_drop(ev, l, &none, true);
    if (n->card == ONE_TO_ONE && n->on && drop_name) l = pq_labels_drop(ev, l, &none, true);
    for (uint32_t i = 0; i < n->include.n; i++)
        l = pq_labels_set(ev, l, n->include.items[i], pq_labels_get(one, n->include.items[i]));
    return l;
}

static bool eval_matched(struct eval *ev, const struct pq_node *n, const struct value *a, const struct value *b,
                         struct value *ret)
{
    /* An empty side matches nothing, and then duplicates on the other are no fault. */
    if (a->n == 0 || b->n == 0) return pq_vector_room(ev, 0, ret);
    bool swapped = n->card == GROUP_RIGHT;       /* the many side is walked, the one side looked up */
    const struct value *many = swapped ? b : a, *one = swapped ? a : b;
    struct sides s;
    if (!match_sides(ev, n, many, one, &s) || !pq_vector_room(ev, many->n, ret)) return false;
    uint32_t *partner = ARENA_NEW_N(ev->arena, (size_t)s.groups + 1, uint32_t);     /* element of `one`, + 1 */
    bool *taken = ARENA_NEW_N(ev->arena, (size_t)s.groups + 1, bool);
    if (!partner || !taken) return pq_eval_fail(ev, STATUS_LIMIT, "out of memory");
    for (uint32_t i = 0; i < one->n; i++) {
        uint32_t *p = &partner[s.right[i]];
        if (*p) return duplicate(ev, n, &one->items[*p - 1], &one->items[i], swapped ? "left" : "right");
        *p = i + 1;
    }
    bool comparison = pq_operator_sort(n->op) == 'c';
    for (uint32_t i = 0; i < many->n; i++) {
        uint32_t group = s.left[i];
        if (!partner[group]) continue;
        const struct pq_element *m = &many->items[i], *o = &one->items[partner[group] - 1];
        if (n->card == ONE_TO_ONE && taken[group])
            return pq_eval_fail(ev, STATUS_INVALID, "multiple matches for labels: many-to-one matching must be explicit "
                                                 "(group_left/group_right)");
        taken[group] = true;
        double v;
        bool holds = compute(n->op, swapped ? o->v : m->v, swapped ? m->v : o->v, &v);
        if (comparison && n->returns_bool) v = holds;
        else if (comparison && !holds) continue;
        ret->items[ret->n++] = (struct pq_element){result_labels(ev, n, m->labels, o->labels), v, m->t_ms};
    }
    struct err kept = {0};
    if (n->card == ONE_TO_ONE) return pq_vector_check_unique(ev, ret);
    struct err *err = ev->err;
    ev->err = &kept;
    bool unique = pq_vector_check_unique(ev, ret);
    ev->err = err;
    if (!unique && ev->err)
        err_set(ev->err, ev->status, "multiple matches for labels: grouping labels must ensure unique matches");
    return unique;
}

bool pq_eval_binary(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    struct value a, b;
    if (!pq_eval_node(ev, n->a, t, &a) || !pq_eval_node(ev, n->b, t, &b)) return false;
    bool left = a.type == PQ_SCALAR, right = b.type == PQ_SCALAR;
    if (left || right) {
        *ret = left && !right ? b : a;
        if (!left || !right) return with_scalar(ev, n, ret, left ? a.scalar : b.scalar, left);
        scalars(n, ret, &b);
        return true;
    }
    return pq_operator_sort(n->op) == 's' ? eval_set(ev, n, &a, &b, ret) : eval_matched(ev, n, &a, &b, ret);
}
