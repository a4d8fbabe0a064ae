#include "store/port.h"

#include <poll.h>

#include "store/history.h"
#include "support/audit_records.h"
#include "support/tempdir.h"

static const uint8_t seed[AUDIT_SEED_BYTES] = {21};

/* What was delivered, as text. */
struct shell {
    char dir[TEMPDIR_MAX];
    struct store *store;
    struct store_port *port;
    struct signal_def signals[2];
    struct service_def services[2];
    struct policy policy;
    struct buf seen;
};

static void deliver(void *ctx, struct event *e)
{
    struct shell *s = ctx;
    switch (e->kind) {
    case EVENT_ACK:
        buf_printf(&s->seen, "ack %u %llu %s %llu;", e->service, (unsigned long long)e->u.ack.token,
                   status_text(e->u.ack.status), (unsigned long long)e->u.ack.seq);
        break;
    case EVENT_RECORD:
        buf_printf(&s->seen, "record %u %s;", e->service, record_kind_name(e->u.record->kind));
        break;
    case EVENT_FOLDED: buf_printf(&s->seen, "folded %u;", e->service); break;
    case EVENT_STATE:
        buf_printf(&s->seen, "state %u %.*s %lld;", e->service, (int)e->u.state.len, (const char *)e->u.state.bytes,
                   (long long)e->u.state.age.us);
        break;
    default: fail_msg("event %d", (int)e->kind);
    }
}

static void open_shell(struct shell *s, bool unthreaded)
{
    struct store_options o = {.dir = s->dir, .seed = seed, .unthreaded = unthreaded};
    assert_int_equal(store_open(&s->store, &o, NULL), STATUS_OK);
    s->port = store_port_new(s->store, (struct port_sink){s, deliver}, &s->policy);
    assert_non_null(s->port);
}

static void close_shell(struct shell *s)
{
    store_port_free(s->port);
    store_close(s->store);
}

static int setup(void **state)
{
    struct shell *s = calloc(1, sizeof *s);
    tempdir_make(s->dir);
    s->signals[0].name = "p99";
    s->signals[1].name = "queue";
    s->services[0].name = "other";
    s->services[1].name = "embed";
    s->services[1].signals = s->signals;
    s->services[1].signal_count = 2;
    s->policy.services = s->services;
    s->policy.service_count = 2;
    open_shell(s, true);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct shell *s = *state;
    close_shell(s);
    buf_free(&s->seen);
    tempdir_remove(s->dir);
    free(s);
    return 0;
}

static void expect(struct shell *s, const char *text)
{
    assert_string_equal(buf_text(&s->seen), text);
    buf_clear(&s->seen);
}

static void append(struct shell *s, enum record_kind kind, const char *service, uint64_t token, const char *note)
{
    struct log_port log = store_port_log(s->port);
    char room[64];
    struct record r = sample_record(kind, 1, 1, room);
    record_text(&r, RF_SERVICE, service);
    record_text(&r, RF_NOTE, note);
    log.append(log.ctx, &r, 1, token, false);
}

static uint32_t poll_all(struct shell *s, bool want_fatal)
{
    bool fatal = false;
    uint32_t n = store_port_poll(s->port, &fatal);
    assert_int_equal(fatal, want_fatal);
    return n;
}

static void test_acks(void **state)
{
    struct shell *s = *state;
    append(s, RECORD_INTENT, "embed", 7, "");
    append(s, RECORD_INTENT, "other", 7, "");
    append(s, RECORD_APPLIED, "embed", 8, "\xff");
    append(s, RECORD_APPLIED, "gone", 9, "");
    append(s, RECORD_APPLIED, "embed", 10, "");
    assert_int_equal(s->seen.len, 0);   /* never inside append */
    assert_int_equal(poll_all(s, false), 5);
    expect(s, "ack 1 7 ok 0;ack 0 7 ok 1;ack 1 8 invalid input 0;ack 1 10 ok 3;");
    assert_int_equal(poll_all(s, false), 0);
}

/* The queue is full: the rest is refused, in order, and nobody waits for ever. */
static void test_full_queue(void **state)
{
    struct shell *s = *state;
    close_shell(s);
    open_shell(s, false);
    uint32_t total = 0;
    for (uint64_t i = 0; i < 4000; i++) append(s, RECORD_WOULD, "embed", i, "");
    while (total < 4000) {
        struct pollfd p = {.fd = store_fd(s->store), .events = POLLIN};
        uint32_t n = poll_all(s, false);
        total += n;
        if (n == 0) assert_int_equal(poll(&p, 1, 30000), 1);
    }
    assert_int_equal(total, 4000);
    const char *at = buf_text(&s->seen);
    for (uint64_t i = 0; i < 4000; i++) {
        char want[40];
        int n = snprintf(want, sizeof want, "ack 1 %llu ", (unsigned long long)i);
        assert_int_equal(strncmp(at, want, (size_t)n), 0);
        at = strchr(at, ';') + 1;
    }
    assert_non_null(strstr(buf_text(&s->seen), "busy"));
    buf_clear(&s->seen);
}

static void test_fold(void **state)
{
    struct shell *s = *state;
    append(s, RECORD_INCIDENT, "embed", 1, "");
    append(s, RECORD_INTENT, "embed", 2, "");
    append(s, RECORD_WARM, "other", 3, "");
    append(s, RECORD_WARM, "gone", 4, "");
    append(s, RECORD_APPLIED, "embed", 5, "");
    poll_all(s, false);
    buf_clear(&s->seen);
    assert_int_equal(store_port_fold(s->port, 1, NULL), STATUS_OK);
    expect(s, "record 1 INCIDENT;record 1 INTENT;record 1 APPLIED;folded 1;");
    assert_int_equal(store_port_fold(s->port, ALL_SERVICES, NULL), STATUS_OK);
    expect(s, "record 1 INCIDENT;record 1 INTENT;record 0 WARM;record 1 APPLIED;folded 0;folded 1;");
}

static void test_empty_fold(void **state)
{
    struct shell *s = *state;
    assert_int_equal(store_port_fold(s->port, ALL_SERVICES, NULL), STATUS_OK);
    expect(s, "folded 0;folded 1;");
}

static bool see_step(void *arg, const struct store_step *step)
{
    buf_printf(arg, "%lld ", (long long)step->at);
    buf_double(arg, step->last);
    buf_puts(arg, ";");
    return true;
}

static void test_keep(void **state)
{
    struct shell *s = *state;
    struct effect e = {.kind = EFFECT_SAVE_STATE, .service = 1};
    e.u.save_state.bytes = "abc";
    e.u.save_state.len = 3;
    struct instant now = {5000000};
    struct wall wall = {1000000000};
    assert_int_equal(store_port_state(s->port, 1, wall, NULL), STATUS_NOT_FOUND);
    assert_int_equal(store_port_keep(s->port, &e, now, wall, NULL), STATUS_OK);
    assert_int_equal(store_port_state(s->port, 1, (struct wall){1000000007}, NULL), STATUS_OK);
    assert_int_equal(store_port_state(s->port, 1, (struct wall){999}, NULL), STATUS_OK);
    expect(s, "state 1 abc 7;state 1 abc 0;");
    uint16_t signals[2] = {1, 0};
    struct point points[2] = {{.at = {4000000}, .value = 320, .n = 1}, {.at = {5000000}, .value = 38.1, .n = 100}};
    e.kind = EFFECT_POINTS;
    e.u.points.signals = signals;
    e.u.points.points = points;
    e.u.points.n = 2;
    assert_int_equal(store_port_keep(s->port, &e, now, wall, NULL), STATUS_OK);
    struct store_step_sink sink = {see_step, &s->seen};
    assert_int_equal(store_points_range(s->store, "embed", "queue", 0, INT64_MAX, 0, &sink, NULL), STATUS_OK);
    assert_int_equal(store_points_range(s->store, "embed", "p99", 0, INT64_MAX, 0, &sink, NULL), STATUS_OK);
    expect(s, "999000000 320;1000000000 38.1;");
    e.kind = EFFECT_POLL;
    assert_int_equal(store_port_keep(s->port, &e, now, wall, NULL), STATUS_INVALID);
}

int main(void)
{
#define IN_SHELL(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_SHELL(test_acks),       IN_SHELL(test_full_queue), IN_SHELL(test_fold),
        IN_SHELL(test_empty_fold), IN_SHELL(test_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
