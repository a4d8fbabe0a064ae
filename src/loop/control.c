/* The control step: which row of the table fires on an event. */
#include "loop/control.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "loop/control_step.h"

struct row {
    uint16_t number;
    uint32_t states, events;
    control_guard *guard;
    control_act *act;
};

static const struct row rows[] = {
#define ROW(num, text, states, events, guard, act, ...) {num, states, events, guard, act},
#include "loop/control_table.def"
#undef ROW
};

static const struct control_row row_texts[] = {
#define ROW(num, text, states, events, guard, act, when, next, effects) {num, text, #states, when, next, effects},
#include "loop/control_table.def"
#undef ROW
};

enum row_place {
#define ROW(num, ...) ROW_##num,
#include "loop/control_table.def"
#undef ROW
};

/* loop.md "Order in one tick (first match wins)". Rows of commands exclude one another by their event. */
#define R(num) ROW_##num
static const uint8_t order[] = {
    R(22), R(51), R(490), R(49), R(50), R(32), R(48), R(47), R(15), R(17), R(6),       /* what must not wait */
    R(28), R(41), R(33), R(31), R(24), R(27), R(25), R(29), R(340), R(34), R(35), R(36), R(37), R(38), R(30),
                                       /* a forward write; cancelled wins inside 24, 27, 31, 33 */
    R(20), R(21), R(23), R(40), R(410), R(39), R(42), R(43), R(44), R(45),             /* sends and undos */
    R(26), R(5), R(19), R(7), R(9), R(46), R(16), R(10), R(12), R(11), R(13), R(14), R(18),   /* idle */
    R(3), R(4), R(8), R(2), R(1), R(52), R(53), R(54),
};
#undef R

const struct control_row *control_rows(unsigned *ret_count)
{
    *ret_count = ARRAY_LEN(row_texts);
    return row_texts;
}

const char *story_name(enum story s)
{
#define X(id) #id,
    static const char *const names[] = {STORY_TABLE(X)};
#undef X
    CHECK((unsigned)s < STORY_COUNT);
    return names[s];
}

bool story_ended(enum story s)
{
    switch (s) {
    case STORY_NONE:
    case STORY_FAILED:
    case STORY_ABORTED:
    case STORY_UNDONE:
    case STORY_UNDO_FAILED:
    case STORY_YIELDED:
    case STORY_HELD:
    case STORY_KEPT:
    case STORY_PARTIAL: return true;
    default: return false;
    }
}

static unsigned first_in_same_place(const struct service_def *s, unsigned knob)
{
    const struct access_def *mine = &s->knobs[knob].read;
    for (unsigned i = 0; i < knob; i++) {
        const struct access_def *other = &s->knobs[i].read;
        if (mine->kind != other->kind) continue;
        if (mine->kind == ACCESS_HTTP && text_eq(mine->url, other->url)) return i;
        if (mine->kind == ACCESS_FILE && text_eq(mine->path, other->path)) return i;
    }
    return knob;
}

struct control_policy control_policy_of(const struct service_def *s)
{
    struct control_policy p = {
        .knob_count = (uint8_t)s->knob_count,
        .late_watch = s->timing.late_watch,
        .approval = s->timing.approval,
        .release_watch = s->timing.release_watch,
        .append_timeout = SPAN_S(5),
        .renotify = s->timing.renotify,
        .protect_cool = SPAN_HOUR(24),
        .suspend = SPAN_HOUR(24),
        .freeze_knob = SPAN_HOUR(24),
    };
    CHECK(s->knob_count <= CONTROL_KNOBS);
    for (unsigned i = 0; i < s->knob_count; i++) {
        const struct knob_def *k = &s->knobs[i];
        bool versions = k->cas && k->read.version_header != NULL;
        p.knobs[i] = (struct control_knob_policy){
            .versions_with = (uint8_t)first_in_same_place(s, i),
            .class = (uint8_t)k->class,
            .tier = (uint8_t)k->tier,
            .cas = (uint8_t)(versions ? CAS_VERSION : k->cas ? CAS_VALUE : CAS_NONE),
            .listed = k->tier < 3,
            .interval = k->interval,
            .protect = k->protect,
            .readback = k->readback,
        };
    }
    return p;
}

void control_init(struct control *c, const struct control_policy *p, struct instant now)
{
    (void)p;
    memset(c, 0, sizeof *c);
    c->state = STATE_RECOVERING;
    c->active = NO_KNOB;
    c->symptom = NO_INDEX;
    c->state_since = now;
    c->onset = c->opened = c->gap_until = c->would_gap_until = c->release_until = c->ack_sent = c->mix_since = INSTANT_NONE;
    c->deadline = c->phase_until = c->renotify_at = INSTANT_NEVER;
    c->harmful[0] = c->harmful[1] = INSTANT_NONE;
    for (unsigned i = 0; i < CLASS_COUNT; i++) c->suspended[i] = INSTANT_NONE;
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) {
        struct control_knob *knob = &c->knobs[k];
        knob->would_until = knob->interval_until = knob->protect_until = knob->cool_until = knob->frozen_until = INSTANT_NONE;
        knob->failed_at = knob->skip_until = knob->believed_since = INSTANT_NONE;
        knob->slot.late_after = knob->slot.applied_at = knob->slot.intent_at = INSTANT_NONE;
        knob->slot.cause = NO_INDEX;
    }
}

void control_restart(struct control *c, const struct control_policy *p, struct instant now)
{
    bool halt = c->halt_owed || c->halted, release = c->release_owed || instant_before(now, c->release_until);
    uint8_t frozen = c->frozen & (uint8_t)~FREEZE_STORE;
    control_init(c, p, now);
    c->halt_owed = halt;
    c->release_owed = release;
    c->frozen = frozen;
}

static bool is_command(enum control_event_kind k) { return k >= CE_APPROVE && k <= CE_RETRY; }

static bool fire_first(struct step *s)
{
    uint32_t state = 1u << s->c->state, event = 1u << s->e->kind;
    for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
        const struct row *row = &rows[order[i]];
        if (!(row->states & state) || !(row->events & event) || !row->guard(s)) continue;
        s->o->row = row->number;
        row->act(s);
        return true;
    }
    return false;
}

/* MIX must last while an action is watched; the time is kept here so that guards only look. */
static void track_mix(struct step *s)
{
    struct control *c = s->c;
    if (c->state != STATE_SETTLING && c->state != STATE_OBSERVING) return;
    if (!has_read(s, c->active)) return;
    bool mix = class_of(s, c->active) == READ_MIX;
    if (!mix) c->mix_since = INSTANT_NONE;
    else if (!instant_is_set(c->mix_since)) c->mix_since = s->e->now;
}

static void take_ack(struct step *s)
{
    struct control *c = s->c;
    if (!c->waiting_ack || s->e->token != c->token) return;
    c->waiting_ack = false;
    s->o->notes |= c->store_failed ? CN_REFOLD : CN_READ_SOON;
}

/* What a store that fails, or a follower, still lets through. */
static bool held_off(struct step *s)
{
    enum control_event_kind k = s->e->kind;
    bool always = k == CE_FREEZE || k == CE_THAW || k == CE_FOLDED || k == CE_LEASE_LOST || k == CE_HALT || k == CE_HALT_UNDO;
    if (s->c->follower && !always) {
        if (is_command(k)) refuse(s, REASON_NOT_LEADER, "another replica leads this service; ask it there");
        return true;
    }
    if (s->c->store_failed && k == CE_RELEASE) s->c->release_owed = true;
    if (s->c->store_failed && !always) {
        if (is_command(k)) refuse(s, REASON_FROZEN, "the audit store fails, and nothing is done without a record");
        return true;
    }
    return false;
}

static const char *refusal(const struct step *s)
{
    switch (s->e->kind) {
    case CE_APPROVE:
    case CE_REJECT:
        return s->c->request.present ? "that request is not the one that waits; look at it again"
                                     : "no request waits for a person";
    case CE_CANCEL: return "no action is running, and none was named";
    case CE_ROLLBACK:
        if (s->e->knob == NO_KNOB) return "no action is running, and none was named: trimtab incidents shows the ids of past ones";
        return "a rollback is not possible in this state; trimtab is resolving the last write, try again";
    case CE_NORMAL_NOW:
        return "\"normal now\" is possible only while watching, or in an incident that waits for a person or a plan";
    case CE_RETRY: return "there is no incident with a person to hand back";
    default: return "not possible in this state";
    }
}

static void nothing_fired(struct step *s)
{
    if (is_command(s->e->kind) && s->o->reply == REPLY_NONE) refuse(s, REASON_NONE, refusal(s));
    bool late_answer = s->c->state == STATE_HALTED || s->c->state == STATE_RECOVERING || s->c->state == STATE_READBACK ||
                       s->c->state == STATE_UNDO_READBACK || s->c->halted;
    s->o->unexpected = s->e->kind == CE_ANSWER && !late_answer;
}

static void close_output(struct step *s)
{
    struct control *c = s->c;
    if (s->o->record_count > 0) {
        c->waiting_ack = true;
        c->token++;
        c->ack_sent = s->e->now;
    }
    if (c->halted && (1u << c->state & IN_IDLE)) c->state = STATE_HALTED;
}

uint16_t control_step(const struct control_policy *p, struct control *c, const struct control_event *e,
                      struct control_output *out)
{
    struct step s = {p, c, e, out};
    memset(out, 0, sizeof *out);
    out->knob = NO_KNOB;
    CHECK(c->state < STATE_COUNT && e->kind < CE_KIND_COUNT);
    if (e->kind == CE_ACK) {
        take_ack(&s);
        return 0;
    }
    if (held_off(&s)) return 0;
    bool time = e->kind == CE_TICK || e->kind == CE_POLL;
    if (time && c->waiting_ack) {
        if (guard_22(&s)) {
            out->row = 22;
            act_22(&s);
        }
        return out->row;
    }
    if (time) {
        adopt_first_reads(&s);
        if (c->state == STATE_RECOVERING) doubt_reopened_watches(&s);
        close_late_watches(&s);
        track_mix(&s);
    }
    if (!fire_first(&s)) nothing_fired(&s);
    if (time) close_late_watches(&s);    /* UNDONE: this very read equals what is believed from here on */
    close_output(&s);
    return out->row;
}

struct instant control_wake(const struct control_policy *p, const struct control *c)
{
    struct instant t = instant_min(c->deadline, c->phase_until);
    if (c->state == STATE_AWAITING) t = instant_min(t, c->request.expiry);
    if (c->state == STATE_PERSON) t = instant_min(t, c->renotify_at);
    if (c->waiting_ack && !c->store_failed)
        t = instant_min(t, instant_add(instant_add(c->ack_sent, p->append_timeout), SPAN_MS(1)));
    return t;
}

uint32_t control_reads_wanted(const struct control_policy *p, const struct control *c, struct span *ret_every)
{
    uint32_t all = p->knob_count ? (UINT32_C(1) << p->knob_count) - 1 : 0;
    bool fast = c->state == STATE_READBACK || c->state == STATE_UNDO_READBACK || c->state == STATE_INTENT ||
                c->state == STATE_UNDO_INTENT;
    *ret_every = (struct span){0};
    if (c->state == STATE_WRITING || c->state == STATE_UNDO_WRITING) return 0;
    if (c->state == STATE_RECOVERING) *ret_every = SPAN_S(1);
    if (!fast) return all;
    *ret_every = SPAN_S(1);
    return UINT32_C(1) << c->active;
}

bool control_in_flight(const struct control *c) { return (1u << c->state & IN_FLIGHT) != 0; }

bool control_late_watch(const struct control *c)
{
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) {
        const struct control_slot *a = &c->knobs[k].slot;
        if (a->late_open && !(control_in_flight(c) && c->active == k)) return true;
    }
    return false;
}

bool control_unacknowledged(const struct control *c)
{
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) {
        if (c->knobs[k].slot.unacknowledged) return true;
    }
    return false;
}

bool control_breaker(const struct control *c) { return c->breaker; }
