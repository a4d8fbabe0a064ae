/* What services do to one another: neighbours, the breaker of the fleet, storms, the clock. Virtual time, all targets pretended. */
#include "support/test.h"

#include "loop/service.h"
#include "loop/test_bench.h"

#define SERVICES_MAX 5

/* Borrows the rules and knobs of one bench for each of its services. */
struct fleet {
    struct bench *b;
    struct service_def defs[SERVICES_MAX];
    struct loop *loop;
    struct instant now, wake;
    unsigned n, step;
    bool bad[SERVICES_MAX], worse[SERVICES_MAX];
    double batch[SERVICES_MAX], replicas[SERVICES_MAX];
    int version[SERVICES_MAX][B_KNOBS];
    const struct record *log[BENCH_LOG_MAX];
    unsigned log_n;
    struct buf notices;
};

static struct wall wall_of(const struct fleet *f) { return (struct wall){f->b->start.us + f->now.us}; }
static double *held(struct fleet *f, unsigned i, uint16_t knob) { return knob == B_BATCH ? &f->batch[i] : &f->replicas[i]; }

static void send(struct fleet *f, struct event *e);

static void answer_read(struct fleet *f, unsigned i, uint16_t knob)
{
    struct read_vector *v = calloc(1, sizeof *v);
    char version[16];
    v->n = 1;
    knob_value_set_number(&v->values[0], *held(f, i, knob));
    int len = snprintf(version, sizeof version, "v%d", f->version[i][knob]);
    (void)knob_value_set_version(&v->values[0], version, (unsigned)len);
    struct event e = {.kind = EVENT_READ, .service = (uint16_t)i, .u.read = {knob, v}};
    send(f, &e);
    free(v);
}

static void keep_records(struct fleet *f, const struct effect *x)
{
    for (uint32_t i = 0; i < x->u.append.n; i++) {
        assert_true(f->log_n < BENCH_LOG_MAX);
        f->log[f->log_n++] = record_copy(&f->b->log_arena, &x->u.append.records[i]);
    }
}

/* Two passes: effects die with the next step. */
static void carry_out(struct fleet *f, const struct update *u)
{
    struct arena a = ARENA_INIT;
    uint32_t n = u->n;
    struct effect *x = arena_array(&a, n ? n : 1u, sizeof *x);
    double *to = arena_array(&a, n ? n : 1u, sizeof *to);
    f->wake = u->wake_at;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = u->effects[i];
        if (x[i].kind == EFFECT_APPEND) keep_records(f, &x[i]);
        if (x[i].kind == EFFECT_WRITE) to[i] = x[i].u.write.value->decimal;
        if (x[i].kind == EFFECT_NOTIFY) buf_printf(&f->notices, "%s\n", x[i].u.notify.subject);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct event e = {.service = x[i].service};
        if (x[i].kind == EFFECT_APPEND) {
            e.kind = EVENT_ACK;
            e.u.ack.token = x[i].u.append.token;
            send(f, &e);
        } else if (x[i].kind == EFFECT_READ) {
            answer_read(f, x[i].service, x[i].u.read.knob);
        } else if (x[i].kind == EFFECT_WRITE) {
            *held(f, x[i].service, x[i].u.write.knob) = to[i];
            f->version[x[i].service][x[i].u.write.knob]++;
            e.kind = EVENT_ANSWER;
            e.u.answer.knob = x[i].u.write.knob;
            e.u.answer.action = x[i].u.write.action;
            send(f, &e);
        }
    }
    arena_free(&a);
}

static void send(struct fleet *f, struct event *e)
{
    struct update u;
    e->now = f->now;
    e->wall = wall_of(f);
    loop_step(f->loop, e, &u);
    carry_out(f, &u);
}

static void report(struct fleet *f, unsigned i)
{
    static const double noise[] = {0, 0.4, -0.3, 0.2, -0.5, 0.3, -0.1};
    double k = noise[(f->step + i) % 7];
    bool bad = f->bad[i];
    double p99 = (f->worse[i] && f->batch[i] > 32 ? 70 : bad ? 46.8 : 38) + k;
    const double values[B_SIGNALS] = {p99, (bad ? 320 : 90) + 4 * k, bad ? 0.78 : 0.65, 6.2, 21000};
    uint16_t signals[B_SIGNALS];
    struct point points[B_SIGNALS];
    for (uint16_t s = 0; s < B_SIGNALS; s++) {
        signals[s] = s;
        points[s] = (struct point){f->now, values[s], 0, WHY_KNOWN};
    }
    struct event e = {.kind = EVENT_VALUES, .service = (uint16_t)i, .u.values = {signals, points, B_SIGNALS, false}};
    send(f, &e);
}

static void run(struct fleet *f, struct span d)
{
    struct instant end = instant_add(f->now, d);
    for (;;) {
        int64_t grid = (f->now.us / (30 * US_PER_S) + 1) * 30 * US_PER_S;
        struct instant next = instant_min((struct instant){grid}, f->wake);
        if (next.us > end.us) break;
        f->now = instant_max(f->now, next);
        if (f->now.us % (30 * US_PER_S) == 0) f->step++;
        for (unsigned i = 0; i < f->n && f->now.us % (30 * US_PER_S) == 0; i++) report(f, i);
        struct event e = {.kind = EVENT_TIME, .service = ALL_SERVICES};
        send(f, &e);
    }
    f->now = end;
}

static struct fleet *fleet_new(unsigned n, const char *group)
{
    static const char *const names[SERVICES_MAX] = {"one", "two", "three", "four", "five"};
    struct fleet *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->b = bench_new(MODE_AUTO);
    f->n = n;
    for (unsigned i = 0; i < n; i++) {
        f->defs[i] = f->b->service;
        f->defs[i].name = names[i];
        f->defs[i].index = (uint16_t)i;
        f->defs[i].group = group;
        f->batch[i] = 32;
        f->replicas[i] = 2;
    }
    loop_free(f->b->loop);
    f->b->policy.services = f->defs;
    f->b->policy.service_count = (uint16_t)n;
    f->b->policy.fleet_fraction = 1;
    f->loop = loop_new(&f->b->policy, f->now, wall_of(f), (struct loop_options){.alone = true});
    assert_non_null(f->loop);
    struct event e = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    send(f, &e);
    run(f, SPAN_HOUR(25));
    return f;
}

static void fleet_free(struct fleet *f)
{
    loop_free(f->loop);
    f->b->policy.services = &f->b->service;
    f->b->policy.service_count = 1;
    f->b->service.needs = f->defs[0].needs;
    for (unsigned i = 1; i < f->n; i++) {
        if (f->defs[i].needs.items != f->defs[0].needs.items) needs_free(&f->defs[i].needs);
    }
    f->b->loop = loop_new(&f->b->policy, f->now, wall_of(f), (struct loop_options){.alone = true});
    bench_free(f->b);
    buf_free(&f->notices);
    free(f);
}

static enum state state_of(const struct fleet *f, unsigned i) { return (enum state)loop_control(f->loop, (uint16_t)i)->state; }

static void run_to(struct fleet *f, unsigned i, enum state state, unsigned minutes)
{
    for (unsigned k = 0; k < 4 * minutes && state_of(f, i) != state; k++) run(f, SPAN_S(15));
    if (state_of(f, i) != state) fail_msg("%s: never %s, is %s", f->defs[i].name, state_name(state), state_name(state_of(f, i)));
}

static const struct record *last(const struct fleet *f, enum record_kind kind)
{
    for (unsigned i = f->log_n; i-- > 0;)
        if (f->log[i]->kind == kind) return f->log[i];
    return NULL;
}

static unsigned count(const struct fleet *f, enum record_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < f->log_n; i++) n += f->log[i]->kind == kind;
    return n;
}

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

static void harm(struct fleet *f, unsigned i)
{
    unsigned before = count(f, RECORD_VERDICT);
    f->bad[i] = f->worse[i] = true;
    for (unsigned k = 0; k < 80 && count(f, RECORD_VERDICT) == before; k++) run(f, SPAN_S(30));
    assert_string_equal(record_get_text(last(f, RECORD_VERDICT), RF_VERDICT), "harmful");
    f->bad[i] = f->worse[i] = false;
    run(f, SPAN_MIN(30));
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

static void restart(struct fleet *f)
{
    loop_free(f->loop);
    f->loop = loop_new(&f->b->policy, f->now, wall_of(f), (struct loop_options){.alone = true});
    assert_non_null(f->loop);
    f->wake = INSTANT_NEVER;
    for (unsigned i = 0, n = f->log_n; i < n; i++) {
        uint16_t service = policy_service(&f->b->policy, record_get_text(f->log[i], RF_SERVICE));
        struct event e = {.kind = EVENT_RECORD, .service = service, .u.record = f->log[i]};
        send(f, &e);
    }
    struct event e = {.kind = EVENT_FOLDED, .service = ALL_SERVICES};
    send(f, &e);
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
    assert_near(f->batch[1], 32, 0);
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
        cmocka_unit_test(test_a_neighbour_that_falls_ill_after_the_write_takes_it_back),
        cmocka_unit_test(test_a_stranger_that_falls_ill_does_not),
        cmocka_unit_test(test_early_harm_says_what_it_saw),
        cmocka_unit_test(test_three_harmful_verdicts_drop_the_fleet_to_confirm),
        cmocka_unit_test(test_three_harmful_verdicts_in_two_days_do_not),
        cmocka_unit_test(test_retry_does_not_lift_the_breaker_of_the_fleet),
        cmocka_unit_test(test_a_storm_is_told_once_and_asks),
        cmocka_unit_test(test_two_writes_at_once_are_two_of_the_hour),
        cmocka_unit_test(test_a_halted_action_still_counts_in_its_group),
        cmocka_unit_test(test_a_storm_lasts_until_most_are_well),
        cmocka_unit_test(test_the_budget_of_an_hour_survives_a_restart),
        cmocka_unit_test(test_a_write_that_was_planned_before_a_halt_may_not_go_out),
        cmocka_unit_test(test_the_breaker_of_the_fleet_over_a_restart),
        cmocka_unit_test(test_a_clock_step_freezes_three_ticks_of_each_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
