/* The audit log, checked from the record bytes up in the background: on a thread of its own, through a connection of its own,
 * so that neither the loop nor a login waits for it. What it found is shown; an error is told to people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/work.h"
#include "app/daemon.h"
#include "base/check.h"
#include "base/text.h"

#define FIRST_US (60 * US_PER_S)          /* after the start, which has other things to do */
#define AGAIN_US (600 * US_PER_S)         /* at the soonest; a long log takes its own time besides */

struct check_waiter {
    struct check_waiter *next;
    void (*done)(void *ctx, const struct v1_verified *v, enum status s, const char *why);
    void *ctx;
};

struct check {
    struct daemon *d;
    struct audit_verifier key;
    char path[1200];
    struct store_report report;
    enum status status;
    struct err err;
};

static void run(void *ctx)
{
    struct check *c = ctx;
    c->status = store_verify_file(c->path, &c->key, &c->report, &c->err);
}

static void drop(void *ctx) { free(ctx); }

static void tell(struct daemon *d, const struct v1_verified *v, enum status s, const char *why)
{
    struct check_waiter *list = d->check_waiters;
    d->check_waiters = NULL;
    while (list) {
        struct check_waiter *w = list;
        list = w->next;
        w->done(w->ctx, v, s, why);
        free(w);
    }
}

static void take(struct daemon *d, const struct store_report *r)
{
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)r->records);
    d->api.verified = (struct v1_verified){.good = r->good, .records = r->records, .checkpoints = r->checkpoints,
                                           .bad_seq = r->bad_seq};
    (void)text_copy(d->api.verified.why, sizeof d->api.verified.why, r->why);
    d->api.verified_at = clock_real_us();
    log_line(r->good ? LEVEL_DEBUG : LEVEL_ERROR, "audit", r->good ? "the log is good" : "the log is NOT good", "records", count,
             "why", r->why, NULL);
    if (!r->good) daemon_notice(d, NOTICE_PAGE, "the audit log does not verify", r->why);
}

static void done(void *ctx)
{
    struct check *c = ctx;
    struct daemon *d = c->d;
    d->check_at = clock_monotonic_us() + AGAIN_US;
    d->check_queued = false;
    if (c->status == STATUS_OK) take(d, &c->report);
    else log_line(LEVEL_WARN, "audit", "the log could not be checked", "error", c->err.text, NULL);
    tell(d, c->status == STATUS_OK ? &d->api.verified : NULL, c->status, c->err.text);
    free(c);
}

static bool begin(struct daemon *d)
{
    if (!d->checker) d->checker = work_new(d->base);
    struct check *c = d->checker ? calloc(1, sizeof *c) : NULL;
    d->check_at = clock_monotonic_us() + AGAIN_US;
    if (!c) return false;
    c->d = d;
    c->key = *store_verifier(d->store);
    snprintf(c->path, sizeof c->path, "%s/audit.db", d->data);
    d->check_queued = work_add(d->checker, run, done, drop, c, false);
    if (!d->check_queued) free(c);
    else d->check_at = INT64_MAX;         /* until this one has ended */
    return d->check_queued;
}

void daemon_check_second(struct daemon *d)
{
    int64_t now = clock_monotonic_us();
    if (d->check_at == 0) d->check_at = now + FIRST_US;
    if (now >= d->check_at && !d->ending && !d->check_queued) (void)begin(d);
}

/* Several who ask at once get the result of one check: the one that is under way. */
void daemon_check_now(void *daemon, void (*done_one)(void *ctx, const struct v1_verified *v, enum status s, const char *why),
                      void *ctx)
{
    struct daemon *d = daemon;
    struct check_waiter *w = calloc(1, sizeof *w);
    if (!w || d->ending || (!d->check_queued && !begin(d))) {
        free(w);
        done_one(ctx, NULL, STATUS_BUSY, "the log cannot be checked now: no memory or threads; ask again later");
        return;
    }
    *w = (struct check_waiter){d->check_waiters, done_one, ctx};
    d->check_waiters = w;
}

void daemon_check_close(struct daemon *d)
{
    tell(d, NULL, STATUS_BUSY, "the daemon ends");
    /* A long log takes longer than the end of the process may. */
    if (d->checker && work_waiting(d->checker) > 0) work_abandon(d->checker);
    else work_free(d->checker);
    d->checker = NULL;
}
