/* What trimtab remembers, behind one interface. Two SQLite files in one folder, so that bulk inserts never delay an
 * intent:
 *   audit.db    the append-only log with its Merkle tree and signed checkpoints; WAL, every commit synced
 *   metrics.db  signals, baseline state, policy revisions, and lists of incidents and actions derived from the log
 * beside them:
 *   lock        one daemon per folder
 *   audit.key   the signing key, secret, 0600
 *   audit.pub   what others verify with
 *   checkpoint  the newest one, at most a second old, for copying elsewhere; an older audit.db beside it is refused
 *   reserve     given up when the disk is full
 *
 * Threads: store_open starts one thread per file unless told otherwise. Every function here is for the thread that
 * opened the store (the shell's loop thread); none of them but open, close, *_now and verify waits for a disk write. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/note.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "model/record.h"

#define STORE_RESERVE_BYTES (UINT64_C(64) << 20)
#define STORE_ORIGIN "trimtab/audit"
#define STORE_NO_TIME INT64_MIN     /* "has not happened" in a time: microseconds since 1970 */
#define STORE_QUEUE_MAX 1024         /* appends that may wait */
#define STORE_APPEND_MAX 16          /* records of one append */

struct store;

struct store_options {
    const char *dir;                 /* made when absent (0700); NULL: all in memory, unthreaded, seed needed */
    const char *vfs;                 /* name of a registered SQLite VFS; NULL: the system's */
    const char *origin;              /* name of a log that begins now; NULL: STORE_ORIGIN */
    const uint8_t *seed;             /* 32 bytes for a key that is made now; NULL: random */
    uint64_t reserve_bytes;          /* kept on disk and given up when the disk is full; 0: none */
    bool unthreaded;                 /* tests, simulator, command line: work is done inside the calls */
};

/* DENIED: no access, or the key is readable by others. BUSY: another process uses the folder (its pid is in the text).
 * CORRUPT: damaged, not a database, not ours, or the log does not fit its newest checkpoint. UNSUPPORTED: written by a
 * newer version. CONFLICT: the key is missing or is not the one that signed the log. Nothing is changed on any error.
 */
enum status store_open(struct store **ret, const struct store_options *o, struct err *e);
/* Ends what is queued, leaves one plain audit.db without a write-ahead file. Takes NULL. */
void store_close(struct store *s);

/* ---- append ---- */

/* Queues records as ONE atomic, durable step; seq is set by the store. Copies them. The outcome comes with store_poll.
 * BUSY: the queue is full; then there is no ack. */
enum status store_append(struct store *s, const struct record *records, uint32_t n, uint64_t token, struct err *e);

struct store_ack {
    uint64_t token;
    /* OK: on disk, and covered by a signed checkpoint. INVALID, LIMIT: this record cannot be written. Anything else:
     * the store is in trouble; the records may or may not be there, and the log's tail decides. */
    enum status status;
    bool fatal;              /* a sync failed: nothing about the disk can be trusted any more; the process has to end */
    uint64_t seq;            /* of the first record; 0 unless OK */
    uint32_t n;
    char text[256];          /* for people; "" when OK */
};
/* Readable when there is something to poll or the state of store_health has changed; -1 when unthreaded. */
int store_fd(const struct store *s);
uint32_t store_poll(struct store *s, struct store_ack *acks, uint32_t cap);   /* in order of the appends */
/* Appends and waits. */
enum status store_append_now(struct store *s, const struct record *records, uint32_t n, uint64_t *ret_seq,
                             struct err *e);

enum store_state {
    STORE_GOOD,
    STORE_RESERVE,           /* disk full: the reserve is given up, metrics are dropped, the audit goes on */
    STORE_FULL,              /* the last append found no space even so; looked for every second */
    STORE_FAILED,            /* the last append failed; reopening is tried every second */
    STORE_FATAL              /* a sync failed: end the process */
};
struct store_health {
    enum store_state state;
    uint64_t size;           /* records on disk */
    uint64_t waiting;        /* appends queued */
    uint64_t dropped;        /* points not kept since the start */
    uint64_t budget, used;   /* bytes that metrics.db may take (0: any) and takes, as of the last write */
    uint64_t evicted;        /* points that went for the budget since the start */
    int64_t evicted_to;      /* time of the newest of them; STORE_NO_TIME: none */
    char text[256];          /* "" when GOOD */
    char metrics[256];       /* what the last failed write to metrics.db said; "" when the last one succeeded */
};
void store_health(struct store *s, struct store_health *ret);
const char *store_state_name(enum store_state st);

/* ---- read the log (what is durable) ---- */

/* One record as it stands in the log. Memory is the store's and dies when the callback returns. */
struct store_entry { uint64_t seq; const struct record *record; const char *bytes; size_t len; };
/* Return false to end early. */
struct store_sink { bool (*entry)(void *arg, const struct store_entry *entry); void *arg; };

/* All of these: OK also when nothing matches; CORRUPT names the record that cannot be read. */
enum status store_records(struct store *s, uint64_t from_seq, const struct store_sink *sink, struct err *e);
enum status store_records_of(struct store *s, const char *service, uint64_t from_seq, const struct store_sink *sink,
                             struct err *e);
/* Newest first, below `before`; service NULL: of all. */
enum status store_records_back(struct store *s, const char *service, uint64_t before, const struct store_sink *sink, struct err *e);
enum status store_story(struct store *s, const char *action, const struct store_sink *sink, struct err *e);
enum status store_incident(struct store *s, const char *service, uint64_t incident, const struct store_sink *sink,
                           struct err *e);
/* One record into the arena. NOT_FOUND. */
enum status store_record(struct store *s, uint64_t seq, struct arena *a, struct record *ret, struct err *e);
/* The newest checkpoint; note (may be NULL) gets the signed text. NOT_FOUND in an empty log. */
enum status store_checkpoint(struct store *s, struct audit_checkpoint *ret, struct buf *note, struct err *e);
const struct audit_verifier *store_verifier(const struct store *s);
/* Appends the proof file (C2SP tlog-proof) of one record, the record inside, under the newest checkpoint. NOT_FOUND. */
enum status store_prove(struct store *s, uint64_t seq, struct buf *out, struct err *e);

/* The same from a file, also a copy without its folder; service, action: NULL for all. Nothing is checked but the form. */
enum status store_records_file(const char *path, const char *service, const char *action, const struct store_sink *sink,
                               struct err *e);

/* ---- verify ---- */

struct store_report {
    bool good;
    bool own_key; /* checked only against the key that the file itself names: proves no more than "not damaged" */
    uint64_t records;        /* read and found good */
    uint64_t checkpoints;
    uint64_t bad_seq;        /* the first bad record, when not good; UINT64_MAX when it cannot be pinned to one */
    char why[400];           /* what is wrong with it, where, what to do */
    struct audit_checkpoint newest;   /* size 0 in an empty log */
};
/* Recomputes everything from the record bytes: form, sequence, leaf, tree, roots, signatures, the cut against the
 * newest checkpoint. OK: the check was made, see `good`; else it could not be. */
enum status store_verify(struct store *s, struct store_report *ret, struct err *e);
/* The same for a file, also a copy without its folder. key NULL: the one that the file names. */
enum status store_verify_file(const char *path, const struct audit_verifier *key, struct store_report *ret,
                              struct err *e);
/* And besides that it continues a signed checkpoint kept elsewhere (a note, from a backup, a message, another machine):
 * finds a log that was cut or rewritten together with all its signatures. INVALID, DENIED: not a checkpoint of this
 * key. */
enum status store_verify_against(const char *path, const struct audit_verifier *key, const char *note, size_t len,
                                 struct store_report *ret, struct err *e);

#endif
