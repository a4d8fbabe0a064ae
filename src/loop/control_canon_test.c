/* What makes two control states equal, and what must not. */
#include "support/test.h"

#include "loop/control_test.h"

static struct buf canon_of(const struct control_bench *b, int at_s)
{
    struct buf out = BUF_INIT;
    control_canon(&b->p, &b->c, AT(at_s), &out);
    assert_true(buf_ok(&out));
    return out;
}

static bool same(const struct control_bench *a, int a_s, const struct control_bench *b, int b_s)
{
    struct buf x = canon_of(a, a_s), y = canon_of(b, b_s);
    bool equal = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    buf_free(&x);
    buf_free(&y);
    return equal;
}

/* A second attempt, observed, with an exclusion, a gap and an interval running: the same at any time of day. */
static void story(struct control_bench *b, int at_s, uint16_t old, uint16_t new_)
{
    bench_start(b, STATE_OBSERVING);
    b->c.knobs[0].believed = old;
    static const enum record_kind kinds[] = {RECORD_INCIDENT, RECORD_INTENT, RECORD_APPLIED, RECORD_EXTENDED};
    for (unsigned i = 0; i < 4; i++) {
        struct control_record r = {.kind = kinds[i], .at = AT(at_s), .knob = i ? 0 : NO_KNOB, .old = old, .new_ = new_, .cause = 7,
                                   .action = 5, .incident = 3, .onset = AT(at_s - 60), .settle = SPAN_MIN(2),
                                   .window = SPAN_MIN(10), .read = new_, .expiry = INSTANT_NEVER, .automatic = true};
        control_fold(&b->p, &b->c, &r);
    }
    b->c.active = 0;
    b->c.state_since = AT(at_s);
    b->c.phase_until = AT(at_s + 720);
}

static void test_absolute_time_is_left_out(void **state)
{
    (void)state;
    struct control_bench a, b;
    story(&a, 1000, 1, 2);
    story(&b, 50000, 1, 2);
    assert_true(same(&a, 1030, &b, 50030));
    assert_false(same(&a, 1030, &b, 50031));
}

static void test_names_of_values_are_left_out(void **state)
{
    (void)state;
    struct control_bench a, b;
    story(&a, 1000, 1, 2);
    story(&b, 1000, 41, 17);
    a.c.knobs[1].believed = 9;
    b.c.knobs[1].believed = 5;
    assert_true(same(&a, 1030, &b, 1030));
    b.c.knobs[1].believed = 17;          /* now the other knob's value has the name of the new one */
    assert_false(same(&a, 1030, &b, 1030));
}

/* A value and a version that happen to have one number are two things. */
static void test_versions_are_no_values(void **state)
{
    (void)state;
    struct control_bench a, b;
    bench_start(&a, STATE_WATCHING);
    a.c.knobs[0].believed_version = 1;
    b = a;
    b.c.knobs[0].believed_version = 300;
    assert_true(same(&a, 0, &b, 0));
    b.c.knobs[0].believed_version = 0;
    assert_false(same(&a, 0, &b, 0));
}

static void test_counters_that_only_name_are_left_out(void **state)
{
    (void)state;
    struct control_bench a, b;
    story(&a, 1000, 1, 2);
    b = a;
    b.c.actions += 4;
    b.c.incidents += 2;
    b.c.token += 9;
    b.c.knobs[0].slot.action += 4;
    assert_true(same(&a, 1030, &b, 1030));
}

static void test_what_is_past_is_as_good_as_none(void **state)
{
    (void)state;
    struct control_bench a, b;
    bench_start(&a, STATE_WATCHING);
    b = a;
    b.c.gap_until = AT(5);
    b.c.knobs[0].interval_until = AT(6);
    b.c.knobs[1].frozen_until = AT(7);
    b.c.suspended[CLASS_CACHE] = AT(8);
    assert_false(same(&a, 4, &b, 4));
    assert_true(same(&a, 8, &b, 8));
    b.c.knobs[1].frozen_until = INSTANT_NEVER;
    assert_false(same(&a, 8, &b, 8));
}

static void test_order_of_exclusions_is_left_out(void **state)
{
    (void)state;
    struct control_bench a, b;
    bench_start(&a, STATE_OPEN);
    b = a;
    assert_true(excluded_add(&a.c.excluded, 1, 0, DIR_UP) && excluded_add(&a.c.excluded, 2, 1, DIR_DOWN));
    assert_true(excluded_add(&b.c.excluded, 2, 1, DIR_DOWN));
    assert_false(same(&a, 0, &b, 0));
    assert_true(excluded_add(&b.c.excluded, 1, 0, DIR_UP));
    assert_true(same(&a, 0, &b, 0));
}

typedef void change(struct control *c);
static void to_halted(struct control *c) { c->halted = true; }
static void to_frozen(struct control *c) { c->frozen = FREEZE_WINDOW; }
static void to_follower(struct control *c) { c->follower = true; }
static void to_owed(struct control *c) { c->halt_owed = true; }
static void to_waiting(struct control *c) { c->waiting_ack = true; }
static void to_third_auto(struct control *c) { c->n_auto = 3; }
static void to_one_none(struct control *c) { c->none_reads = 1; }
static void to_fail(struct control *c) { c->knobs[0].fails = 1; }
static void to_failed(struct control *c) { c->knobs[0].failed_at = AT(1000); }
static void to_late(struct control *c) { c->knobs[0].slot.late_open = true; }
static void to_unacknowledged(struct control *c) { c->knobs[0].slot.unacknowledged = true; }
static void to_cancelled(struct control *c) { c->knobs[0].slot.cancelled = true; }
static void to_released(struct control *c) { c->knobs[0].slot.released = true; }
static void to_mix(struct control *c) { c->mix_since = AT(1010); }
static void to_harm(struct control *c) { c->harmful[0] = AT(1000); }
static void to_breaker(struct control *c) { c->breaker = true; }
static void to_release(struct control *c) { c->release_until = AT(2000); }
static void to_retry(struct control *c) { c->knobs[0].slot.undo_sends = 1; }
static void to_would(struct control *c) { c->would_plans[0] = 8; }
static void to_handed(struct control *c) { c->handed = true; }
static void to_other_cause(struct control *c) { c->knobs[0].slot.cause = 8; }

static void test_what_may_change_a_row_is_in(void **state)
{
    (void)state;
    static change *const changes[] = {to_halted, to_frozen, to_follower, to_owed, to_waiting, to_third_auto, to_one_none, to_fail,
        to_failed, to_late, to_unacknowledged, to_cancelled, to_released, to_mix, to_harm, to_breaker,
        to_release, to_retry, to_would,
        to_handed, to_other_cause};
    struct control_bench a, b;
    story(&a, 1000, 1, 2);
    for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        b = a;
        changes[i](&b.c);
        if (same(&a, 1030, &b, 1030)) print_error("change %u makes no difference\n", i);
        assert_false(same(&a, 1030, &b, 1030));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_absolute_time_is_left_out),
        cmocka_unit_test(test_names_of_values_are_left_out),
        cmocka_unit_test(test_versions_are_no_values),
        cmocka_unit_test(test_counters_that_only_name_are_left_out),
        cmocka_unit_test(test_what_is_past_is_as_good_as_none),
        cmocka_unit_test(test_order_of_exclusions_is_left_out),
        cmocka_unit_test(test_what_may_change_a_row_is_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
