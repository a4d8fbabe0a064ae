/* The audit log of the swarm: appends in order, each durable at once or not at all, acks that lie in both directions; and the
 * shell's
 * part of it as in the daemon: a second's clock that asks whether the store is well, folding when nothing is pending. */
#include <stdlib.h>
#include <string.h>

#include "audit/codec.h"
#include "base/check.h"
#include "sim/swarm_inside.h"

/* The log holds what a disk gives back: each record goes through its bytes. */
static void keep(struct swarm *w, const struct record *r)
{
    struct err e;
    if (w->log_n == w->log_cap) {
        w->log_cap = w->log_cap ? w->log_cap * 2 : 256;
        w->log = realloc(w->log, w->log_cap * sizeof *w->log);
        CHECK(w->log != NULL);
    }
    struct record *copy = record_copy(&w->log_arena, r);
    CHECK(copy != NULL);
    record_u64(copy, RF_SEQ, w->log_n);
    buf_clear(&w->scratch);
    CHECK(audit_encode(&w->scratch, copy, &e) == STATUS_OK);
    struct record *back = ARENA_NEW(&w->log_arena, struct record);
    CHECK(back && audit_decode(&w->log_arena, w->scratch.data, w->scratch.len, back, &e) == STATUS_OK);
    w->log[w->log_n++] = back;
    w->result->by_kind[back->kind]++;
    swarm_mix(w, w->scratch.data, w->scratch.len);
    swarm_tell(w, "* %s %s %s->%s %s %s %s %s", record_kind_name(back->kind), record_get_text(back, RF_ACTION),
        record_get_text(back, RF_FROM),
               record_get_text(back, RF_TO), record_get_text(back, RF_VERDICT), record_get_text(back, RF_OUTCOME),
               record_get_text(back, RF_REASON), record_get_text(back, RF_READ));
    invariants_record(w, back);
    swarm_arm(w, back->kind);
}

static void keep_all(struct swarm *w, const struct swarm_append *a)
{
    for (uint32_t i = 0; i < a->n; i++) keep(w, &a->records[i]);
}

static enum append_fate fate_now(struct swarm *w)
{
    struct faults_item *fatal = faults_now(&w->faults, FAULTS_STORE_FATAL, w->now);
    if (fatal) {
        fatal->until = w->now;       /* once */
        return APPEND_FATAL;
    }
    if (faults_now(&w->faults, FAULTS_STORE_FAILS, w->now)) return APPEND_FAILS;
    if (faults_now(&w->faults, FAULTS_STORE_UNSURE, w->now)) return APPEND_UNSURE;
    return APPEND_GOOD;
}

void swarm_append(struct swarm *w, const struct effect *f)
{
    CHECK(w->queue_n < SWARM_APPENDS);
    struct swarm_append *a = &w->queue[(w->queue_head + w->queue_n++) % SWARM_APPENDS];
    *a = (struct swarm_append){.token = f->u.append.token, .life = w->life, .n = f->u.append.n};
    a->records = arena_array(&w->log_arena, a->n, sizeof *a->records);
    CHECK(a->records != NULL);
    for (uint32_t i = 0; i < a->n; i++) {
        struct record *copy = record_copy(&w->log_arena, &f->u.append.records[i]);
        CHECK(copy != NULL);
        a->records[i] = *copy;
    }
    struct faults_item *slow = faults_now(&w->faults, FAULTS_STORE_SLOW, w->now);
    struct span until_durable = SPAN_MS(1);
    if (slow) a->ack_delay = SPAN_MS(prng_below(&slow->chance, 20000));
    if (slow && slow->size < 0.6) until_durable = a->ack_delay;   /* the disk itself is slow, not only its answer */
    a->fate = (uint8_t)fate_now(w);
    w->last_durable = instant_max(instant_add(w->now, until_durable), w->last_durable);
    (void)swarm_later(w, LATER_DURABLE, w->last_durable, true);
}

void swarm_durable(struct swarm *w)
{
    CHECK(w->queue_n > 0);
    struct swarm_append a = w->queue[w->queue_head];
    w->queue_head = (w->queue_head + 1) % SWARM_APPENDS;
    w->queue_n--;
    bool good = a.fate == APPEND_GOOD;
    bool durable = good || a.fate == APPEND_UNSURE || (a.fate == APPEND_FATAL && prng_below(&w->chance, 2));
    if (durable) keep_all(w, &a);
    else swarm_tell(w, "an append of %s is lost", record_kind_name(a.records[0].kind));
    if (a.fate == APPEND_FATAL) {
        swarm_kill(w, SPAN_S(2));
        return;
    }
    w->last_ack = instant_max(instant_add(w->now, a.ack_delay), w->last_ack);
    struct later *l = swarm_later(w, LATER_ACK, w->last_ack, true);
    l->token = a.token;
    l->status = good ? STATUS_OK : STATUS_IO;
    w->acks++;
}

static void look_again(struct swarm *w) { (void)swarm_later(w, LATER_SECOND, instant_add(w->now, SPAN_S(1)), true); }

void swarm_ack(struct swarm *w, struct later *l)
{
    w->acks--;
    if (l->status != STATUS_OK && !w->store_frozen) {
        w->store_frozen = true;
        look_again(w);
    }
    if (l->token == 0) return;
    struct event e = {.kind = EVENT_ACK, .u.ack = {.token = l->token, .status = l->status}};
    swarm_step(w, &e);
}

static bool store_well(struct swarm *w)
{
    return !faults_now(&w->faults, FAULTS_STORE_FAILS, w->now) && !faults_now(&w->faults, FAULTS_STORE_UNSURE, w->now);
}

static bool nothing_pending(const struct swarm *w) { return w->queue_n == 0 && w->acks == 0; }

void swarm_store_trouble(struct swarm *w)
{
    if (!w->loop || w->store_frozen) return;
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {.set = FREEZE_STORE, .why = "the disk is full"}};
    w->store_frozen = true;
    look_again(w);
    swarm_step(w, &e);
}

static void give_log(struct swarm *w)
{
    uint32_t life = w->life;
    size_t n = w->log_n;
    w->giving_log = true;
    for (size_t i = 0; i < n && w->life == life; i++) {
        struct event e = {.kind = EVENT_RECORD, .u.record = w->log[i]};
        swarm_step(w, &e);
    }
    struct event e = {.kind = EVENT_FOLDED};
    w->giving_log = false;
    if (w->life == life) swarm_step(w, &e);
}

void swarm_second(struct swarm *w)
{
    if (w->store_frozen && store_well(w) && nothing_pending(w)) {
        struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {.clear = FREEZE_STORE}};
        w->store_frozen = false;
        swarm_tell(w, "the store is well again");
        swarm_step(w, &e);
    }
    if (w->fold_wanted && nothing_pending(w) && w->loop) {
        w->fold_wanted = false;
        give_log(w);
    }
    if (w->loop && (w->store_frozen || w->fold_wanted)) look_again(w);
}

/* What was on its way to the disk is there up to some append, and no further. */
void swarm_store_dies(struct swarm *w)
{
    bool lost = false;
    while (w->queue_n > 0) {
        struct swarm_append a = w->queue[w->queue_head];
        w->queue_head = (w->queue_head + 1) % SWARM_APPENDS;
        w->queue_n--;
        lost = lost || a.fate == APPEND_FAILS || prng_below(&w->chance, 2) == 0;
        if (!lost) keep_all(w, &a);
    }
    w->acks = 0;
    w->store_frozen = w->fold_wanted = false;
}

void swarm_fold_all(struct swarm *w) { give_log(w); }
