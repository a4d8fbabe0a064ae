#include "scenario/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "loop/control.h"

#define TICK SPAN_S(30)

/* ---- scripts ---- */

bool line_parse(const char *text, struct line *ret)
{
    struct instant from = {0};
    *ret = (struct line){.n = 0};
    while (*text) {
        size_t len = strcspn(text, " ");
        struct span at;
        double v = NAN;
        if (*text == '@') {
            if (span_parse(text + 1, (unsigned)(len - 1), &at) != len - 1) return false;
            from = (struct instant){at.us};
        } else {
            if (ret->n == PIECES_MAX || (*text != '_' && !num_parse_all(text, len, &v))) return false;
            ret->from[ret->n] = from;
            ret->value[ret->n++] = v;
        }
        text += len;
        text += strspn(text, " ");
    }
    return ret->n > 0;
}

double line_at(const struct line *l, struct instant t)
{
    double v = NAN;
    for (unsigned i = 0; i < l->n; i++) {
        if (instant_reached(t, l->from[i])) v = l->value[i];
    }
    return v;
}

/* ---- effects ---- */

static void answer_read(struct world *w, uint16_t service, uint16_t knob)
{
    const struct target *t = &w->services[service].target;
    struct read_vector *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    v->n = (uint16_t)t->n[knob];
    if (t->unreadable || v->n == 0) v->failed = 1;
    for (unsigned i = 0; i < v->n; i++) {
        char version[16];
        int len = snprintf(version, sizeof version, "v%u", t->version[knob]);
        knob_value_set_number(&v->values[i], t->value[knob][i]);
        (void)knob_value_set_version(&v->values[i], version, (unsigned)len);
    }
    struct event e = {.kind = EVENT_READ, .service = service, .u.read = {knob, v}};
    world_send(w, &e);
    free(v);
}

static void answer_write(struct world *w, const struct effect *f, double value)
{
    uint16_t knob = f->u.write.knob;
    struct watched *s = &w->services[f->service];
    struct target *t = &s->target;
    struct event e = {.kind = EVENT_ANSWER, .service = f->service,
                      .u.answer = {.knob = knob, .action = f->u.write.action, .kind = ANSWER_OK}};
    if (!f->u.write.is_undo) {
        s->sends++;
        s->last_send = w->now;
    }
    if (t->refuses) e.u.answer.kind = ANSWER_REFUSED;
    else if (!t->ignores) {
        for (unsigned i = 0; i < t->n[knob]; i++) t->value[knob][i] = value;
        t->version[knob]++;
    }
    world_send(w, &e);
}

static void answer_append(struct world *w, const struct effect *f)
{
    struct event e = {.kind = EVENT_ACK, .service = f->service, .u.ack = {.token = f->u.append.token, .status = STATUS_OK}};
    if (w->store_fails) e.u.ack.status = STATUS_IO;
    if (f->service != ALL_SERVICES && f->u.append.token) world_send(w, &e);
}

static void fold(struct world *w, uint16_t service)
{
    const char *name = service == ALL_SERVICES ? NULL : w->policy->services[service].name;
    for (unsigned i = 0; i < w->log_n; i++) {
        const char *of = record_get_text(w->log[i], RF_SERVICE);
        uint16_t to = policy_service(w->policy, of);
        if (name && strcmp(of, name) != 0) continue;
        struct event e = {.kind = EVENT_RECORD, .service = to == NO_INDEX ? ALL_SERVICES : to, .u.record = w->log[i]};
        world_send(w, &e);
    }
    struct event e = {.kind = EVENT_FOLDED, .service = service};
    world_send(w, &e);
}

static void keep(struct world *w, const struct effect *f)
{
    for (uint32_t i = 0; i < f->u.append.n && !w->store_fails; i++) {
        CHECK(w->log_n < LOG_MAX);
        w->log[w->log_n++] = record_copy(&w->log_arena, &f->u.append.records[i]);
    }
}

/* Effects die with the next step: what answers need is copied first. */
static void carry_out(struct world *w, const struct update *u)
{
    uint32_t n = u->n;
    struct effect *f = calloc(n ? n : 1u, sizeof *f);
    double *value = calloc(n ? n : 1u, sizeof *value);
    CHECK(f && value);
    w->wake = u->wake_at;
    for (uint32_t i = 0; i < n; i++) {
        f[i] = u->effects[i];
        if (f[i].kind == EFFECT_APPEND) keep(w, &f[i]);
        if (f[i].kind == EFFECT_WRITE) value[i] = f[i].u.write.value->decimal;
        if (f[i].kind == EFFECT_NOTIFY) buf_printf(&w->notices, "%s: %s\n", f[i].u.notify.subject, f[i].u.notify.text);
        if (f[i].kind == EFFECT_REPLY) buf_printf(&w->replies, "%s: %s\n", status_text(f[i].u.reply.status), f[i].u.reply.text);
    }
    bool kill = false;
    unsigned life = w->life;         /* an answer may lead to the end of this process */
    for (uint32_t i = 0; i < n && !kill && w->life == life; i++) {
        if (f[i].kind == EFFECT_APPEND) answer_append(w, &f[i]);
        else if (f[i].kind == EFFECT_READ) answer_read(w, f[i].service, f[i].u.read.knob);
        else if (f[i].kind == EFFECT_FOLD) fold(w, f[i].service);
        else if (f[i].kind == EFFECT_WRITE && w->kill_at_send) kill = true;
        else if (f[i].kind == EFFECT_WRITE) answer_write(w, &f[i], value[i]);
    }
    free(f);
    free(value);
    if (!kill) return;
    w->kill_at_send = false;
    world_restart(w);
}

void world_send(struct world *w, struct event *e)
{
    struct update u;
    e->now = w->now;
    e->wall = (struct wall){w->start.us + w->now.us};
    loop_step(w->loop, e, &u);
    carry_out(w, &u);
}

/* ---- time ---- */

static void report(struct world *w, uint16_t service)
{
    const struct service_def *d = &w->policy->services[service];
    uint16_t signals[POLICY_SIGNALS_MAX];
    struct point points[POLICY_SIGNALS_MAX];
    uint32_t n = 0;
    for (uint16_t i = 0; i < d->signal_count; i++) {
        double v = line_at(&w->services[service].lines[i], w->now);
        if (isnan(v)) continue;
        signals[n] = i;
        points[n++] = (struct point){w->now, v, 0, WHY_KNOWN};
    }
    struct event e = {.kind = EVENT_VALUES, .service = service, .u.values = {signals, points, n, false}};
    world_send(w, &e);
}

static void note_reasons(struct world *w)
{
    struct loop_counters c;
    loop_counters(w->loop, &c);
    if (c.ticks == w->ticks) return;
    w->ticks = c.ticks;
    for (uint16_t i = 0; i < w->policy->service_count; i++) {
        w->services[i].reasons |= UINT64_C(1) << loop_decision(w->loop, i)->reason;
    }
    if (w->on_tick) w->on_tick(w->ctx, w);
}

void world_go(struct world *w, struct instant until)
{
    for (;;) {
        struct instant grid = {(w->now.us / TICK.us + 1) * TICK.us}, next = instant_min(grid, w->wake);
        if (next.us > until.us) break;
        w->now = instant_max(w->now, next);
        for (uint16_t i = 0; i < w->policy->service_count && w->now.us % TICK.us == 0; i++) report(w, i);
        struct event e = {.kind = EVENT_TIME, .service = ALL_SERVICES};
        world_send(w, &e);
        note_reasons(w);
    }
    w->now = instant_max(w->now, until);
}

/* ---- begin and end ---- */

static void open_loop(struct world *w)
{
    w->life++;
    w->loop = loop_new(w->policy, w->now, (struct wall){w->start.us + w->now.us},
                       (struct loop_options){.alone = true, .save_every = SPAN_DAY(3650)});
    CHECK(w->loop != NULL);
    w->wake = INSTANT_NEVER;
    w->ticks = 0;
}

void world_restart(struct world *w)
{
    struct buf saved[SERVICES_MAX];
    for (uint16_t i = 0; i < w->policy->service_count; i++) {
        saved[i] = (struct buf)BUF_INIT;
        loop_service_state(w->loop, i, &saved[i]);
    }
    loop_free(w->loop);
    open_loop(w);
    for (uint16_t i = 0; i < w->policy->service_count; i++) {
        struct event e = {.kind = EVENT_STATE, .service = i, .u.state = {saved[i].data, saved[i].len, {0}}};
        world_send(w, &e);
        buf_free(&saved[i]);
    }
    fold(w, ALL_SERVICES);
}

void world_begin(struct world *w, struct policy *p, struct wall start)
{
    CHECK(p->service_count <= SERVICES_MAX);
    w->policy = p;
    w->start = start;
    for (unsigned i = 0; i < SERVICES_MAX; i++) w->services[i].last_send = INSTANT_NONE;
    open_loop(w);
    fold(w, ALL_SERVICES);
}

void world_end(struct world *w)
{
    loop_free(w->loop);
    arena_free(&w->log_arena);
    buf_free(&w->notices);
    buf_free(&w->replies);
}
