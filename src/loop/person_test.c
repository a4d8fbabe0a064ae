/* When a person is called, what he is told, and what is left to him. */
#include "support/test.h"

#include "loop/test_bench.h"

static void make_bad(struct bench *b)
{
    b->signal[B_P99] = 46.8;
    b->signal[B_QUEUE] = 320;
    b->signal[B_GPU] = 0.78;
}

static struct bench *ill(enum mode mode)
{
    struct bench *b = bench_new(mode);
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    make_bad(b);
    return b;
}

static void until(struct bench *b, enum state state, unsigned minutes)
{
    for (unsigned k = 0; k < 4 * minutes && bench_state(b) != state; k++) bench_run(b, SPAN_S(15));
    if (bench_state(b) != state) fail_msg("never %s, is %s", state_name(state), state_name(bench_state(b)));
}

/* loop.md rows 33, 38: a change that can neither be judged nor safely undone is a page, with the undo by hand. */
static void a_verdict_that_is_held_pages_with_the_undo_by_hand(void **state)
{
    (void)state;
    struct bench *b = ill(MODE_AUTO);
    until(b, STATE_OBSERVING, 20);
    buf_clear(&b->notices);
    struct event e = {.kind = EVENT_RELEASE, .u.release = {"v2", "ci"}};
    bench_event(b, &e);
    const struct record *v = bench_last(b, RECORD_VERDICT);
    assert_non_null(v);
    assert_string_equal(record_get_text(v, RF_OUTCOME), "held");
    assert_string_equal(record_get_text(v, RF_BY_HAND),
                        "set batch_max of text-embed to '32' where it is kept: no way to write it is configured");
    assert_non_null(strstr(buf_text(&b->notices), "by_hand: set batch_max of text-embed to '32'"));
    assert_int_equal(bench_state(b), STATE_PERSON);
    bench_free(b);
}

/* loop.md row 25: the second change in 24 h that the target does not take freezes the knob, and pages. */
static void a_second_failed_write_pages(void **state)
{
    (void)state;
    struct bench *b = ill(MODE_AUTO);
    b->target.refuse = true;
    for (unsigned k = 0; k < 200 && !bench_last(b, RECORD_FAILED); k++) bench_run(b, SPAN_S(30));
    const struct record *first = bench_last(b, RECORD_FAILED);
    assert_non_null(first);
    assert_string_equal(record_get_text(first, RF_NOTE), "");
    for (unsigned k = 0; k < 200 && bench_last(b, RECORD_FAILED) == first; k++) bench_run(b, SPAN_S(30));
    const struct record *second = bench_last(b, RECORD_FAILED);
    assert_ptr_not_equal(first, second);
    assert_non_null(strstr(record_get_text(second, RF_NOTE), "the second change in 24 h"));
    assert_non_null(strstr(buf_text(&b->notices), "the second change in 24 h"));
    bench_free(b);
}

/* loop.md row 26: our value shows up after a person was called. He may have set it: a page, no undo. */
static void a_value_that_shows_up_in_the_hands_of_a_person_is_left_alone(void **state)
{
    (void)state;
    struct bench *b = ill(MODE_AUTO);
    b->causes[2].try_count = 1;
    b->target.ignore = true;
    until(b, STATE_READBACK, 20);
    bench_command(b, COMMAND_CANCEL, NULL);              /* OLD at the deadline then leads to a person */
    until(b, STATE_PERSON, 5);
    bench_run(b, SPAN_MIN(2));
    int writes = b->target.writes;
    b->target.value[B_BATCH] = 64;
    b->target.version[B_BATCH]++;
    bench_run(b, SPAN_MIN(1));
    assert_non_null(bench_last(b, RECORD_YIELDED));
    assert_int_equal(b->target.writes, writes);
    assert_near(b->target.value[B_BATCH], 64, 0);
    bench_free(b);
}

/* loop.md row 18: the plan of the expired request is skipped, not its knob. */
static void only_the_plan_of_an_expired_request_is_skipped(void **state)
{
    (void)state;
    struct bench *b = ill(MODE_CONFIRM);
    until(b, STATE_AWAITING, 20);
    assert_string_equal(record_get_text(bench_last(b, RECORD_REQUEST), RF_KNOB), "batch_max");
    bench_run(b, SPAN_MIN(16));
    const struct record *r = bench_last(b, RECORD_EXPIRED);
    assert_non_null(r);
    assert_string_equal(record_get_text(r, RF_CAUSE), "compute-bound");
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(record_get_text(bench_last(b, RECORD_REQUEST), RF_KNOB), "replicas");
    bench_restart(b, SPAN_S(30));                        /* and the log says so after a restart */
    bench_run(b, SPAN_MIN(4));
    assert_string_equal(record_get_text(bench_last(b, RECORD_REQUEST), RF_KNOB), "replicas");
    bench_free(b);
}

static void with_release_cause(struct bench *b)
{
    b->causes[0].when = bench_rule(b, "age(deploy) < 30m");
    b->causes[0].name = b->causes[0].id = "recent-release";
    b->symptoms[0].when = bench_rule(b, "latency_p99 > 45 ms");
    b->symptoms[0].slo = true;
    b->symptoms[0].severity = 0;
}

static void check_causes_after(struct span quiet, bool unknown)
{
    bench_setup = with_release_cause;
    struct bench *b = bench_new(MODE_AUTO);
    bench_setup = NULL;
    bench_start(b);
    bench_run(b, quiet);
    make_bad(b);
    bench_run(b, SPAN_MIN(2));
    const struct record *r = bench_last(b, RECORD_INCIDENT);
    assert_non_null(r);
    bool told = strstr(record_get_text(r, RF_CAUSES), "recent-release unknown") != NULL;
    if (told != unknown) fail_msg("%s", record_get_text(r, RF_CAUSES));
    bench_free(b);
}

/* loop.md section 1, "Causes": no deploy ever seen: there may have been one as long ago as we have looked. */
static void the_age_of_an_unseen_deploy_is_unknown_at_first(void **state)
{
    (void)state;
    check_causes_after(SPAN_MIN(10), true);
    check_causes_after(SPAN_MIN(40), false);
}

static struct target_def only_target = {.url = "http://127.0.0.1:9/metrics", .instance = "127.0.0.1:9",
                                        .interval = {10 * US_PER_S}};

static void with_one_target(struct bench *b)
{
    b->service.targets = &only_target;
    b->service.target_count = 1;
}

/* loop.md section 1, outage: where there is one target, it is the service. One page that is lost is no outage. */
static void the_only_target_down_is_an_outage(void **state)
{
    (void)state;
    bench_setup = with_one_target;
    struct bench *b = bench_new(MODE_AUTO);
    bench_setup = NULL;
    bench_start(b);
    bench_run(b, SPAN_S(50));
    assert_null(strstr(buf_text(&b->notices), "service-down"));
    bench_run(b, SPAN_MIN(3));
    assert_non_null(strstr(buf_text(&b->notices), "service-down\nthe service is down or cannot be reached"));
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_that_is_held_pages_with_the_undo_by_hand),
        cmocka_unit_test(a_second_failed_write_pages),
        cmocka_unit_test(a_value_that_shows_up_in_the_hands_of_a_person_is_left_alone),
        cmocka_unit_test(only_the_plan_of_an_expired_request_is_skipped),
        cmocka_unit_test(the_age_of_an_unseen_deploy_is_unknown_at_first),
        cmocka_unit_test(the_only_target_down_is_an_outage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
