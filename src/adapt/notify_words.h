/* What happened, in the words of one language: from a record of the log, or from what the daemon says besides. The tables
 * stand in notify_words.def. Inside adapt only. */
#ifndef ADAPT_NOTIFY_WORDS_H
#define ADAPT_NOTIFY_WORDS_H

#include "adapt/adapt.h"
#include "base/buf.h"
#include "model/record.h"

#define TOLD_DETAILS 12
#define TOLD_NOTICE (UINT64_C(1) << 63)   /* in a number: not of the log, of the daemon's own notices */

enum tone { TONE_PLAIN, TONE_GOOD, TONE_BAD };

struct told {
    uint64_t number;                 /* of the record in the log, or TOLD_NOTICE | its own count */
    struct wall at;
    int offset_s;                    /* of the service's local time */
    enum notice level;
    enum tone tone;
    bool urgent;                     /* even a storm does not hold it back */
    bool over;                       /* it says that what it is about has ended */
    int kind;                        /* enum record_kind; -1: none */
    char *service, *key;             /* key: what it is about; the same key, the same matter */
    char *title;                     /* one line */
    char *path;                      /* of the console's page, "/incidents/embed/3" */
    struct { const char *label; char *value; } details[TOLD_DETAILS];
    unsigned detail_n;
    struct buf body;                 /* the document for programs; empty: made from the words above */
};

/* NULL: no receiver is told of this kind; or with people_only, people are not. `p`: for the local time. */
struct told *told_of_record(uint64_t seq, const struct record *r, const struct policy *p, bool chinese, bool people_only);
struct told *told_of_notice(uint64_t number, struct wall at, enum notice level, const char *service, const char *subject,
                            const char *text, bool chinese);
struct told *told_of_test(const char *receiver, struct wall at, bool chinese);
void told_free(struct told *t);      /* takes NULL */

/* "2026-05-12 10:02:30 +08:00" */
void told_time(struct buf *out, struct wall at, int offset_s);
/* At most `most` bytes of UTF-8, invalid bytes as U+FFFD, control characters as blanks; what is cut off ends in "…". */
void told_cut(struct buf *out, const char *text, size_t most);

#endif
