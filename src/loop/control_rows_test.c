/* Every row of the table fires, in a case that bears its number. A new row without a case fails. */
#include "support/test.h"

#include "loop/control_test.h"

typedef void setup_fn(struct control_bench *b);

static void plan(struct control_bench *b, enum control_decision_kind kind)
{
    b->e.decision = (struct control_decision){.kind = (uint8_t)kind, .knob = 0, .from = 1, .to = 2, .cause = 7, .plan = 11,
                                              .settle = SPAN_MIN(2), .window = SPAN_MIN(10)};
}

static void request(struct control_bench *b, enum control_event_kind kind)
{
    bench_start(b, STATE_AWAITING);
    bench_incident(b);
    bench_fold(b, RECORD_REQUEST, (struct control_record){.knob = 0, .plan = 11, .expiry = AT(900)});
    event(b, kind, 1);
    b->e.plan = 11;
    b->e.remeasure_ok = true;
}

static void open_incident(struct control_bench *b)
{
    bench_start(b, STATE_OPEN);
    bench_incident(b);
}

static void row_1(struct control_bench *b) { bench_start(b, STATE_LEARNING); }
static void row_2(struct control_bench *b)
{
    bench_start(b, STATE_LEARNING);
    b->e.slo = b->e.opens = true;
}
static void row_3(struct control_bench *b) { bench_start(b, STATE_WATCHING); }
static void row_4(struct control_bench *b)
{
    bench_start(b, STATE_SUSPECT);
    b->e.symptom = TRI_UNKNOWN;
    b->e.blind = true;
}
static void row_5(struct control_bench *b)
{
    bench_start(b, STATE_WATCHING);
    reads_all(b, 3, 1);
}
static void row_6(struct control_bench *b)
{
    bench_start(b, STATE_WATCHING);
    event(b, CE_RELEASE, 0);
}
static void row_7(struct control_bench *b)
{
    bench_start(b, STATE_SUSPECT);
    b->e.opens = true;
}
static void row_8(struct control_bench *b)
{
    bench_start(b, STATE_SUSPECT);
    b->e.symptom = TRI_FALSE;
    b->e.hopeless = true;
}
static void row_9(struct control_bench *b)
{
    open_incident(b);
    b->e.symptom = TRI_FALSE;
    b->e.clears = true;
}
static void row_10(struct control_bench *b)
{
    open_incident(b);
    plan(b, CD_SHUT);
}
static void row_11(struct control_bench *b)
{
    open_incident(b);
    plan(b, CD_WOULD);
}
static void row_12(struct control_bench *b)
{
    open_incident(b);
    plan(b, CD_HANDOVER);
}
static void row_13(struct control_bench *b)
{
    open_incident(b);
    plan(b, CD_TUNE);
}
static void row_14(struct control_bench *b)
{
    open_incident(b);
    plan(b, CD_ASK);
}
static void row_15(struct control_bench *b) { request(b, CE_APPROVE); }
static void row_16(struct control_bench *b)
{
    request(b, CE_APPROVE);
    b->e.remeasure_ok = false;
}
static void row_17(struct control_bench *b) { request(b, CE_REJECT); }
static void row_18(struct control_bench *b)
{
    request(b, CE_TICK);
    b->e.now = AT(900);
}
static void row_19(struct control_bench *b)
{
    request(b, CE_TICK);
    b->e.clears = true;
}
static void row_20(struct control_bench *b) { bench_action(b, STATE_INTENT); }
static void row_21(struct control_bench *b)
{
    bench_action(b, STATE_INTENT);
    b->e.symptom = TRI_FALSE;
}
static void row_22(struct control_bench *b)
{
    open_incident(b);
    event(b, CE_APPEND_FAILED, 0);
}
static void row_23(struct control_bench *b)
{
    bench_action(b, STATE_WRITING);
    event(b, CE_ANSWER, 1);
}
static void row_24(struct control_bench *b)
{
    bench_action(b, STATE_READBACK);
    reads_all(b, 2, 1);
}
static void row_25(struct control_bench *b)
{
    bench_action(b, STATE_READBACK);
    event(b, CE_POLL, 60);
}
static void row_26(struct control_bench *b)
{
    bench_action(b, STATE_READBACK);
    bench_fold(b, RECORD_FAILED, (struct control_record){.knob = 0});
    b->c.state = STATE_OPEN;
    b->c.active = NO_KNOB;
    event(b, CE_POLL, 90);
    reads_all(b, 2, 1);
}
static void row_27(struct control_bench *b)
{
    bench_action(b, STATE_READBACK);
    event(b, CE_POLL, 60);
    reads_mixed(b);
}
static void row_28(struct control_bench *b)
{
    bench_action(b, STATE_SETTLING);
    reads_all(b, 3, 1);
}
static void row_29(struct control_bench *b)
{
    bench_action(b, STATE_READBACK);
    event(b, CE_POLL, 60);
    b->e.reads[0].readable = false;
}
static void row_30(struct control_bench *b)
{
    bench_action(b, STATE_SETTLING);
    reads_all(b, 2, 1);
    b->e.settle_over = true;
}
static void row_31(struct control_bench *b)
{
    bench_action(b, STATE_OBSERVING);
    reads_all(b, 2, 1);
    b->e.early_harm = true;
}
static void row_32(struct control_bench *b)
{
    bench_action(b, STATE_OBSERVING);
    event(b, CE_CANCEL, 1);
}
static void row_33(struct control_bench *b)
{
    bench_action(b, STATE_OBSERVING);
    reads_all(b, 2, 3);
}
static void window_over(struct control_bench *b, enum verdict v)
{
    bench_action(b, STATE_OBSERVING);
    reads_all(b, 2, 1);
    b->e.window_over = true;
    b->e.verdict = v;
}
static void row_34(struct control_bench *b)
{
    window_over(b, VERDICT_EFFECTIVE);
    b->e.symptom = TRI_FALSE;
}
static void row_34a(struct control_bench *b)
{
    window_over(b, VERDICT_EFFECTIVE);
    b->e.policy_allows_new = false;
}
static void row_35(struct control_bench *b) { window_over(b, VERDICT_EFFECTIVE); }
static void row_36(struct control_bench *b) { window_over(b, VERDICT_INEFFECTIVE); }
static void row_37(struct control_bench *b) { window_over(b, VERDICT_INCONCLUSIVE); }
static void row_38(struct control_bench *b)
{
    window_over(b, VERDICT_INCONCLUSIVE);
    bench_fold(b, RECORD_EXTENDED, (struct control_record){.knob = 0});
    b->e.old_known_good = false;
}
static void undoing(struct control_bench *b, enum state state, bool recorded)
{
    bench_action(b, state);
    bench_fold(b, RECORD_VERDICT, (struct control_record){.knob = 0, .verdict = VERDICT_INEFFECTIVE, .undo = true, .fail = true});
    if (recorded) bench_fold(b, RECORD_UNDO, (struct control_record){.knob = 0});
    reads_all(b, 2, 1);
}
static void row_39(struct control_bench *b) { undoing(b, STATE_UNDO_INTENT, false); }
static void row_40(struct control_bench *b)
{
    undoing(b, STATE_UNDO_INTENT, false);
    reads_all(b, 1, 1);
}
static void row_41(struct control_bench *b)
{
    undoing(b, STATE_UNDO_INTENT, false);
    reads_all(b, 3, 1);
}
static void row_41a(struct control_bench *b)
{
    undoing(b, STATE_UNDO_INTENT, false);
    b->e.reads[0].readable = false;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bench_step(b), 410);
        assert_int_equal(b->c.state, STATE_UNDO_INTENT);
    }
}
static void row_42(struct control_bench *b)
{
    undoing(b, STATE_UNDO_WRITING, true);
    event(b, CE_ANSWER, 1);
}
static void row_43(struct control_bench *b)
{
    undoing(b, STATE_UNDO_READBACK, true);
    reads_all(b, 1, 1);
}
static void row_44(struct control_bench *b)
{
    undoing(b, STATE_UNDO_READBACK, true);
    b->e.now = AT(60);
}
static void row_45(struct control_bench *b)
{
    row_44(b);
    bench_fold(b, RECORD_UNDO_RETRY, (struct control_record){.knob = 0});
}
static void row_46(struct control_bench *b)
{
    open_incident(b);
    b->c.state = STATE_PERSON;
    b->e.clears = true;
}
static void row_47(struct control_bench *b)
{
    open_incident(b);
    event(b, CE_NORMAL_NOW, 1);
}
static void row_48(struct control_bench *b)
{
    window_over(b, VERDICT_EFFECTIVE);
    bench_fold(b, RECORD_VERDICT, (struct control_record){.knob = 0, .verdict = VERDICT_EFFECTIVE});
    b->c.state = STATE_WATCHING;
    b->c.active = NO_KNOB;
    event(b, CE_ROLLBACK, 1);
    reads_all(b, 2, 1);
    b->e.knob = 0;
}
static void row_49(struct control_bench *b)
{
    bench_action(b, STATE_INTENT);
    event(b, CE_HALT, 1);
}
static void row_49a(struct control_bench *b)
{
    bench_action(b, STATE_OBSERVING);
    event(b, CE_HALT_UNDO, 1);
}
static void row_50(struct control_bench *b)
{
    bench_start(b, STATE_HALTED);
    bench_fold(b, RECORD_HALT, (struct control_record){.knob = NO_KNOB});
    event(b, CE_RESUME, 1);
}
static void row_51(struct control_bench *b)
{
    bench_start(b, STATE_WATCHING);
    event(b, CE_FOLDED, 1);
}
static void row_52(struct control_bench *b) { bench_start(b, STATE_RECOVERING); }
static void row_53(struct control_bench *b)
{
    bench_action(b, STATE_RECOVERING);
    reads_all(b, 2, 1);
}
static void row_54(struct control_bench *b)
{
    undoing(b, STATE_UNDO_INTENT, true);
    b->c.state = STATE_RECOVERING;
    b->c.active = NO_KNOB;
}

/* Row, how to bring it about, the state after it, and the records in their order. */
static const struct row_case {
    uint16_t row;
    setup_fn *setup;
    enum state next;
    unsigned n;
    enum record_kind records[3];
} cases[] = {
    {1, row_1, STATE_WATCHING, 1, {RECORD_WARM}},
    {2, row_2, STATE_PERSON, 1, {RECORD_INCIDENT}},
    {3, row_3, STATE_SUSPECT, 0, {0}},
    {4, row_4, STATE_WATCHING, 0, {0}},
    {5, row_5, STATE_WATCHING, 1, {RECORD_EXTERNAL}},
    {6, row_6, STATE_WATCHING, 1, {RECORD_RELEASE}},
    {7, row_7, STATE_OPEN, 1, {RECORD_INCIDENT}},
    {8, row_8, STATE_WATCHING, 0, {0}},
    {9, row_9, STATE_WATCHING, 1, {RECORD_CLOSED}},
    {10, row_10, STATE_OPEN, 0, {0}},
    {11, row_11, STATE_OPEN, 1, {RECORD_WOULD}},
    {12, row_12, STATE_PERSON, 1, {RECORD_HANDOVER}},
    {13, row_13, STATE_INTENT, 1, {RECORD_INTENT}},
    {14, row_14, STATE_AWAITING, 1, {RECORD_REQUEST}},
    {15, row_15, STATE_INTENT, 2, {RECORD_APPROVAL, RECORD_INTENT}},
    {16, row_16, STATE_OPEN, 1, {RECORD_VOID}},
    {17, row_17, STATE_OPEN, 1, {RECORD_REJECT}},
    {18, row_18, STATE_OPEN, 1, {RECORD_EXPIRED}},
    {19, row_19, STATE_WATCHING, 2, {RECORD_VOID, RECORD_CLOSED}},
    {20, row_20, STATE_WRITING, 0, {0}},
    {21, row_21, STATE_OPEN, 1, {RECORD_ABORTED}},
    {22, row_22, STATE_OPEN, 0, {0}},
    {23, row_23, STATE_READBACK, 0, {0}},
    {24, row_24, STATE_SETTLING, 1, {RECORD_APPLIED}},
    {25, row_25, STATE_OPEN, 1, {RECORD_FAILED}},
    {26, row_26, STATE_UNDO_INTENT, 1, {RECORD_APPLIED}},
    {27, row_27, STATE_UNDO_INTENT, 1, {RECORD_APPLIED}},
    {28, row_28, STATE_PERSON, 1, {RECORD_YIELDED}},
    {29, row_29, STATE_HALTED, 2, {RECORD_HELD, RECORD_HALT}},
    {30, row_30, STATE_OBSERVING, 0, {0}},
    {31, row_31, STATE_UNDO_INTENT, 1, {RECORD_VERDICT}},
    {32, row_32, STATE_UNDO_INTENT, 1, {RECORD_CANCEL}},
    {33, row_33, STATE_PERSON, 2, {RECORD_EXTERNAL, RECORD_VERDICT}},
    {34, row_34, STATE_WATCHING, 2, {RECORD_VERDICT, RECORD_CLOSED}},
    {340, row_34a, STATE_UNDO_INTENT, 1, {RECORD_VERDICT}},
    {35, row_35, STATE_OPEN, 1, {RECORD_VERDICT}},
    {36, row_36, STATE_UNDO_INTENT, 1, {RECORD_VERDICT}},
    {37, row_37, STATE_OBSERVING, 1, {RECORD_EXTENDED}},
    {38, row_38, STATE_PERSON, 1, {RECORD_VERDICT}},
    {39, row_39, STATE_UNDO_INTENT, 1, {RECORD_UNDO}},
    {40, row_40, STATE_OPEN, 1, {RECORD_UNDONE}},
    {41, row_41, STATE_PERSON, 1, {RECORD_YIELDED}},
    {410, row_41a, STATE_HALTED, 1, {RECORD_HALT}},
    {42, row_42, STATE_UNDO_READBACK, 0, {0}},
    {43, row_43, STATE_OPEN, 1, {RECORD_UNDONE}},
    {44, row_44, STATE_UNDO_INTENT, 1, {RECORD_UNDO_RETRY}},
    {45, row_45, STATE_HALTED, 2, {RECORD_UNDO_FAILED, RECORD_HALT}},
    {46, row_46, STATE_WATCHING, 1, {RECORD_CLOSED}},
    {47, row_47, STATE_WATCHING, 1, {RECORD_ACCEPTED}},
    {48, row_48, STATE_UNDO_INTENT, 1, {RECORD_ROLLBACK}},
    {49, row_49, STATE_HALTED, 2, {RECORD_ABORTED, RECORD_HALT}},
    {490, row_49a, STATE_UNDO_INTENT, 2, {RECORD_HALT, RECORD_ROLLBACK}},
    {50, row_50, STATE_RECOVERING, 1, {RECORD_RESUME}},
    {51, row_51, STATE_RECOVERING, 0, {0}},
    {52, row_52, STATE_WATCHING, 0, {0}},
    {53, row_53, STATE_SETTLING, 1, {RECORD_APPLIED}},
    {54, row_54, STATE_UNDO_INTENT, 1, {RECORD_UNDO_RETRY}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static const struct row_case *case_of(uint16_t row)
{
    for (unsigned i = 0; i < CASES; i++) {
        if (cases[i].row == row) return &cases[i];
    }
    return NULL;
}

static void test_every_row_fires(void **state)
{
    (void)state;
    unsigned n;
    const struct control_row *rows = control_rows(&n);
    struct control_bench b;
    for (unsigned i = 0; i < n; i++) {
        const struct row_case *c = case_of(rows[i].row);
        if (!c) print_error("row %s has no case\n", rows[i].number);
        assert_non_null(c);
        c->setup(&b);
        uint16_t fired = bench_step(&b);
        bool right = fired == c->row && b.c.state == c->next && b.o.record_count == c->n;
        if (!right) {
            print_error("row %s: row %u fired, state %s, %u records\n", rows[i].number, fired,
                        state_name((enum state)b.c.state), b.o.record_count);
        }
        assert_true(right);
        for (unsigned r = 0; r < c->n; r++) assert_int_equal(b.o.records[r].kind, c->records[r]);
    }
    assert_int_equal(n, CASES);
}

/* Row 20 and row 39 are the only ones that send, and never in the step that makes the record. */
static void test_only_two_rows_send(void **state)
{
    (void)state;
    struct control_bench b;
    for (unsigned i = 0; i < CASES; i++) {
        cases[i].setup(&b);
        (void)bench_step(&b);
        assert_int_equal(b.o.send, cases[i].row == 20);
    }
    undoing(&b, STATE_UNDO_INTENT, true);
    assert_int_equal(bench_step(&b), 39);
    assert_true(b.o.send && b.o.is_undo);
    assert_int_equal(b.o.value, 1);
}

/* Row 38: twice inconclusive is taken back if the old value is known to be good, else a person decides. */
static void test_twice_inconclusive_goes_back_only_to_a_good_value(void **state)
{
    (void)state;
    struct control_bench b;
    row_38(&b);
    assert_int_equal(bench_step(&b), 38);
    assert_int_equal(b.c.state, STATE_PERSON);
    assert_true(b.o.records[0].held);
    row_38(&b);
    b.e.old_known_good = true;
    assert_int_equal(bench_step(&b), 38);
    assert_int_equal(b.c.state, STATE_UNDO_INTENT);
    assert_true(b.o.records[0].undo && !b.o.records[0].held);
}

/* Nothing is sent while a record is not durable. */
static void test_an_intent_waits_for_its_ack(void **state)
{
    (void)state;
    struct control_bench b;
    row_13(&b);
    assert_int_equal(bench_step(&b), 13);
    assert_int_equal(instant_since(b.c.deadline, AT(0)).us, 60 * US_PER_S);
    event(&b, CE_POLL, 1);
    assert_int_equal(bench_step(&b), 0);
    assert_false(b.o.send);
    bench_ack(&b);
    event(&b, CE_POLL, 2);
    assert_int_equal(bench_step(&b), 20);
    assert_true(b.o.send);
    assert_int_equal(b.o.value, 2);
    assert_int_equal(b.o.expect, 1);
}

static void test_each_command_has_an_answer_in_each_state(void **state)
{
    (void)state;
    struct control_bench b;
    for (unsigned s = 0; s < STATE_COUNT; s++) {
        for (unsigned e = CE_APPROVE; e <= CE_RETRY; e++) {
            bench_action(&b, (enum state)s);
            bool running = control_in_flight(&b.c);
            if (!running) b.c.active = NO_KNOB;
            event(&b, (enum control_event_kind)e, 1);
            (void)bench_step(&b);
            assert_int_not_equal(b.o.reply, REPLY_NONE);
            if (b.o.reply == REPLY_REFUSED) assert_non_null(b.o.refused);
            assert_false(b.o.unexpected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_fires),
        cmocka_unit_test(test_only_two_rows_send),
        cmocka_unit_test(test_twice_inconclusive_goes_back_only_to_a_good_value),
        cmocka_unit_test(test_an_intent_waits_for_its_ack),
        cmocka_unit_test(test_each_command_has_an_answer_in_each_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
