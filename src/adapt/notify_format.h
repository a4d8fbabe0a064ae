/* A message as each receiver wants it: body, headers, signature; and what its answer means. Formats and limits of the
 * vendors, as measured or told by their pages, stand in docs/notifications.md. Inside adapt only. */
#ifndef ADAPT_NOTIFY_FORMAT_H
#define ADAPT_NOTIFY_FORMAT_H

#include "adapt/fetch.h"
#include "adapt/notify_queue.h"

#define NOTIFY_HEADERS 6
#define NOTIFY_ID 37             /* of a delivery: 36 characters and the end */

struct notify_draft {
    struct buf url, body, headers[NOTIFY_HEADERS];
    unsigned header_count;
};

struct notify_context {
    const char *url, *secret;        /* secret "": not signed */
    const char *external_url;        /* NULL: no links */
    const char *log;                 /* name of the audit log, for the identity of a delivery */
    int64_t real_us;                 /* the wall clock of this machine: signatures are dated by it */
};

void notify_draft_free(struct notify_draft *d);
/* Wipes what may hold a secret, then frees. */
void notify_format(struct notify_draft *out, const struct receiver_def *to, const struct letter *l, const struct notify_context *c);
/* The document of webhooks: the shape of Alertmanager's webhook, version 4, and an object `trimtab` beside it. */
void notify_document(struct buf *out, uint64_t seq, const struct record *r, const struct told *english, const char *delivery,
                     const char *receiver, const char *external_url);
void notify_annotation(struct buf *out, const struct told *t);
/* The same for the same receiver, log and numbers, so that a second delivery is known for what it is. */
void notify_id(char out[NOTIFY_ID], const char *log, const char *receiver, const uint64_t *numbers, unsigned n);

/* base64 of HMAC-SHA256. */
void notify_sign(struct buf *out, const char *key, size_t key_len, const char *message, size_t len);

struct notify_verdict {
    enum delivery how;
    int64_t pause;                   /* the receiver asks to wait so long; 0: it does not say */
    bool receiver_wrong;             /* address, key or permission: every message would fare like this one */
    char why[800];                   /* "" when taken. What the peer said is cut only after secrets were hidden in it */
};
/* HTTP 200 alone is no success: the body's code decides. */
void notify_judge(struct notify_verdict *ret, enum receiver_type t, const struct fetch_result *r, int64_t real_us);
/* Puts stars over every piece of `secret` (an address, a key) that stands in `text`. */
void notify_hide(char *text, const char *secret);

#endif
