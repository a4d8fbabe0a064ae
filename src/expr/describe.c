/* What a rule uses: signals, knobs, views; how many independent pieces of evidence it asks for. */
#include <string.h>

#include "expr/node.h"
#include "expr/reach.h"

/* A piece of evidence: one signal under one view. A way to make a rule true: a set of them. */
struct piece { uint16_t signal; enum view view; };
#define PIECES_MAX 64
#define WAYS_MAX 16

struct ways { uint64_t sets[WAYS_MAX]; unsigned n; };

struct describer {
    const struct expr *e;
    struct piece pieces[PIECES_MAX];
    unsigned n;
    uint32_t views;
};

static bool view_of_fn(enum fn fn, enum view *ret)
{
    static const struct { enum fn fn; enum view view; } views[] = {
        {FN_BASELINE, VIEW_BASELINE}, {FN_PROFILE, VIEW_DRIFT}, {FN_DRIFT, VIEW_DRIFT}, {FN_WEEK_AGO, VIEW_WEEK_AGO},
        {FN_ZSCORE, VIEW_ZSCORE}, {FN_SCORE, VIEW_SCORE}, {FN_SLOPE, VIEW_SLOPE},
    };
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        if (views[i].fn != fn) continue;
        *ret = views[i].view;
        return true;
    }
    return false;
}

/* The first view that a function below `at` stands for. */
static bool find_view(const struct expr *e, uint16_t at, enum view *ret)
{
    const struct expr_node *n = &e->nodes[at];
    if (n->op == OP_LEAF) return view_of_fn(n->fn, ret);
    if (n->left != NO_NODE && find_view(e, n->left, ret)) return true;
    return n->right != NO_NODE && find_view(e, n->right, ret);
}

static bool names_signal(const struct expr *e, uint16_t at)
{
    const struct expr_node *n = &e->nodes[at];
    if (n->op == OP_LEAF) return expr_is_signal_leaf(n);
    if (n->left != NO_NODE && names_signal(e, n->left)) return true;
    return n->right != NO_NODE && names_signal(e, n->right);
}

/* A signal against a fixed limit is the objective's view; against other signals or its own scatter, the value's. */
static enum view view_of(const struct expr *e, const struct expr_node *compare)
{
    enum view view;
    if (find_view(e, compare->left, &view) || find_view(e, compare->right, &view)) return view;
    return names_signal(e, compare->left) && names_signal(e, compare->right) ? VIEW_VALUE : VIEW_OBJECTIVE;
}

static uint64_t piece_bit(struct describer *d, uint16_t signal, enum view view)
{
    unsigned i = 0;
    while (i < d->n && (d->pieces[i].signal != signal || d->pieces[i].view != view)) i++;
    if (i == PIECES_MAX) return 0;
    if (i == d->n) d->pieces[d->n++] = (struct piece){signal, view};
    d->views |= 1u << view;
    return UINT64_C(1) << i;
}

static uint64_t pieces_below(struct describer *d, uint16_t at, enum view view)
{
    if (at == NO_NODE) return 0;
    const struct expr_node *n = &d->e->nodes[at];
    if (n->op == OP_LEAF) return expr_is_signal_leaf(n) ? piece_bit(d, n->subject, view) : 0;
    return pieces_below(d, n->left, view) | pieces_below(d, n->right, view);
}

static unsigned size_of(uint64_t set)
{
    unsigned n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

/* Keeps the smallest ways when there are too many: they are the ones that count. */
static void add_way(struct ways *w, uint64_t set)
{
    unsigned largest = 0;
    for (unsigned i = 0; i < w->n; i++) {
        if (w->sets[i] == set) return;
        if (size_of(w->sets[i]) > size_of(w->sets[largest])) largest = i;
    }
    if (w->n < WAYS_MAX)
        w->sets[w->n++] = set;
    else if (size_of(set) < size_of(w->sets[largest]))
        w->sets[largest] = set;
}

/* All ways to make the condition at `at` true, or false when negated. */
static void find_ways(struct describer *d, uint16_t at, bool negated, struct ways *ret)
{
    const struct expr_node *n = &d->e->nodes[at];
    ret->n = 0;
    if (n->op == OP_NOT) {
        find_ways(d, n->left, !negated, ret);
    } else if (n->op == OP_AND || n->op == OP_OR) {
        struct ways left, right;
        find_ways(d, n->left, negated, &left);
        find_ways(d, n->right, negated, &right);
        if ((n->op == OP_OR) != negated) {
            *ret = left;
            for (unsigned i = 0; i < right.n; i++) add_way(ret, right.sets[i]);
            return;
        }
        for (unsigned i = 0; i < left.n; i++)
            for (unsigned k = 0; k < right.n; k++) add_way(ret, left.sets[i] | right.sets[k]);
    } else if (expr_is_compare(n->op)) {
        enum view view = view_of(d->e, n);
        add_way(ret, pieces_below(d, n->left, view) | pieces_below(d, n->right, view));
    } else {
        add_way(ret, 0);
    }
}

static uint16_t weakest(const struct ways *w)
{
    unsigned least = PIECES_MAX;
    for (unsigned i = 0; i < w->n; i++)
        if (size_of(w->sets[i]) < least) least = size_of(w->sets[i]);
    return (uint16_t)(w->n ? least : 0);
}

static void use_leaf(const struct expr_node *n, struct expr_use *ret)
{
    if (n->fn == FN_KNOB || n->fn == FN_CHANGED) {
        ret->knobs = (uint16_t)(ret->knobs | 1u << n->subject);
    } else if (n->fn == FN_AGE) {
        ret->uses_age_deploy = ret->uses_age_deploy || n->subject == AGE_DEPLOY;
    } else if (!expr_use_has(ret, n->subject)) {
        ret->signals[n->subject / 8] |= (unsigned char)(1u << n->subject % 8);
        ret->signal_count++;
    }
}

void expr_describe(const struct expr *e, struct expr_use *ret)
{
    *ret = (struct expr_use){0};
    for (uint16_t i = 0; i < e->n; i++)
        if (e->nodes[i].op == OP_LEAF) use_leaf(&e->nodes[i], ret);
    struct describer d = {.e = e};
    struct ways ways;
    find_ways(&d, (uint16_t)(e->n - 1), false, &ways);
    ret->views = d.views;
    ret->view_count = weakest(&ways);
    ret->constant_value = expr_reach(e);
    ret->constant = ret->constant_value != TRI_UNKNOWN;
}

uint16_t expr_known_signals(const struct expr *e, const struct evidence *evidence, uint16_t *ret_unknown)
{
    struct expr_use all = {0}, unknown = {0};
    for (uint16_t i = 0; i < e->n; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (!expr_is_signal_leaf(n)) continue;
        use_leaf(n, &all);
        if (expr_leaf_why(n, evidence) != WHY_KNOWN) use_leaf(n, &unknown);
    }
    if (ret_unknown) *ret_unknown = unknown.signal_count;
    return (uint16_t)(all.signal_count - unknown.signal_count);
}

uint16_t expr_first_unknown(const struct expr *e, const struct evidence *evidence, enum unknown_why *ret_why)
{
    for (uint16_t i = 0; i < e->n; i++) {
        const struct expr_node *n = &e->nodes[i];
        if (!expr_is_signal_leaf(n) || expr_leaf_why(n, evidence) == WHY_KNOWN) continue;
        *ret_why = expr_leaf_why(n, evidence);
        return n->subject;
    }
    return NO_INDEX;
}
