#include "store/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/text.h"
#include "store/internal.h"

struct store_job *store_job_new(enum store_job_kind kind, struct err *e)
{
    struct store_job *job = calloc(1, sizeof *job);
    if (job) job->kind = kind;
    else err_set(e, STATUS_MEMORY, "no memory to queue what metrics.db should keep");
    return job;
}

void store_job_free(struct store_job *job)
{
    if (!job) return;
    arena_free(&job->arena);
    free(job);
}

static enum status write_state(struct store_metrics *m, const struct store_job *job, struct err *e)
{
    sqlite3_bind_text(m->put_state, 1, job->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(m->put_state, 2, job->at);
    sqlite3_bind_blob64(m->put_state, 3, job->bytes, job->len, SQLITE_STATIC);
    return store_sql_run(m->put_state, "saving the baseline state", e);
}

static enum status write_policy(struct store_metrics *m, const struct store_job *job, struct err *e)
{
    sqlite3_bind_text(m->put_policy, 1, job->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(m->put_policy, 2, job->path, -1, SQLITE_STATIC);
    sqlite3_bind_text64(m->put_policy, 3, job->bytes, job->len, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(m->put_policy, 4, job->at);
    return store_sql_run(m->put_policy, "keeping a policy revision", e);
}

static enum status write_job(struct store_metrics *m, const struct store_job *job, bool *ret_more, struct err *e)
{
    switch (job->kind) {
    case JOB_POINTS: return store_write_points(m, job, e);
    case JOB_RETAIN: return store_write_retain(m, job, ret_more, e);
    case JOB_STATE: return write_state(m, job, e);
    case JOB_POLICY: return write_policy(m, job, e);
    case JOB_DERIVE: return store_write_lists(m, ret_more, e);
    }
    return STATUS_OK;
}

/* A commit is on disk when a later one has been synced; one in five seconds is, so that a power cut takes no more. Without
 * a thread (tests, simulator) the checkpoints alone sync. */
static bool is_due(struct store_metrics *m)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!m->threaded || t.tv_sec - m->synced_at < STORE_SYNC_S) return false;
    m->synced_at = t.tv_sec;
    return true;
}

static enum status in_transaction(struct store_metrics *m, const struct store_job *job, bool *ret_more, struct err *e)
{
    bool points = job->kind == JOB_POINTS || job->kind == JOB_RETAIN, sync = is_due(m);
    enum status rc = sync ? store_sql_exec(m->db, "PRAGMA synchronous=FULL", "writing metrics", e) : STATUS_OK;
    if (rc == STATUS_OK) rc = store_sql_exec(m->db, "BEGIN IMMEDIATE", "writing metrics", e);
    if (rc == STATUS_OK) rc = write_job(m, job, ret_more, e);
    if (rc == STATUS_OK && points) rc = store_keep_budget(m, e);
    if (rc == STATUS_OK) rc = store_sql_exec(m->db, "COMMIT", "writing metrics", e);
    if (rc != STATUS_OK && !sqlite3_get_autocommit(m->db)) sqlite3_exec(m->db, "ROLLBACK", NULL, NULL, NULL);
    if (sync) sqlite3_exec(m->db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    return rc;
}

/* A job that fails is told in store_health and not tried again: nothing that acts depends on it. The lists are the
 * exception that needs no exception: the next derivation begins where the last good one ended. */
static enum status do_job(struct store_metrics *m, const struct store_job *job, bool *ret_again, struct err *e)
{
    bool more = false;
    struct err why = {0};
    enum status rc;
    *ret_again = false;
    if (job->kind == JOB_POINTS && atomic_load(&m->dropping)) {
        atomic_fetch_add(&m->dropped, job->n);
        return STATUS_OK;
    }
    do rc = in_transaction(m, job, &more, &why);
    while (rc == STATUS_OK && more && !(job->kind == JOB_RETAIN && m->running));
    *ret_again = rc == STATUS_OK && more;
    if (rc != STATUS_OK && job->kind == JOB_POINTS) atomic_fetch_add(&m->dropped, job->n);
    pthread_mutex_lock(&m->lock);
    text_copy(m->trouble, sizeof m->trouble, why.text);
    pthread_mutex_unlock(&m->lock);
    if (rc != STATUS_OK && e) *e = why;
    return rc;
}

/* With the lock held. NULL: stopping, and nothing is left. */
static struct store_job *next_job(struct store_metrics *m)
{
    m->busy = false;
    while (!m->jobs && !m->stopping) {
        pthread_cond_broadcast(&m->idle);
        pthread_cond_wait(&m->work, &m->lock);
    }
    struct store_job *job = m->jobs;
    if (!job) return NULL;
    m->jobs = job->next;
    if (!m->jobs) m->jobs_end = &m->jobs;
    m->queued--;
    if (job->kind == JOB_DERIVE) m->derive_queued = false;
    m->busy = true;
    return job;
}

/* Packing a fleet takes long: what comes in meanwhile is written between its pieces. */
static void queue_again(struct store_metrics *m, struct store_job *job)
{
    pthread_mutex_lock(&m->lock);
    bool stopping = m->stopping;
    if (!stopping) {
        job->next = NULL;
        *m->jobs_end = job;
        m->jobs_end = &job->next;
        m->queued++;
    }
    pthread_mutex_unlock(&m->lock);
    if (stopping) store_job_free(job);     /* the next start goes on with it */
}

static void *run_jobs(void *arg)
{
    struct store_metrics *m = arg;
    for (;;) {
        struct err e;
        pthread_mutex_lock(&m->lock);
        struct store_job *job = next_job(m);
        pthread_mutex_unlock(&m->lock);
        if (!job) return NULL;
        bool again;
        do_job(m, job, &again, &e);
        if (again) queue_again(m, job);
        else store_job_free(job);
    }
}

enum status store_metrics_add(struct store_metrics *m, struct store_job *job, struct err *e)
{
    if (!m->running) {
        bool again;
        enum status rc = do_job(m, job, &again, e);
        store_job_free(job);
        return rc;
    }
    pthread_mutex_lock(&m->lock);
    bool full = m->queued >= STORE_JOBS_MAX;
    if (!full) {
        *m->jobs_end = job;
        m->jobs_end = &job->next;
        m->queued++;
        pthread_cond_signal(&m->work);
    }
    pthread_mutex_unlock(&m->lock);
    if (!full) return STATUS_OK;
    if (job->kind == JOB_POINTS) atomic_fetch_add(&m->dropped, job->n);
    store_job_free(job);
    return err_set(e, STATUS_BUSY, "metrics.db is %d jobs behind: the disk is too slow", STORE_JOBS_MAX);
}

void store_metrics_derive(struct store_metrics *m)
{
    struct err e;
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    bool queued = m->derive_queued;
    m->derive_queued = m->running;
    pthread_mutex_unlock(&m->lock);
    if (queued) return;
    struct store_job *job = store_job_new(JOB_DERIVE, &e);
    if (job && store_metrics_add(m, job, &e) == STATUS_OK) return;
    pthread_mutex_lock(&m->lock);
    m->derive_queued = false;   /* the next append asks again */
    pthread_mutex_unlock(&m->lock);
}

void store_metrics_drop(struct store_metrics *m, bool drop)
{
    if (m) atomic_store(&m->dropping, drop);
}

void store_metrics_health(struct store_metrics *m, struct store_health *ret)
{
    ret->dropped = atomic_load(&m->dropped);
    ret->budget = atomic_load(&m->budget);
    ret->used = atomic_load(&m->used);
    ret->evicted = atomic_load(&m->evicted);
    ret->evicted_to = atomic_load(&m->evicted_to);
    pthread_mutex_lock(&m->lock);
    text_copy(ret->metrics, sizeof ret->metrics, m->trouble);
    pthread_mutex_unlock(&m->lock);
}

void store_budget(struct store *s, uint64_t bytes) { atomic_store(&s->metrics->budget, bytes); }

void store_history_flush(struct store *s)
{
    struct store_metrics *m = s->metrics;
    pthread_mutex_lock(&m->lock);
    while (m->running && (m->jobs || m->busy)) pthread_cond_wait(&m->idle, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static enum status prepare_all(struct store_metrics *m, struct err *e)
{
    const struct { sqlite3_stmt **st; const char *sql; } all[] = {
        {&m->put_series, "INSERT OR IGNORE INTO series (service, signal, layer) VALUES (?, ?, ?)"},
        {&m->get_series, "SELECT id FROM series WHERE service = ? AND signal = ?"},
        {&m->put_source, "INSERT OR IGNORE INTO sources (service) VALUES (?)"},
        {&m->get_source, "SELECT id FROM sources WHERE service = ?"},
        {&m->put_recent, STORE_PUT_RECENT},
        {&m->put_state, "INSERT OR REPLACE INTO state VALUES (?, ?, ?)"},
        {&m->put_policy, "INSERT OR IGNORE INTO policy VALUES (?, ?, ?, ?)"},
        {&m->put_incident,
         "INSERT INTO incidents (service, incident, symptom, onset, opened, closed, cause, last_kind, last_reason, actions,"
         " last_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
         " ON CONFLICT (service, incident) DO UPDATE SET"
         " symptom = iif(excluded.symptom <> '', excluded.symptom, symptom), onset = coalesce(excluded.onset, onset),"
         " closed = coalesce(excluded.closed, closed), cause = iif(excluded.cause <> '', excluded.cause, cause),"
         " last_kind = excluded.last_kind, last_reason = excluded.last_reason, actions = actions + excluded.actions,"
         " last_seq = excluded.last_seq"},
        {&m->put_action,
         "INSERT INTO actions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"
         " ON CONFLICT (action) DO UPDATE SET applied = coalesce(applied, excluded.applied),"
         " verdict = iif(excluded.verdict <> '', excluded.verdict, verdict),"
         " outcome = iif(excluded.outcome <> '', excluded.outcome, outcome),"
         " last_kind = excluded.last_kind, last_at = excluded.last_at, last_seq = excluded.last_seq"},
    };
    enum status rc = STATUS_OK;
    for (size_t i = 0; rc == STATUS_OK && i < ARRAY_LEN(all); i++)
        rc = store_sql_prepare(m->db, all[i].sql, all[i].st, e);
    return rc;
}

static enum status open_connections(struct store_metrics *m, struct store *s, struct err *e)
{
    char path[STORE_PATH_MAX];
    if (m->in_memory) {
        enum status rc = store_sql_open(&m->db, ":memory:", store_vfs(s), STORE_SQL_NORMAL, e);
        if (rc == STATUS_OK) rc = store_sql_migrate(m->db, &store_schema_metrics, e);
        m->audit = s->reader;
        m->reader = m->db;
        return rc;
    }
    enum status rc = store_path(path, s->dir, "metrics.db", e);
    if (rc == STATUS_OK) rc = store_sql_open(&m->db, path, store_vfs(s), STORE_SQL_NORMAL, e);
    if (rc == STATUS_OK) rc = store_sql_migrate(m->db, &store_schema_metrics, e);
    if (rc == STATUS_OK) rc = store_adopt_points(m->db, e);
    if (rc == STATUS_OK) rc = store_sql_open(&m->audit, s->audit_path, store_vfs(s), STORE_SQL_READ, e);
    if (rc == STATUS_OK) rc = store_sql_open(&m->reader, path, store_vfs(s), STORE_SQL_READ, e);
    return rc;
}

/* Damage here loses comfort only, so the way out is another one than for the log. */
static enum status advise(struct err *e)
{
    if (!e) return STATUS_CORRUPT;
    char what[sizeof e->text];
    text_copy(what, sizeof what, e->text);
    char *end = strstr(what, "; ");
    if (end) *end = '\0';
    return err_set(e, STATUS_CORRUPT,
                   "%.300s; move metrics.db away and start again: signals and baselines begin anew, the"
                   " audit keeps the story",
                   what);
}

enum status store_metrics_open(struct store_metrics **ret, struct store *s, struct err *e)
{
    struct store_metrics *m = calloc(1, sizeof *m);
    if (!m) return err_set(e, STATUS_MEMORY, "no memory to open metrics.db");
    m->threaded = s->threaded;
    m->in_memory = !s->dir[0];
    m->jobs_end = &m->jobs;
    atomic_store(&m->evicted_to, STORE_NO_TIME);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->work, NULL);
    pthread_cond_init(&m->idle, NULL);
    enum status rc = open_connections(m, s, e);
    if (rc == STATUS_OK) rc = prepare_all(m, e);
    if (rc == STATUS_OK && m->threaded) {
        rc = store_thread(&m->thread, run_jobs, m, e);
        m->running = rc == STATUS_OK;
    }
    if (rc == STATUS_OK) *ret = m;
    else store_metrics_close(m);
    return rc == STATUS_CORRUPT ? advise(e) : rc;
}

static void stop(struct store_metrics *m)
{
    if (!m->running) return;
    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    m->running = false;
}

void store_metrics_close(struct store_metrics *m)
{
    if (!m) return;
    stop(m);
    sqlite3_stmt *const all[] = {m->put_source, m->get_source, m->put_series,   m->get_series, m->put_recent,
                                 m->put_state,  m->put_policy, m->put_incident, m->put_action};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) sqlite3_finalize(all[i]);
    if (!m->in_memory) {
        store_sql_close(&m->audit);
        store_sql_close(&m->reader);
    }
    store_sql_close(&m->db);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->work);
    pthread_cond_destroy(&m->idle);
    free(m);
}
