/* What waits for one receiver, and when it may go out. Plain data: the time comes in (any clock that never goes back, in
 * microseconds), nothing is sent here. Inside adapt only.
 *
 * Merging receivers (people) get one message of what has gathered about the same matter while it waited. When more than
 * QUEUE_STORM matters come within a minute, or wait, a storm has begun: all that is not urgent becomes one summary, which
 * goes out after QUEUE_GATHER; from then on the receiver is quiet: what comes goes into the next summary, QUEUE_QUIET later.
 * Others (programs) get one message for each told, in order; when QUEUE_MOST wait there is no room, and the log is
 * read on from there later. So memory is bounded, and nothing is lost. */
#ifndef ADAPT_NOTIFY_QUEUE_H
#define ADAPT_NOTIFY_QUEUE_H

#include "adapt/notify_words.h"

#define QUEUE_MOST 64
#define QUEUE_STORM 10
#define QUEUE_GATHER (5 * US_PER_S)
#define QUEUE_QUIET (5 * US_PER_MIN)
#define QUEUE_PAUSE_MOST (5 * US_PER_MIN)   /* between tries, unless the receiver asks for more */
#define QUEUE_NEVER INT64_MAX
#define LETTER_LINES 8
#define LETTER_NUMBERS 256
#define SUMMARY_LINES 10
#define SUMMARY_KEYS 1024
#define QUEUE_LATE 256

/* What a storm's summary counts. */
struct summary {
    uint64_t keys[SUMMARY_KEYS];
    unsigned key_n, told_n;
    unsigned tally[RECORD_KIND_COUNT + 1];   /* the last: notices */
    struct { enum notice level; struct wall at; char *line; } lines[SUMMARY_LINES];   /* most severe first */
    unsigned line_n;
    struct wall first, last;
};

struct letter {
    struct letter *next;
    struct told *newest;                     /* NULL in a summary */
    char *earlier[LETTER_LINES];             /* what came before about the same matter, oldest first */
    unsigned earlier_n, left_out;
    enum notice level;                       /* the highest of all */
    struct summary *summary;                 /* NULL: none */
    uint64_t numbers[LETTER_NUMBERS];        /* of what is in it, lowest first; beyond that they are not kept */
    unsigned number_n;
    bool out;                                /* under way */
};

struct queue {
    bool merging;
    unsigned rate;
    struct letter *first;
    unsigned n;
    int64_t sent[RECEIVER_RATE_MOST];        /* the newest `rate` requests, as a ring */
    unsigned sent_n;
    int64_t born[QUEUE_STORM];               /* when the newest matters came, as a ring */
    unsigned born_n;
    struct letter *storm;                    /* gathers; not in the list */
    int64_t storm_due, quiet_until, retry_at;
    unsigned failures;                       /* one after another */
    uint64_t next;                           /* number of the first record not looked at */
    uint64_t late[QUEUE_LATE];               /* done out of their order, lowest first */
    unsigned late_n;
};

enum delivery { DELIVERY_TAKEN, DELIVERY_REFUSED, DELIVERY_LATER };

void queue_open(struct queue *q, bool merging, unsigned rate, uint64_t next);
void queue_close(struct queue *q);
void queue_set_rate(struct queue *q, bool merging, unsigned rate);   /* a new configuration */
bool queue_room(const struct queue *q);
/* Takes it. */
void queue_add(struct queue *q, struct told *t, int64_t now);
/* What is to be sent now, marked as under way; NULL: nothing, or not yet. Counts against the rate. */
struct letter *queue_take(struct queue *q, int64_t now);
int64_t queue_wake(const struct queue *q);   /* when queue_take may give something; QUEUE_NEVER: not by time alone */
/* The one under way has come to an end. LATER: again after `pause` us, or after growing pauses when it is 0. */
void queue_done(struct queue *q, enum delivery how, int64_t pause, int64_t now);
void queue_failed(struct queue *q, int64_t pause, int64_t now);      /* the part of it that is about the receiver alone */
void queue_good(struct queue *q);
bool queue_may_send(const struct queue *q, int64_t now);             /* the rate allows one more */
void queue_count(struct queue *q, int64_t now);                      /* one was sent besides */
unsigned queue_waiting(const struct queue *q);                       /* messages, the one under way included */
/* All below is done with: taken, refused, or of no interest. */
uint64_t queue_settled(const struct queue *q);
bool queue_is_late(const struct queue *q, uint64_t number);          /* done though above queue_settled */
/* Calls `see` for each notice (TOLD_NOTICE) that is not done with. */
void queue_notices(const struct queue *q, void (*see)(void *arg, uint64_t number), void *arg);

#endif
