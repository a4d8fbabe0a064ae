#include "api/work.h"

#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct job {
    struct job *next;
    void (*run)(void *ctx), (*done)(void *ctx), (*drop)(void *ctx);
    void *ctx;
};

struct list { struct job *first, **end; };

struct work {
    pthread_t thread;
    pthread_mutex_t lock;        /* everything below but `wake` */
    pthread_cond_t more;
    struct list waiting, ready;
    unsigned n;
    bool stopping;
    int fd;
    struct event *wake;
};

static void push(struct list *l, struct job *j)
{
    j->next = NULL;
    *l->end = j;
    l->end = &j->next;
}

static struct job *pop(struct list *l)
{
    struct job *j = l->first;
    if (!j) return NULL;
    l->first = j->next;
    if (!l->first) l->end = &l->first;
    return j;
}

static void *run(void *arg)
{
    struct work *w = arg;
    uint64_t one = 1;
    pthread_mutex_lock(&w->lock);
    while (!w->stopping) {
        struct job *j = pop(&w->waiting);
        if (!j) {
            pthread_cond_wait(&w->more, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        j->run(j->ctx);
        pthread_mutex_lock(&w->lock);
        w->n--;
        push(&w->ready, j);
        if (write(w->fd, &one, sizeof one) < 0) continue;   /* full: the loop thread is about to look anyway */
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    struct work *w = arg;
    uint64_t n;
    (void)what;
    if (read(fd, &n, sizeof n) < 0) return;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        struct job *j = pop(&w->ready);
        pthread_mutex_unlock(&w->lock);
        if (!j) return;
        j->done(j->ctx);
        free(j);
    }
}

/* Signals are the loop thread's. */
static bool start(struct work *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&w->thread, NULL, run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

struct work *work_new(struct event_base *base)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->waiting.end = &w->waiting.first;
    w->ready.end = &w->ready.first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    w->wake = w->fd < 0 ? NULL : event_new(base, w->fd, EV_READ | EV_PERSIST, on_ready, w);
    if (w->wake && event_add(w->wake, NULL) == 0 && start(w)) return w;
    if (w->wake) event_free(w->wake);
    if (w->fd >= 0) (void)close(w->fd);
    free(w);
    return NULL;
}

void work_abandon(struct work *w)
{
    if (w) (void)event_del(w->wake);
}

static void drop_all(struct list *l)
{
    for (struct job *j = pop(l); j; j = pop(l)) {
        j->drop(j->ctx);
        free(j);
    }
}

void work_free(struct work *w)
{
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    drop_all(&w->waiting);
    drop_all(&w->ready);
    event_free(w->wake);
    (void)close(w->fd);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

bool work_add(struct work *w, void (*job_run)(void *ctx), void (*done)(void *ctx), void (*drop)(void *ctx), void *ctx, bool urgent)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j) return false;
    *j = (struct job){.run = job_run, .done = done, .drop = drop, .ctx = ctx};
    pthread_mutex_lock(&w->lock);
    bool room = urgent || w->n < WORK_WAITING_MAX;
    if (room) {
        w->n++;
        push(&w->waiting, j);
        pthread_cond_signal(&w->more);
    }
    pthread_mutex_unlock(&w->lock);
    if (!room) free(j);
    return room;
}

unsigned work_waiting(struct work *w)
{
    pthread_mutex_lock(&w->lock);
    unsigned n = w->n;
    pthread_mutex_unlock(&w->lock);
    return n;
}
