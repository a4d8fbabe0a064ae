/* Canonical bytes of a control state: two states that differ only in absolute time or in the names of values are equal. */
#include "loop/control_step.h"

struct canon {
    struct buf *out;
    struct instant now;
    uint16_t ids[CONTROL_KNOBS * 4 + 4];
    unsigned n;
};

/* Ids in order of first appearance; 0 stays 0. */
static void put_id(struct canon *k, uint16_t id)
{
    unsigned i = 0;
    while (i < k->n && k->ids[i] != id) i++;
    if (id == 0) {
        buf_le8(k->out, 0);
        return;
    }
    if (i == k->n && k->n < sizeof k->ids / sizeof k->ids[0]) k->ids[k->n++] = id;
    buf_le8(k->out, (uint8_t)(i + 1));
}

/* A deadline: what is past is as good as none. */
static void put_until(struct canon *k, struct instant t)
{
    int64_t left = t.us == INT64_MAX ? -1 : t.us <= k->now.us ? 0 : t.us - k->now.us;
    buf_le64(k->out, (uint64_t)left);
}

/* An age: beyond `horizon` it makes no difference. */
static void put_age(struct canon *k, struct instant t, struct span horizon)
{
    int64_t age = !instant_is_set(t) ? -1 : k->now.us - t.us;
    if (age > horizon.us) age = -1;
    buf_le64(k->out, (uint64_t)age);
}

static void put_slot(struct canon *k, const struct control_policy *p, const struct control_slot *a)
{
    put_id(k, a->old);
    put_id(k, a->new_);
    buf_le8(k->out, a->story);
    buf_le8(k->out, a->origin);
    buf_le8(k->out, (uint8_t)(a->automatic | a->counted << 1 | a->late_open << 2 | a->confirmed << 3 | a->sent << 4 |
                              a->extended << 5 | a->released << 6 | a->unacknowledged << 7));
    buf_le8(k->out, (uint8_t)(a->cancelled | a->fail << 1 | a->kept_once << 2));
    buf_le8(k->out, a->undo_sends > 2 ? 2 : a->undo_sends);
    buf_le8(k->out, a->direction);
    if (a->late_open) put_until(k, a->late_after);
    if (!story_ended((enum story)a->story)) put_age(k, a->applied_at, (struct span){a->settle.us + 2 * a->window.us});
    (void)p;
}

static void put_knob(struct canon *k, const struct control_policy *p, const struct control_knob *knob)
{
    put_id(k, knob->believed);
    buf_le8(k->out, (uint8_t)(knob->seen | (knob->believed_version == knob->slot.version) << 1));
    buf_le8(k->out, knob->fails > 2 ? 2 : knob->fails);
    put_until(k, knob->would_until);
    put_until(k, knob->interval_until);
    put_until(k, knob->protect_until);
    put_until(k, knob->cool_until);
    put_until(k, knob->frozen_until);
    put_until(k, knob->skip_until);
    put_age(k, knob->failed_at, p->freeze_knob);
    put_slot(k, p, &knob->slot);
}

static void put_request(struct canon *k, const struct control_request *q)
{
    buf_le8(k->out, q->present);
    if (!q->present) return;
    buf_le8(k->out, q->knob);
    put_id(k, q->from);
    put_id(k, q->to);
    put_until(k, q->expiry);
}

void control_canon(const struct control_policy *p, const struct control *c, struct instant now, struct buf *out)
{
    struct canon k = {.out = out, .now = now};
    buf_le8(out, c->state);
    buf_le8(out, c->active);
    buf_le8(out, (uint8_t)(c->halted | c->follower << 1 | c->handed << 2 | c->incident_open << 3 | c->release_incident << 4 |
                           c->waiting_ack << 5 | c->store_failed << 6));
    buf_le8(out, c->frozen);
    buf_le8(out, c->none_reads);
    buf_le8(out, c->n_auto > 3 ? 3 : c->n_auto);
    put_until(&k, c->deadline);
    put_until(&k, c->phase_until);
    put_until(&k, c->gap_until);
    put_until(&k, c->would_gap_until);
    put_until(&k, c->release_until);
    put_age(&k, c->mix_since, SPAN_HOUR(1));
    put_age(&k, c->harmful[0], SPAN_HOUR(24));
    put_age(&k, c->harmful[1], SPAN_HOUR(24));
    if (c->state == STATE_RECOVERING) put_age(&k, c->state_since, SPAN_HOUR(1));
    if (c->waiting_ack) put_age(&k, c->ack_sent, SPAN_MIN(1));
    for (unsigned i = 0; i < CLASS_COUNT; i++) put_until(&k, c->suspended[i]);
    put_request(&k, &c->request);
    buf_le32(out, c->excluded.n);
    for (unsigned i = 0; i < c->excluded.n; i++) {
        buf_le32(out, (uint32_t)c->excluded.items[i].cause << 16 | (uint32_t)c->excluded.items[i].knob << 1 |
                          (uint32_t)c->excluded.items[i].direction);
    }
    for (unsigned i = 0; i < p->knob_count; i++) put_knob(&k, p, &c->knobs[i]);
}
