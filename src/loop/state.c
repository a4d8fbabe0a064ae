/* The loop as bytes, and copies of it: for simulator, oracle and tests. Bytes are for the build that wrote them: they hold
 * plain structs. A restart of the daemon does not use them; it folds the log. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

#define STATE_MAGIC UINT32_C(0x544c4f50)

/* All of a service that is plain data, as one block. */
struct service_plain {
    struct control control;
    struct symptom_state symptoms[POLICY_SYMPTOMS_MAX];
    struct knob_state knobs[CONTROL_KNOBS];
    struct action_state action;
    struct cause_list causes;
    struct decision decision;
    struct instant next_round, next_tick, round_began, next_read, timed_at, saved_at, first_tick, last_seen, error_since,
        down_since, deployed,
        observed_since, opened_at;
    struct wall halted_at;
    struct span round;
    uint16_t polls_out, reads_out;
    bool decided, round_open, round_is_tick, folded, warm, was_warm, importing, outage, outage_told, blind_told, maintenance;
    char model_version[64], halted_by[BY_MAX], halted_why[WORDS_MAX], request_hash[65];
    uint8_t plan_hash[32];
    struct waiting_command waiting[COMMANDS_WAITING_MAX];
    unsigned waiting_n;
    uint64_t incident_last;
    bool neighbour_harm;
    char neighbour[64], asked_by[BY_MAX], last_change[LAST_CHANGE_MAX];
};

struct loop_plain {
    struct loop_options options;
    struct instant now, started, clock_good_at;
    struct fleet_write harmful[3], recent[RECENT_ACTIONS];
    struct wall wall;
    int64_t wall_offset_us, doubt_offset_us;
    struct instant doubt_until;
    struct window windows[WINDOWS_MAX];
    unsigned recent_n, window_n;
    uint32_t window_last;
    bool fleet_breaker, storm;
    struct loop_counters counters;
    struct { uint64_t runs, errors; struct instant last; } modules[MODULE_COUNT];
};

#define EACH_ARRAY(X) X(symptoms) X(knobs) X(model_version) X(halted_by) X(halted_why) X(request_hash) X(plan_hash) \
    X(waiting) X(neighbour) X(asked_by) X(last_change)
#define EACH_FIELD(X)                                                                                                  \
    X(control) X(action) X(causes) X(decision) X(next_round) X(next_tick) X(round_began) X(next_read) X(timed_at)      \
    X(saved_at) X(first_tick) X(last_seen) X(error_since) X(down_since) X(deployed) X(observed_since) X(opened_at)     \
    X(halted_at)                                                                                                       \
    X(round) X(polls_out) X(reads_out) X(decided) X(round_open) X(round_is_tick) X(folded) X(warm) X(was_warm) X(importing) \
    X(outage) X(outage_told) X(blind_told) X(maintenance) X(waiting_n) X(incident_last) X(neighbour_harm)

static void service_to_plain(const struct service_loop *s, struct service_plain *p)
{
    memset(p, 0, sizeof *p);
#define X(f) p->f = s->f;
    EACH_FIELD(X)
#undef X
#define X(f) memcpy(p->f, s->f, sizeof p->f);
    EACH_ARRAY(X)
#undef X
    p->action.result.why = NULL;                 /* points into the program, which another run lays elsewhere */
    for (unsigned i = 0; i < COMMANDS_WAITING_MAX; i++) {
        struct command *c = &p->waiting[i].command;
        c->by = c->via = c->reason = c->action = c->request = NULL;   /* set again from the texts beside it when it runs */
    }
}

static void service_from_plain(struct service_loop *s, const struct service_plain *p)
{
#define X(f) s->f = p->f;
    EACH_FIELD(X)
#undef X
#define X(f) memcpy(s->f, p->f, sizeof p->f);
    EACH_ARRAY(X)
#undef X
}

static void save_notices(const struct service_loop *s, struct buf *out)
{
    buf_le32(out, s->deferred_n);
    for (unsigned i = 0; i < s->deferred_n; i++) {
        const struct deferred_notice *d = &s->deferred[i];
        buf_le8(out, (uint8_t)d->level);
        buf_le_bytes(out, d->subject, strlen(d->subject));
        buf_le_bytes(out, d->text, strlen(d->text));
    }
}

static void save_service(const struct service_loop *s, struct buf *out)
{
    struct service_plain *p = malloc(sizeof *p);
    struct buf part = BUF_INIT;
    CHECK_MEMORY(p);
    service_to_plain(s, p);
    buf_le_bytes(out, s->def->name, strlen(s->def->name));
    buf_le_bytes(out, p, sizeof *p);
    buf_le_bytes(out, s->intern.entries, s->intern.n * sizeof *s->intern.entries);
    buf_le_bytes(out, s->points, s->def->signal_count * sizeof *s->points);
    buf_le_bytes(out, s->evidence.items, s->def->needs.n * sizeof *s->evidence.items);
    collect_save(s->collect, &part);
    buf_le_bytes(out, part.data, part.len);
    buf_clear(&part);
    detect_save(s->detect, &part);
    buf_le_bytes(out, part.data, part.len);
    buf_free(&part);
    save_notices(s, out);
    free(p);
}

void loop_save(const struct loop *l, struct buf *out)
{
    struct loop_plain *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    *p = (struct loop_plain){.options = l->options, .now = l->now, .started = l->started, .wall = l->wall,
                             .wall_offset_us = l->wall_offset_us, .recent_n = l->recent_n,
                             .clock_good_at = l->clock_good_at, .fleet_breaker = l->fleet_breaker, .storm = l->storm,
                             .counters = l->counters, .doubt_offset_us = l->doubt_offset_us, .doubt_until = l->doubt_until,
                             .window_n = l->window_n, .window_last = l->window_last};
    fleet_count(l, &p->counters);
    memcpy(p->recent, l->recent, sizeof p->recent);
    memcpy(p->windows, l->windows, l->window_n * sizeof p->windows[0]);
    memcpy(p->harmful, l->harmful, sizeof p->harmful);
    memcpy(p->modules, l->modules, sizeof p->modules);
    buf_le32(out, STATE_MAGIC);
    buf_le_bytes(out, p, sizeof *p);
    buf_le32(out, l->service_count);
    for (uint16_t i = 0; i < l->service_count; i++) save_service(&l->services[i], out);
    free(p);
}

/* A block of exactly `size` bytes, or NULL and the reader has failed. */
static const void *block(struct reader *r, size_t size)
{
    size_t len;
    const void *p = read_le_bytes(r, &len);
    if (p && len == size) return p;
    r->failed = true;
    return NULL;
}

static bool load_intern(struct service_loop *s, struct reader *r)
{
    size_t len;
    const void *p = read_le_bytes(r, &len);
    size_t n = len / sizeof *s->intern.entries;
    if (r->failed || n * sizeof *s->intern.entries != len || n > UINT16_MAX) return false;
    intern_free(&s->intern);
    if (n == 0) return true;
    s->intern.entries = malloc(len);
    CHECK_MEMORY(s->intern.entries);
    memcpy(s->intern.entries, p, len);
    s->intern.n = s->intern.cap = (uint16_t)n;
    return true;
}

static void load_notices(struct service_loop *s, struct reader *r)
{
    uint32_t n = read_le32(r);
    for (uint32_t i = 0; i < n && !r->failed; i++) {
        enum notice level = (enum notice)read_le8(r);
        size_t a, b;
        const char *subject = (const char *)read_le_bytes(r, &a), *text = (const char *)read_le_bytes(r, &b);
        if (r->failed) return;
        char *copies[2] = {strndup(subject ? subject : "", a), strndup(text ? text : "", b)};
        CHECK(copies[0] && copies[1]);
        notice_defer(s, level, copies[0], copies[1]);
        free(copies[0]);
        free(copies[1]);
    }
}

static bool load_service(struct loop *l, struct service_loop *s, struct reader *r)
{
    size_t len;
    const char *name = (const char *)read_le_bytes(r, &len);
    if (!name || strlen(s->def->name) != len || memcmp(name, s->def->name, len) != 0) return false;
    const void *plain = block(r, sizeof(struct service_plain));
    if (!plain) return false;
    struct service_plain *p = malloc(sizeof *p);
    CHECK_MEMORY(p);
    memcpy(p, plain, sizeof *p);
    service_from_plain(s, p);
    free(p);
    service_hold_policy(s);
    if (!load_intern(s, r)) return false;
    const void *points = block(r, s->def->signal_count * sizeof *s->points);
    if (points) memcpy(s->points, points, s->def->signal_count * sizeof *s->points);
    const void *items = block(r, s->def->needs.n * sizeof *s->evidence.items);
    if (items) memcpy(s->evidence.items, items, s->def->needs.n * sizeof *s->evidence.items);
    s->evidence.at = l->now;
    s->evidence.wall = l->wall;
    const void *collect = read_le_bytes(r, &len);
    if (r->failed || !collect_load(s->collect, collect, len)) return false;
    const void *detect = read_le_bytes(r, &len);
    if (r->failed || !detect_load(s->detect, detect, len, l->now)) return false;
    load_notices(s, r);
    return !r->failed;
}

struct loop *loop_load(struct policy *policy, const void *bytes, size_t len)
{
    struct reader r = {.p = bytes, .len = len};
    if (read_le32(&r) != STATE_MAGIC) return NULL;
    const void *plain = block(&r, sizeof(struct loop_plain));
    if (!plain || read_le32(&r) != policy->service_count) return NULL;
    struct loop_plain p;
    memcpy(&p, plain, sizeof p);
    struct loop *l = loop_new(policy, p.now, p.wall, p.options);
    if (!l) return NULL;
    l->started = p.started;
    l->wall_offset_us = p.wall_offset_us;
    l->recent_n = p.recent_n;
    l->doubt_offset_us = p.doubt_offset_us;
    l->doubt_until = p.doubt_until;
    l->window_n = p.window_n;
    l->window_last = p.window_last;
    memcpy(l->windows, p.windows, sizeof l->windows);
    l->clock_good_at = p.clock_good_at;
    l->fleet_breaker = p.fleet_breaker;
    l->storm = p.storm;
    l->counters = p.counters;
    memcpy(l->recent, p.recent, sizeof l->recent);
    memcpy(l->harmful, p.harmful, sizeof l->harmful);
    memcpy(l->modules, p.modules, sizeof l->modules);
    for (uint16_t i = 0; i < l->service_count; i++) {
        bool loaded = load_service(l, &l->services[i], &r);
        fleet_wake_set(l, i);
        if (loaded) continue;
        loop_free(l);
        return NULL;
    }
    return l;
}

struct loop *loop_clone(const struct loop *l)
{
    struct buf b = BUF_INIT;
    loop_save(l, &b);
    struct loop *copy = buf_ok(&b) ? loop_load(l->policy, b.data, b.len) : NULL;
    buf_free(&b);
    for (uint16_t i = 0; copy && i < copy->service_count; i++) {   /* exact, also where the saved form re-warms */
        struct detect *exact = detect_clone(l->services[i].detect);
        CHECK_MEMORY(exact);
        detect_free(copy->services[i].detect);
        copy->services[i].detect = exact;
    }
    return copy;
}
