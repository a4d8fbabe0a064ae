/* What tells each row of the shipped playbook from the rows most like it: its two nearest neighbours by shared evidence, the
 * decision tree from the outage down to utilisation, values that are unknown or contradict each other. */
#include "support/playbook_rig.h"

enum { NEAREST = 2, CHANGES_MAX = 24, FLIP_MAX = 4 };

static void evidence_of(const struct rig *g, unsigned row, bool ret[POLICY_SIGNALS_MAX + POLICY_KNOBS_MAX + 1])
{
    struct expr_use use;
    expr_describe(g->causes[row].when, &use);
    for (uint16_t i = 0; i < g->r->def.signal_count; i++) ret[i] = expr_use_has(&use, i);
    for (uint16_t i = 0; i < g->r->def.knob_count; i++) ret[POLICY_SIGNALS_MAX + i] = use.knobs >> i & 1;
    ret[POLICY_SIGNALS_MAX + POLICY_KNOBS_MAX] = use.uses_age_deploy;
}

/* Readings that both ask for, of those that either does; then rows of one group before others, then those close in the file. */
static double likeness(const struct rig *g, unsigned a, unsigned b)
{
    bool x[POLICY_SIGNALS_MAX + POLICY_KNOBS_MAX + 1] = {false}, y[ARRAY_LEN(x)] = {false};
    unsigned both = 0, either = 0;
    evidence_of(g, a, x);
    evidence_of(g, b, y);
    for (size_t i = 0; i < ARRAY_LEN(x); i++) {
        both += x[i] && y[i];
        either += x[i] || y[i];
    }
    double same_group = g->causes[a].group == g->causes[b].group ? 0.01 : 0;
    return (double)both / (double)either + same_group - abs((int)a - (int)b) * 1e-5;
}

static void nearest(const struct rig *g, unsigned row, unsigned ret[NEAREST])
{
    ret[0] = ret[1] = UINT16_MAX;
    for (unsigned i = 0; i < g->book->row_count; i++) {
        if (i == row) continue;
        double l = likeness(g, row, i);
        if (ret[0] == UINT16_MAX || l > likeness(g, row, ret[0])) {
            ret[1] = ret[0];
            ret[0] = i;
        } else if (ret[1] == UINT16_MAX || l > likeness(g, row, ret[1])) {
            ret[1] = i;
        }
    }
}

static const char *case_of(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (strcmp(cases[i].id, id) == 0) return cases[i].values;
    fail_msg("no case for row %s", id);
    return "";
}

/* One reading that differs between two cases: its datum and both values. */
struct change { const char *text; size_t len; unsigned item; double from, to; };

/* What has to change, reading by reading, to come from one case to the other. */
static unsigned changes_between(struct rig *g, const char *from, const char *to, struct change ret[CHANGES_MAX])
{
    double before[NEEDS_MAX], after[NEEDS_MAX];
    unsigned n = 0;
    make_healthy(g);
    set_all(g, from);
    for (unsigned i = 0; i < g->r->def.needs.n; i++) before[i] = g->r->items[i].value;
    make_healthy(g);
    set_all(g, to);
    for (unsigned i = 0; i < g->r->def.needs.n; i++) after[i] = g->r->items[i].value;
    for (unsigned i = 0; i < g->r->def.needs.n; i++) {
        if (before[i] >= after[i] && before[i] <= after[i]) continue;
        assert_true(n < CHANGES_MAX);
        ret[n++] = (struct change){.item = i, .from = before[i], .to = after[i]};
    }
    return n;
}

static void print_change(struct buf *out, const struct rig *g, const struct change *c)
{
    const struct need *n = &g->r->def.needs.items[c->item];
    const char *subject = n->fn == FN_AGE                            ? age_subject_name((enum age_subject)n->subject)
                          : n->fn == FN_KNOB || n->fn == FN_CHANGED ? knobs[n->subject].name
                                                                    : g->r->signals[n->subject].name;
    const char *fn = fn_name(n->fn);
    buf_printf(out, fn[0] ? " %s(%s) " : "%s %s ", fn, subject);
    buf_sig3(out, c->from);
    buf_puts(out, " -> ");
    buf_sig3(out, c->to);
}

static void apply(struct rig *g, const struct change *changes, unsigned n, unsigned long set, bool there)
{
    for (unsigned i = 0; i < n; i++)
        if (set >> i & 1) g->r->items[changes[i].item].value = there ? changes[i].to : changes[i].from;
}

static unsigned bits(unsigned long set)
{
    unsigned n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

/* The fewest readings whose change makes the neighbour the cause. 0: more than FLIP_MAX are needed. */
static unsigned long smallest_flip(struct rig *g, const struct change *changes, unsigned n, const struct playbook_row *to)
{
    struct cause_list list;
    for (unsigned size = 1; size <= FLIP_MAX; size++) {
        for (unsigned long set = 1; set < 1UL << n; set++) {
            if (bits(set) != size) continue;
            apply(g, changes, n, set, true);
            bool flipped = strcmp(chosen(g, to->symptom, &list), to->id) == 0;
            apply(g, changes, n, set, false);
            if (flipped) return set;
        }
    }
    return 0;
}

static void tell_apart(struct rig *g, const struct playbook_row *row, const struct playbook_row *other, struct buf *out)
{
    struct change changes[CHANGES_MAX];
    struct cause_list list;
    unsigned n = changes_between(g, case_of(row->id), case_of(other->id), changes);
    make_healthy(g);
    set_all(g, case_of(row->id));
    const char *got = chosen(g, row->symptom, &list);
    assert_string_equal(got, row->id);
    assert_string_not_equal(got, other->id);
    unsigned long flip = smallest_flip(g, changes, n, other);
    buf_printf(out, "%s, not %s:", row->id, other->id);
    for (unsigned i = 0; i < n; i++)
        if (flip >> i & 1) print_change(out, g, &changes[i]);
    if (!flip) buf_puts(out, " nothing that differs tells them apart");
    print_message("%s\n", buf_text(out));
    assert_true(flip != 0);
}

static void each_row_is_told_from_its_two_nearest(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    for (unsigned i = 0; i < g->book->row_count; i++) {
        unsigned near[NEAREST];
        nearest(g, i, near);
        for (unsigned k = 0; k < NEAREST; k++) {
            struct buf out = BUF_INIT;
            tell_apart(g, &g->book->rows[i], &g->book->rows[near[k]], &out);
            buf_free(&out);
        }
    }
    rig_free(g);
}

/* A late user, a queue, full batches on a busy GPU: what every cause upstream of the ceilings does to the rows below it. */
static void what_lies_downstream_is_not_blamed(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    struct cause_list list;
    unsigned held = 0;
    for (unsigned i = 0; i < g->book->row_count; i++) {
        const struct playbook_row *row = &g->book->rows[i];
        if (g->causes[i].group >= GROUP_CEILING) continue;
        make_healthy(g);
        set_all(g, "latency_p99=90 queue_depth=600 gpu_util=0.85 batch_size=31");
        set_all(g, case_of(row->id));
        if (expr_eval(g->causes[i].when, &g->r->evidence) != TRI_TRUE) continue;   /* it says itself that the GPU idles */
        assert_string_equal(chosen(g, row->symptom, &list), row->id);
        held++;
    }
    assert_true(held >= 45);
    rig_free(g);
}

static const struct { const char *symptom, *values, *expected; } tree[] = {
#include "locate/playbook_tree.inc"
};

static void the_decision_tree(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    struct cause_list list;
    for (size_t i = 0; i < ARRAY_LEN(tree); i++) {
        make_healthy(g);
        set_all(g, tree[i].values);
        const char *got = chosen(g, tree[i].symptom, &list);
        if (strcmp(got, tree[i].expected) != 0) print_error("%s\n", tree[i].values);
        assert_string_equal(got, tree[i].expected);
    }
    rig_free(g);
}

/* Takes one reading of the row away: it must not be the cause, and must be listed as one that cannot be ruled out. */
static void without_one_reading(struct rig *g, unsigned row, unsigned item)
{
    const char *id = g->book->rows[row].id;
    struct cause_list list;
    g->r->items[item] = (struct datum){.value = NAN, .why = WHY_STALE};
    if (strcmp(chosen(g, g->book->rows[row].symptom, &list), id) == 0) fail_msg("%s is the cause without one of its readings", id);
    for (unsigned i = 0; i < list.n; i++)
        if (list.items[i].cause == row) assert_int_equal(list.items[i].verdict, CAUSE_UNKNOWN);
}

static void the_unknown_is_never_a_cause(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    for (unsigned row = 0; row < g->book->row_count; row++) {
        if (strstr(g->book->rows[row].when, " or ")) continue;   /* the other branch may stand by itself */
        struct expr_scope scope = {.service = &g->r->def, .needs = &(struct needs){0}};
        struct arena scratch = ARENA_INIT;
        struct expr_error error;
        const char *text = g->book->rows[row].when;
        assert_non_null(expr_compile(&scratch, text, strlen(text), &scope, &error));
        for (unsigned i = 0; i < scope.needs->n; i++) {
            const struct need *n = &scope.needs->items[i];
            if (n->fn == FN_AGE) continue;   /* held by the onset: a release incident has begun with a release */
            make_healthy(g);
            set_all(g, case_of(g->book->rows[row].id));
            without_one_reading(g, row, (unsigned)needs_find(&g->r->def.needs, *n));
        }
        needs_free(scope.needs);
        arena_free(&scratch);
    }
    rig_free(g);
}

static void nothing_known_names_nothing(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    struct cause_list list;
    for (unsigned i = 0; i < g->r->def.needs.n; i++) g->r->items[i] = (struct datum){.value = NAN, .why = WHY_STALE};
    for (unsigned s = 0; s < g->book->symptom_count; s++) {
        assert_string_equal(chosen(g, g->book->symptoms[s].name, &list), "");
        for (unsigned i = 0; i < list.n; i++) assert_int_not_equal(list.items[i].verdict, CAUSE_CHOSEN);
    }
    rig_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_told_from_its_two_nearest),
        cmocka_unit_test(what_lies_downstream_is_not_blamed),
        cmocka_unit_test(the_decision_tree),
        cmocka_unit_test(the_unknown_is_never_a_cause),
        cmocka_unit_test(nothing_known_names_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
