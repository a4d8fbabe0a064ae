/* Shared by the files notify_*.c: receivers, the daemon's own notices, what is under way. */
#ifndef ADAPT_NOTIFY_INSIDE_H
#define ADAPT_NOTIFY_INSIDE_H

#include "adapt/fetch.h"
#include "adapt/notify.h"
#include "adapt/notify_alerts.h"
#include "adapt/notify_format.h"

#define NOTICES_MOST 64          /* of the daemon's own that may wait */

struct own_notice {
    uint64_t number;
    struct wall at;
    enum notice level;
    char *service, *subject, *text;
};

struct receiver {
    char name[POLICY_NAME_MAX + 1];
    uint16_t index;                  /* in the policy in force; NO_INDEX: not there any more */
    enum receiver_type type;
    struct queue queue;
    unsigned running;                /* requests under way */
    bool troubled, refused;
    char error[240];
    uint64_t sent, failed, dropped, retried;
    int64_t good_at;                 /* monotonic; INT64_MIN: never */
    struct { uint64_t version, sending; size_t next; bool out; int64_t done_at; } alerts;   /* Alertmanager */
    bool gone;                       /* freed when nothing of it runs any more */
    struct receiver *next_gone;
};

struct notify {
    const struct adapt *a;
    struct notify_log log;
    char *log_name;
    bool open, ending, dirty;
    int64_t pull_at;                 /* when the log is read on; QUEUE_NEVER: it has nothing more */
    bool alerting, alerts_whole;     /* there is an Alertmanager; `alerts` holds all of the log */
    struct receiver **receivers;
    unsigned receiver_n;
    struct receiver *gone;
    struct own_notice notices[NOTICES_MOST];
    unsigned notice_n;
    uint64_t notice_next;
    struct alerts *alerts;
    uint64_t alerts_next;            /* number of the first record that it has not seen */
    struct event *wake, *save;
    struct buf saved;                /* what was saved last */
    struct notify_counters counters;
};

int64_t notify_now(void);            /* monotonic us */
int64_t notify_real(void);           /* wall clock of the machine, us */
const struct receiver_def *notify_def(const struct notify *n, const struct receiver *r);   /* NULL: gone */
void notify_dirty(struct notify *n);
void notify_pump(struct notify *n);
void notify_pull(struct notify *n);
bool notify_add_own(struct notify *n, struct receiver *r, const struct own_notice *o);
void notify_forget_own(struct notify *n);
/* notify_state.c */
void notify_state_save(struct notify *n);
void notify_state_load(struct notify *n);
/* notify_send.c */
void notify_send(struct notify *n, struct receiver *r, int64_t now);
int64_t notify_send_wake(const struct notify *n, const struct receiver *r);

#endif
