/* The store's own state, for the files of this room only. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <pthread.h>

#include "store/files.h"
#include "store/log.h"
#include "store/metrics.h"
#include "store/rows.h"
#include "store/store.h"

#define STORE_VFS_MAX 64

struct store {
    uint32_t magic;
    char dir[STORE_PATH_MAX];            /* "" in memory */
    char vfs[STORE_VFS_MAX];             /* "" the system's */
    char audit_path[STORE_PATH_MAX];
    uint64_t reserve_bytes;
    bool threaded;
    int lock_fd, event_fd;
    struct audit_signer signer;
    sqlite3 *reader;                     /* the loop thread's; in memory the log's own connection */
    struct store_metrics *metrics;

    pthread_mutex_t log_lock;            /* whoever works on `log` */
    struct store_log log;
    bool log_open, reserve_held;
    uint64_t published;                  /* size of the checkpoint in dir/checkpoint */
    int64_t published_at;                /* monotonic seconds */

    pthread_mutex_t lock;                /* everything below */
    pthread_cond_t work;
    pthread_t thread;
    bool stopping;
    struct store_request *queue, **queue_end;
    struct store_request *acked, **acked_end;
    uint64_t waiting;
    enum store_state state;
    uint64_t size;
    char trouble[256];
};

#define STORE_MAGIC 0x53544f52u

enum status store_worker_start(struct store *s, struct err *e);
void store_worker_stop(struct store *s);     /* ends what is queued first */
/* Takes the reserve and sets the first state, once everything is open. */
void store_settle(struct store *s);
/* Writes dir/checkpoint when there is a newer one; at most once a second unless `now`. With log_lock held or alone. */
void store_publish(struct store *s, bool now);
/* The history that was signed before, in dir/checkpoint, against the log that is there. CORRUPT: another one. */
enum status store_check_published(struct store *s, struct err *e);
/* Starts a thread that takes no signals. */
enum status store_thread(pthread_t *ret, void *(*run)(void *), void *arg, struct err *e);
/* Appends a list on the calling thread; sets status, seq, err of each, and the store's state. */
void store_run(struct store *s, struct store_request *list);
struct store_request *store_request_new(const struct record *records, uint32_t n, uint64_t token, struct err *e);
void store_request_free(struct store_request *q);
/* Records through any connection; used by reading and by deriving. `bind` sets the statement's arguments. */
enum status store_each(sqlite3 *db, sqlite3_stmt *st, const struct store_sink *sink, struct err *e);
#define STORE_WINDOW_US (INT64_C(2) * 3600 * 1000000)   /* of a block of points */
/* Start of the window that a time lies in. */
int64_t store_window_of(int64_t at);
/* Writes rows of one source as they are, n > 0, with a statement made from this text. */
#define STORE_PUT_RECENT "INSERT INTO recent (source, first, last, bytes) VALUES (?, ?, ?, ?)"
enum status store_put_recent(sqlite3_stmt *put, int64_t source, const struct store_row *rows, uint32_t n, struct err *e);
/* vfs name for SQLite. */
static inline const char *store_vfs(const struct store *s) { return s->vfs[0] ? s->vfs : NULL; }

/* coarse.c: hours in place of points that are too old, 90 days long. */
#define STORE_COARSE_DAYS 90
struct store_hours { struct store_rows max, min, sum; };     /* place by place the same hours; n: known points of the hour */
void store_hours_free(struct store_hours *h);
/* `points` as store_rows_sort leaves them, all within one window. */
enum status store_coarse_keep(sqlite3 *db, struct store_packer *p, int64_t source, const struct store_rows *points, struct err *e);
/* Hours of a series on the days of [from, to). */
enum status store_coarse_read(sqlite3 *db, int64_t source, uint64_t series, int64_t from, int64_t to, struct store_hours *ret,
                              struct err *e);

/* adopt.c: points of an earlier version become records. */
enum status store_adopt_points(sqlite3 *db, struct err *e);

/* cost.c */
struct store_cost;
enum status store_cost_count(sqlite3 *db, struct store_cost *ret, uint64_t *ret_file_bytes, struct err *e);

#endif
