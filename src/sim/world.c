/* The shell of the simulated daemon: effects in, events out, one heap of things to come. */
#include "sim/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/codec.h"
#include "base/check.h"
#include "loop/control.h"
#include "sim/world_inside.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

void world_mix(struct world *w, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) w->digest = (w->digest ^ p[i]) * FNV_PRIME;
}

struct wall world_wall(const struct world *w) { return (struct wall){w->o.start.us + w->now.us}; }

struct later *world_later(struct world *w, enum later_kind kind, struct instant at)
{
    struct later *l = calloc(1, sizeof *l);
    CHECK_MEMORY(l);
    l->kind = kind;
    CHECK(heap_put(&w->heap, at, l));
    return l;
}

static void keep_record(struct world *w, const struct record *r)
{
    if (w->log_n == w->log_cap) {
        w->log_cap = w->log_cap ? w->log_cap * 2 : 256;
        w->log = realloc(w->log, w->log_cap * sizeof(const struct record *));
        CHECK_MEMORY(w->log);
    }
    struct record *copy = record_copy(&w->log_arena, r);
    CHECK_MEMORY(copy);
    record_u64(copy, RF_SEQ, w->log_n);
    w->log[w->log_n++] = copy;
    struct err e;
    buf_clear(&w->scratch);
    CHECK(audit_encode(&w->scratch, copy, &e) == STATUS_OK);
    world_mix(w, w->scratch.data, w->scratch.len);
    struct world_row row = {.t = w->now, .record = copy};
    if (w->row) w->row(w->row_ctx, &row);
    others_see_record(w, copy->kind);
}

static void fold_log(struct world *w)
{
    for (size_t i = 0; i < w->log_n; i++) {
        struct event e = {.kind = EVENT_RECORD, .u.record = w->log[i]};
        world_step(w, &e);
    }
    struct event e = {.kind = EVENT_FOLDED};
    world_step(w, &e);
}

static void carry_out(struct world *w, const struct effect *f)
{
    struct later *l;
    switch (f->kind) {
    case EFFECT_POLL:
        l = world_later(w, LATER_PAGE, instant_add(w->now, WORLD_POLL_DELAY));
        l->target = f->u.poll.target;
        l->began = w->now;
        break;
    case EFFECT_READ:
        l = world_later(w, LATER_READ, instant_add(w->now, WORLD_READ_DELAY));
        l->knob = f->u.read.knob;
        break;
    case EFFECT_WRITE:
        l = world_later(w, LATER_WRITE, instant_add(w->now, WORLD_WRITE_DELAY));
        l->knob = f->u.write.knob;
        l->action = f->u.write.action;
        l->value = *f->u.write.value;
        w->writes++;
        break;
    case EFFECT_APPEND:
        for (uint32_t i = 0; i < f->u.append.n; i++) keep_record(w, &f->u.append.records[i]);
        l = world_later(w, LATER_ACK, instant_add(w->now, WORLD_ACK_DELAY));
        l->token = f->u.append.token;
        break;
    case EFFECT_FOLD: fold_log(w); break;
    default: break;                  /* notices, saved states, points and replies have no effect on the world */
    }
}

/* A full view is made only when something changed: months are run, and most ticks say nothing new. */
static void tell_tick(struct world *w)
{
    const struct decision *d = loop_decision(w->loop, 0);
    const struct control *c = loop_control(w->loop, 0);
    uint8_t line[8] = {c->state, (uint8_t)d->kind, (uint8_t)d->reason, d->has_plan, c->active, (uint8_t)c->actions,
                       (uint8_t)d->plan.knob, (uint8_t)d->plan.cause};
    if (!d->has_plan) line[6] = line[7] = 0;
    world_mix(w, line, sizeof line);
    if (memcmp(line, w->last_row, sizeof line) == 0) return;
    memcpy(w->last_row, line, sizeof line);
    if (!w->row) return;
    struct arena a = ARENA_INIT;
    struct service_view v;
    loop_view(w->loop, 0, &a, &v);
    struct world_row row = {.t = w->now, .view = &v};
    w->row(w->row_ctx, &row);
    arena_free(&a);
}

void world_step(struct world *w, struct event *e)
{
    struct update u;
    struct loop_counters c;
    e->now = w->now;
    e->wall = world_wall(w);
    loop_step(w->loop, e, &u);
    w->wake = u.wake_at;
    loop_counters(w->loop, &c);
    bool tick = c.ticks != w->ticks;
    w->ticks = c.ticks;
    struct effect fold = {.kind = EFFECT_NOTIFY};
    for (uint32_t i = 0; i < u.n; i++) {
        if (u.effects[i].kind == EFFECT_FOLD) fold = u.effects[i];   /* last: it calls the loop again */
        else carry_out(w, &u.effects[i]);
    }
    if (tick) tell_tick(w);
    if (fold.kind == EFFECT_FOLD) carry_out(w, &fold);
}

static void later_free(struct later *l)
{
    if (l) free(l->points);
    free(l);
}

static void happen(struct world *w, struct later *l)
{
    struct event e = {.kind = EVENT_ACK};
    switch (l->kind) {
    case LATER_PAGE: target_page(w, l); break;
    case LATER_READ: target_read(w, l); break;
    case LATER_WRITE: target_write(w, l); break;
    case LATER_BY_HAND: (void)target_set(w, l->knob_name, l->text, strlen(l->text), NULL); break;
    case LATER_ACK:
        e.u.ack.token = l->token;
        e.u.ack.status = STATUS_OK;
        world_step(w, &e);
        break;
    case LATER_COMMAND:
        e.kind = EVENT_COMMAND;
        e.u.command = l->command;
        world_step(w, &e);
        break;
    case LATER_RELEASE:
        e.kind = EVENT_RELEASE;
        e.u.release.version = l->version;
        e.u.release.by = "ci";
        world_step(w, &e);
        break;
    case LATER_RECONCILE: others_reconcile(w, l); break;
    case LATER_CLOCK: w->o.start.us += l->by.us; break;
    case LATER_VALUES: target_deliver(w, l->points); break;
    }
    later_free(l);
}

void world_run(struct world *w, struct instant until)
{
    for (;;) {
        struct instant due = heap_next(&w->heap);
        struct instant next = instant_min(instant_min(due, w->wake), w->next_values);
        if (!instant_reached(until, next)) break;
        w->now = instant_max(w->now, next);
        if (instant_reached(w->now, w->next_values)) {         /* points of an instant are there before the loop looks */
            target_values(w);
            w->next_values = instant_add(w->next_values, w->o.interval);
        } else if (instant_reached(w->now, due)) {
            happen(w, heap_take(&w->heap));
        } else {
            struct event e = {.kind = EVENT_TIME};
            world_step(w, &e);
        }
    }
    w->now = instant_max(w->now, until);
}

/* Points come straight from the world: nothing is scraped and no query is asked. */
static void detach_targets(struct service_def *s, struct span tick)
{
    s->target_count = 0;
    s->prometheus = NULL;
    for (uint16_t i = 0; i < s->signal_count; i++) {
        s->signals[i].query = NULL;
        s->signals[i].range = (struct span){0};
        s->signals[i].interval = span_max(s->signals[i].interval, tick);
    }
}

struct world *world_new(const struct world_options *o, struct err *e)
{
    if (o->policy->service_count != 1) {
        err_set(e, STATUS_INVALID, "a simulated world has exactly one service, the policy has %d", (int)o->policy->service_count);
        return NULL;
    }
    struct world *w = calloc(1, sizeof *w);
    if (!w) {
        err_set(e, STATUS_MEMORY, "out of memory for the simulated world");
        return NULL;
    }
    w->o = *o;
    w->service = &o->policy->services[0];
    w->digest = FNV_START;
    w->wake = w->next_values = INSTANT_NEVER;
    prng_seed(&w->spoiler.chance, o->seed);
    for (unsigned i = 0; i < POLICY_SIGNALS_MAX; i++) w->newest[i] = NAN;
    for (unsigned i = 0; i < w->service->signal_count; i++)
        w->place[i] = (uint8_t)world_signal_place(w->service->signals[i].name);
    if (o->kind == WORLD_PLANT) w->plant = plant_new(&o->plant, o->seed, e);
    if (o->kind == WORLD_FLUID) w->fluid = fluid_new(&o->plant, o->seed, e);
    if (w->fluid && o->coarse) fluid_coarse(w->fluid, o->policy->tick.us);
    if ((o->kind == WORLD_PLANT && !w->plant) || (o->kind == WORLD_FLUID && !w->fluid)) {
        world_free(w);
        return NULL;
    }
    if (o->kind != WORLD_PLANT) {
        if (o->kind != WORLD_SCRIPT || o->interval.us == 0) w->o.interval = o->policy->tick;
        detach_targets(w->service, span_max(w->o.interval, o->policy->tick));
        w->next_values = (struct instant){0};
    }
    w->loop = loop_new(o->policy, w->now, world_wall(w), (struct loop_options){.alone = true, .save_every = SPAN_DAY(3650)});
    CHECK_MEMORY(w->loop);
    if (o->history.us > 0 && o->kind != WORLD_SCRIPT) target_history(w);
    fold_log(w);
    return w;
}

void world_free(struct world *w)
{
    if (!w) return;
    while (w->heap.n) later_free(heap_take(&w->heap));
    heap_free(&w->heap);
    for (unsigned i = 0; i < POLICY_SIGNALS_MAX; i++) {
        if (w->series[i].present) script_free(&w->series[i].script);
    }
    plant_free(w->plant);
    fluid_free(w->fluid);
    loop_free(w->loop);
    arena_free(&w->log_arena);
    buf_free(&w->scratch);
    buf_free(&w->answer);
    buf_free(&w->page);
    free(w->log);
    free(w);
}

void world_command(struct world *w, struct instant at, const struct command *c) { world_later(w, LATER_COMMAND, at)->command = *c; }

void world_release(struct world *w, struct instant at, const char *version)
{
    world_later(w, LATER_RELEASE, at)->version = version;
}

void world_by_hand(struct world *w, struct instant at, const char *knob, const char *value)
{
    struct later *l = world_later(w, LATER_BY_HAND, at);
    l->knob_name = knob;
    l->text = value;
}

void world_watch(struct world *w, void (*row)(void *ctx, const struct world_row *r), void *ctx)
{
    w->row = row;
    w->row_ctx = ctx;
}

struct instant world_now(const struct world *w) { return w->now; }
const struct loop *world_loop(const struct world *w) { return w->loop; }
uint64_t world_writes(const struct world *w) { return w->writes; }

enum status world_knob_get(const struct world *w, const char *knob, struct buf *out, struct err *e)
{
    return target_get(w, knob, out, e);
}

double world_signal(const struct world *w, const char *signal)
{
    uint16_t i = service_signal(w->service, signal);
    return i == NO_INDEX ? NAN : w->newest[i];
}

uint64_t world_digest(const struct world *w)
{
    uint64_t parts[3] = {w->digest, loop_digest(w->loop), 0};
    if (w->plant) parts[2] = plant_digest(w->plant);
    if (w->fluid) parts[2] = fluid_digest(w->fluid);
    uint64_t h = FNV_START;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned b = 0; b < 8; b++) h = (h ^ (parts[i] >> (8 * b) & 0xff)) * FNV_PRIME;
    }
    return h;
}
