/* The writing end of metrics.db: a queue of jobs and the thread that does them. */
#ifndef STORE_METRICS_H
#define STORE_METRICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "store/history.h"
#include "store/sql.h"

#define STORE_JOBS_MAX 4096

enum store_job_kind { JOB_POINTS, JOB_RETAIN, JOB_STATE, JOB_POLICY, JOB_DERIVE };

struct store_job {
    struct store_job *next;
    struct arena arena;          /* what the job points to */
    enum store_job_kind kind;
    struct store_point *points;
    uint32_t n;
    int64_t at;
    const char *name, *path;     /* service of a state; revision and path of a policy */
    const void *bytes;
    size_t len;
};

struct store_metrics {
    sqlite3 *db;                 /* the metrics thread's */
    sqlite3 *audit;              /* its view of the log */
    sqlite3 *reader;             /* the loop thread's */
    bool threaded, in_memory;
    atomic_bool dropping;
    atomic_uint_fast64_t dropped;
    atomic_uint_fast64_t budget, used;      /* bytes of the file; budget 0: any */
    atomic_uint_fast64_t evicted;           /* points that went for the budget, and the newest of them */
    atomic_int_fast64_t evicted_to;
    int64_t synced_at;           /* monotonic seconds */
    int64_t retain_next;         /* how far the packing of this round has come: a source */
    sqlite3_stmt *put_source, *get_source, *put_series, *get_series, *put_recent;
    sqlite3_stmt *put_state, *put_policy, *put_incident, *put_action;

    pthread_mutex_t lock;        /* everything below */
    pthread_cond_t work, idle;
    pthread_t thread;
    bool running, stopping, busy;
    struct store_job *jobs, **jobs_end;
    uint32_t queued;
    bool derive_queued;
    char trouble[256];           /* the last job that failed; "" when the last one did not */
};

enum status store_metrics_open(struct store_metrics **ret, struct store *s, struct err *e);
void store_metrics_close(struct store_metrics *m);       /* takes NULL */
void store_metrics_drop(struct store_metrics *m, bool drop);   /* takes NULL; any thread */
/* Fills what store_health says of metrics.db. */
void store_metrics_health(struct store_metrics *m, struct store_health *ret);
/* Asks for the lists to be brought up to the log's end. Takes NULL; any thread. */
void store_metrics_derive(struct store_metrics *m);
/* Queues a job, or does it at once when unthreaded; takes it over in any case. BUSY: the queue is full. */
enum status store_metrics_add(struct store_metrics *m, struct store_job *job, struct err *e);
struct store_job *store_job_new(enum store_job_kind kind, struct err *e);
void store_job_free(struct store_job *job);
/* The jobs themselves, inside one transaction. */
enum status store_write_points(struct store_metrics *m, const struct store_job *job, struct err *e);
/* Packs and removes points of a few sources; *ret_more when there are more. */
enum status store_write_retain(struct store_metrics *m, const struct store_job *job, bool *ret_more, struct err *e);
/* Lets the oldest points go until the file is within its budget. */
enum status store_keep_budget(struct store_metrics *m, struct err *e);
/* Takes up to a thousand records of the log into the lists; *ret_more when there may be more. */
enum status store_write_lists(struct store_metrics *m, bool *ret_more, struct err *e);

#endif
