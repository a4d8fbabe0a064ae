/* A new policy under a running service. */
#include "support/test.h"

#include "loop/test_bench.h"

struct second { struct policy policy; struct service_def service; struct knob_def knobs[B_KNOBS]; };

static bool fault;
static unsigned wobble;

static void plant(struct bench *b)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double n = noise[wobble++ % 7];
    bool bad = fault && b->target.value[B_BATCH] < 64;
    b->signal[B_P99] = (bad ? 46.8 : 38) + n;
    b->signal[B_QUEUE] = (bad ? 320 : 90) + 4 * n;
    b->signal[B_GPU] = bad ? 0.78 : 0.65;
}

static struct bench *observing(void)
{
    struct bench *b = bench_new(MODE_AUTO);
    fault = false;
    wobble = 0;
    b->on_tick = plant;
    bench_start(b);
    bench_run(b, SPAN_HOUR(25));
    fault = true;
    for (int i = 0; i < 60 && bench_state(b) != STATE_OBSERVING; i++) bench_run(b, SPAN_S(30));
    assert_int_equal(bench_state(b), STATE_OBSERVING);
    (void)bench_story(b);
    return b;
}

/* The same policy again, in memory of its own, to be changed. */
static struct second *second_of(const struct bench *b)
{
    struct second *n = calloc(1, sizeof *n);
    assert_non_null(n);
    *n = (struct second){.policy = b->policy, .service = b->service};
    memcpy(n->knobs, b->knobs, sizeof n->knobs);
    n->service.knobs = n->knobs;
    n->service.needs = (struct needs){0};
    for (uint16_t i = 0; i < b->service.needs.n; i++) assert_true(needs_add(&n->service.needs, b->service.needs.items[i]) >= 0);
    n->policy.services = &n->service;
    n->policy.references = 1;
    memcpy(n->policy.revision, "second", 7);
    return n;
}

static void reload(struct bench *b, struct second *n)
{
    struct event e = {.kind = EVENT_RELOAD, .service = ALL_SERVICES, .u.reload = {.policy = &n->policy, .by = "li.wei"}};
    bench_event(b, &e);
}

static void end(struct bench *b, struct second *n)
{
    loop_free(b->loop);
    assert_int_equal(n->policy.references, 1);
    needs_free(&n->service.needs);
    free(n);
    b->loop = loop_new(&b->policy, b->now, bench_wall(b), (struct loop_options){.alone = true});
    bench_free(b);
}

/* loop.md section 2: a removed knob, a lower tier or a stricter max makes a running action finish as undo, never as keep. */
static void test_a_knob_that_now_needs_a_person_is_not_kept(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    n->knobs[B_BATCH].tier = 2;
    reload(b, n);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "VERDICT UNDO UNDONE");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_REASON), "policy-changed");
    assert_near(b->target.value[B_BATCH], 32, 0);
    end(b, n);
}

static void test_a_stricter_max_is_not_kept_either(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    n->knobs[B_BATCH].max = 48;
    reload(b, n);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "VERDICT UNDO UNDONE");
    end(b, n);
}

static void test_the_same_policy_again_changes_nothing(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    reload(b, n);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "VERDICT CLOSED");
    assert_near(b->target.value[B_BATCH], 64, 0);
    end(b, n);
}

/* loop.md section 2: a running action keeps its revision: named in its records, and in how it is judged. */
static void test_a_running_action_keeps_its_revision(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    n->service.judge.objective = 30;         /* broken by the healthy value: early harm for an action that begins now */
    n->knobs[B_BATCH].protect = SPAN_HOUR(1);
    n->knobs[B_BATCH].interval = SPAN_HOUR(5);
    reload(b, n);
    bench_run(b, SPAN_MIN(12));
    assert_string_equal(bench_story(b), "VERDICT CLOSED");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_VERDICT), "effective");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_POLICY), "test");
    struct instant kept = loop_control(b->loop, 0)->knobs[B_BATCH].protect_until;
    assert_true(instant_since(kept, b->now).us > 23 * US_PER_HOUR);
    bench_command(b, COMMAND_CANCEL, "text-embed/1");
    bench_run(b, SPAN_MIN(1));
    assert_string_equal(bench_story(b), "CANCEL UNDO UNDONE");       /* it had ended: this is done by the policy in force */
    assert_string_equal(record_get_text(bench_last(b, RECORD_UNDO), RF_POLICY), "second");
    end(b, n);
}

static void test_an_action_that_begins_after_it_goes_by_the_new_one(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    bench_run(b, SPAN_MIN(12));
    reload(b, n);
    bench_run(b, SPAN_HOUR(1));
    assert_string_equal(record_get_text(bench_last(b, RECORD_CLOSED), RF_POLICY), "test");
    assert_string_equal(record_get_text(bench_last(b, RECORD_VERDICT), RF_POLICY), "test");
    bench_command(b, COMMAND_HALT, NULL);
    assert_string_equal(record_get_text(bench_last(b, RECORD_HALT), RF_POLICY), "second");
    end(b, n);
}

static void test_each_mode_that_changes_is_recorded(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    n->service.class_mode[CLASS_REPLICAS] = MODE_CONFIRM;
    reload(b, n);
    assert_string_equal(bench_story(b), "MODE");
    const struct record *r = bench_last(b, RECORD_MODE);
    assert_string_equal(record_get_text(r, RF_CLASS), "replicas");
    assert_string_equal(record_get_text(r, RF_FROM), "auto");
    assert_string_equal(record_get_text(r, RF_TO), "confirm");
    assert_string_equal(record_get_text(r, RF_BY), "li.wei");
    assert_string_equal(record_get_text(r, RF_POLICY), "second");
    end(b, n);
}

static void lease(struct bench *b, bool lost)
{
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES};
    if (lost) e.u.health.set = FREEZE_LEASE;
    else e.u.health.clear = FREEZE_LEASE;
    bench_event(b, &e);
}

/* loop.md row 51: without the lease nothing is recorded, written or answered; with it the log says how to go on. */
static void test_without_the_lease_it_only_looks_on(void **state)
{
    (void)state;
    struct bench *b = observing();
    int writes = b->target.writes;
    struct event retry = {.kind = EVENT_COMMAND, .u.command = {.verb = COMMAND_RETRY, .id = 7, .by = "li.wei", .role = ROLE_ADMIN}};
    lease(b, true);
    bench_event(b, &retry);
    assert_non_null(strstr(buf_text(&b->replies), "another replica leads"));
    bench_run(b, SPAN_MIN(15));
    assert_string_equal(bench_story(b), "");
    assert_int_equal(b->target.writes, writes);
    lease(b, false);
    bench_run(b, SPAN_MIN(30));
    assert_non_null(strstr(bench_story(b), "VERDICT"));
    bench_free(b);
}

/* Other knobs make the log be read anew, but not by a replica that only looks on: it would lead by it. */
static void test_a_reload_gives_no_lease(void **state)
{
    (void)state;
    struct bench *b = observing();
    struct second *n = second_of(b);
    lease(b, true);
    n->service.knob_count = 1;
    n->service.mode = MODE_CONFIRM;
    for (int c = 0; c < CLASS_COUNT; c++) n->service.class_mode[c] = MODE_CONFIRM;
    reload(b, n);
    assert_true(loop_control(b->loop, 0)->follower);
    bench_run(b, SPAN_MIN(15));
    assert_string_equal(bench_story(b), "");
    lease(b, false);
    bench_run(b, SPAN_S(30));
    assert_false(loop_control(b->loop, 0)->follower);
    end(b, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_the_lease_it_only_looks_on),
        cmocka_unit_test(test_a_reload_gives_no_lease),
        cmocka_unit_test(test_a_knob_that_now_needs_a_person_is_not_kept),
        cmocka_unit_test(test_a_stricter_max_is_not_kept_either),
        cmocka_unit_test(test_the_same_policy_again_changes_nothing),
        cmocka_unit_test(test_each_mode_that_changes_is_recorded),
        cmocka_unit_test(test_a_running_action_keeps_its_revision),
        cmocka_unit_test(test_an_action_that_begins_after_it_goes_by_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
