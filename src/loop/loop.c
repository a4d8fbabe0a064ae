/* The one entry: an event in, effects out. */
#include "loop/loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

#define CLOCK_FREEZE_TICKS 3

struct effect *loop_effect(struct loop *l, enum effect_kind kind, uint16_t service)
{
    if (l->effect_n == l->effect_cap) {
        uint32_t cap = l->effect_cap ? l->effect_cap * 2 : 32;
        struct effect *grown = realloc(l->effects, cap * sizeof *grown);
        CHECK_MEMORY(grown);
        l->effects = grown;
        l->effect_cap = cap;
    }
    struct effect *e = &l->effects[l->effect_n++];
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->service = service;
    return e;
}

char *loop_text(struct loop *l, struct buf *b)
{
    char *copy = arena_strdup(&l->arena, buf_text(b));
    CHECK_MEMORY(copy);
    buf_free(b);
    return copy;
}

void loop_beat(struct loop *l, enum module m)
{
    l->modules[m].runs++;
    l->modules[m].last = l->now;
}

struct wall wall_at(const struct loop *l, struct instant t)
{
    if (!instant_is_set(t)) return WALL_NONE;
    return (struct wall){t.us + l->wall_offset_us};
}

struct loop *loop_new(struct policy *policy, struct instant now, struct wall wall, struct loop_options options)
{
    struct loop *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    *l = (struct loop){.policy = policy, .options = options, .now = now, .started = now, .wall = wall,
                       .clock_good_at = INSTANT_NONE, .doubt_until = INSTANT_NONE,
                       .harmful = {{0, INSTANT_NONE}, {0, INSTANT_NONE}, {0, INSTANT_NONE}},
                       .wall_offset_us = wall.us - now.us, .service_count = policy->service_count};
    policy->references++;
    l->services = calloc(policy->service_count ? policy->service_count : 1, sizeof *l->services);
    if (!l->services) {
        loop_free(l);
        return NULL;
    }
    for (uint16_t i = 0; i < policy->service_count; i++) {
        if (!service_init(&l->services[i], policy, i, now, options.cold)) {
            loop_free(l);
            return NULL;
        }
        service_options(l, &l->services[i]);
    }
    for (unsigned m = 0; m < MODULE_COUNT; m++) l->modules[m].last = now;
    if (fleet_wakes_init(l)) return l;
    loop_free(l);
    return NULL;
}

void loop_free(struct loop *l)
{
    if (!l) return;
    for (uint16_t i = 0; l->services && i < l->service_count; i++) service_free(&l->services[i]);
    l->policy->references--;
    free(l->services);
    free(l->wakes);
    free(l->effects);
    arena_free(&l->arena);
    free(l);
}

const struct policy *loop_policy(const struct loop *l) { return l->policy; }

const struct control *loop_control(const struct loop *l, uint16_t service)
{
    CHECK(service < l->service_count);
    return &l->services[service].control;
}

bool loop_may_send(const struct loop *l, uint16_t service, uint32_t epoch)
{
    return service < l->service_count && l->services[service].control.epoch == epoch;
}

const struct decision *loop_decision(const struct loop *l, uint16_t service)
{
    CHECK(service < l->service_count);
    return &l->services[service].decision;
}

static void freeze_all(struct loop *l, enum control_event_kind kind, uint8_t bits)
{
    for (uint16_t i = 0; i < l->service_count; i++) {
        struct control_event e = {.kind = kind, .now = l->now, .bits = bits, .knob = NO_KNOB};
        drive(l, &l->services[i], &e, NULL);
        fleet_wake_set(l, i);
    }
}

/* The core sees a clock step by itself: wall and monotonic time come with every event. */
static void watch_clock(struct loop *l, const struct event *e)
{
    int64_t offset = e->wall.us - e->now.us, moved = offset - l->wall_offset_us;
    int64_t before = l->wall_offset_us;
    l->wall_offset_us = offset;
    if (moved > CLOCK_STEP.us || moved < -CLOCK_STEP.us) {
        l->clock_good_at = instant_add(l->now, (struct span){CLOCK_FREEZE_TICKS * l->policy->tick.us});
        windows_clock_step(l, before);
        freeze_all(l, CE_FREEZE, FREEZE_CLOCK);
    }
}

static void step_health(struct loop *l, struct service_loop *s, const struct event *e)
{
    uint8_t set = e->u.health.set & (uint8_t)~FREEZE_LEASE;
    if (e->u.health.set & FREEZE_LEASE) {      /* row 51: a follower; it leads again when its log is given anew */
        struct control_event lost = {.kind = CE_LEASE_LOST, .now = l->now, .knob = NO_KNOB};
        drive(l, s, &lost, NULL);
    }
    if (set) {
        struct control_event freeze = {.kind = CE_FREEZE, .now = l->now, .bits = set, .knob = NO_KNOB};
        drive(l, s, &freeze, NULL);
    }
    if (e->u.health.clear & FREEZE_LEASE) {
        s->control.follower = false;
        service_refold(l, s);
    }
    uint8_t clear = e->u.health.clear & (uint8_t)~FREEZE_LEASE;
    if (clear) {
        struct control_event thaw = {.kind = CE_THAW, .now = l->now, .bits = clear, .knob = NO_KNOB};
        drive(l, s, &thaw, NULL);
    }
}

static void step_release(struct loop *l, struct service_loop *s, const char *version, const char *by)
{
    (void)by;
    struct control_event e = {.kind = CE_RELEASE, .now = l->now, .knob = NO_KNOB};
    if (version) (void)text_copy(s->model_version, sizeof s->model_version, version);
    s->deployed = l->now;
    detect_release(s->detect, l->now);
    drive(l, s, &e, NULL);
}

/* The rounds of a fleet are spread over the tick, else the page that matters waits behind those of all the others. Who has
 * something open is looked at at once. */
static struct span turn_of(const struct loop *l, const struct service_loop *s)
{
    const struct control *c = &s->control;
    bool open = c->incident_open || c->halted || l->options.in_step;
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        const struct control_slot *a = &c->knobs[k].slot;
        open = open || a->late_open || a->unacknowledged || !story_ended((enum story)a->story);
    }
    if (open) return (struct span){0};
    return (struct span){s->policy->tick.us / l->service_count * service_index(l, s)};
}

static void step_folded(struct loop *l, struct service_loop *s)
{
    bool first = !s->folded, was_halted = s->control.halted && s->folded;
    struct control_event e = {.kind = CE_FOLDED, .now = l->now, .knob = NO_KNOB};
    s->folded = true;
    drive(l, s, &e, NULL);
    if (was_halted && !s->control.halted) {   /* the record of a halt was lost with a failing store: write it now */
        struct control_event halt = {.kind = CE_HALT, .now = l->now, .knob = NO_KNOB};
        drive(l, s, &halt, NULL);
    }
    s->next_round = s->next_tick = first ? instant_add(l->now, turn_of(l, s)) : l->now;
}

/* An answer is only a hint. One that nobody waits for any more (the log was folded again meanwhile, another action runs) must
 * not be taken for the answer to another write: a refusal would close that one's late watch. */
static bool answer_is_awaited(const struct service_loop *s, const struct event *e)
{
    const struct control *c = &s->control;
    bool writing = c->state == STATE_WRITING || c->state == STATE_UNDO_WRITING;
    return writing && c->active == e->u.answer.knob && c->knobs[c->active].slot.action == e->u.answer.action;
}

static void step_answer(struct loop *l, struct service_loop *s, const struct event *e)
{
    struct control_event c = {.kind = CE_ANSWER, .now = l->now, .knob = (uint8_t)e->u.answer.knob};
    c.answer = e->u.answer.kind;
    if (e->u.answer.version) {
        c.answer_version = intern_text(&s->intern, e->u.answer.version, (uint16_t)strlen(e->u.answer.version), true);
    }
    loop_beat(l, MODULE_EXECUTE);
    if (answer_is_awaited(s, e)) drive(l, s, &c, NULL);
}

static void step_ack(struct loop *l, struct service_loop *s, const struct event *e)
{
    bool good = e->u.ack.status == STATUS_OK;
    struct control_event c = {.kind = good ? CE_ACK : CE_APPEND_FAILED, .now = l->now, .knob = NO_KNOB};
    c.token = (uint32_t)e->u.ack.token;
    drive(l, s, &c, NULL);
    if (good && !s->control.waiting_ack) notice_flush(l, s);
}

static void step_state(struct loop *l, struct service_loop *s, const struct event *e)
{
    if (!detect_load(s->detect, e->u.state.bytes, e->u.state.len, l->now)) {
        notice(l, s, NOTICE_WARN, "baselines lost", "the saved baselines could not be read, so the service learns anew");
        return;
    }
    s->last_seen = instant_sub(l->now, e->u.state.age);
}

/* Somebody watched as long as points of the judge were kept. */
static void step_refill(struct service_loop *s, const struct event *e)
{
    uint32_t n = e->u.refill.n;
    if (s->folded || n == 0 || e->u.refill.signal >= s->def->signal_count) return;
    detect_refill(s->detect, e->u.refill.signal, e->u.refill.points, n);
    bool judge = e->u.refill.signal == s->def->judge.latency, seen = instant_is_set(s->last_seen);
    if (judge && seen) s->last_seen = instant_max(s->last_seen, e->u.refill.points[n - 1].at);
}

static void step_history(struct loop *l, struct service_loop *s, const struct event *e)
{
    if (!s->importing) {
        detect_import_begin(s->detect);
        s->importing = true;
    }
    if (e->u.history.signal < s->def->signal_count && e->u.history.n > 0) {
        detect_import(s->detect, e->u.history.signal, e->u.history.points, e->u.history.walls, e->u.history.n);
    }
    if (!e->u.history.last) return;
    detect_import_end(s->detect, l->now, l->wall);
    s->importing = false;
}

static void step_service(struct loop *l, uint16_t service, const struct event *e)
{
    struct service_loop *s = &l->services[service];
    switch (e->kind) {
    case EVENT_TIME: round_time(l, s); break;
    case EVENT_PAGE: round_page(l, s, e); break;
    case EVENT_VALUES: round_values(l, s, e); break;
    case EVENT_READ: round_read(l, s, e); break;
    case EVENT_ANSWER: step_answer(l, s, e); break;
    case EVENT_ACK: step_ack(l, s, e); break;
    case EVENT_COMMAND: command_take(l, s, &e->u.command); break;
    case EVENT_RELEASE: step_release(l, s, e->u.release.version, e->u.release.by); break;
    case EVENT_RECORD: story_fold(l, s, e); break;
    case EVENT_FOLDED: step_folded(l, s); break;
    case EVENT_STATE: step_state(l, s, e); break;
    case EVENT_REFILL: step_refill(s, e); break;
    case EVENT_HISTORY: step_history(l, s, e); break;
    case EVENT_HEALTH: step_health(l, s, e); break;
    case EVENT_RELOAD: break;
    }
    fleet_wake_set(l, service);
}

/* Services of the new policy keep the state of the old one's by name; new ones start, gone ones end. */
static void step_reload(struct loop *l, const struct event *e)
{
    struct policy *p = e->u.reload.policy;
    struct service_loop *fresh = calloc(p->service_count ? p->service_count : 1, sizeof *fresh);
    CHECK_MEMORY(fresh);
    p->references++;
    struct service_loop *old = l->services;
    uint16_t old_n = l->service_count;
    struct policy *old_policy = l->policy;
    for (uint16_t i = 0; i < p->service_count; i++) {
        uint16_t was = policy_service(old_policy, p->services[i].name);
        if (was != NO_INDEX) {
            fresh[i] = old[was];
            memset(&old[was], 0, sizeof old[was]);
        } else {
            CHECK_MEMORY(service_init(&fresh[i], p, i, l->now, l->options.cold));
            service_options(l, &fresh[i]);
        }
    }
    l->services = fresh;
    l->service_count = p->service_count;
    l->policy = p;
    for (uint16_t i = 0; i < p->service_count; i++) {
        struct service_loop *s = &fresh[i];
        if (s->policy != p) CHECK_MEMORY(service_adopt(l, s, p, i, e->u.reload.by));
        else loop_effect(l, EFFECT_FOLD, i);
    }
    for (uint16_t i = 0; i < old_n; i++) service_free(&old[i]);
    free(old);
    old_policy->references--;
    CHECK_MEMORY(fleet_wakes_init(l));
}

/* One command to all services has one reply. */
static void step_all(struct loop *l, const struct event *e)
{
    struct event each = *e;
    if (e->kind == EVENT_COMMAND) each.u.command.id = 0;
    bool lifts = e->kind == EVENT_COMMAND && e->u.command.verb == COMMAND_RESUME && e->u.command.role >= ROLE_ADMIN;
    if (lifts) windows_acknowledge_fleet(l, &e->u.command);
    bool time = e->kind == EVENT_TIME;           /* a thousand times a second in a large fleet, each time for a few of it */
    uint32_t i = time ? fleet_next_due(l, 0) : 0;
    while (i < l->service_count) {
        step_service(l, (uint16_t)i, &each);
        i = time ? fleet_next_due(l, i + 1) : i + 1;
    }
    if (e->kind == EVENT_COMMAND) command_reply(l, e->u.command.id, STATUS_OK, "done for all services", "");
}

static void thaw_clock(struct loop *l)
{
    if (!instant_is_set(l->clock_good_at) || !instant_reached(l->now, l->clock_good_at)) return;
    l->clock_good_at = INSTANT_NONE;
    freeze_all(l, CE_THAW, FREEZE_CLOCK);
}

void loop_step(struct loop *l, const struct event *e, struct update *ret)
{
    arena_reset(&l->arena);
    l->effect_n = 0;
    l->now = instant_max(l->now, e->now);
    l->wall = e->wall;
    watch_clock(l, e);
    if (e->kind == EVENT_RELOAD) {
        step_reload(l, e);
    } else if (e->kind == EVENT_RECORD && loop_record_of_all(e->u.record)) {
        windows_fold(l, e);
    } else if (e->kind == EVENT_COMMAND && windows_command(l, e->service, &e->u.command)) {
        /* windows belong to the loop, not to one service */
    } else if (e->service == ALL_SERVICES) {
        step_all(l, e);
    } else if (e->service < l->service_count) {
        step_service(l, e->service, e);
    }
    if (e->kind == EVENT_FOLDED) fleet_find_storm(l);
    thaw_clock(l);
    *ret = (struct update){l->effects, l->effect_n, fleet_wake(l)};
}
