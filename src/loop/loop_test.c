/* What a person sees and asks for while an action runs, and what a restart must still know. Virtual time, a pretended target. */
#include "support/test.h"

#include "loop/test_bench.h"

static bool fault, cured;
static unsigned wobble;

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    bool bad = fault && !(cured && b->target.value[B_BATCH] >= 64);
    b->signal[B_P99] = (bad ? 46.8 : 38) + n;
    b->signal[B_QUEUE] = (bad ? 320 : 90) + 4 * n;
    b->signal[B_GPU] = bad ? 0.78 : 0.65;
}

static void run_to(struct bench *b, enum state state, unsigned minutes)
{
    for (unsigned i = 0; i < 2 * minutes && bench_state(b) != state; i++) bench_run(b, SPAN_S(30));
    if (bench_state(b) != state) fail_msg("never %s, is %s", state_name(state), state_name(bench_state(b)));
}

/* Warm for a day, then ill; batch_max heals it or not. */
static struct bench *ill_in(enum mode mode, bool heals)
{
    struct bench *b = bench_new(mode);
    fault = false;
    cured = heals;
    wobble = 0;
    b->on_tick = plant;
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    return b;
}

static struct bench *ill(bool heals) { return ill_in(MODE_AUTO, heals); }

static void test_the_view_shows_the_running_action(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    struct arena a = ARENA_INIT;
    struct service_view v;
    run_to(b, STATE_SETTLING, 15);
    loop_view(b->loop, 0, &a, &v);
    assert_true(v.action.present);
    assert_int_equal(v.action.phase, STATE_SETTLING);
    run_to(b, STATE_OBSERVING, 5);
    loop_view(b->loop, 0, &a, &v);
    assert_int_equal(v.action.phase, STATE_OBSERVING);
    assert_string_equal(v.action.from, "32");
    assert_string_equal(v.action.to, "64");
    arena_free(&a);
    bench_free(b);
}

/* loop.md row 48: a named person may take the running action back while it settles; without a name it is the running one. */
static void test_the_running_action_can_be_rolled_back(void **state)
{
    (void)state;
    static const char *const names[] = {"text-embed/1", "", NULL};
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b = ill(true);
        run_to(b, STATE_SETTLING, 15);
        bench_command(b, COMMAND_ROLLBACK, names[i]);
        bench_run(b, SPAN_MIN(1));
        assert_non_null(strstr(buf_text(&b->replies), "ok"));
        assert_non_null(bench_last(b, RECORD_ROLLBACK));
        assert_non_null(bench_last(b, RECORD_UNDONE));
        assert_near(b->target.value[B_BATCH], 32, 0);
        bench_free(b);
    }
}

/* Ids of values are in the order in which they were first seen: the old value of a kept change has a smaller one. */
static void test_the_old_value_by_hand_is_noticed(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    run_to(b, STATE_OBSERVING, 15);
    run_to(b, STATE_WATCHING, 15);
    assert_near(b->target.value[B_BATCH], 64, 0);
    b->target.value[B_BATCH] = 32;
    b->target.version[B_BATCH]++;
    fault = false;
    bench_run(b, SPAN_MIN(2));
    const struct record *r = bench_last(b, RECORD_EXTERNAL);
    assert_non_null(r);
    assert_string_equal(record_get_text(r, RF_READ), "32");
    bench_free(b);
}

static struct bench *with_a_person(void)
{
    struct bench *b = ill(false);
    run_to(b, STATE_PERSON, 120);
    assert_true(loop_control(b->loop, 0)->excluded.n > 0);
    return b;
}

/* What was ruled out is tried again only when a person says so, and a restart knows which of the two was said. */
static void test_retry_clear_survives_a_restart(void **state)
{
    (void)state;
    for (int clear = 0; clear < 2; clear++) {
        struct bench *b = with_a_person();
        struct event e = {.kind = EVENT_COMMAND,
                          .u.command = {.verb = COMMAND_RETRY, .id = 1, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN,
                                        .clear = clear == 1}};
        bench_event(b, &e);
        assert_non_null(bench_last(b, RECORD_RETRY));
        assert_int_equal(loop_control(b->loop, 0)->excluded.n == 0, clear);
        bench_restart(b, SPAN_S(2));
        assert_int_equal(loop_control(b->loop, 0)->excluded.n == 0, clear);
        bench_free(b);
    }
}

static void test_normal_now_closes_the_incident_for_good(void **state)
{
    (void)state;
    struct bench *b = with_a_person();
    bench_command(b, COMMAND_NORMAL_NOW, NULL);
    assert_int_equal(bench_state(b), STATE_WATCHING);
    assert_false(loop_control(b->loop, 0)->incident_open);
    bench_restart(b, SPAN_S(2));
    assert_false(loop_control(b->loop, 0)->incident_open);
    bench_free(b);
}

/* A service that is not there is nobody: nothing happens, nothing is read beyond the list. */
static void test_an_event_for_no_service(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    uint64_t before = loop_digest(b->loop);
    struct update u;
    struct event e = {.kind = EVENT_FOLDED, .service = 1, .now = b->now, .wall = bench_wall(b)};
    loop_step(b->loop, &e, &u);
    assert_int_equal(u.n, 0);
    assert_true(loop_digest(b->loop) == before);
    bench_free(b);
}

static void test_a_refusal_names_its_reason(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    struct event lost = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {.set = FREEZE_LEASE}};
    bench_event(b, &lost);
    bench_command(b, COMMAND_RETRY, NULL);
    assert_string_equal(b->detail, "not-leader");
    bench_free(b);
}

static void approve(struct bench *b, const char *request)
{
    struct event e = {.kind = EVENT_COMMAND,
                      .u.command = {.verb = COMMAND_APPROVE, .id = 1, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN,
                                    .request = request}};
    buf_clear(&b->replies);
    bench_event(b, &e);
}

/* A person approves one plan: by at least 8 digits of its hash, or by the name of the service; nothing else will do. */
static void test_an_approval_is_for_one_request(void **state)
{
    (void)state;
    struct bench *b = ill_in(MODE_CONFIRM, true);
    run_to(b, STATE_AWAITING, 15);
    struct arena a = ARENA_INIT;
    struct service_view v;
    loop_view(b->loop, 0, &a, &v);
    char prefix[16] = "", wrong[16] = "";
    memcpy(prefix, v.request.plan_hash, 8);
    memcpy(wrong, prefix, 8);
    wrong[7] = wrong[7] == '0' ? '1' : '0';
    approve(b, wrong);
    assert_null(bench_last(b, RECORD_APPROVAL));
    prefix[7] = '\0';
    approve(b, prefix);
    assert_null(bench_last(b, RECORD_APPROVAL));
    assert_int_equal(bench_state(b), STATE_AWAITING);
    prefix[7] = v.request.plan_hash[7];
    approve(b, prefix);
    assert_non_null(bench_last(b, RECORD_APPROVAL));
    assert_near(b->target.value[B_BATCH], 64, 0);
    arena_free(&a);
    bench_free(b);
}

/* What is handed to a person says of each gate that was shut which knob it was about. */
static void test_a_handover_names_knobs_at_gates(void **state)
{
    (void)state;
    struct bench *b = with_a_person();
    const char *gates = record_get_text(bench_last(b, RECORD_HANDOVER), RF_GATES);
    if (!strstr(gates, "(batch_max up)")) print_error("%s\n", gates);
    assert_non_null(strstr(gates, "(batch_max up)"));
    bench_free(b);
}

/* loop.md row 53: after a crash an OLD value is a failure only when the late watch has closed, and the record says so. */
static void test_a_write_that_was_lost_in_a_crash(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    b->target.ignore = true;
    run_to(b, STATE_READBACK, 15);
    bench_restart(b, SPAN_MIN(20));
    bench_run(b, SPAN_MIN(1));
    const struct record *r = bench_last(b, RECORD_FAILED);
    assert_non_null(r);
    assert_string_equal(record_get_text(r, RF_OUTCOME), "watch-over");
    assert_false(loop_control(b->loop, 0)->knobs[B_BATCH].slot.late_open);
    bench_restart(b, SPAN_S(2));
    assert_false(loop_control(b->loop, 0)->knobs[B_BATCH].slot.late_open);
    bench_free(b);
}

static void without_compare_and_set(struct bench *b)
{
    for (unsigned k = 0; k < B_KNOBS; k++) {
        b->knobs[k].cas = false;
        b->knobs[k].single_writer = true;
    }
}

/* Invariant 12: without compare-and-set a write stands on a value that was looked at within a second. */
static void test_a_slow_read_is_nothing_to_write_on(void **state)
{
    (void)state;
    bench_setup = without_compare_and_set;
    struct bench *b = ill(true);
    bench_setup = NULL;
    b->hold_reads_at_intent = true;
    run_to(b, STATE_INTENT, 15);
    b->now = instant_add(b->now, SPAN_S(2));
    b->hold_reads_at_intent = b->reads_held = false;
    bench_read(b, B_BATCH);
    assert_int_equal(bench_state(b), STATE_INTENT);
    assert_int_equal(b->target.writes, 0);
    bench_run(b, SPAN_S(5));
    assert_int_equal(b->target.writes, 1);
    bench_free(b);
}

/* The answer to another write says nothing about this one: a refusal of it must not close the late watch. */
static void test_the_answer_to_another_action_is_no_answer(void **state)
{
    (void)state;
    struct bench *b = ill(true);
    b->target.no_answer = b->target.ignore = true;
    run_to(b, STATE_WRITING, 15);
    struct event e = {.kind = EVENT_ANSWER, .u.answer = {.knob = B_BATCH, .action = 99, .kind = ANSWER_REFUSED}};
    bench_event(b, &e);
    assert_int_equal(bench_state(b), STATE_WRITING);
    assert_true(loop_control(b->loop, 0)->knobs[B_BATCH].slot.late_open);
    e.u.answer.action = 1;
    bench_event(b, &e);
    assert_int_equal(bench_state(b), STATE_READBACK);
    bench_free(b);
}

static struct target_def page;

static void with_a_page(struct bench *b)
{
    b->service.targets = &page;
    b->service.target_count = 1;
    for (unsigned i = 0; i < B_SIGNALS; i++) b->signals[i].interval = SPAN_S(10);
}

/* Pages are asked for as often as the fastest signal wants, not once a tick. */
static void test_a_page_is_polled_by_its_fastest_signal(void **state)
{
    (void)state;
    bench_setup = with_a_page;
    struct bench *b = bench_new(MODE_AUTO);
    bench_setup = NULL;
    bench_start(b);
    unsigned polls = 0;
    struct instant end = instant_add(b->now, SPAN_MIN(2));
    while (instant_before(b->wake, end)) {
        struct event e = {.kind = EVENT_TIME};
        struct update u;
        b->now = e.now = instant_max(b->now, b->wake);
        e.wall = bench_wall(b);
        loop_step(b->loop, &e, &u);
        for (uint32_t i = 0; i < u.n; i++) polls += u.effects[i].kind == EFFECT_POLL;
        bench_effects(b, &u);
    }
    assert_int_equal(polls, 12);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_view_shows_the_running_action),
        cmocka_unit_test(test_the_running_action_can_be_rolled_back),
        cmocka_unit_test(test_the_old_value_by_hand_is_noticed),
        cmocka_unit_test(test_retry_clear_survives_a_restart),
        cmocka_unit_test(test_normal_now_closes_the_incident_for_good),
        cmocka_unit_test(test_an_event_for_no_service),
        cmocka_unit_test(test_a_write_that_was_lost_in_a_crash),
        cmocka_unit_test(test_a_page_is_polled_by_its_fastest_signal),
        cmocka_unit_test(test_a_slow_read_is_nothing_to_write_on),
        cmocka_unit_test(test_the_answer_to_another_action_is_no_answer),
        cmocka_unit_test(test_a_refusal_names_its_reason),
        cmocka_unit_test(test_an_approval_is_for_one_request),
        cmocka_unit_test(test_a_handover_names_knobs_at_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
