/* Telling people: notify_port of the daemon. Each notice is one line on stderr, always. Receivers of the configuration are
 * told from the audit log itself, once a record is durable: each keeps the number up to which it has everything, so a
 * crash loses nothing, and what is sent twice carries the same identity. What no record says (the service is down, the audit
 * fails) is kept beside it. One queue a receiver (notify_queue.h): one that is slow, away or full delays neither the loop nor
 * another receiver. Alertmanager is told what is open now, again and again, instead. */
#ifndef ADAPT_NOTIFY_H
#define ADAPT_NOTIFY_H

#include "adapt/adapt.h"
#include "base/buf.h"
#include "model/record.h"

struct notify;

/* What the shell knows and the receivers need. Nothing here waits for a disk. */
struct notify_log {
    void *ctx;
    const char *name;                                /* of the audit log; copied */
    uint64_t (*size)(void *ctx);                     /* records that are durable */
    /* From `from` on until `entry` says false. false: it cannot be read now. */
    bool (*read)(void *ctx, uint64_t from, bool (*entry)(void *arg, uint64_t seq, const struct record *r), void *arg);
    void (*save)(void *ctx, const void *bytes, size_t len);
    bool (*load)(void *ctx, struct buf *out);        /* false: nothing was saved */
};

struct notify_counters { uint64_t notices[3], sent, failed, dropped; unsigned waiting; };   /* by enum notice */

/* One receiver as people see it. Texts live until the next call into this file. */
struct notify_view {
    const char *name, *type, *state, *error;         /* state: idle, waiting, failing, refused; error "": none */
    uint64_t sent, failed, dropped, retried;         /* failed: messages that the receiver will never take */
    unsigned waiting;
    bool up;                                         /* the newest try was good, or there was none */
    struct span since;                               /* of the newest success; < 0: none since the start */
};

struct notify *notify_new(const struct adapt *a);    /* NULL: out of memory */
void notify_end(struct notify *n);                   /* nothing new is sent; saves. Before fetch_free. Takes NULL */
void notify_free(struct notify *n);                  /* takes NULL; after fetch_free */
struct notify_port notify_port(struct notify *n);
/* At the start: each record of the log, oldest first, then the opening. */
void notify_replay(struct notify *n, uint64_t seq, const struct record *r);
void notify_open(struct notify *n, const struct notify_log *log);
void notify_grew(struct notify *n);                  /* records have become durable */
void notify_reload(struct notify *n);                /* another policy is in force; the one before may still be looked at */
/* Sends a test message past the queue. `done` comes later, once: OK, or what is wrong. NOT_FOUND: no such receiver. */
void notify_test(struct notify *n, const char *receiver,
                 void (*done)(void *ctx, enum status s, const char *text, const char *detail), void *ctx);
unsigned notify_receivers(const struct notify *n);
void notify_view(struct notify *n, unsigned i, struct notify_view *ret);
void notify_counters(const struct notify *n, struct notify_counters *ret);
const char *notify_level_name(enum notice level);

#endif
