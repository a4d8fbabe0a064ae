/* The writing end of audit.db. One transaction holds records, tree nodes and the signed checkpoint over them, so that
 * on disk the newest checkpoint always covers exactly the records that are there. */
#ifndef STORE_LOG_H
#define STORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/note.h"
#include "audit/tree.h"
#include "base/arena.h"
#include "base/buf.h"
#include "model/record.h"
#include "store/sql.h"

/* One append: records that stand or fall together. */
struct store_request {
    struct store_request *next;
    struct arena arena;              /* the records' memory */
    struct record *const *records;
    uint32_t n;
    uint64_t token;
    enum status status;              /* outcome */
    bool fatal;
    uint64_t seq;
    struct err err;
};

struct store_log {
    sqlite3 *db;
    const struct audit_signer *signer;
    struct audit_tree tree;          /* of what is durable */
    bool newest_kept;                /* the newest checkpoint covers an INTENT: it stays when the next one is signed */
    int wal_frames;                  /* in the write-ahead file since it was last folded into the database */
    sqlite3_stmt *begin, *commit, *put_record, *put_hash, *put_checkpoint, *drop_checkpoint;
    struct buf bytes, note;          /* scratch */
};

/* Opens the file, brings its schema up to date, loads the tree's edge and compares it with the newest checkpoint.
 * CORRUPT, CONFLICT, UNSUPPORTED, DENIED as store_open says. On failure nothing stays open. */
enum status store_log_open(struct store_log *l, const char *path, const char *vfs, const struct audit_signer *signer,
                           struct err *e);
void store_log_close(struct store_log *l);   /* takes one that is not open */
/* Appends all requests of the list in one transaction. Those whose records cannot be written get their own error and
 * leave the rest alone. Not OK: the transaction failed; each of the rest carries the reason, and the tree is as before.
 * *ret_fatal: it was a sync that failed. */
enum status store_log_append(struct store_log *l, struct store_request *list, bool *ret_fatal, struct err *e);
/* Gives every request that has no error yet this one. */
void store_fail_all(struct store_request *list, enum status status, bool fatal, const struct err *e);
/* Folds the write-ahead file back when it has grown; called between appends. false: a sync failed. */
bool store_log_tidy(struct store_log *l, struct err *e);

/* Reads tree nodes through a connection; `arg` of the source is the connection. */
struct audit_source store_hash_source(sqlite3 *db);
/* The newest checkpoint row. NOT_FOUND: the log is empty. */
enum status store_log_newest(sqlite3 *db, const struct audit_verifier *v, struct audit_checkpoint *ret,
                             struct buf *note, struct err *e);

#endif
