/* Each row of the shipped playbook, and nothing beside it, becomes the chosen cause for values set by hand. */
#include "support/playbook_rig.h"

static void say_true_ones(struct rig *g, const char *id, const struct cause_list *list)
{
    struct buf out = BUF_INIT;
    print_error("expected %s:\n", id);
    for (unsigned i = 0; i < list->n; i++) {
        if (list->items[i].when == TRI_FALSE) continue;
        buf_clear(&out);
        locate_explain(&out, &g->r->def, &g->r->evidence, &list->items[i]);
        print_error("  %s\n", buf_text(&out));
    }
    buf_free(&out);
}

static void each_row_is_chosen_for_its_values(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    struct cause_list list;
    assert_int_equal(g->dropped, 0);
    for (unsigned i = 0; i < g->book->row_count; i++) {
        const struct playbook_row *row = &g->book->rows[i];
        const char *values = NULL;
        for (size_t k = 0; k < ARRAY_LEN(cases); k++)
            if (strcmp(cases[k].id, row->id) == 0) values = cases[k].values;
        if (!values) print_error("no case for row %s\n", row->id);
        assert_non_null(values);
        make_healthy(g);
        set_all(g, values);
        const char *got = chosen(g, row->symptom, &list);
        if (strcmp(got, row->id) != 0) say_true_ones(g, row->id, &list);
        assert_string_equal(got, row->id);
    }
    rig_free(g);
}

static void a_healthy_service_has_no_cause(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    struct cause_list list;
    make_healthy(g);
    for (unsigned s = 0; s < g->book->symptom_count; s++) {
        assert_string_equal(chosen(g, g->book->symptoms[s].name, &list), "");
        for (unsigned i = 0; i < list.n; i++) {
            if (list.items[i].when != TRI_FALSE) print_error("%s\n", g->causes[list.items[i].cause].id);
            assert_int_equal(list.items[i].when, TRI_FALSE);
        }
    }
    rig_free(g);
}

/* R1 of loop.md section 7: a service with few signals keeps the rows it can judge. */
static void reference_scenario(void **state)
{
    (void)state;
    static const char *const few[] = {"latency_p99", "queue_depth", "gpu_util", "feature_fetch_ms", "cache_hit", "throughput",
                                      NULL};
    struct rig *g = rig_new(few);
    struct cause_list list;
    assert_true(g->dropped > 50 && g->r->def.cause_count >= 4);
    make_healthy(g);
    set_all(g, "latency_p99=46.8 baseline(latency_p99)=38.1 queue_depth=320 feature_fetch_ms=6.2 "
               "baseline(feature_fetch_ms)=6.2 gpu_util=0.78");
    assert_string_equal(chosen(g, "latency-degraded", &list), "compute-bound");
    set_all(g, "gpu_util=0.6");
    assert_string_equal(chosen(g, "latency-degraded", &list), "");
    set_all(g, "gpu_util=0.45");
    assert_string_equal(chosen(g, "latency-degraded", &list), "host-or-io-bound");
    set_all(g, "gpu_util=0.78 feature_fetch_ms=18.6");
    assert_string_equal(chosen(g, "latency-degraded", &list), "upstream-data");
    set_all(g, "age(deploy)=900");
    assert_string_equal(chosen(g, "latency-degraded", &list), "recent-release");
    rig_free(g);
}

static void symptoms_ask_for_two_pieces_of_evidence(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    assert_true(g->book->symptom_count >= 8);
    for (unsigned i = 0; i < g->book->symptom_count; i++) {
        struct expr_use use;
        expr_describe(rules_compile(g->r, g->book->symptoms[i].when), &use);
        if (use.view_count < 2) print_error("%s\n", g->book->symptoms[i].name);
        assert_true(use.view_count >= 2 && !use.constant);
    }
    rig_free(g);
}

static bool tries_what_it_forbids(const struct playbook_row *row)
{
    for (unsigned i = 0; i < row->try_count; i++)
        for (unsigned k = 0; k < row->never_count; k++)
            if (!row->tries[i].advice && strcmp(row->tries[i].knob, row->nevers[k].knob) == 0 &&
                row->tries[i].direction == row->nevers[k].direction)
                return true;
    return false;
}

static void rows_are_well_formed(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    bool layers[LAYER_COUNT] = {false};
    assert_true(g->book->row_count >= 60);
    for (unsigned i = 0; i < g->book->row_count; i++) {
        const struct playbook_row *row = &g->book->rows[i];
        struct expr_use use;
        expr_describe(g->causes[i].when, &use);
        assert_false(use.constant);
        assert_true(row->try_count >= 1 && row->try_count <= POLICY_TRY_MAX);
        assert_true(row->tries[row->try_count - 1].advice);   /* a person is always told something */
        assert_true(text_is_name(row->id, POLICY_NAME_MAX) && text_is_name(row->cause, POLICY_NAME_MAX));
        assert_true(!row->share[0] || service_signal(&g->r->def, row->share) != NO_INDEX);
        for (unsigned k = 0; k < i; k++) assert_string_not_equal(row->id, g->book->rows[k].id);
        assert_true(strstr(row->source, " source") || strstr(row->source, "reasoned"));
        assert_false(tries_what_it_forbids(row));
        for (uint16_t k = 0; k < g->r->def.signal_count; k++)
            if (expr_use_has(&use, k)) layers[g->r->signals[k].layer] = true;
    }
    for (int i = 0; i < LAYER_COUNT; i++) assert_true(layers[i]);
    rig_free(g);
}

/* A row that is true only when an advice-only row of a more upstream group is true as well would be decoration. */
static void no_row_is_out_of_reach(void **state)
{
    (void)state;
    struct rig *g = rig_new(NULL);
    for (uint16_t a = 0; a < g->r->def.cause_count; a++) {
        for (uint16_t b = 0; b < g->r->def.cause_count; b++) {
            const struct cause_def *x = &g->causes[a], *y = &g->causes[b];
            bool before = y->group < x->group && y->try_count == 1 && (y->symptom == NO_INDEX || y->symptom == x->symptom);
            if (!before || !expr_implies(x->when, y->when)) continue;
            print_error("%s is never reached behind %s\n", x->id, y->id);
            fail();
        }
    }
    rig_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_well_formed),
        cmocka_unit_test(symptoms_ask_for_two_pieces_of_evidence),
        cmocka_unit_test(a_healthy_service_has_no_cause),
        cmocka_unit_test(each_row_is_chosen_for_its_values),
        cmocka_unit_test(no_row_is_out_of_reach),
        cmocka_unit_test(reference_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
