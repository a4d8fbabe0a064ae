/* The audit thread: takes what is queued, makes it durable in one transaction, says so. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "store/internal.h"

struct store_request *store_request_new(const struct record *records, uint32_t n, uint64_t token, struct err *e)
{
    CHECK(n >= 1 && n <= STORE_APPEND_MAX);
    struct store_request *q = calloc(1, sizeof *q);
    struct record **copies = q ? ARENA_NEW_N(&q->arena, n, struct record *) : NULL;
    bool ok = copies != NULL;
    for (uint32_t i = 0; ok && i < n; i++) ok = (copies[i] = record_copy(&q->arena, &records[i])) != NULL;
    if (!ok) {
        store_request_free(q);
        err_set(e, STATUS_MEMORY, "no memory to queue a record %s", record_kind_name(records[0].kind));
        return NULL;
    }
    q->records = copies;
    q->n = n;
    q->token = token;
    return q;
}

void store_request_free(struct store_request *q)
{
    if (!q) return;
    arena_free(&q->arena);
    free(q);
}

#define SPACE_PROBE (UINT64_C(1) << 20)   /* enough for many appends */

static void ring(struct store *s)
{
    uint64_t one = 1;
    while (write(s->event_fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

/* A change wakes the shell: it must stop acting at once, and may go on as soon as the store is good again. */
static void set_state(struct store *s, enum store_state state, const char *text)
{
    pthread_mutex_lock(&s->lock);
    bool changed = s->state != state;
    s->state = state;
    s->size = s->log.tree.size;
    text_copy(s->trouble, sizeof s->trouble, text);
    pthread_mutex_unlock(&s->lock);
    store_metrics_drop(s->metrics, state != STORE_GOOD);
    if (changed && s->event_fd >= 0) ring(s);
}

static enum store_state state_of(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    enum store_state state = s->state;
    pthread_mutex_unlock(&s->lock);
    return state;
}

/* Twice the room of the reserve must be free before it is taken again, or it would go back and forth. */
static bool room_for_reserve(const struct store *s)
{
    struct statvfs v;
    return statvfs(s->dir, &v) == 0 && (uint64_t)v.f_bavail * v.f_frsize / 2 >= s->reserve_bytes;
}

static void set_good(struct store *s)
{
    if (!s->reserve_held && room_for_reserve(s)) s->reserve_held = store_reserve_take(s->dir, s->reserve_bytes);
    if (s->reserve_held) set_state(s, STORE_GOOD, "");
    else
        set_state(s, STORE_RESERVE,
                  "the disk is full: the reserve is given up and metrics are dropped, only the audit goes on;"
                  " free some space");
}

/* After a failure that was not a sync: the file decides what was written. */
static enum status reopen(struct store *s, struct err *e)
{
    store_log_close(&s->log);
    s->log_open = false;
    enum status rc = store_log_open(&s->log, s->audit_path, store_vfs(s), &s->signer, e);
    s->log_open = rc == STATUS_OK;
    return rc;
}

void store_settle(struct store *s)
{
    pthread_mutex_lock(&s->log_lock);
    set_good(s);
    pthread_mutex_unlock(&s->log_lock);
    store_metrics_derive(s->metrics);
}

static void note_failure(struct store *s, enum status rc, bool fatal, const struct err *e)
{
    if (fatal) set_state(s, STORE_FATAL, e->text);
    else if (rc == STATUS_FULL) set_state(s, STORE_FULL, e->text);
    else if (rc != STATUS_BUSY && rc != STATUS_MEMORY)
        set_state(s, STORE_FAILED, e->text); /* these two pass by themselves */
}

static enum status append(struct store *s, struct store_request *list, struct err *e)
{
    bool fatal = false;
    enum status rc = store_log_append(&s->log, list, &fatal, e);
    if (rc == STATUS_FULL && !fatal && s->reserve_held && s->reserve_bytes > 0) {
        store_metrics_drop(s->metrics, true);
        s->reserve_held = false;
        if (store_reserve_release(s->dir)) rc = store_log_append(&s->log, list, &fatal, e);
    }
    if (rc == STATUS_OK) set_good(s);
    else note_failure(s, rc, fatal, e);
    return rc;
}

void store_run(struct store *s, struct store_request *list)
{
    struct err e = {0};
    pthread_mutex_lock(&s->log_lock);
    enum store_state state = state_of(s);
    enum status rc = STATUS_OK;
    if (state == STORE_FATAL) rc = err_set(&e, STATUS_IO, "a sync of the audit failed before: the process has to end");
    else if (state == STORE_FAILED && s->dir[0]) rc = reopen(s, &e);
    if (rc == STATUS_OK) append(s, list, &e);
    else store_fail_all(list, rc, state == STORE_FATAL, &e);
    pthread_mutex_unlock(&s->log_lock);
}

/* A checkpoint that cannot be published is told by nobody missing it: audit.db holds the same. */
void store_publish(struct store *s, bool now)
{
    struct timespec t;
    struct buf note = BUF_INIT;
    struct audit_checkpoint c;
    if (!s->dir[0] || !s->log_open || s->published == s->log.tree.size) return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!now && t.tv_sec - s->published_at < 1) return;
    if (store_log_newest(s->log.db, &s->signer.verifier, &c, &note, NULL) == STATUS_OK
        && store_checkpoint_publish(s->dir, &note, NULL) == STATUS_OK) {
        s->published = c.size;
        s->published_at = t.tv_sec;
    }
    buf_free(&note);
}

/* Only taking space shows that there is some: quotas do not show in the numbers of the file system. */
static bool has_space(const struct store *s)
{
    return !(s->reserve_held && s->reserve_bytes > 0) && store_reserve_take(s->dir, SPACE_PROBE)
           && store_reserve_release(s->dir);
}

/* What nobody asked for: folding the write-ahead file back, coming back after a failure, taking the reserve
 * again, publishing the checkpoint. */
static void upkeep(struct store *s)
{
    struct err e = {0};
    pthread_mutex_lock(&s->log_lock);
    enum store_state state = state_of(s);
    if (state == STORE_FAILED && reopen(s, &e) == STATUS_OK) set_good(s);
    else if (state == STORE_RESERVE || (state == STORE_FULL && s->threaded && has_space(s))) set_good(s);
    if (s->log_open && state != STORE_FATAL && !store_log_tidy(&s->log, &e)) set_state(s, STORE_FATAL, e.text);
    if (state != STORE_FATAL) store_publish(s, false);
    pthread_mutex_unlock(&s->log_lock);
}

/* Puts a finished list where store_poll finds it. */
static void deliver(struct store *s, struct store_request *list)
{
    pthread_mutex_lock(&s->lock);
    *s->acked_end = list;
    for (; *s->acked_end; s->acked_end = &(*s->acked_end)->next) s->waiting--;
    pthread_mutex_unlock(&s->lock);
    ring(s);
}

/* Waits for work, at most a second. Called with the lock held. */
static void wait_for_work(struct store *s)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec++;
    while (!s->queue && !s->stopping)
        if (pthread_cond_timedwait(&s->work, &s->lock, &until) == ETIMEDOUT) return;
}

static void *worker(void *arg)
{
    struct store *s = arg;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        wait_for_work(s);
        struct store_request *list = s->queue;
        bool stopping = s->stopping;
        s->queue = NULL;
        s->queue_end = &s->queue;
        pthread_mutex_unlock(&s->lock);
        if (list) {
            store_run(s, list);
            deliver(s, list);
            store_metrics_derive(s->metrics);
        }
        if (!list || state_of(s) != STORE_FULL) upkeep(s);   /* after a full disk: not before a second has passed */
        if (!list && stopping) return NULL;
    }
}

/* The clock that a changed wall time does not move. */
static void init_cond(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

enum status store_thread(pthread_t *ret, void *(*run)(void *), void *arg, struct err *e)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);   /* signals are the main thread's */
    int rc = pthread_create(ret, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc == 0 ? STATUS_OK : err_set(e, STATUS_MEMORY, "cannot start a thread for the store: %s", strerror(rc));
}

enum status store_worker_start(struct store *s, struct err *e)
{
    init_cond(&s->work);
    if (!s->threaded) return STATUS_OK;
    s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->event_fd < 0) return err_set(e, STATUS_MEMORY, "cannot make an event descriptor: %s", strerror(errno));
    enum status rc = store_thread(&s->thread, worker, s, e);
    if (rc != STATUS_OK) {
        close(s->event_fd);
        s->event_fd = -1;
    }
    return rc;
}

void store_worker_stop(struct store *s)
{
    if (s->event_fd < 0) return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    close(s->event_fd);
    s->event_fd = -1;
}

static void enqueue(struct store *s, struct store_request *q)
{
    *s->queue_end = q;
    s->queue_end = &q->next;
    s->waiting++;
    pthread_cond_signal(&s->work);
}

enum status store_append(struct store *s, const struct record *records, uint32_t n, uint64_t token, struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_request *q = store_request_new(records, n, token, e);
    if (!q) return STATUS_MEMORY;
    pthread_mutex_lock(&s->lock);
    bool full = s->waiting >= STORE_QUEUE_MAX;
    if (!full) enqueue(s, q);
    pthread_mutex_unlock(&s->lock);
    if (full) {
        store_request_free(q);
        return err_set(e, STATUS_BUSY, "%d appends are waiting for the disk already", STORE_QUEUE_MAX);
    }
    if (s->threaded) return STATUS_OK;
    s->queue = NULL;
    s->queue_end = &s->queue;
    store_run(s, q);
    pthread_mutex_lock(&s->lock);
    *s->acked_end = q;
    s->acked_end = &q->next;
    s->waiting--;
    pthread_mutex_unlock(&s->lock);
    upkeep(s);
    store_metrics_derive(s->metrics);
    return STATUS_OK;
}

static struct store_request *take_acked(struct store *s, uint32_t cap)
{
    pthread_mutex_lock(&s->lock);
    struct store_request *list = s->acked, **end = &s->acked;
    for (uint32_t i = 0; i < cap && *end; i++) end = &(*end)->next;
    struct store_request *rest = *end;
    *end = NULL;
    s->acked = rest;
    if (!rest) s->acked_end = &s->acked;
    pthread_mutex_unlock(&s->lock);
    return end == &s->acked ? NULL : list;
}

static void fill_ack(struct store_ack *ack, const struct store_request *q)
{
    *ack = (struct store_ack){.token = q->token, .status = q->status, .fatal = q->fatal, .n = q->n};
    if (q->status == STATUS_OK) ack->seq = q->seq;
    else text_copy(ack->text, sizeof ack->text, q->err.text);
}

uint32_t store_poll(struct store *s, struct store_ack *acks, uint32_t cap)
{
    OBJ_VALID(s, STORE_MAGIC);
    uint64_t rings = 0;
    uint32_t n = 0;
    if (!s->threaded) upkeep(s);
    if (s->event_fd >= 0 && read(s->event_fd, &rings, sizeof rings) < 0) rings = 0;   /* nothing rang: still look */
    for (struct store_request *q = take_acked(s, cap), *next; q; q = next) {
        next = q->next;
        fill_ack(&acks[n++], q);
        store_request_free(q);
    }
    pthread_mutex_lock(&s->lock);
    bool more = s->acked != NULL;
    pthread_mutex_unlock(&s->lock);
    if (more && s->event_fd >= 0) ring(s);
    return n;
}

enum status store_append_now(struct store *s, const struct record *records, uint32_t n, uint64_t *ret_seq,
                             struct err *e)
{
    OBJ_VALID(s, STORE_MAGIC);
    struct store_request *q = store_request_new(records, n, 0, e);
    if (!q) return STATUS_MEMORY;
    store_run(s, q);
    enum status rc = q->status;
    if (rc != STATUS_OK && e) *e = q->err;
    else if (ret_seq) *ret_seq = q->seq;
    store_request_free(q);
    if (!s->threaded) upkeep(s);
    store_metrics_derive(s->metrics);
    return rc;
}
