/* What services do to one another: breakers, storms, the clock. Virtual time, all targets pretended. */
#include "support/test.h"

#include "loop/test_fleet.h"

static void test_early_harm_says_what_it_saw(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(1, NULL);
    f->bad[0] = f->worse[0] = true;
    run_to(f, 0, STATE_SETTLING, 20);
    run(f, SPAN_MIN(3));
    const struct record *v = last(f, RECORD_VERDICT);
    assert_non_null(v);
    assert_non_null(strstr(record_get_text(v, RF_NOTE), "25 % beyond its peak from before the change"));
    assert_int_equal(record_get_u64(v, RF_FAIL, 9), 1);
    fleet_free(f);
}

/* loop.md section 2: three harmful verdicts in 24 h in the fleet drop it to confirm until resume --all. */
static void test_three_harmful_verdicts_drop_the_fleet_to_confirm(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(4, NULL);
    for (unsigned i = 0; i < 3; i++) {
        f->bad[i] = f->worse[i] = true;
        for (unsigned k = 0; k < 80 && count(f, RECORD_VERDICT) == i; k++) run(f, SPAN_S(30));
        assert_string_equal(record_get_text(last(f, RECORD_VERDICT), RF_VERDICT), "harmful");
        f->bad[i] = f->worse[i] = false;
        run(f, SPAN_MIN(30));
    }
    f->bad[3] = true;
    run_to(f, 3, STATE_AWAITING, 30);
    assert_string_equal(record_get_text(last(f, RECORD_REQUEST), RF_REASON), "breaker");
    struct event e = {.kind = EVENT_COMMAND, .service = ALL_SERVICES,
                      .u.command = {.verb = COMMAND_RESUME, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    send(f, &e);
    run_to(f, 3, STATE_SETTLING, 20);
    fleet_free(f);
}

/* The first of them is more than a day old when the third comes: no reason to ask. */
static void test_three_harmful_verdicts_in_two_days_do_not(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(4, NULL);
    harm(f, 0);
    run(f, SPAN_HOUR(24));
    harm(f, 1);
    harm(f, 2);
    f->bad[3] = true;
    run_to(f, 3, STATE_SETTLING, 30);
    fleet_free(f);
}

/* Only resume lifts the fleet's breaker: another word to all services does not. */
static void test_retry_does_not_lift_the_breaker_of_the_fleet(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(4, NULL);
    for (unsigned i = 0; i < 3; i++) harm(f, i);
    struct event e = {.kind = EVENT_COMMAND, .service = ALL_SERVICES,
                      .u.command = {.verb = COMMAND_RETRY, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    send(f, &e);
    f->bad[3] = true;
    run_to(f, 3, STATE_AWAITING, 30);
    fleet_free(f);
}

static void test_a_storm_is_told_once_and_asks(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(3, NULL);
    for (unsigned i = 0; i < 3; i++) f->bad[i] = true;
    run(f, SPAN_MIN(7));
    const char *first = strstr(buf_text(&f->notices), "common cause");
    assert_non_null(first);
    assert_null(strstr(first + 1, "common cause"));
    assert_int_equal(state_of(f, 0), STATE_AWAITING);
    fleet_free(f);
}

/* It lasts until most are well again, not for ten minutes; and is told again only when there is another one. */
static void test_a_storm_lasts_until_most_are_well(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(3, NULL);
    for (unsigned i = 0; i < 3; i++) f->bad[i] = true;
    run(f, SPAN_MIN(18));                               /* requests expire, and are asked anew instead of acted upon */
    run(f, SPAN_MIN(20));
    assert_null(last(f, RECORD_INTENT));
    f->bad[1] = f->bad[2] = false;
    run(f, SPAN_MIN(20));
    assert_non_null(last(f, RECORD_CLOSED));
    f->bad[1] = true;
    run(f, SPAN_MIN(1));
    const char *first = strstr(buf_text(&f->notices), "common cause");
    assert_non_null(first);
    assert_null(strstr(first + 1, "common cause"));
    fleet_free(f);
}

/* What a person has acknowledged is not asked again because of a restart; what he has not is. */
static void test_the_breaker_of_the_fleet_over_a_restart(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(4, NULL);
    for (unsigned i = 0; i < 3; i++) {
        f->bad[i] = f->worse[i] = true;
        for (unsigned k = 0; k < 80 && count(f, RECORD_VERDICT) == i; k++) run(f, SPAN_S(30));
        f->bad[i] = f->worse[i] = false;
        run(f, SPAN_MIN(30));
    }
    restart(f);
    assert_true(f->loop->fleet_breaker);
    struct event e = {.kind = EVENT_COMMAND, .service = ALL_SERVICES,
                      .u.command = {.verb = COMMAND_RESUME, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    send(f, &e);
    run(f, SPAN_MIN(1));
    assert_false(f->loop->fleet_breaker);
    restart(f);
    assert_false(f->loop->fleet_breaker);
    fleet_free(f);
}

/* loop.md row 51: a clock step freezes forward writes until three good ticks, however many services tick. */
static void test_a_clock_step_freezes_three_ticks_of_each_service(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(3, NULL);
    f->b->start.us += 60 * US_PER_S;
    run(f, SPAN_S(61));
    for (uint16_t i = 0; i < 3; i++) assert_true(loop_control(f->loop, i)->frozen & FREEZE_CLOCK);
    run(f, SPAN_S(61));
    for (uint16_t i = 0; i < 3; i++) assert_int_equal(loop_control(f->loop, i)->frozen, 0);
    fleet_free(f);
}

/* loop.md section 2: two harmful verdicts in 24 h on a service drop it to confirm, for its other knobs too. */
static void test_two_harmful_verdicts_drop_a_service_to_confirm(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, NULL);
    harm(f, 0);
    run(f, SPAN_HOUR(5));
    harm(f, 0);
    run(f, SPAN_HOUR(1));
    f->bad[0] = true;
    run_to(f, 0, STATE_AWAITING, 30);
    const struct record *r = last(f, RECORD_REQUEST);
    assert_string_equal(record_get_text(r, RF_REASON), "breaker");
    assert_string_equal(record_get_text(r, RF_KNOB), "replicas");
    fleet_free(f);
}

/* loop.md section 2: each write carries the halt epoch; whoever sends asks right before the bytes leave. */
static void test_a_write_that_was_planned_before_a_halt_may_not_go_out(void **state)
{
    (void)state;
    struct fleet *f = fleet_new(2, NULL);
    uint32_t planned = loop_control(f->loop, 0)->epoch;
    struct event halt = {.kind = EVENT_COMMAND, .service = 0,
                         .u.command = {.verb = COMMAND_HALT, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN}};
    assert_true(loop_may_send(f->loop, 0, planned));
    send(f, &halt);
    assert_false(loop_may_send(f->loop, 0, planned));
    assert_true(loop_may_send(f->loop, 0, loop_control(f->loop, 0)->epoch));
    assert_true(loop_may_send(f->loop, 1, loop_control(f->loop, 1)->epoch));   /* the other one is not halted */
    assert_false(loop_may_send(f->loop, 2, 0));                                /* a reload took it away */
    fleet_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_early_harm_says_what_it_saw),
        cmocka_unit_test(test_three_harmful_verdicts_drop_the_fleet_to_confirm),
        cmocka_unit_test(test_three_harmful_verdicts_in_two_days_do_not),
        cmocka_unit_test(test_retry_does_not_lift_the_breaker_of_the_fleet),
        cmocka_unit_test(test_a_storm_is_told_once_and_asks),
        cmocka_unit_test(test_two_harmful_verdicts_drop_a_service_to_confirm),
        cmocka_unit_test(test_a_storm_lasts_until_most_are_well),
        cmocka_unit_test(test_a_write_that_was_planned_before_a_halt_may_not_go_out),
        cmocka_unit_test(test_the_breaker_of_the_fleet_over_a_restart),
        cmocka_unit_test(test_a_clock_step_freezes_three_ticks_of_each_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
