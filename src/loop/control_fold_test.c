/* The fold of the log alone: counters, clocks and what a restart must know. */
#include "support/test.h"

#include "loop/control_test.h"

static struct control_record of(enum record_kind kind, int at_s)
{
    return (struct control_record){.kind = kind, .at = AT(at_s), .knob = 0, .old = 1, .new_ = 2, .cause = 7, .direction = DIR_UP,
                                   .action = 1, .settle = SPAN_MIN(2), .window = SPAN_MIN(10), .expiry = INSTANT_NEVER,
                                   .incident = 1, .onset = AT(0), .read = 2};
}

static void fold(struct control_bench *b, struct control_record r) { control_fold(&b->p, &b->c, &r); }

static void incident_and_intent(struct control_bench *b, bool automatic)
{
    bench_start(b, STATE_RECOVERING);
    struct control_record r = of(RECORD_INCIDENT, 0);
    r.knob = NO_KNOB;
    fold(b, r);
    r = of(RECORD_INTENT, 10);
    r.automatic = automatic;
    fold(b, r);
}

static void test_n_auto_counts_automatic_intents_not_aborted(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    assert_int_equal(b.c.n_auto, 1);
    fold(&b, of(RECORD_FAILED, 70));
    assert_int_equal(b.c.n_auto, 1);
    struct control_record r = of(RECORD_INTENT, 900);
    r.automatic = true;
    r.action = 2;
    fold(&b, r);
    assert_int_equal(b.c.n_auto, 2);
    fold(&b, of(RECORD_ABORTED, 901));
    assert_int_equal(b.c.n_auto, 1);
    fold(&b, of(RECORD_ABORTED, 902));   /* one action, one count */
    assert_int_equal(b.c.n_auto, 1);
    incident_and_intent(&b, false);
    assert_int_equal(b.c.n_auto, 0);
}

static void test_a_person_sets_n_auto_to_nought(void **state)
{
    (void)state;
    static const enum record_kind kinds[] = {RECORD_APPROVAL, RECORD_REJECT, RECORD_RETRY, RECORD_ACCEPTED, RECORD_RESUME};
    for (unsigned i = 0; i < 5; i++) {
        struct control_bench b;
        incident_and_intent(&b, true);
        struct control_record r = of(kinds[i], 20);
        r.knob = NO_KNOB;
        fold(&b, r);
        assert_int_equal(b.c.n_auto, 0);
    }
}

static void test_interval_runs_from_applied_gap_from_the_last_write(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    fold(&b, of(RECORD_APPLIED, 30));
    assert_int_equal(b.c.knobs[0].interval_until.us, AT(30 + 4 * 3600).us);
    assert_int_equal(b.c.gap_until.us, AT(30 + 120 + 600).us);
    struct control_record v = of(RECORD_VERDICT, 800);
    v.verdict = VERDICT_INEFFECTIVE;
    v.undo = v.fail = true;
    fold(&b, v);
    fold(&b, of(RECORD_UNDO, 801));
    fold(&b, of(RECORD_UNDONE, 803));
    assert_int_equal(b.c.gap_until.us, AT(803 + 120 + 600).us);
    assert_int_equal(b.c.knobs[0].believed, 1);
    assert_true(excluded_has(&b.c.excluded, 7, 0, DIR_UP));
}

/* FAILED starts the gap and not the interval. */
static void test_failed_starts_no_interval(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    fold(&b, of(RECORD_FAILED, 70));
    assert_int_equal(b.c.knobs[0].interval_until.us, INSTANT_NONE.us);
    assert_int_equal(b.c.gap_until.us, AT(70 + 720).us);
    assert_true(b.c.knobs[0].slot.late_open);
}

static void fail_once(struct control_bench *b, int at_s, enum verdict verdict)
{
    struct control_record r = of(RECORD_INTENT, at_s);
    fold(b, r);
    fold(b, of(RECORD_APPLIED, at_s + 1));
    r = of(RECORD_VERDICT, at_s + 2);
    r.verdict = verdict;
    r.undo = true;
    r.fail = verdict != VERDICT_INCONCLUSIVE;
    fold(b, r);
    fold(b, of(RECORD_UNDO, at_s + 3));
    fold(b, of(RECORD_UNDONE, at_s + 4));
}

static void test_two_bad_attempts_in_a_row_cool_for_a_day(void **state)
{
    (void)state;
    struct control_bench b;
    bench_start(&b, STATE_RECOVERING);
    fail_once(&b, 100, VERDICT_INEFFECTIVE);
    assert_int_equal(b.c.knobs[0].fails, 1);
    fail_once(&b, 200, VERDICT_INCONCLUSIVE);          /* neither counts nor resets */
    assert_int_equal(b.c.knobs[0].fails, 1);
    assert_int_equal(b.c.knobs[0].cool_until.us, INSTANT_NONE.us);
    fail_once(&b, 300, VERDICT_HARMFUL);
    assert_int_equal(b.c.knobs[0].fails, 2);
    assert_int_equal(b.c.knobs[0].cool_until.us, AT(304 + 86400).us);
}

static void test_a_kept_change_protects_and_forgives(void **state)
{
    (void)state;
    struct control_bench b;
    bench_start(&b, STATE_RECOVERING);
    fail_once(&b, 100, VERDICT_INEFFECTIVE);
    fold(&b, of(RECORD_INTENT, 200));
    fold(&b, of(RECORD_APPLIED, 201));
    struct control_record r = of(RECORD_VERDICT, 900);
    r.verdict = VERDICT_EFFECTIVE;
    fold(&b, r);
    assert_int_equal(b.c.knobs[0].fails, 0);
    assert_int_equal(b.c.knobs[0].protect_until.us, AT(900 + 86400).us);
    assert_int_equal(b.c.knobs[0].slot.story, STORY_KEPT);
}

static void test_the_late_watch_is_in_the_log(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    assert_true(b.c.knobs[0].slot.late_open);          /* an INTENT found after a crash counts as sent */
    struct control_record r = of(RECORD_FAILED, 70);
    r.watch_over = true;                               /* a definite refusal */
    fold(&b, r);
    assert_false(b.c.knobs[0].slot.late_open);
    incident_and_intent(&b, true);
    fold(&b, of(RECORD_APPLIED, 30));
    assert_false(b.c.knobs[0].slot.late_open);         /* everywhere NEW */
    fold(&b, of(RECORD_CANCEL, 40));
    fold(&b, of(RECORD_UNDO, 41));
    assert_true(b.c.knobs[0].slot.late_open);
    struct control_bench twice = b;
    fold(&b, of(RECORD_UNDONE, 43));
    assert_false(b.c.knobs[0].slot.late_open);         /* one undo, and the forward write had read NEW */
    fold(&twice, of(RECORD_UNDO_RETRY, 101));
    fold(&twice, of(RECORD_UNDONE, 103));
    assert_true(twice.c.knobs[0].slot.late_open);      /* the first undo may still be on its way */
}

static void test_an_intent_says_that_earlier_late_watches_were_over(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    fold(&b, of(RECORD_FAILED, 70));
    assert_true(b.c.knobs[0].slot.late_open);
    struct control_record r = of(RECORD_INTENT, 900);
    r.knob = 1;
    r.action = 2;
    fold(&b, r);
    assert_false(b.c.knobs[0].slot.late_open);
    assert_true(b.c.knobs[1].slot.late_open);
}

/* A restart finds another knob's undo open and sees to that first: the watch of knob 0 is in doubt all the same. */
static void test_a_watch_reopened_beside_an_open_undo_is_in_doubt(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct control_bench b;
        incident_and_intent(&b, true);
        fold(&b, of(RECORD_FAILED, 70));
        b.c.knobs[1].slot = (struct control_slot){.action = 2, .old = 1, .new_ = 2, .story = STORY_UNDO, .undo_sends = 1};
        event(&b, CE_TICK, late ? 5000 : 100);
        reads_all(&b, 2, 2);                           /* the late write of knob 0, or a person's */
        (void)bench_step(&b);
        assert_true(b.c.knobs[0].slot.late_open);
        assert_int_equal(b.c.knobs[0].slot.late_doubt, late);
    }
}

/* A cancel before the write is seen is carried out when it is, also when the cancel has been said twice. */
static void test_cancel_of_an_intent_stays_with_it(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    fold(&b, of(RECORD_CANCEL, 12));
    assert_int_equal(b.c.knobs[0].slot.story, STORY_INTENT);
    assert_true(instant_before(AT(86400), b.c.suspended[CLASS_BATCH]));
    struct control_bench failed = b;
    fold(&b, of(RECORD_APPLIED, 30));
    assert_int_equal(b.c.knobs[0].slot.story, STORY_CANCEL);      /* a restart right here takes it back, too */
    fold(&b, of(RECORD_CANCEL, 30));                              /* logs of older versions have it once more */
    assert_int_equal(b.c.knobs[0].slot.story, STORY_CANCEL);
    fold(&failed, of(RECORD_FAILED, 70));
    assert_true(failed.c.handed);
}

static void test_what_a_person_must_look_at_is_kept(void **state)
{
    (void)state;
    static const enum record_kind kinds[] = {RECORD_HELD, RECORD_YIELDED, RECORD_UNDO_FAILED};
    for (unsigned i = 0; i < 3; i++) {
        struct control_bench b;
        incident_and_intent(&b, true);
        fold(&b, of(kinds[i], 80));
        assert_true(b.c.knobs[0].slot.unacknowledged);
        assert_true(b.c.handed);
        struct control_record r = of(RECORD_RETRY, 90);
        r.knob = NO_KNOB;
        fold(&b, r);
        assert_false(b.c.knobs[0].slot.unacknowledged);
        assert_false(b.c.handed);
        assert_true(b.c.incident_open);
    }
}

/* A halt and a release that could not be recorded survive the fold that follows, and are recorded then. */
static void test_what_happened_while_the_store_failed_is_owed(void **state)
{
    (void)state;
    struct control_bench b;
    bench_start(&b, STATE_WATCHING);
    event(&b, CE_FREEZE, 1);
    b.e.bits = FREEZE_STORE;
    (void)bench_step(&b);
    event(&b, CE_HALT_UNDO, 2);
    assert_int_equal(bench_step(&b), 49);
    assert_true(b.c.halted);
    event(&b, CE_RELEASE, 3);
    (void)bench_step(&b);
    control_restart(&b.c, &b.p, AT(4));
    assert_false(b.c.halted);                          /* the log does not say so yet */
    event(&b, CE_FOLDED, 5);
    assert_int_equal(bench_step(&b), 51);
    assert_int_equal(b.o.record_count, 2);
    assert_int_equal(b.o.records[0].kind, RECORD_RELEASE);
    assert_int_equal(b.o.records[1].kind, RECORD_HALT);
    assert_true(b.c.halted);
    assert_true(instant_before(AT(5), b.c.release_until));
}

/* A log folded twice gives the same bytes: nothing but records goes in. */
static void test_the_fold_is_a_function_of_the_log(void **state)
{
    (void)state;
    struct control_bench a, b;
    for (int i = 0; i < 2; i++) {
        struct control_bench *x = i ? &b : &a;
        bench_start(x, STATE_RECOVERING);
        fail_once(x, 100, VERDICT_INEFFECTIVE);
        fail_once(x, 200, VERDICT_HARMFUL);
    }
    assert_memory_equal(&a.c, &b.c, sizeof a.c);
}

static void harm(struct control_bench *b, int at_s)
{
    struct control_record r = of(RECORD_VERDICT, at_s);
    r.verdict = VERDICT_HARMFUL;
    r.undo = r.fail = true;
    fold(b, r);
}

/* loop.md section 2: two harmful verdicts in 24 h trip it; an approval does not acknowledge that, nor does time. */
static void test_the_breaker_stays_until_it_is_acknowledged(void **state)
{
    (void)state;
    static const struct { enum record_kind kind; bool still; } answers[] = {
        {RECORD_APPROVAL, true}, {RECORD_REJECT, true}, {RECORD_RETRY, false}, {RECORD_ACCEPTED, false}, {RECORD_RESUME, false}};
    for (unsigned i = 0; i < 5; i++) {
        struct control_bench b;
        incident_and_intent(&b, true);
        harm(&b, 1000);
        assert_false(control_breaker(&b.c));
        harm(&b, 80000);
        assert_true(control_breaker(&b.c));
        harm(&b, 300000);                    /* far from the others: still tripped */
        struct control_record r = of(answers[i].kind, 900000);
        r.knob = NO_KNOB;
        fold(&b, r);
        assert_int_equal(control_breaker(&b.c), answers[i].still);
    }
}

static void test_harm_a_day_apart_does_not_trip_it(void **state)
{
    (void)state;
    struct control_bench b;
    incident_and_intent(&b, true);
    harm(&b, 1000);
    harm(&b, 1000 + 86400);
    assert_false(control_breaker(&b.c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_breaker_stays_until_it_is_acknowledged),
        cmocka_unit_test(test_harm_a_day_apart_does_not_trip_it),
        cmocka_unit_test(test_n_auto_counts_automatic_intents_not_aborted),
        cmocka_unit_test(test_a_person_sets_n_auto_to_nought),
        cmocka_unit_test(test_interval_runs_from_applied_gap_from_the_last_write),
        cmocka_unit_test(test_failed_starts_no_interval),
        cmocka_unit_test(test_two_bad_attempts_in_a_row_cool_for_a_day),
        cmocka_unit_test(test_a_kept_change_protects_and_forgives),
        cmocka_unit_test(test_the_late_watch_is_in_the_log),
        cmocka_unit_test(test_a_watch_reopened_beside_an_open_undo_is_in_doubt),
        cmocka_unit_test(test_an_intent_says_that_earlier_late_watches_were_over),
        cmocka_unit_test(test_cancel_of_an_intent_stays_with_it),
        cmocka_unit_test(test_what_a_person_must_look_at_is_kept),
        cmocka_unit_test(test_what_happened_while_the_store_failed_is_owed),
        cmocka_unit_test(test_the_fold_is_a_function_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
