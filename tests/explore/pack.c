/* A world brought to its normal form, packed, unpacked, and its key. One walk does both directions. */
#include "explore/world.h"

#include <string.h>

#include "base/check.h"

struct walk { uint8_t *p; unsigned at; bool reading; };

static void put8(struct walk *k, uint8_t *v)
{
    CHECK(k->at < WORLD_BYTES);
    if (k->reading) *v = k->p[k->at];
    else k->p[k->at] = *v;
    k->at++;
}

static void put_bool(struct walk *k, bool *v)
{
    uint8_t b = *v;
    put8(k, &b);
    *v = b;
}

static void put16(struct walk *k, uint16_t *v)
{
    uint8_t b = *v == NO_INDEX ? 255 : (uint8_t)*v;
    CHECK(k->reading || *v == NO_INDEX || *v < 255);
    put8(k, &b);
    *v = b == 255 ? NO_INDEX : b;
}

/* The five times of a normal world. */
static struct instant time_of(uint8_t b)
{
    switch (b) {
    case 0: return INSTANT_NONE;
    case 1: return INSTANT_NEVER;
    case 2: return T0;
    case 3: return instant_add(T0, SPAN_S(10));
    default: return instant_add(T0, SPAN_HOUR(1000));
    }
}

static void put_time(struct walk *k, struct instant *t)
{
    uint8_t b = 0;
    while (!k->reading && b < 5 && time_of(b).us != t->us) b++;
    CHECK(b < 5);
    put8(k, &b);
    *t = time_of(b);
}

static void put_span10(struct walk *k, struct span *s)
{
    uint8_t b = (uint8_t)(s->us / US_PER_S);
    put8(k, &b);
    s->us = b * US_PER_S;
}

static void put_flags(struct walk *k, bool *const *flags, unsigned n)
{
    uint8_t b = 0;
    for (unsigned i = 0; i < n; i++) b |= (uint8_t)(*flags[i] << i);
    put8(k, &b);
    for (unsigned i = 0; i < n; i++) *flags[i] = b >> i & 1;
}

static void walk_slot(struct walk *k, struct control_slot *a)
{
    bool *first[] = {&a->automatic, &a->counted, &a->late_open, &a->confirmed, &a->sent, &a->extended, &a->released,
                     &a->unacknowledged};
    bool *second[] = {&a->cancelled, &a->fail, &a->kept_once, &a->late_doubt};
    uint8_t action = (uint8_t)a->action;
    put8(k, &action);
    a->action = action;
    put16(k, &a->old);
    put16(k, &a->new_);
    put16(k, &a->version);
    put16(k, &a->answered);
    put16(k, &a->cause);
    put8(k, &a->direction);
    put8(k, &a->story);
    put8(k, &a->origin);
    put_flags(k, first, 8);
    put_flags(k, second, 4);
    put8(k, &a->undo_sends);
    put_time(k, &a->late_after);
    put_time(k, &a->applied_at);
    put_time(k, &a->intent_at);
    put_span10(k, &a->settle);
    put_span10(k, &a->window);
}

static void walk_knob(struct walk *k, struct control_knob *c)
{
    walk_slot(k, &c->slot);
    put16(k, &c->believed);
    put16(k, &c->believed_version);
    put_bool(k, &c->seen);
    put8(k, &c->fails);
    struct instant *times[] = {&c->interval_until, &c->protect_until, &c->cool_until, &c->frozen_until, &c->failed_at,
                               &c->skip_until, &c->believed_since, &c->would_until};
    for (unsigned i = 0; i < 8; i++) put_time(k, times[i]);
}

static void walk_request(struct walk *k, struct control_request *q)
{
    put_bool(k, &q->present);
    if (!q->present) {
        memset(q, 0, sizeof *q);
        return;
    }
    uint16_t plan = (uint16_t)q->plan;
    put8(k, &q->knob);
    put16(k, &q->from);
    put16(k, &q->to);
    put16(k, &plan);
    put_time(k, &q->expiry);
    q->plan = plan;
    q->cause = q->knob;
    q->direction = DIR_UP;
    q->settle = q->window = SPAN_S(10);
}

static void walk_excluded(struct walk *k, struct excluded_list *l)
{
    uint8_t bits = 0;
    for (unsigned i = 0; !k->reading && i < l->n; i++) bits |= (uint8_t)(1u << l->items[i].knob);
    put8(k, &bits);
    l->n = 0;
    for (uint16_t i = 0; i < KNOBS; i++) {
        if (bits >> i & 1) (void)excluded_add(l, i, i, DIR_UP);
    }
}

/* In what order they were logged makes no difference here. */
static void walk_would(struct walk *k, struct control *c)
{
    static const uint64_t plans[] = {101, 102, 201, 202};
    uint8_t bits = 0;
    for (unsigned i = 0; !k->reading && i < CONTROL_WOULD; i++) {
        for (unsigned j = 0; j < 4; j++) bits |= (uint8_t)((c->would_plans[i] == plans[j]) << j);
    }
    put8(k, &bits);
    memset(c->would_plans, 0, sizeof c->would_plans);
    for (unsigned j = 0, n = CONTROL_WOULD; j < 4; j++) {
        if (bits >> j & 1) c->would_plans[--n] = plans[j];
    }
}

static void walk_control(struct walk *k, struct control *c)
{
    bool *first[] = {&c->halted, &c->follower, &c->handed, &c->incident_open, &c->release_incident, &c->waiting_ack,
                     &c->store_failed};
    bool *second[] = {&c->halt_owed, &c->release_owed, &c->breaker};
    uint8_t epoch = (uint8_t)c->epoch, actions = (uint8_t)c->actions, incidents = (uint8_t)c->incidents;
    uint8_t token = (uint8_t)c->token;
    put8(k, &c->state);
    put8(k, &c->active);
    put_flags(k, first, 7);
    put_flags(k, second, 3);
    put8(k, &c->frozen);
    put8(k, &c->none_reads);
    put16(k, &c->symptom);
    put8(k, &epoch);
    put8(k, &actions);
    put8(k, &incidents);
    walk_would(k, c);
    put8(k, &token);
    put8(k, &c->n_auto);
    c->epoch = epoch;
    c->actions = actions;
    c->incidents = incidents;
    c->token = token;
    struct instant *times[] = {&c->onset, &c->opened, &c->state_since, &c->deadline, &c->phase_until, &c->gap_until,
                               &c->release_until, &c->renotify_at, &c->ack_sent, &c->mix_since, &c->harmful[0], &c->harmful[1],
                               &c->suspended[CLASS_BATCH], &c->suspended[CLASS_CACHE], &c->would_gap_until};
    for (unsigned i = 0; i < 15; i++) put_time(k, times[i]);
    walk_request(k, &c->request);
    walk_excluded(k, &c->excluded);
    for (unsigned i = 0; i < KNOBS; i++) walk_knob(k, &c->knobs[i]);
}

static void walk_truth(struct walk *k, struct truth *t)
{
    uint8_t *bytes = (uint8_t *)t;
    for (unsigned i = 0; i < sizeof *t; i++) put8(k, &bytes[i]);
}

static void walk_world(struct walk *k, struct world *w)
{
    uint8_t *plain[] = {&w->unreadable, &w->outage, &w->store_bad, &w->silent, &w->release, &w->halted, &w->budget, &w->autos,
                        &w->answer, &w->answer_version, &w->follower, &w->unacked};
    for (unsigned i = 0; i < KNOBS; i++) walk_truth(k, &w->k[i]);
    for (unsigned i = 0; i < MESSAGES; i++) {
        uint8_t *bytes = (uint8_t *)&w->msg[i];
        put8(k, &bytes[0]);
        for (unsigned b = 1; bytes[0] && b < sizeof w->msg[i]; b++) put8(k, &bytes[b]);
    }
    for (unsigned i = 0; i < 12; i++) put8(k, plain[i]);
    walk_control(k, &w->live);
    walk_control(k, &w->log);
}

unsigned world_pack(const struct world *w, uint8_t out[WORLD_BYTES])
{
    struct world copy = *w;
    struct walk k = {out, 0, false};
    walk_world(&k, &copy);
    return k.at;
}

void world_unpack(const uint8_t *in, struct world *w)
{
    static struct world blank;
    struct control_policy none = {0};
    if (blank.live.active != NO_KNOB) {
        control_init(&blank.live, &none, T0);
        blank.log = blank.live;
    }
    uint8_t copy[WORLD_BYTES];
    memcpy(copy, in, WORLD_BYTES);
    struct walk k = {copy, 0, true};
    *w = blank;
    walk_world(&k, w);
}

static void soon(struct instant *t, struct instant now)
{
    if (t->us == INSTANT_NEVER.us) return;
    *t = instant_before(now, *t) ? time_of(3) : T0;
}

static void running(struct instant *t, struct instant now)
{
    if (t->us == INSTANT_NEVER.us) return;
    *t = instant_before(now, *t) ? time_of(4) : INSTANT_NONE;
}

static void since(struct instant *t)
{
    *t = instant_is_set(*t) ? T0 : INSTANT_NONE;
}

static void normal_knob(struct control_knob *c, struct instant now)
{
    struct control_slot *a = &c->slot;
    struct instant *untils[] = {&c->interval_until, &c->protect_until, &c->cool_until, &c->frozen_until, &c->skip_until,
                                &a->late_after, &c->would_until};
    for (unsigned i = 0; i < 7; i++) running(untils[i], now);
    if (!a->late_open) {
        a->late_after = INSTANT_NONE;
        a->late_doubt = false;
    }
    since(&c->failed_at);
    c->believed_since = INSTANT_NONE;
    since(&a->applied_at);
    since(&a->intent_at);
    if (c->fails > 2) c->fails = 2;
}

static void normal_control(struct control *c, struct instant now)
{
    soon(&c->deadline, now);
    soon(&c->phase_until, now);
    if (c->request.present) soon(&c->request.expiry, now);
    struct instant *untils[] = {&c->gap_until, &c->release_until, &c->renotify_at, &c->suspended[CLASS_BATCH],
                                &c->suspended[CLASS_CACHE], &c->would_gap_until};
    for (unsigned i = 0; i < 6; i++) running(untils[i], now);
    if (c->renotify_at.us == INSTANT_NONE.us) c->renotify_at = time_of(4);
    struct instant *ages[] = {&c->onset, &c->opened, &c->state_since, &c->ack_sent, &c->mix_since, &c->harmful[0],
                              &c->harmful[1]};
    for (unsigned i = 0; i < 7; i++) since(ages[i]);
    if (!c->incident_open && c->state != STATE_SUSPECT) c->onset = INSTANT_NONE;
    if (!c->incident_open) c->opened = INSTANT_NONE;
    if (!c->waiting_ack) c->ack_sent = INSTANT_NONE;
    for (unsigned k = 0; k < KNOBS; k++) normal_knob(&c->knobs[k], now);
}

/* Action numbers and the halt epoch only say which is newer: counted from the oldest that anybody still knows. */
static void renumber(struct world *w)
{
    struct control *both[] = {&w->live, &w->log};
    uint32_t base = w->log.actions;
    for (unsigned i = 0; i < 2; i++) both[i]->incidents = both[i]->incidents > 0;
    uint32_t epochs = w->live.epoch < w->log.epoch ? w->live.epoch : w->log.epoch;
    for (unsigned i = 0; i < 2; i++) {
        both[i]->epoch -= epochs;
        both[i]->actions = both[i]->actions + 1 - base;
        for (unsigned k = 0; k < KNOBS; k++) {
            struct control_slot *a = &both[i]->knobs[k].slot;
            if (a->action) a->action = a->action > base ? 2 : 1;
        }
    }
    for (unsigned i = 0; i < 2; i++) both[i]->token = both[i]->waiting_ack;
}

static void rename_version(uint8_t map[256], uint8_t *next, uint16_t *v)
{
    if (*v == 0) return;
    if (map[*v] == 0) map[*v] = ++*next;
    *v = map[*v];
}

static void rename_version8(uint8_t map[256], uint8_t *next, uint8_t *v)
{
    uint16_t wide = *v;
    rename_version(map, next, &wide);
    *v = (uint8_t)wide;
}

static void rename_versions(struct world *w)
{
    for (unsigned k = 0; k < KNOBS; k++) {
        uint8_t map[256] = {0}, next = 0;
        struct control *both[] = {&w->live, &w->log};
        rename_version8(map, &next, &w->k[k].version);
        for (unsigned i = 0; i < 2; i++) {
            struct control_knob *c = &both[i]->knobs[k];
            rename_version(map, &next, &c->believed_version);
            rename_version(map, &next, &c->slot.version);
            rename_version(map, &next, &c->slot.answered);
        }
        for (unsigned j = 0; j < MESSAGES; j++) {
            if (w->msg[j].present && w->msg[j].knob == k) rename_version8(map, &next, &w->msg[j].version);
        }
        bool answers = w->live.active == k && (w->live.state == STATE_WRITING || w->live.state == STATE_UNDO_WRITING);
        if (answers) rename_version8(map, &next, &w->answer_version);
    }
}

static void normal_truth(struct world *w, unsigned k)
{
    struct truth *t = &w->k[k];
    if (!phase_ended(t->phase)) return;
    t->released = 0;
    t->cancelled &= CLASS_CANCELLED;
    if (!t->window) t->automatic = t->applied = t->sent = 0;
}

void world_normalise(struct world *w, struct instant now)
{
    bool sending = w->live.state == STATE_WRITING || w->live.state == STATE_UNDO_WRITING;
    if (!sending) w->answer = w->answer_version = 0;
    for (unsigned j = 0; j < MESSAGES; j++) {
        if (!w->msg[j].present) memset(&w->msg[j], 0, sizeof w->msg[j]);
    }
    bool swap = w->msg[1].present && (!w->msg[0].present || memcmp(&w->msg[0], &w->msg[1], sizeof w->msg[0]) > 0);
    if (swap) {
        struct message m = w->msg[0];
        w->msg[0] = w->msg[1];
        w->msg[1] = m;
    }
    for (unsigned k = 0; k < KNOBS; k++) normal_truth(w, k);
    normal_control(&w->live, now);
    normal_control(&w->log, now);
    renumber(w);
    rename_versions(w);
}

static void mix(uint64_t h[2], uint64_t v)
{
    h[0] = (h[0] ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    h[0] ^= h[0] >> 29;
    h[1] = (h[1] + v) * UINT64_C(0xBF58476D1CE4E5B9);
    h[1] ^= h[1] >> 32;
}

static void mix_bytes(uint64_t h[2], const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    uint64_t v;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&v, p, 8);
        mix(h, v);
    }
    v = 0;
    memcpy(&v, p, len);
    mix(h, v ^ (uint64_t)len << 56);
}

/* What control_canon says of both controls, the rest of the world, and the true ids, which canon renames. */
void world_key(const struct world *w, uint64_t key[2])
{
    static struct buf canon;
    uint8_t packed[WORLD_BYTES] = {0};
    struct control_policy p = world_policy(w);
    key[0] = 0x243F6A8885A308D3;
    key[1] = 0x13198A2E03707344;
    if (options.packed) {
        mix_bytes(key, packed, world_pack(w, packed));
        return;
    }
    buf_clear(&canon);
    control_canon(&p, &w->live, T0, &canon);
    control_canon(&p, &w->log, T0, &canon);
    mix_bytes(key, buf_text(&canon), canon.len);
    mix_bytes(key, w, offsetof(struct world, live));
    for (unsigned k = 0; k < KNOBS; k++) {
        const struct control *both[] = {&w->live, &w->log};
        for (unsigned i = 0; i < 2; i++) {
            const struct control_knob *c = &both[i]->knobs[k];
            bool asks = both[i]->request.present;
            uint16_t ids[] = {c->believed, c->believed_version, c->slot.old, c->slot.new_, c->slot.answered,
                              (uint16_t)(asks ? both[i]->request.from : 0),
                              (uint16_t)(asks ? both[i]->request.to : 0)};
            mix_bytes(key, ids, sizeof ids);
        }
    }
}
