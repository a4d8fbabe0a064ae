/* A loop with several services on a virtual clock, all targets pretended; each has the rules and knobs of one bench. Include
 * support/test.h first. */
#ifndef LOOP_TEST_FLEET_H
#define LOOP_TEST_FLEET_H

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

static inline struct wall wall_of(const struct fleet *f) { return (struct wall){f->b->start.us + f->now.us}; }
static inline double *held(struct fleet *f, unsigned i, uint16_t knob) { return knob == B_BATCH ? &f->batch[i] : &f->replicas[i]; }

static inline void send(struct fleet *f, struct event *e);

static inline void answer_read(struct fleet *f, unsigned i, uint16_t knob)
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

static inline void keep_records(struct fleet *f, const struct effect *x)
{
    for (uint32_t i = 0; i < x->u.append.n; i++) {
        assert_true(f->log_n < BENCH_LOG_MAX);
        f->log[f->log_n++] = record_copy(&f->b->log_arena, &x->u.append.records[i]);
    }
}

/* Two passes: effects die with the next step. */
static inline void carry_out(struct fleet *f, const struct update *u)
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

static inline void send(struct fleet *f, struct event *e)
{
    struct update u;
    e->now = f->now;
    e->wall = wall_of(f);
    loop_step(f->loop, e, &u);
    carry_out(f, &u);
}

static inline void report(struct fleet *f, unsigned i)
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

static inline void run(struct fleet *f, struct span d)
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

static inline struct fleet *fleet_new(unsigned n, const char *group)
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

static inline void fleet_free(struct fleet *f)
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

static inline enum state state_of(const struct fleet *f, unsigned i)
{
    return (enum state)loop_control(f->loop, (uint16_t)i)->state;
}

static inline void run_to(struct fleet *f, unsigned i, enum state state, unsigned minutes)
{
    for (unsigned k = 0; k < 4 * minutes && state_of(f, i) != state; k++) run(f, SPAN_S(15));
    if (state_of(f, i) != state) fail_msg("%s: never %s, is %s", f->defs[i].name, state_name(state), state_name(state_of(f, i)));
}

static inline const struct record *last(const struct fleet *f, enum record_kind kind)
{
    for (unsigned i = f->log_n; i-- > 0;)
        if (f->log[i]->kind == kind) return f->log[i];
    return NULL;
}

static inline unsigned count(const struct fleet *f, enum record_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < f->log_n; i++) n += f->log[i]->kind == kind;
    return n;
}

static inline void harm(struct fleet *f, unsigned i)
{
    unsigned before = count(f, RECORD_VERDICT);
    f->bad[i] = f->worse[i] = true;
    for (unsigned k = 0; k < 80 && count(f, RECORD_VERDICT) == before; k++) run(f, SPAN_S(30));
    assert_string_equal(record_get_text(last(f, RECORD_VERDICT), RF_VERDICT), "harmful");
    f->bad[i] = f->worse[i] = false;
    run(f, SPAN_MIN(30));
}

static inline void restart(struct fleet *f)
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

#endif
