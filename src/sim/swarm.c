/* One run: the event loop of the simulated machine, and effects into things to come. */
#include "sim/swarm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/load.h"
#include "sim/swarm_inside.h"

#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)
#define START_US (INT64_C(1778457600) * US_PER_S)   /* 2026-05-11T00:00:00Z, a Monday */

void swarm_mix(struct swarm *w, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t h = w->result->digest;
    for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * FNV_PRIME;
    w->result->digest = h;
}

struct instant swarm_mono(const struct swarm *w, struct instant t)
{
    return instant_is_set(t) ? (struct instant){t.us + w->mono_offset} : t;
}

struct wall swarm_wall(const struct swarm *w) { return (struct wall){START_US + w->now.us + w->wall_step}; }

void swarm_tell(struct swarm *w, const char *fmt, ...)
{
    if (!w->o.story) return;
    va_list ap;
    buf_fixed(w->o.story, (double)w->now.us / 1e6, 3);
    buf_puts(w->o.story, "  ");
    va_start(ap, fmt);
    buf_vprintf(w->o.story, fmt, ap);
    va_end(ap);
    buf_putc(w->o.story, '\n');
}

void violated(struct swarm *w, const char *fmt, ...)
{
    if (w->result->violated) return;
    struct buf b = BUF_INIT;
    va_list ap;
    buf_fixed(&b, (double)w->now.us / 1e6, 3);
    buf_puts(&b, " s: ");
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    w->result->violated = true;
    (void)text_copy(w->result->what, sizeof w->result->what, buf_text(&b));
    swarm_tell(w, "VIOLATION %s", w->result->what);
    buf_free(&b);
}

struct later *swarm_later(struct swarm *w, enum later_kind kind, struct instant at, bool of_process)
{
    struct later *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->kind = kind;
    l->life = of_process ? w->life : 0;
    CHECK(heap_put(&w->heap, at, l));
    return l;
}

void later_free(struct later *l)
{
    free(l->vector);
    free(l->points);
    free(l->signals);
    free(l);
}

static void write_effect(struct swarm *w, const struct effect *f)
{
    struct later *l = swarm_later(w, LATER_SEND, instant_add(w->now, SPAN_MS(1 + prng_below(&w->chance, 4))), true);
    l->knob = f->u.write.knob;
    l->action = f->u.write.action;
    l->epoch = f->u.write.epoch;
    l->is_undo = f->u.write.is_undo;
    l->sampled = w->now;
    l->value = *f->u.write.value;
    l->expect = *f->u.write.expect;
}

static void read_effect(struct swarm *w, const struct effect *f)
{
    struct faults_item *slow = faults_now(&w->faults, FAULTS_READ_SLOW, w->now);
    struct span d = slow ? SPAN_MS(1 + prng_below(&slow->chance, 4900)) : SPAN_MS(1);
    struct later *l = swarm_later(w, LATER_SAMPLE, instant_add(w->now, d), true);
    l->knob = f->u.read.knob;
}

static void carry_out(struct swarm *w, const struct effect *f)
{
    switch (f->kind) {
    case EFFECT_READ:
        swarm_kill_at(w, FAULTS_KILL_AT_READ);
        read_effect(w, f);
        break;
    case EFFECT_WRITE:
        swarm_kill_at(w, FAULTS_KILL_AT_WRITE);
        write_effect(w, f);
        break;
    case EFFECT_APPEND:
        swarm_append(w, f);
        swarm_kill_at(w, FAULTS_KILL_AT_APPEND);
        break;
    case EFFECT_FOLD:
        w->fold_wanted = true;
        (void)swarm_later(w, LATER_SECOND, instant_add(w->now, SPAN_S(1)), true);
        break;
    case EFFECT_SAVE_STATE:
        buf_clear(&w->state);
        buf_add(&w->state, f->u.save_state.bytes, f->u.save_state.len);
        w->state_at = w->now;
        break;
    case EFFECT_REPLY: swarm_tell(w, "reply %s: %s", status_text(f->u.reply.status), f->u.reply.text); break;
    default: break;                  /* notices and points have no effect on this world */
    }
}

static void mix_state(struct swarm *w)
{
    const struct control *c = loop_control(w->loop, 0);
    uint8_t line[8] = {c->state, c->active, c->halted, c->frozen, c->n_auto, (uint8_t)c->actions, (uint8_t)c->incidents,
                       (uint8_t)loop_decision(w->loop, 0)->reason};
    swarm_mix(w, line, sizeof line);
}

void swarm_step(struct swarm *w, struct event *e)
{
    struct update u;
    if (!w->loop) return;
    enum state was = (enum state)loop_control(w->loop, 0)->state;
    e->now = swarm_mono(w, w->now);
    e->wall = swarm_wall(w);
    loop_step(w->loop, e, &u);
    w->result->events++;
    w->wake = u.wake_at;
    const struct control *c = loop_control(w->loop, 0);
    if (was != (enum state)c->state) swarm_tell(w, "state %s -> %s", state_name(was), state_name((enum state)c->state));
    mix_state(w);
    for (uint32_t i = 0; i < u.n && !w->kill_asked; i++) carry_out(w, &u.effects[i]);
    invariants_event(w);
    if (w->kill_asked) swarm_kill(w, w->kill_len);
}

static void answer(struct swarm *w, struct later *l)
{
    struct event e = {.kind = EVENT_ANSWER, .u.answer = {.knob = l->knob, .action = l->action, .kind = l->answer}};
    char version[32];
    if (l->answer == ANSWER_KIND_OK && w->cas == CAS_VERSION && l->token) {
        snprintf(version, sizeof version, "%llu", (unsigned long long)l->token);
        e.u.answer.version = version;
    }
    swarm_tell(w, "answer %d", (int)l->answer);
    swarm_step(w, &e);
}

static void read_back(struct swarm *w, struct later *l)
{
    struct event e = {.kind = EVENT_READ, .u.read = {l->knob, l->vector}};
    if (l->knob >= w->service->knob_count) return;   /* a reload took the knob away meanwhile */
    invariants_read(w, l->knob, l->vector, l->sampled);
    swarm_step(w, &e);
}

static void command(struct swarm *w, struct later *l)
{
    struct event e = {.kind = EVENT_COMMAND};
    l->command.action = l->action_text[0] ? l->action_text : NULL;
    e.u.command = l->command;
    swarm_tell(w, "command %d %s", (int)l->command.verb, l->action_text);
    if (!w->loop) return;
    invariants_command(w, &l->command);
    swarm_step(w, &e);
}

static void deploy(struct swarm *w)
{
    struct event e = {.kind = EVENT_RELEASE, .u.release = {.version = "v2", .by = "ci"}};
    if (!w->loop) return;
    swarm_tell(w, "release");
    invariants_release(w);
    swarm_step(w, &e);
}

static void late_values(struct swarm *w, const struct later *l)
{
    struct event e = {.kind = EVENT_VALUES, .u.values = {l->signals, l->points, l->n}};
    swarm_see_judge(w, l->signals, l->points, l->n);
    swarm_step(w, &e);
}

/* A thing for a process that is gone, or that stands still, does not reach it now. */
static bool reaches(struct swarm *w, struct later *l)
{
    bool asked = l->kind == LATER_COMMAND || l->kind == LATER_RELEASE;   /* of whatever process there is then */
    if (l->life == 0 && !asked) return true;
    if (asked) l->life = w->life;
    if (l->life != w->life || !w->loop) {
        later_free(l);
        return false;
    }
    if (instant_reached(w->now, w->paused_until)) return true;
    CHECK(heap_put(&w->heap, w->paused_until, l));
    return false;
}

static void happen(struct swarm *w, struct later *l)
{
    if (!reaches(w, l)) return;
    switch (l->kind) {
    case LATER_SEND: swarm_send(w, l); break;
    case LATER_LAND: swarm_land(w, l); break;
    case LATER_ANSWER: answer(w, l); break;
    case LATER_SAMPLE: swarm_sample(w, l); break;
    case LATER_READ: read_back(w, l); break;
    case LATER_DURABLE: swarm_durable(w); break;
    case LATER_ACK: swarm_ack(w, l); break;
    case LATER_SECOND: swarm_second(w); break;
    case LATER_COMMAND: command(w, l); break;
    case LATER_FAULT: swarm_fault(w, &w->faults.items[l->item]); break;
    case LATER_CALM: swarm_calm(w); break;
    case LATER_RESTART: (void)swarm_start(w); break;
    case LATER_VALUES: late_values(w, l); break;
    case LATER_RELEASE: deploy(w); break;
    }
    later_free(l);
}

static struct instant true_wake(const struct swarm *w)
{
    if (!w->loop || !instant_is_set(w->wake)) return INSTANT_NEVER;
    return instant_max((struct instant){w->wake.us - w->mono_offset}, w->paused_until);
}

static void run(struct swarm *w)
{
    while (!w->result->violated) {
        struct instant due = heap_next(&w->heap), wake = true_wake(w);
        struct instant next = instant_min(instant_min(due, wake), w->next_values);
        if (instant_reached(next, w->end)) break;
        w->now = instant_max(w->now, next);
        if (instant_reached(w->now, w->next_values)) {
            swarm_values(w);
            w->next_values = instant_add(w->next_values, w->policy->tick);
        } else if (instant_reached(w->now, due)) {
            happen(w, heap_take(&w->heap));
        } else {
            struct event e = {.kind = EVENT_TIME};
            swarm_step(w, &e);
        }
    }
}

static void leave_out(struct swarm *w)
{
    const struct swarm_options *o = &w->o;
    w->result->items = w->faults.n;
    for (unsigned i = 0; i < w->faults.n; i++) {
        bool in = !o->has_only || (o->only[i / 64] >> (i % 64) & 1);
        w->faults.items[i].left_out = !in;
        w->result->left += in;
    }
}

static void schedule(struct swarm *w)
{
    for (unsigned i = 0; i < w->faults.n; i++) {
        struct faults_item *x = &w->faults.items[i];
        if (x->left_out || x->on_record) continue;
        x->armed = true;
        x->from = x->at;
        x->until = instant_add(x->from, x->len);
        swarm_later(w, LATER_FAULT, x->from, false)->item = (uint16_t)i;
    }
    (void)swarm_later(w, LATER_CALM, w->active_end, false);
}

/* What kind of service this seed has: how long, how many instances, which compare-and-set, which mode. */
static void draw_shape(struct swarm *w)
{
    struct prng root;
    prng_seed(&root, w->o.seed);
    prng_fork(&w->chance, &root, "swarm");
    struct prng *p = &w->chance;
    static const uint8_t hours[] = {8, 12, 24, 48};
    w->active_end.us = hours[prng_below(p, ARRAY_LEN(hours))] * US_PER_HOUR;
    w->end = instant_add(w->active_end, SWARM_CALM);
    w->instances = 1 + (unsigned)prng_below(p, SWARM_INSTANCES);
    static const uint8_t cas[] = {CAS_NONE, CAS_VALUE, CAS_VERSION, CAS_VERSION};
    w->cas = (enum control_cas)cas[prng_below(p, ARRAY_LEN(cas))];
    w->mode = prng_below(p, 4) == 0 ? MODE_CONFIRM : MODE_AUTO;
    w->hurried = prng_below(p, 3) != 0;
    faults_draw(&w->faults, w->o.seed, (struct span){w->active_end.us});
    leave_out(w);
}

static void close_run(struct swarm *w)
{
    while (w->heap.n) later_free(heap_take(&w->heap));
    heap_free(&w->heap);
    loop_free(w->loop);
    fluid_free(w->fluid);
    for (unsigned i = 0; i < w->policy_n; i++) config_free(w->policies[i]);
    invariants_free(w->inv);
    arena_free(&w->log_arena);
    buf_free(&w->state);
    buf_free(&w->scratch);
    free(w->log);
    free(w);
}

enum status swarm_run(const struct swarm_options *o, struct swarm_result *ret, struct err *e)
{
    struct swarm *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    *ret = (struct swarm_result){.seed = o->seed, .digest = FNV_START};
    w->o = *o;
    w->result = ret;
    w->inv = invariants_new();
    w->paused_until = w->last_durable = w->last_ack = (struct instant){0};
    w->next_values = (struct instant){0};
    draw_shape(w);
    if (!swarm_policies(w, e)) {
        close_run(w);
        return STATUS_INVALID;
    }
    swarm_history(w);
    swarm_target_init(w);
    schedule(w);
    CHECK(swarm_start(w));
    run(w);
    invariants_end(w);
    ret->lived = (struct span){w->now.us};
    ret->records = w->log_n;
    close_run(w);
    return STATUS_OK;
}

void swarm_list(const struct swarm_options *o, struct buf *out)
{
    struct swarm *w = calloc(1, sizeof *w);
    struct swarm_result r = {0};
    CHECK(w != NULL);
    w->o = *o;
    w->result = &r;
    draw_shape(w);
    for (unsigned i = 0; i < w->faults.n; i++) {
        if (w->faults.items[i].left_out) continue;
        faults_print(&w->faults.items[i], i, out);
        buf_putc(out, '\n');
    }
    free(w);
}
