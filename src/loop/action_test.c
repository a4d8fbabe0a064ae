/* Whole stories of one action, as expected transcripts of records under a virtual clock. */
#include "support/test.h"

#include "loop/test_bench.h"

/* A plant in one line: the fault is cured by a larger batch, or not. */
static bool fault, curable, person_fixed;
static unsigned wobble;

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    bool cured = (curable && b->target.value[B_BATCH] >= 64) || person_fixed;
    bool bad = fault && !cured;
    b->signal[B_P99] = (bad ? 46.8 : 38) + n;
    b->signal[B_QUEUE] = (bad ? 320 : 90) + 4 * n;
    b->signal[B_GPU] = bad ? 0.78 : 0.65;
}

static struct bench *warm(enum mode mode)
{
    struct bench *b = bench_new(mode);
    fault = person_fixed = false;
    curable = true;
    wobble = 0;
    b->on_tick = plant;
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    assert_string_equal(bench_story(b), "WARM");
    return b;
}

static void run_to(struct bench *b, enum state state)
{
    for (int i = 0; i < 4000 && bench_state(b) != state; i++) bench_run(b, SPAN_S(1));
    if (bench_state(b) != state) fail_msg("never %s, is %s", state_name(state), state_name(bench_state(b)));
}

static void test_a_cure_is_kept_and_protected(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    bench_run(b, SPAN_MIN(30));
    assert_string_equal(bench_story(b), "INCIDENT INTENT APPLIED VERDICT CLOSED");
    const struct record *v = bench_last(b, RECORD_VERDICT);
    assert_string_equal(record_get_text(v, RF_VERDICT), "effective");
    assert_string_equal(record_get_text(v, RF_OUTCOME), "keep");
    assert_int_equal(bench_state(b), STATE_WATCHING);
    assert_near(b->target.value[B_BATCH], 64, 0);
    const struct control *c = loop_control(b->loop, 0);
    assert_true(instant_since(c->knobs[B_BATCH].protect_until, b->now).us > 23 * US_PER_HOUR);
    bench_free(b);
}

static void test_a_change_that_does_not_help_is_taken_back_and_the_next_is_tried(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    curable = false;
    fault = true;
    bench_run(b, SPAN_MIN(25));
    assert_string_equal(bench_story(b), "INCIDENT INTENT APPLIED VERDICT UNDO UNDONE");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_VERDICT), "ineffective");
    assert_near(b->target.value[B_BATCH], 32, 0);
    bench_run(b, SPAN_MIN(40));
    assert_string_equal(bench_story(b), "INTENT APPLIED VERDICT UNDO UNDONE HANDOVER");
    assert_string_equal(record_get_text(bench_last(b, RECORD_INTENT), RF_KNOB), "replicas");
    assert_near(b->target.value[B_REPLICAS], 2, 0);
    assert_int_equal(bench_state(b), STATE_PERSON);
    bench_free(b);
}

static void test_a_write_answered_200_that_did_nothing_fails(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    b->target.ignore = true;
    fault = true;
    run_to(b, STATE_READBACK);
    bench_run(b, SPAN_MIN(2));
    assert_string_equal(bench_story(b), "INCIDENT INTENT FAILED");
    bench_free(b);
}

static void test_a_write_answered_500_that_took_effect_is_applied(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    b->target.error_but_apply = true;
    fault = true;
    run_to(b, STATE_SETTLING);
    assert_string_equal(bench_story(b), "INCIDENT INTENT APPLIED");
    assert_int_equal(b->target.writes, 1);
    bench_free(b);
}

static void test_a_third_value_is_yielded_to(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    run_to(b, STATE_OBSERVING);
    (void)bench_story(b);
    b->target.value[B_BATCH] = 48;
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "YIELDED");
    assert_int_equal(bench_state(b), STATE_PERSON);
    assert_near(b->target.value[B_BATCH], 48, 0);
    bench_command(b, COMMAND_NORMAL_NOW, NULL);
    assert_string_equal(buf_text(&b->replies), "ok: done\n");
    assert_int_equal(bench_state(b), STATE_WATCHING);
    bench_free(b);
}

static void test_a_person_changing_the_knob_is_noticed_and_respected(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    b->target.value[B_BATCH] = 64;
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "EXTERNAL");
    curable = false;
    fault = true;
    bench_run(b, SPAN_MIN(30));
    assert_near(b->target.value[B_BATCH], 64, 0);       /* frozen 24 h: another knob is tried */
    assert_string_equal(record_get_text(bench_last(b, RECORD_INTENT), RF_KNOB), "replicas");
    bench_free(b);
}

static void test_cancel_takes_it_back_and_suspends_the_class(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    run_to(b, STATE_OBSERVING);
    (void)bench_story(b);
    bench_command(b, COMMAND_CANCEL, NULL);
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "CANCEL UNDO UNDONE");
    assert_near(b->target.value[B_BATCH], 32, 0);
    assert_int_equal(bench_state(b), STATE_PERSON);
    bench_free(b);
}

/* loop.md rows 32, 24: on record at once, once; taken back as soon as the value is read. Also when it dies in between. */
static void test_a_cancel_before_the_value_is_read_is_on_record_once(void **state)
{
    (void)state;
    for (int dies = 0; dies < 2; dies++) {
        struct bench *b = warm(MODE_AUTO);
        b->target.no_answer = true;
        fault = true;
        run_to(b, STATE_WRITING);
        (void)bench_story(b);
        bench_command(b, COMMAND_CANCEL, NULL);
        assert_string_equal(buf_text(&b->replies), "ok: done\n");
        bench_command(b, COMMAND_CANCEL, NULL);
        assert_non_null(strstr(buf_text(&b->replies), "cancelled already"));
        assert_string_equal(b->detail, "class-suspended");
        if (dies) bench_restart(b, SPAN_S(5));
        bench_run(b, SPAN_MIN(2));
        assert_string_equal(bench_story(b), "CANCEL APPLIED UNDO UNDONE");
        assert_near(b->target.value[B_BATCH], 32, 0);
        assert_int_equal(bench_state(b), STATE_PERSON);
        bench_free(b);
    }
}

static void test_halt_stops_even_the_undo_and_survives_a_restart(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    curable = false;
    fault = true;
    run_to(b, STATE_OBSERVING);
    (void)bench_story(b);
    bench_command(b, COMMAND_HALT, NULL);
    bench_run(b, SPAN_MIN(30));
    assert_string_equal(bench_story(b), "HALT");
    assert_near(b->target.value[B_BATCH], 64, 0);
    bench_restart(b, SPAN_MIN(1));
    bench_run(b, SPAN_MIN(5));
    assert_int_equal(bench_state(b), STATE_HALTED);
    bench_command(b, COMMAND_ROLLBACK, "text-embed/1");
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "ROLLBACK UNDO UNDONE");
    assert_near(b->target.value[B_BATCH], 32, 0);
    assert_int_equal(bench_state(b), STATE_HALTED);
    bench_command(b, COMMAND_RESUME, NULL);
    bench_run(b, SPAN_MIN(1));
    assert_int_equal(bench_state(b), STATE_PERSON);
    bench_free(b);
}

static void test_confirm_asks_and_an_approval_acts(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_CONFIRM);
    fault = true;
    run_to(b, STATE_AWAITING);
    assert_string_equal(bench_story(b), "INCIDENT REQUEST");
    assert_int_equal(b->target.writes, 0);
    bench_run(b, SPAN_S(45));
    bench_command(b, COMMAND_APPROVE, NULL);
    assert_string_equal(buf_text(&b->replies), "ok: done\n");
    run_to(b, STATE_SETTLING);
    assert_string_equal(bench_story(b), "APPROVAL INTENT APPLIED");
    assert_string_equal(record_get_text(bench_last(b, RECORD_APPROVAL), RF_BY), "li.wei");
    bench_free(b);
}

static void test_an_approval_after_the_value_moved_is_refused(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_CONFIRM);
    fault = true;
    run_to(b, STATE_AWAITING);
    (void)bench_story(b);
    b->target.value[B_BATCH] = 16;
    bench_command(b, COMMAND_APPROVE, NULL);
    assert_non_null(strstr(buf_text(&b->replies), "nothing was written"));
    assert_string_equal(bench_story(b), "VOID");
    assert_int_equal(b->target.writes, 0);
    bench_free(b);
}

static void test_a_request_expires(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_CONFIRM);
    fault = true;
    run_to(b, STATE_AWAITING);
    bench_run(b, SPAN_MIN(16));
    assert_string_equal(bench_story(b), "INCIDENT REQUEST EXPIRED REQUEST");
    assert_int_equal(b->target.writes, 0);
    bench_free(b);
}

static void test_a_store_that_fails_sends_nothing(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    run_to(b, STATE_OPEN);
    bench_run(b, SPAN_MIN(3));
    b->append_fails = true;
    bench_run(b, SPAN_MIN(15));
    assert_int_equal(b->target.writes, 0);
    b->append_fails = false;
    struct event e = {.kind = EVENT_HEALTH, .u.health = {.clear = FREEZE_STORE}};
    bench_event(b, &e);
    run_to(b, STATE_SETTLING);
    assert_int_equal(b->target.writes, 1);
    bench_free(b);
}

/* The shell reads the log again when it can, not at once. Until then a service in the middle of an action must not take itself
 * for one without a past: it would open the incident anew and give the next action a number that is taken. */
static void test_until_the_log_is_read_again_nothing_is_done(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    curable = false;                   /* it stays ill, so that there is something to act upon */
    run_to(b, STATE_SETTLING);
    struct event e = {.kind = EVENT_HEALTH, .u.health = {.set = FREEZE_STORE, .why = "test"}};
    bench_event(b, &e);
    bench_run(b, SPAN_MIN(1));
    unsigned before = b->log_n;
    b->fold_waits = true;
    e.u.health.set = 0;
    e.u.health.clear = FREEZE_STORE;
    bench_event(b, &e);
    bench_run(b, SPAN_MIN(40));
    assert_int_equal(before, b->log_n);
    assert_int_equal(1, b->target.writes);
    b->fold_waits = false;
    bench_fold(b);
    bench_run(b, SPAN_MIN(10));
    unsigned intents = 0;
    for (unsigned i = 0; i < b->log_n; i++) intents += b->log[i]->kind == RECORD_INTENT && i >= before;
    assert_int_equal(0, intents);                      /* the action that ran is resolved first, then its gap holds */
    assert_true(b->log_n > before);
    bench_free(b);
}

/* Dies after each number of events and comes back: one write, one story, the value is what the story says. */
static void test_a_crash_at_any_event_neither_loses_nor_doubles(void **state)
{
    (void)state;
    struct bench *whole = warm(MODE_AUTO);
    uint64_t before = whole->events;
    fault = true;
    bench_run(whole, SPAN_MIN(30));
    uint64_t events = whole->events - before;
    bench_free(whole);
    for (uint64_t at = 1; at < events; at += 1 + events / 60) {
        struct bench *b = warm(MODE_AUTO);
        uint64_t stop = b->events + at;
        fault = true;
        while (b->events < stop) bench_run(b, SPAN_S(1));
        bench_restart(b, SPAN_S(20));
        bench_run(b, SPAN_HOUR(2));
        unsigned intents = 0, applied = 0;
        for (unsigned i = 0; i < b->log_n; i++) {
            intents += b->log[i]->kind == RECORD_INTENT;
            applied += b->log[i]->kind == RECORD_APPLIED;
        }
        if (b->target.writes > 2 || b->target.writes < (int)applied)
            fail_msg("crash after %d events: %d writes", (int)at, b->target.writes);
        assert_true(intents >= applied);
        bench_free(b);
    }
}

static void test_a_release_while_watching_holds_the_change_for_a_person(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    run_to(b, STATE_OBSERVING);
    (void)bench_story(b);
    struct event e = {.kind = EVENT_RELEASE, .u.release = {.version = "v2", .by = "ci"}};
    bench_event(b, &e);
    assert_string_equal(bench_story(b), "RELEASE VERDICT");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_OUTCOME), "held");
    assert_int_equal(bench_state(b), STATE_PERSON);
    assert_near(b->target.value[B_BATCH], 64, 0);
    bench_free(b);
}

static void test_an_unreadable_target_halts_the_service(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    run_to(b, STATE_SETTLING);
    curable = false;
    run_to(b, STATE_OBSERVING);
    (void)bench_story(b);
    b->target.unreadable = true;
    bench_run(b, SPAN_MIN(40));
    assert_near(b->target.value[B_BATCH], 64, 0);
    assert_int_equal(bench_state(b), STATE_OBSERVING);    /* NONE: the window grows, nothing is guessed */
    bench_free(b);
}

/* The baselines are as warm as they were; only the spike view has to warm again. */
static void test_what_goes_bad_during_a_restart_is_not_learned_as_normal(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    struct buf saved = BUF_INIT;
    loop_service_state(b->loop, 0, &saved);
    loop_free(b->loop);
    b->now = instant_add(b->now, SPAN_MIN(25));
    b->loop = loop_new(&b->policy, b->now, bench_wall(b), (struct loop_options){.alone = true});
    struct event e = {.kind = EVENT_STATE, .u.state = {saved.data, saved.len, SPAN_MIN(25)}};
    bench_event(b, &e);
    buf_free(&saved);
    fault = true;
    bench_fold(b);
    bench_run(b, SPAN_MIN(3));
    assert_string_equal(bench_story(b), "WARM INCIDENT");
    bench_run(b, SPAN_MIN(30));
    assert_string_equal(bench_story(b), "INTENT APPLIED VERDICT CLOSED");
    bench_free(b);
}

/* Invariant 13: from START to START the wall clock may have been set, and no window gets shorter by it. */
static void test_a_wall_clock_that_was_set_forward_shortens_no_window(void **state)
{
    (void)state;
    struct bench *b = warm(MODE_AUTO);
    fault = true;
    bench_run(b, SPAN_MIN(30));
    const struct control_knob *k = &loop_control(b->loop, 0)->knobs[B_BATCH];
    struct instant interval = k->interval_until, protect = k->protect_until, gap = loop_control(b->loop, 0)->gap_until;
    b->ages = true;
    b->start.us += 30 * US_PER_HOUR;
    bench_restart(b, SPAN_MIN(1));
    k = &loop_control(b->loop, 0)->knobs[B_BATCH];
    assert_int_equal(k->interval_until.us, interval.us);
    assert_int_equal(k->protect_until.us, protect.us);
    assert_int_equal(loop_control(b->loop, 0)->gap_until.us, gap.us);
    b->start.us -= 60 * US_PER_HOUR;         /* and back: the same */
    bench_restart(b, SPAN_MIN(1));
    assert_int_equal(loop_control(b->loop, 0)->knobs[B_BATCH].protect_until.us, protect.us);
    b->ages = false;                         /* an old log, which knows wall time only, cannot tell */
    bench_restart(b, SPAN_MIN(1));
    assert_true(loop_control(b->loop, 0)->knobs[B_BATCH].protect_until.us > protect.us);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cure_is_kept_and_protected),
        cmocka_unit_test(test_a_change_that_does_not_help_is_taken_back_and_the_next_is_tried),
        cmocka_unit_test(test_a_write_answered_200_that_did_nothing_fails),
        cmocka_unit_test(test_a_write_answered_500_that_took_effect_is_applied),
        cmocka_unit_test(test_a_third_value_is_yielded_to),
        cmocka_unit_test(test_a_person_changing_the_knob_is_noticed_and_respected),
        cmocka_unit_test(test_cancel_takes_it_back_and_suspends_the_class),
        cmocka_unit_test(test_a_cancel_before_the_value_is_read_is_on_record_once),
        cmocka_unit_test(test_halt_stops_even_the_undo_and_survives_a_restart),
        cmocka_unit_test(test_confirm_asks_and_an_approval_acts),
        cmocka_unit_test(test_an_approval_after_the_value_moved_is_refused),
        cmocka_unit_test(test_a_request_expires),
        cmocka_unit_test(test_a_store_that_fails_sends_nothing),
        cmocka_unit_test(test_until_the_log_is_read_again_nothing_is_done),
        cmocka_unit_test(test_a_crash_at_any_event_neither_loses_nor_doubles),
        cmocka_unit_test(test_a_release_while_watching_holds_the_change_for_a_person),
        cmocka_unit_test(test_an_unreadable_target_halts_the_service),
        cmocka_unit_test(test_what_goes_bad_during_a_restart_is_not_learned_as_normal),
        cmocka_unit_test(test_a_wall_clock_that_was_set_forward_shortens_no_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
