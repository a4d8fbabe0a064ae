/* One run: the event loop of the simulated machine, and effects into things to come. */
#include "sim/swarm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/load.h"
#include "sim/swarm_real.h"

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
    return instant_is_set(t) ? (struct instant){t.us + w->p->mono_offset} : t;
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
    if (w->n > 1 && w->about) buf_printf(&b, "%s: ", w->about->def->name);
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
    l->life = of_process ? w->p->life : 0;
    CHECK(heap_put(&w->heap, at, l));
    return l;
}

static void write_effect(struct swarm *w, const struct effect *f)
{
    struct later *l = swarm_later(w, LATER_SEND, instant_add(w->now, SPAN_MS(1 + prng_below(&w->chance, 4))), true);
    l->service = f->service;
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
    struct faults_item *slow = swarm_fault_now(&w->services[f->service], FAULTS_READ_SLOW);
    struct span d = slow ? SPAN_MS(1 + prng_below(&slow->chance, 4900)) : SPAN_MS(1);
    struct later *l = swarm_later(w, LATER_SAMPLE, instant_add(w->now, d), true);
    l->service = f->service;
    l->knob = f->u.read.knob;
}

static void save_effect(struct swarm *w, const struct effect *f)
{
    struct swarm_service *s = &w->services[f->service];
    buf_clear(&s->state);
    buf_add(&s->state, f->u.save_state.bytes, f->u.save_state.len);
    s->state_at = w->now;
}

/* Who was told that another one leads must not even try. */
static void check_follower(struct swarm *w, const struct effect *f)
{
    bool acts = f->kind == EFFECT_APPEND || f->kind == EFFECT_WRITE;
    if (w->p->told && acts) violated(w, "I14 a process that knows it leads no longer goes on acting");
}

static void carry_out(struct swarm *w, const struct effect *f)
{
    bool other = f->kind == EFFECT_FOLD || f->kind == EFFECT_SAVE_STATE || f->kind == EFFECT_REPLY || f->kind == EFFECT_NOTIFY;
    check_follower(w, f);
    if (other) swarm_kill_at(w, FAULTS_KILL_AT_OTHER, f->service);
    switch (f->kind) {
    case EFFECT_READ:
        swarm_kill_at(w, FAULTS_KILL_AT_READ, f->service);
        read_effect(w, f);
        break;
    case EFFECT_WRITE:
        swarm_kill_at(w, FAULTS_KILL_AT_WRITE, f->service);
        write_effect(w, f);
        swarm_halt_at_write(w, f->service);
        break;
    case EFFECT_APPEND:
        swarm_append(w, f);
        swarm_kill_at(w, FAULTS_KILL_AT_APPEND, f->service);
        break;
    case EFFECT_FOLD:
        w->p->fold_wanted |= UINT32_C(1) << f->service;
        (void)swarm_later(w, LATER_SECOND, instant_add(w->now, SPAN_S(1)), true);
        break;
    case EFFECT_SAVE_STATE: save_effect(w, f); break;
    case EFFECT_REPLY: swarm_tell(w, "reply %s: %s", status_text(f->u.reply.status), f->u.reply.text); break;
    default: break;                  /* notices and points have no effect on this world */
    }
}

static void mix_state(struct swarm *w, uint16_t service)
{
    for (uint16_t i = 0; i < w->n; i++) {
        if (service != i && service != ALL_SERVICES) continue;
        const struct control *c = loop_control(w->p->loop, i);
        uint8_t line[8] = {c->state, c->active, c->halted, c->frozen, c->n_auto, (uint8_t)c->actions, (uint8_t)c->incidents,
                           (uint8_t)loop_decision(w->p->loop, i)->reason};
        swarm_mix(w, line, sizeof line);
    }
}

static void tell_states(struct swarm *w, const uint8_t *was)
{
    for (uint16_t i = 0; i < w->n; i++) {
        const struct control *c = loop_control(w->p->loop, i);
        if (was[i] == c->state) continue;
        swarm_tell(w, "%s: state %s -> %s", w->services[i].def->name, state_name((enum state)was[i]),
                   state_name((enum state)c->state));
    }
}

void swarm_step(struct swarm *w, struct event *e)
{
    struct swarm_process *p = w->p;
    struct update u;
    uint8_t was[SWARM_SERVICES];
    if (!p->loop) return;
    for (uint16_t i = 0; i < w->n; i++) was[i] = loop_control(p->loop, i)->state;
    e->now = swarm_mono(w, w->now);
    e->wall = swarm_wall(w);
    loop_step(p->loop, e, &u);
    w->result->events++;
    p->wake = u.wake_at;
    if (w->o.story) tell_states(w, was);
    mix_state(w, e->service);
    for (uint32_t i = 0; i < u.n && !p->kill_asked; i++) carry_out(w, &u.effects[i]);
    invariants_event(w);
    if (p->kill_asked) swarm_kill(w, p->kill_len);
}

static struct instant true_wake(const struct swarm_process *p)
{
    if (!p->loop || !instant_is_set(p->wake)) return INSTANT_NEVER;
    return instant_max((struct instant){p->wake.us - p->mono_offset}, p->paused_until);
}

static struct swarm_process *next_awake(struct swarm *w)
{
    struct swarm_process *first = &w->processes[0];
    for (unsigned i = 1; i < SWARM_PROCESSES; i++) {
        if (instant_before(true_wake(&w->processes[i]), true_wake(first))) first = &w->processes[i];
    }
    return first;
}

static void run(struct swarm *w)
{
    while (!w->result->violated) {
        struct swarm_process *awake = next_awake(w);
        struct instant due = heap_next(&w->heap), wake = true_wake(awake);
        struct instant next = instant_min(instant_min(due, wake), w->next_values);
        if (instant_reached(next, w->end)) break;
        w->now = instant_max(w->now, next);
        swarm_leader(w);
        w->about = NULL;
        if (instant_reached(w->now, w->next_values)) {
            swarm_values(w);
            w->next_values = instant_add(w->next_values, w->policy->tick);
        } else if (instant_reached(w->now, due)) {
            swarm_happen(w, heap_take(&w->heap));
        } else {
            struct event e = {.kind = EVENT_TIME, .service = w->n > 1 ? ALL_SERVICES : 0};
            w->p = awake;
            swarm_step(w, &e);
        }
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

static void close_run(struct swarm *w)
{
    real_end(w);
    while (w->heap.n) later_free(heap_take(&w->heap));
    heap_free(&w->heap);
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) loop_free(w->processes[i].loop);
    for (unsigned i = 0; i < SWARM_SERVICES; i++) {
        fluid_free(w->services[i].fluid);
        invariants_free(w->services[i].inv);
        buf_free(&w->services[i].state);
    }
    for (unsigned i = 0; i < w->policy_n; i++) config_free(w->policies[i]);
    invariants_fleet_free(w->fleet);
    arena_free(&w->log_arena);
    buf_free(&w->scratch);
    free(w->log);
    free(w);
}

static struct swarm *begin(const struct swarm_options *o, struct swarm_result *r)
{
    struct swarm *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->o = *o;
    w->result = r;
    w->p = &w->processes[0];
    w->fleet = invariants_fleet_new();
    for (unsigned i = 0; i < SWARM_PROCESSES; i++) {
        struct swarm_process *p = &w->processes[i];
        p->queue_end = &p->queue;
        p->wake = INSTANT_NEVER;
    }
    for (uint16_t i = 0; i < SWARM_SERVICES; i++) {
        w->services[i].w = w;
        w->services[i].index = i;
        w->services[i].inv = invariants_new();
    }
    swarm_shape(w);
    return w;
}

enum status swarm_run(const struct swarm_options *o, struct swarm_result *ret, struct err *e)
{
    *ret = (struct swarm_result){.seed = o->seed, .digest = FNV_START};
    struct swarm *w = begin(o, ret);
    if (!swarm_policies(w, e)) {
        close_run(w);
        return STATUS_INVALID;
    }
    swarm_history(w);
    for (unsigned i = 0; i < w->n; i++) swarm_target_init(&w->services[i]);
    schedule(w);
    if (w->real) real_begin(w);
    (void)swarm_start(w);
    run(w);
    invariants_end(w);
    if (w->disk && !ret->violated) real_forge(w);
    ret->lived = (struct span){w->now.us * w->n};
    ret->records = w->log_n;
    for (unsigned i = 0; i < w->faults.n; i++) ret->bites[w->faults.items[i].kind] += w->faults.items[i].bites;
    close_run(w);
    return STATUS_OK;
}

void swarm_about(const struct swarm_options *o, struct buf *out)
{
    static const char *const cas[] = {[CAS_NONE] = "no compare-and-set", [CAS_VALUE] = "compare-and-set by value",
                                      [CAS_VERSION] = "versions"};
    struct swarm_result r = {0};
    struct swarm *w = begin(o, &r);
    buf_printf(out, "seed %llu: %d h, %u service%s on %u instance%s, %s, ", (unsigned long long)o->seed,
               (int)(w->active_end.us / US_PER_HOUR), w->n, w->n > 1 ? "s" : "", w->instances, w->instances > 1 ? "s" : "",
               cas[w->cas]);
    buf_printf(out, "mode %s, %s intervals, log in %s", mode_name((enum mode)w->mode), w->hurried ? "short" : "shipped",
               w->real ? "the real store" : "a list");
    if (w->groups) buf_printf(out, ", groups of %u", w->groups);
    if (w->n > 1) buf_printf(out, ", %u changes an hour", w->per_hour);
    buf_putc(out, '\n');
    close_run(w);
}

void swarm_list(const struct swarm_options *o, struct buf *out)
{
    struct swarm_result r = {0};
    struct swarm *w = begin(o, &r);
    for (unsigned i = 0; i < w->faults.n; i++) {
        if (w->faults.items[i].left_out) continue;
        faults_print(&w->faults.items[i], i, out);
        buf_putc(out, '\n');
    }
    close_run(w);
}
