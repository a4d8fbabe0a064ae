/* Canonical bytes of a control state: two states that differ only in absolute time, in the names of values and versions, or in
 * counters that nothing looks at any more are equal. What may still change a later row is in; what only people see is out. */
#include <string.h>

#include "base/check.h"
#include "loop/control_step.h"

#define CANON_BYTES 3072

enum space { SPACE_VALUE, SPACE_VERSION };

struct canon {
    uint8_t bytes[CANON_BYTES];
    unsigned len;
    struct instant now;
    uint32_t ids[CONTROL_KNOBS * 8 + 8];
    unsigned n;
};

static void put8(struct canon *k, unsigned v)
{
    CHECK(k->len < CANON_BYTES);
    k->bytes[k->len++] = (uint8_t)v;
}

static void put64(struct canon *k, uint64_t v)
{
    CHECK(k->len + 8 <= CANON_BYTES);
    for (unsigned i = 0; i < 8; i++) k->bytes[k->len++] = (uint8_t)(v >> 8 * i);
}

/* Ids in order of first appearance; 0 stays 0. */
static void put_id(struct canon *k, enum space space, uint16_t id)
{
    uint32_t name = (uint32_t)space << 16 | id;
    unsigned i = 0;
    if (id == 0) {
        put8(k, 0);
        return;
    }
    while (i < k->n && k->ids[i] != name) i++;
    if (i == k->n) {
        CHECK(k->n < ARRAY_LEN(k->ids));
        k->ids[k->n++] = name;
    }
    put8(k, i + 1);
}

/* A deadline: what is past is as good as none. */
static void put_until(struct canon *k, struct instant t)
{
    bool never = t.us == INSTANT_NEVER.us, past = t.us <= k->now.us;
    put8(k, never ? 2 : past ? 0 : 1);
    if (!never && !past) put64(k, (uint64_t)(t.us - k->now.us));
}

/* An age: beyond `horizon` it makes no difference. */
static void put_age(struct canon *k, struct instant t, struct span horizon)
{
    bool counts = instant_is_set(t) && !span_less(horizon, instant_since(k->now, t));
    put8(k, counts);
    if (counts) put64(k, (uint64_t)(k->now.us - t.us));
}

/* What only a story between INTENT and verdict, or only an undo on its way, asks for. */
static void put_running(struct canon *k, const struct control_slot *a)
{
    if (a->story == STORY_INTENT || a->story == STORY_APPLIED) {
        put8(k, (unsigned)(a->extended | a->released << 1 | a->counted << 2));
        put_age(k, a->applied_at, (struct span){a->settle.us + 2 * a->window.us});
    }
    if (a->story == STORY_UNDO || a->story == STORY_UNDO_RETRY) put_id(k, SPACE_VERSION, a->answered);
}

static void put_slot(struct canon *k, const struct control_slot *a)
{
    put8(k, a->story);
    if (a->story == STORY_NONE) return;
    put_id(k, SPACE_VALUE, a->old);
    put_id(k, SPACE_VALUE, a->new_);
    put8(k, a->cause & 0xff);
    put8(k, a->cause >> 8);
    put8(k, a->direction);
    put8(k, a->origin);
    put8(k, (unsigned)(a->late_open | a->confirmed << 1 | a->unacknowledged << 2 | a->cancelled << 3 | a->fail << 4 |
                       a->kept_once << 5 | (a->undo_sends > 2 ? 2 : a->undo_sends) << 6));
    put8(k, a->late_open ? 1 + a->late_doubt : 0);
    if (a->late_open) put_until(k, a->late_after);
    put64(k, (uint64_t)a->settle.us);
    put64(k, (uint64_t)a->window.us);
    put_running(k, a);
}

static void put_knob(struct canon *k, const struct control_policy *p, const struct control_knob *knob)
{
    put_id(k, SPACE_VALUE, knob->believed);
    put_id(k, SPACE_VERSION, knob->believed_version);
    put8(k, knob->seen);
    put8(k, knob->fails > 2 ? 2 : knob->fails);
    put_until(k, knob->would_until);
    put_until(k, knob->interval_until);
    put_until(k, knob->protect_until);
    put_until(k, knob->cool_until);
    put_until(k, knob->frozen_until);
    put_until(k, knob->skip_until);
    put_age(k, knob->failed_at, p->freeze_knob);
    put_slot(k, &knob->slot);
}

static void put_request(struct canon *k, const struct control_request *q)
{
    put8(k, q->present);
    if (!q->present) return;
    put8(k, q->knob);
    put8(k, q->direction);
    put_id(k, SPACE_VALUE, q->from);
    put_id(k, SPACE_VALUE, q->to);
    put64(k, q->plan);
    put_until(k, q->expiry);
}

/* In a fixed order: when they were excluded makes no difference. */
static void put_excluded(struct canon *k, const struct excluded_list *l)
{
    uint64_t sorted[EXCLUDED_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < l->n; i++) {
        const struct excluded *x = &l->items[i];
        uint64_t v = (uint64_t)x->cause << 32 | (uint64_t)x->knob << 8 | (uint64_t)x->direction;
        unsigned at = n++;
        for (; at > 0 && sorted[at - 1] > v; at--) sorted[at] = sorted[at - 1];
        sorted[at] = v;
    }
    put8(k, n);
    for (unsigned i = 0; i < n; i++) put64(k, sorted[i]);
}

static void put_incident(struct canon *k, const struct control *c)
{
    bool onset = c->incident_open || c->state == STATE_SUSPECT;
    put8(k, (unsigned)(c->incident_open | c->handed << 1 | c->release_incident << 2));
    if (onset) {
        put8(k, c->symptom & 0xff);
        put8(k, c->symptom >> 8);
        /* Only its side of a release watch that still runs matters to the table. */
        put8(k, instant_before(c->onset, c->release_until));
    }
    for (unsigned i = 0; i < CONTROL_WOULD; i++) put64(k, c->would_plans[i]);
    put_excluded(k, &c->excluded);
    put_request(k, &c->request);
}

static void put_overlays(struct canon *k, const struct control *c)
{
    put8(k, (unsigned)(c->halted | c->follower << 1 | c->waiting_ack << 2 | c->store_failed << 3 |
                       c->halt_owed << 4 | c->release_owed << 5));
    put8(k, c->frozen);
    if (c->waiting_ack) put_age(k, c->ack_sent, SPAN_MIN(1));
    for (unsigned i = 0; i < CLASS_COUNT; i++) put_until(k, c->suspended[i]);
    put_until(k, c->gap_until);
    put_until(k, c->would_gap_until);
    put_until(k, c->release_until);
    put_age(k, c->harmful[0], SPAN_HOUR(24));
    put_age(k, c->harmful[1], SPAN_HOUR(24));
    put8(k, c->breaker);
}

void control_canon(const struct control_policy *p, const struct control *c, struct instant now, struct buf *out)
{
    struct canon k;
    k.len = k.n = 0;
    k.now = now;
    put8(&k, c->state);
    put8(&k, c->active);
    put8(&k, c->none_reads);
    put8(&k, c->n_auto > 3 ? 3 : c->n_auto);
    put_until(&k, c->deadline);
    put_until(&k, c->phase_until);
    if (c->state == STATE_PERSON) put_until(&k, c->renotify_at);
    put_age(&k, c->mix_since, SPAN_HOUR(1));
    if (c->state == STATE_RECOVERING) put_age(&k, c->state_since, SPAN_HOUR(1));
    put_overlays(&k, c);
    put_incident(&k, c);
    for (unsigned i = 0; i < p->knob_count; i++) put_knob(&k, p, &c->knobs[i]);
    buf_add(out, k.bytes, k.len);
}
