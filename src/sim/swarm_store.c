/* The audit log of the swarm: appends in order, each durable at once or not at all, acks that lie in both directions; and the
 * shell's part of it as in the daemon: a second's clock that asks whether the store is well, folding when nothing is pending. */
#include <stdlib.h>
#include <string.h>

#include "audit/codec.h"
#include "base/check.h"
#include "sim/swarm_real.h"

/* The log holds what a disk gives back: each record goes through its bytes. */
void swarm_keep(struct swarm *w, const struct record *r)
{
    struct err e;
    if (w->log_n == w->log_cap) {
        w->log_cap = w->log_cap ? w->log_cap * 2 : 256;
        w->log = realloc(w->log, w->log_cap * sizeof *w->log);
        CHECK_MEMORY(w->log);
    }
    struct record *copy = record_copy(&w->log_arena, r);
    CHECK_MEMORY(copy);
    record_u64(copy, RF_SEQ, w->log_n);
    buf_clear(&w->scratch);
    CHECK(audit_encode(&w->scratch, copy, &e) == STATUS_OK);
    struct record *back = ARENA_NEW(&w->log_arena, struct record);
    CHECK(back && audit_decode(&w->log_arena, w->scratch.data, w->scratch.len, back, &e) == STATUS_OK);
    w->log[w->log_n++] = back;
    w->result->by_kind[back->kind]++;
    swarm_mix(w, w->scratch.data, w->scratch.len);
    swarm_tell(w, "* %s %s %s %s->%s %s %s %s %s", record_kind_name(back->kind), record_get_text(back, RF_SERVICE),
               record_get_text(back, RF_ACTION), record_get_text(back, RF_FROM), record_get_text(back, RF_TO),
               record_get_text(back, RF_VERDICT), record_get_text(back, RF_OUTCOME), record_get_text(back, RF_REASON),
               record_get_text(back, RF_READ));
    invariants_record(w, back);
    swarm_arm(w, back);
}

static void keep_all(struct swarm *w, const struct swarm_append *a)
{
    for (uint32_t i = 0; i < a->n; i++) swarm_keep(w, &a->records[i]);
}

/* With the real store the disk decides (swarm_real.c). */
static enum append_fate fate_now(struct swarm *w)
{
    if (w->disk) return APPEND_GOOD;
    struct faults_item *fatal = faults_now(&w->faults, FAULTS_STORE_FATAL, 0, w->now);
    if (fatal) {
        fatal->until = w->now;       /* once */
        return APPEND_FATAL;
    }
    if (faults_now(&w->faults, FAULTS_STORE_FAILS, 0, w->now)) return APPEND_FAILS;
    if (faults_now(&w->faults, FAULTS_STORE_UNSURE, 0, w->now)) return APPEND_UNSURE;
    return APPEND_GOOD;
}

void swarm_append(struct swarm *w, const struct effect *f)
{
    struct swarm_process *p = w->p;
    struct swarm_append *a = ARENA_NEW(&w->log_arena, struct swarm_append);
    CHECK(a != NULL);
    *a = (struct swarm_append){.token = f->u.append.token, .service = f->service, .n = f->u.append.n};
    a->records = arena_array(&w->log_arena, a->n, sizeof *a->records);
    CHECK_MEMORY(a->records);
    for (uint32_t i = 0; i < a->n; i++) {
        struct record *copy = record_copy(&w->log_arena, &f->u.append.records[i]);
        CHECK_MEMORY(copy);
        a->records[i] = *copy;
    }
    *p->queue_end = a;
    p->queue_end = &a->next;
    struct faults_item *slow = faults_now(&w->faults, FAULTS_STORE_SLOW, 0, w->now);
    struct span until_durable = SPAN_MS(1);
    if (slow) a->ack_delay = SPAN_MS(prng_below(&slow->chance, 20000));
    if (slow && slow->size < 0.6) until_durable = a->ack_delay;   /* the disk itself is slow, not only its answer */
    a->fate = (uint8_t)fate_now(w);
    p->last_durable = instant_max(instant_add(w->now, until_durable), p->last_durable);
    (void)swarm_later(w, LATER_DURABLE, p->last_durable, true);
}

static struct swarm_append *take(struct swarm_process *p)
{
    struct swarm_append *a = p->queue;
    CHECK(a != NULL);
    p->queue = a->next;
    if (!p->queue) p->queue_end = &p->queue;
    return a;
}

/* OK, or what the ack will say; *ret_fatal: the process has to end. */
static enum status put(struct swarm *w, const struct swarm_append *a, bool *ret_fatal)
{
    *ret_fatal = a->fate == APPEND_FATAL;
    if (!swarm_leads(w)) return STATUS_CONFLICT;       /* the store knows a newer fencing token */
    if (w->disk) return real_append(w, a, ret_fatal);
    bool good = a->fate == APPEND_GOOD;
    bool durable = good || a->fate == APPEND_UNSURE || (a->fate == APPEND_FATAL && prng_below(&w->chance, 2));
    if (durable) keep_all(w, a);
    return good ? STATUS_OK : STATUS_IO;
}

void swarm_durable(struct swarm *w)
{
    struct swarm_process *p = w->p;
    struct swarm_append *a = take(p);
    bool fatal;
    enum status s = put(w, a, &fatal);
    if (s != STATUS_OK) swarm_tell(w, "an append of %s is not acknowledged", record_kind_name(a->records[0].kind));
    if (fatal) {
        swarm_kill(w, SPAN_S(2));
        return;
    }
    p->last_ack = instant_max(instant_add(w->now, a->ack_delay), p->last_ack);
    struct later *l = swarm_later(w, LATER_ACK, p->last_ack, true);
    l->service = a->service;
    l->token = a->token;
    l->status = s;
    p->acks++;
}

void swarm_look_again(struct swarm *w) { (void)swarm_later(w, LATER_SECOND, instant_add(w->now, SPAN_S(1)), true); }

void swarm_ack(struct swarm *w, struct later *l)
{
    struct swarm_process *p = w->p;
    p->acks--;
    if (l->status != STATUS_OK && !p->store_frozen) {
        p->store_frozen = true;
        swarm_look_again(w);
    }
    if (l->token == 0) return;
    struct event e = {.kind = EVENT_ACK, .service = l->service, .u.ack = {.token = l->token, .status = l->status}};
    swarm_step(w, &e);
}

static bool store_well(struct swarm *w)
{
    if (w->disk) return real_well(w);
    return !faults_now(&w->faults, FAULTS_STORE_FAILS, 0, w->now) && !faults_now(&w->faults, FAULTS_STORE_UNSURE, 0, w->now);
}

static bool nothing_pending(const struct swarm_process *p) { return !p->queue && p->acks == 0; }

void swarm_store_trouble(struct swarm *w)
{
    if (!w->p->loop || w->p->store_frozen) return;
    struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {.set = FREEZE_STORE, .why = "the disk is full"}};
    w->p->store_frozen = true;
    swarm_look_again(w);
    swarm_step(w, &e);
}

/* The log of these services, as the daemon gives it: each record to the service that it names. */
void swarm_fold(struct swarm *w, uint32_t services)
{
    uint32_t life = w->p->life;
    size_t n = w->log_n;
    w->p->giving_log = true;
    for (size_t i = 0; i < n && w->p->life == life; i++) {
        uint16_t service = policy_service(w->policy, record_get_text(w->log[i], RF_SERVICE));
        if (loop_record_of_all(w->log[i])) service = ALL_SERVICES;
        else if (service == NO_INDEX || !(services >> service & 1)) continue;
        struct event e = {.kind = EVENT_RECORD, .service = service, .u.record = w->log[i]};
        swarm_step(w, &e);
    }
    w->p->giving_log = false;
    for (uint16_t i = 0; i < w->n && w->p->life == life; i++) {
        struct event e = {.kind = EVENT_FOLDED, .service = i};
        if (services >> i & 1) swarm_step(w, &e);
    }
}

void swarm_second(struct swarm *w)
{
    struct swarm_process *p = w->p;
    uint32_t life = p->life;
    if (p->store_frozen && swarm_leads(w) && store_well(w) && nothing_pending(p)) {
        struct event e = {.kind = EVENT_HEALTH, .service = ALL_SERVICES, .u.health = {.clear = FREEZE_STORE}};
        p->store_frozen = false;
        swarm_tell(w, "the store is well again");
        swarm_step(w, &e);
    }
    if (p->life == life && p->fold_wanted && nothing_pending(p) && swarm_leads(w)) {
        uint32_t services = p->fold_wanted;
        p->fold_wanted = 0;
        swarm_fold(w, services);
    }
    if (p->life == life && (p->store_frozen || p->fold_wanted)) swarm_look_again(w);
}

/* What was on its way to the disk is there up to some append, and no further. */
void swarm_store_dies(struct swarm *w)
{
    struct swarm_process *p = w->p;
    bool lost = !swarm_leads(w) || w->disk;
    if (w->disk) real_dies(w, p->queue);
    while (p->queue) {
        struct swarm_append *a = take(p);
        lost = lost || a->fate == APPEND_FAILS || prng_below(&w->chance, 2) == 0;
        if (!lost) keep_all(w, a);
    }
    p->acks = 0;
    p->store_frozen = false;
    p->fold_wanted = 0;
}
