/* A loop on a virtual clock with one service, a pretended target and a log in memory, for transcripts of expected records.
 * Include support/test.h first. */
#ifndef LOOP_TEST_BENCH_H
#define LOOP_TEST_BENCH_H

#include "base/num.h"
#include "expr/expr.h"
#include "locate/locate.h"
#include "loop/control.h"
#include "loop/loop.h"

enum { B_P99, B_QUEUE, B_GPU, B_FETCH, B_RATE, B_SIGNALS };
enum { B_BATCH, B_REPLICAS, B_KNOBS };

#define BENCH_LOG_MAX 4096

struct bench_target {
    double value[B_KNOBS];
    int version[B_KNOBS];
    bool unreadable, refuse, ignore;         /* refuse: 4xx; ignore: answers 200 and does nothing */
    bool error_but_apply, no_answer;
    int writes;
};

struct bench {
    struct arena arena, log_arena;
    struct policy policy;
    struct service_def service;
    struct signal_def signals[B_SIGNALS];
    struct knob_def knobs[B_KNOBS];
    struct symptom_def symptoms[4];
    struct cause_def causes[3];
    struct loop *loop;
    struct instant now, wake;
    struct wall start;
    double signal[B_SIGNALS];                /* NAN: not reported */
    struct bench_target target;
    const struct record *log[BENCH_LOG_MAX];
    unsigned log_n, log_seen;
    int64_t log_at[BENCH_LOG_MAX];           /* `now` of each record */
    bool ages;                               /* the shell tells how old a record is, not its wall time alone */
    bool hold_reads_at_intent, reads_held;   /* reads asked for after an INTENT are not answered until the test does */
    bool append_fails, append_silent, fold_waits;   /* fold_waits: the shell is asked to fold and takes its time */
    struct buf notices, replies;
    char detail[64];                         /* of the newest reply: the reason code of a refusal */
    void (*on_tick)(struct bench *b);        /* plant: set signals from knobs, before each round */
    uint64_t events;
};

static inline struct wall bench_wall(const struct bench *b) { return (struct wall){b->start.us + b->now.us}; }

static inline const struct expr *bench_rule(struct bench *b, const char *text)
{
    struct expr_scope scope = {&b->service, &b->service.needs};
    struct expr_error error;
    const struct expr *e = expr_compile(&b->arena, text, strlen(text), &scope, &error);
    if (!e) print_error("%s: %s\n", text, error.text);
    assert_non_null(e);
    return e;
}

static inline void bench_signals(struct bench *b)
{
    static const struct { const char *name; enum layer layer; enum unit unit; enum bad bad; double res; } d[B_SIGNALS] = {
        {"latency_p99", LAYER_REQUEST, UNIT_MS, BAD_UP, 0.5},      {"queue_depth", LAYER_PROCESSING, UNIT_ONE, BAD_UP, 1},
        {"gpu_util", LAYER_SYSTEM, UNIT_RATIO, BAD_UP, 0.01},      {"feature_fetch_ms", LAYER_DATA, UNIT_MS, BAD_UP, 0.1},
        {"throughput", LAYER_PROCESSING, UNIT_PER_S, BAD_DOWN, 1},
    };
    for (unsigned i = 0; i < B_SIGNALS; i++) {
        b->signals[i] = (struct signal_def){.name = d[i].name, .layer = d[i].layer, .unit = d[i].unit, .bad = d[i].bad,
                                            .resolution = d[i].res, .rel_floor = 0.02, .interval = SPAN_S(30)};
    }
    b->service.signals = b->signals;
    b->service.signal_count = B_SIGNALS;
}

static inline void bench_knobs(struct bench *b)
{
    struct knob_def k = {.name = "batch_max", .class = CLASS_BATCH, .tier = 1, .min = 4, .max = 128, .ladder = LADDER_FACTOR,
                         .ladder_by = 2, .min_step = 4, .allow_up = true, .allow_down = true, .integer = true,
                         .interval = SPAN_HOUR(4), .protect = SPAN_HOUR(24), .settle = SPAN_MIN(2), .readback = SPAN_S(60),
                         .dead_band = 0.10, .cas = true, .use_signal = NO_INDEX,
                         .coupled = {NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX}};
    b->knobs[B_BATCH] = k;
    k.name = "replicas";
    k.class = CLASS_REPLICAS;
    k.budget = BUDGET_OWN;
    k.ladder = LADDER_STEP;
    k.ladder_by = 1;
    k.min = 1;
    k.max = 8;
    k.min_step = 1;
    b->knobs[B_REPLICAS] = k;
    b->service.knobs = b->knobs;
    b->service.knob_count = B_KNOBS;
}

static inline void bench_rules(struct bench *b)
{
    b->symptoms[0] = (struct symptom_def){
        .name = "latency-degraded", .request_layer = true, .severity = 1, .judge_signal = B_P99,
        .when = bench_rule(b, "latency_p99 > 1.15 * baseline(latency_p99) and queue_depth > 250")};
    b->causes[0] = (struct cause_def){.name = "upstream-data", .id = "upstream-data", .group = GROUP_UPSTREAM_DATA, .rank = -1,
        .share_signal = B_FETCH, .when = bench_rule(b, "feature_fetch_ms > 1.5 * baseline(feature_fetch_ms)"),
        .tries = {{NO_INDEX, DIR_UP, "look at the feature service"}}, .try_count = 1};
    b->causes[1] = (struct cause_def){.name = "host-or-io-bound", .id = "host-or-io-bound", .group = GROUP_HOST_OR_IO_BOUND,
        .rank = -1, .share_signal = NO_INDEX, .when = bench_rule(b, "gpu_util < 0.5"),
        .tries = {{B_REPLICAS, DIR_UP, NULL}}, .try_count = 1};
    b->causes[2] = (struct cause_def){.name = "compute-bound", .id = "compute-bound", .group = GROUP_COMPUTE_BOUND, .rank = -1,
        .share_signal = NO_INDEX, .when = bench_rule(b, "gpu_util > 0.7"),
        .tries = {{B_BATCH, DIR_UP, NULL}, {B_REPLICAS, DIR_UP, NULL}}, .try_count = 2};
    b->service.symptoms = b->symptoms;
    b->service.symptom_count = 1;
    b->service.causes = b->causes;
    b->service.cause_count = 3;
}

static void (*bench_setup)(struct bench *b);     /* changes the service before the loop is made; NULL: none */

static inline struct bench *bench_new(enum mode mode)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->start = (struct wall){INT64_C(1778544000) * US_PER_S};   /* 2026-05-12T00:00:00Z, a Tuesday */
    b->service = (struct service_def){.name = "text-embed", .environment = "test", .mode = mode, .timing = timing_defaults()};
    for (int c = 0; c < CLASS_COUNT; c++) b->service.class_mode[c] = mode;
    b->service.judge = (struct judge_def){B_P99, NO_INDEX, B_QUEUE, B_RATE, NO_INDEX, NO_INDEX, NO_INDEX, 80};
    bench_signals(b);
    bench_knobs(b);
    bench_rules(b);
    if (bench_setup) bench_setup(b);
    assert_true(locate_needs(&b->service, &b->service.needs));
    b->policy = (struct policy){.revision = "test", .services = &b->service, .service_count = 1, .tick = SPAN_S(30),
                                .fleet_fraction = 0.05, .fleet_per_hour = 6, .ewma_alpha = 0.2, .references = 1};
    b->target.value[B_BATCH] = 32;
    b->target.value[B_REPLICAS] = 2;
    const double healthy[B_SIGNALS] = {38, 140, 0.65, 6.2, 21000};
    memcpy(b->signal, healthy, sizeof healthy);
    b->loop = loop_new(&b->policy, b->now, bench_wall(b), (struct loop_options){.alone = true});
    assert_non_null(b->loop);
    b->wake = INSTANT_NEVER;
    return b;
}

static inline void bench_free(struct bench *b)
{
    loop_free(b->loop);
    assert_int_equal(b->policy.references, 1);
    needs_free(&b->service.needs);
    arena_free(&b->arena);
    arena_free(&b->log_arena);
    buf_free(&b->notices);
    buf_free(&b->replies);
    free(b);
}

static inline void bench_event(struct bench *b, struct event *e);

static inline void bench_read(struct bench *b, uint16_t knob)
{
    struct read_vector *v = calloc(1, sizeof *v);
    v->n = 1;
    if (b->target.unreadable) {
        v->failed = 1;
    } else {
        char version[16];
        knob_value_set_number(&v->values[0], b->target.value[knob]);
        int n = snprintf(version, sizeof version, "v%d", b->target.version[knob]);
        (void)knob_value_set_version(&v->values[0], version, (unsigned)n);
    }
    struct event e = {.kind = EVENT_READ, .u.read = {knob, v}};
    bench_event(b, &e);
    free(v);
}

static inline void bench_apply(struct bench *b, uint16_t knob, const char *bytes, unsigned len)
{
    double v;
    assert_true(num_parse_all(bytes, len, &v));
    b->target.value[knob] = v;
    b->target.version[knob]++;
}

static inline void bench_write(struct bench *b, uint16_t knob, const char *bytes, unsigned len, uint32_t action)
{
    struct event e = {.kind = EVENT_ANSWER, .u.answer = {.knob = knob, .action = action, .kind = ANSWER_OK}};
    b->target.writes++;
    if (b->target.refuse) e.u.answer.kind = ANSWER_REFUSED;
    else if (b->target.error_but_apply) e.u.answer.kind = ANSWER_ERROR;
    if (!b->target.refuse && !b->target.ignore) bench_apply(b, knob, bytes, len);
    if (!b->target.no_answer) bench_event(b, &e);
}

static inline void bench_append(struct bench *b, const struct effect *f)
{
    struct event ack = {.kind = EVENT_ACK, .u.ack = {.token = f->u.append.token, .status = STATUS_OK}};
    if (b->append_fails) ack.u.ack.status = STATUS_IO;
    b->reads_held = b->hold_reads_at_intent && f->u.append.records[0].kind == RECORD_INTENT;
    for (uint32_t i = 0; i < f->u.append.n && !b->append_fails; i++) {
        assert_true(b->log_n < BENCH_LOG_MAX);
        b->log_at[b->log_n] = b->now.us;
        b->log[b->log_n++] = record_copy(&b->log_arena, &f->u.append.records[i]);
    }
    if (!b->append_silent) bench_event(b, &ack);
}

static inline void bench_fold(struct bench *b)
{
    for (unsigned i = 0; i < b->log_n; i++) {
        struct event e = {.kind = EVENT_RECORD, .u.record = b->log[i], .has_age = b->ages,
                          .age = {b->now.us - b->log_at[i]}};
        bench_event(b, &e);
    }
    struct event e = {.kind = EVENT_FOLDED};
    bench_event(b, &e);
}

/* Effects are copied before they are carried out: their memory dies with the next step. */
static inline void bench_effects(struct bench *b, const struct update *u)
{
    b->wake = u->wake_at;
    struct arena a = ARENA_INIT;
    uint32_t n = u->n;
    struct effect *f = arena_array(&a, n ? n : 1u, sizeof *f);
    for (uint32_t i = 0; i < n; i++) {
        f[i] = u->effects[i];
        if (f[i].kind == EFFECT_APPEND) {
            struct record *r = arena_array(&a, f[i].u.append.n, sizeof *r);
            for (uint32_t j = 0; j < f[i].u.append.n; j++) r[j] = *record_copy(&a, &f[i].u.append.records[j]);
            f[i].u.append.records = r;
        } else if (f[i].kind == EFFECT_WRITE) {
            struct knob_value *v = arena_alloc(&a, sizeof *v);
            *v = *f[i].u.write.value;
            f[i].u.write.value = v;
        } else if (f[i].kind == EFFECT_NOTIFY) {
            buf_printf(&b->notices, "%s\n%s\n", f[i].u.notify.subject, f[i].u.notify.text);
        } else if (f[i].kind == EFFECT_REPLY) {
            buf_printf(&b->replies, "%s: %s\n", status_text(f[i].u.reply.status), f[i].u.reply.text);
            (void)text_copy(b->detail, sizeof b->detail, f[i].u.reply.detail);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (f[i].kind == EFFECT_APPEND) bench_append(b, &f[i]);
        else if (f[i].kind == EFFECT_READ && !b->reads_held) bench_read(b, f[i].u.read.knob);
        else if (f[i].kind == EFFECT_FOLD && !b->fold_waits) bench_fold(b);
        else if (f[i].kind == EFFECT_WRITE) {
            bench_write(b, f[i].u.write.knob, f[i].u.write.value->bytes, f[i].u.write.value->len, f[i].u.write.action);
        }
    }
    arena_free(&a);
}

static inline void bench_event(struct bench *b, struct event *e)
{
    struct update u;
    e->now = b->now;
    e->wall = bench_wall(b);
    loop_step(b->loop, e, &u);
    b->events++;
    bench_effects(b, &u);
}

static inline void bench_values(struct bench *b)
{
    uint16_t signals[B_SIGNALS];
    struct point points[B_SIGNALS];
    uint32_t n = 0;
    if (b->on_tick) b->on_tick(b);
    for (uint16_t i = 0; i < B_SIGNALS; i++) {
        if (isnan(b->signal[i])) continue;
        signals[n] = i;
        points[n++] = (struct point){b->now, b->signal[i], 0, WHY_KNOWN};
    }
    struct event e = {.kind = EVENT_VALUES, .u.values = {signals, points, n, false}};
    bench_event(b, &e);
}

/* Runs for `d`: at each instant that is a multiple of 30 s the signals are reported first. */
static inline void bench_run(struct bench *b, struct span d)
{
    struct instant end = instant_add(b->now, d);
    for (;;) {
        int64_t grid = (b->now.us / (30 * US_PER_S) + 1) * 30 * US_PER_S;
        struct instant next = instant_min((struct instant){grid}, b->wake);
        if (next.us > end.us) break;
        b->now = instant_max(b->now, next);
        if (b->now.us % (30 * US_PER_S) == 0) bench_values(b);
        struct event e = {.kind = EVENT_TIME};
        bench_event(b, &e);
    }
    b->now = end;
}

static inline void bench_start(struct bench *b) { bench_fold(b); }

/* Dies and starts again on the same log; what was in memory is gone. */
static inline void bench_restart(struct bench *b, struct span down)
{
    loop_free(b->loop);
    b->now = instant_add(b->now, down);
    b->loop = loop_new(&b->policy, b->now, bench_wall(b), (struct loop_options){.alone = true});
    assert_non_null(b->loop);
    b->wake = INSTANT_NEVER;
    bench_fold(b);
}

static inline void bench_command(struct bench *b, enum command_verb verb, const char *action)
{
    struct event e = {.kind = EVENT_COMMAND,
                      .u.command = {.verb = verb, .id = 1, .by = "li.wei", .via = "cli", .role = ROLE_ADMIN, .action = action}};
    buf_clear(&b->replies);
    bench_event(b, &e);
}

/* Names of the records since the last call, joined by spaces. */
static inline const char *bench_story(struct bench *b)
{
    static char text[4096];
    size_t n = 0;
    text[0] = '\0';
    for (; b->log_seen < b->log_n; b->log_seen++) {
        int w = snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", record_kind_name(b->log[b->log_seen]->kind));
        n += (size_t)w;
        assert_true(n < sizeof text);
    }
    return text;
}

static inline const struct record *bench_last(const struct bench *b, enum record_kind kind)
{
    for (unsigned i = b->log_n; i-- > 0;) {
        if (b->log[i]->kind == kind) return b->log[i];
    }
    return NULL;
}

static inline enum state bench_state(const struct bench *b) { return (enum state)loop_control(b->loop, 0)->state; }

#endif
