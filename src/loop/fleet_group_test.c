/* One action a group, and the fleet's budget of an hour: loop.md section 1, "Classes and groups". Virtual time. */
#include "support/test.h"

#include "loop/test_fleet.h"

/* loop.md section 1, groups: a member's new request-layer incident from INTENT to verdict counts as harm; not as a fail. */
static void test_a_neighbour_that_falls_ill_after_the_write_takes_it_back(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, "node-7");
    f->bad[0] = true;
    run_to(f, 0, STATE_OBSERVING, 20);
    f->bad[1] = true;
    run(f, SPAN_MIN(3));
    const struct record *v = last(f, RECORD_VERDICT);
    assert_non_null(v);
    assert_string_equal(record_get_text(v, RF_VERDICT), "harmful");
    assert_int_equal(record_get_u64(v, RF_FAIL, 9), 0);
    assert_non_null(strstr(record_get_text(v, RF_NOTE), "two, of the same group, got worse"));
    assert_near(f->batch[0], 32, 0);
    fleet_free(f);
}

static void test_a_stranger_that_falls_ill_does_not(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, NULL);
    f->bad[0] = true;
    run_to(f, 0, STATE_OBSERVING, 20);
    f->bad[1] = true;
    run(f, SPAN_MIN(3));
    assert_null(last(f, RECORD_VERDICT));
    assert_near(f->batch[0], 64, 0);
    fleet_free(f);
}

/* An action that a halt has interrupted is not over: no other one in its group, however long the halt lasts. */
static void test_a_halted_action_still_counts_in_its_group(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, "node-7");
    struct event halt = {.kind = EVENT_COMMAND, .service = 0,
                         .u.command = {.verb = COMMAND_HALT, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    f->bad[0] = true;
    run_to(f, 0, STATE_OBSERVING, 20);
    send(f, &halt);
    run(f, SPAN_MIN(20));
    f->bad[1] = true;
    run(f, SPAN_MIN(30));
    assert_int_equal(count(f, RECORD_INTENT), 1);
    assert_int_equal(loop_decision(f->loop, 1)->reason, REASON_IN_FLIGHT);
    struct event resume = {.kind = EVENT_COMMAND, .service = 0,
                           .u.command = {.verb = COMMAND_RESUME, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    f->bad[0] = false;
    send(f, &resume);
    run(f, SPAN_HOUR(1));                      /* the first one has its end, and then it is the other one's turn */
    assert_string_equal(record_get_text(last(f, RECORD_INTENT), RF_SERVICE), "two");
    fleet_free(f);
}

/* loop.md section 1: one action a group from INTENT to verdict + gap, and the gap runs from the last write, the undo too. */
static void test_a_group_waits_for_the_gap_of_its_member(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, "node-7");
    f->bad[0] = f->worse[0] = true;
    for (unsigned k = 0; k < 80 && count(f, RECORD_UNDONE) == 0; k++) run(f, SPAN_S(30));
    assert_int_equal(count(f, RECORD_UNDONE), 1);
    f->bad[0] = f->worse[0] = false;
    f->bad[1] = true;
    run(f, SPAN_MIN(11));
    assert_int_equal(state_of(f, 1), STATE_OPEN);
    assert_int_equal(loop_decision(f->loop, 1)->reason, REASON_IN_FLIGHT);
    assert_int_equal(count(f, RECORD_INTENT), 1);
    run(f, SPAN_MIN(3));
    assert_int_equal(count(f, RECORD_INTENT), 2);
    fleet_free(f);
}

/* A service and one that it calls are a group, whichever of them acts first. */
static void test_who_depends_on_another_is_of_its_group(void **state)
{
    (void)state;
    static const char *calls_two[] = {"two"};
    for (unsigned first = 0; first < 2; first++) {
        struct fleet *f = fleet_new(2, NULL);
        unsigned other = 1 - first;
        f->defs[0].depends_on = calls_two;
        f->defs[0].depends_count = 1;
        f->bad[first] = true;
        run(f, SPAN_MIN(3));
        f->bad[other] = true;                  /* ill before the write, so it is no harm done by it */
        run_to(f, first, STATE_OBSERVING, 20);
        run(f, SPAN_MIN(5));
        assert_int_equal(state_of(f, other), STATE_OPEN);
        assert_int_equal(loop_decision(f->loop, (uint16_t)other)->reason, REASON_IN_FLIGHT);
        assert_int_equal(count(f, RECORD_INTENT), 1);
        fleet_free(f);
    }
}

/* The budget of an hour counts actions: two that are sent in the same microsecond are two. */
static void test_two_writes_at_once_are_two_of_the_hour(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(3, NULL);
    struct event folded = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    f->b->policy.fleet_per_hour = 2;
    send(f, &folded);                          /* from here on all tick at the same instants */
    f->bad[0] = f->bad[1] = true;
    run(f, SPAN_MIN(12));
    assert_int_equal(count(f, RECORD_APPLIED), 2);
    f->bad[2] = true;                          /* late enough to be no storm */
    run(f, SPAN_MIN(35));
    assert_int_equal(count(f, RECORD_APPLIED), 2);
    run(f, SPAN_HOUR(1));
    assert_true(count(f, RECORD_APPLIED) > 2);
    fleet_free(f);
}

/* loop.md section 1: six an hour over all services, and a restart gives none of them back. */
static void test_the_budget_of_an_hour_survives_a_restart(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, NULL);
    f->bad[0] = true;
    run_to(f, 0, STATE_OBSERVING, 20);
    assert_int_equal(fleet_last_hour(f->loop), 1);
    restart(f);
    assert_int_equal(fleet_last_hour(f->loop), 1);
    run(f, SPAN_HOUR(1));
    assert_int_equal(fleet_last_hour(f->loop), 0);
    restart(f);                                /* nor does one take what an older hour has spent */
    assert_int_equal(fleet_last_hour(f->loop), 0);
    fleet_free(f);
}

/* loop.md section 1: one in flight for 30 min after a start, whatever the budget is. */
static void test_after_a_start_one_at_a_time(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(3, NULL);
    assert_int_equal(fleet_in_flight_max(f->loop), 3);
    restart(f);
    run(f, SPAN_MIN(29));
    assert_int_equal(fleet_in_flight_max(f->loop), 1);
    run(f, SPAN_MIN(2));
    assert_int_equal(fleet_in_flight_max(f->loop), 3);
    fleet_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_neighbour_that_falls_ill_after_the_write_takes_it_back),
        cmocka_unit_test(test_a_stranger_that_falls_ill_does_not),
        cmocka_unit_test(test_a_halted_action_still_counts_in_its_group),
        cmocka_unit_test(test_a_group_waits_for_the_gap_of_its_member),
        cmocka_unit_test(test_who_depends_on_another_is_of_its_group),
        cmocka_unit_test(test_two_writes_at_once_are_two_of_the_hour),
        cmocka_unit_test(test_the_budget_of_an_hour_survives_a_restart),
        cmocka_unit_test(test_after_a_start_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
