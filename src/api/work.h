/* One thread beside the loop thread for what takes long: hashing a password, writing the list of users. Jobs are done one
 * after another, so a flood of logins costs one core and a bounded queue, never the loop. */
#ifndef API_WORK_H
#define API_WORK_H

#include <stdbool.h>

struct event_base;
struct work;

#define WORK_WAITING_MAX 32

/* NULL: out of memory or threads. */
struct work *work_new(struct event_base *base);
/* Ends what runs, forgets what waits: its `done` is not called, `drop` is. Takes NULL. */
void work_free(struct work *w);

/* At the end of the process: stops listening and leaves the thread to what it does, without waiting. Takes NULL. */
void work_abandon(struct work *w);

/* `run` on the thread, then `done` in the loop thread; `done` owns ctx from then on. false: too many wait; nothing was
 * taken. `urgent`: it is never refused (writing what a person was told is done). */
bool work_add(struct work *w, void (*run)(void *ctx), void (*done)(void *ctx), void (*drop)(void *ctx), void *ctx, bool urgent);
unsigned work_waiting(struct work *w);

#endif
