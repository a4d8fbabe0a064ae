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

struct check { struct daemon *d; char path[1200]; struct store_report report; enum status status; struct err err; };

static void run(void *ctx)
{
    struct check *c = ctx;
    c->status = store_verify_file(c->path, NULL, &c->report, &c->err);
}

static void drop(void *ctx) { free(ctx); }

static void done(void *ctx)
{
    struct check *c = ctx;
    struct daemon *d = c->d;
    char count[24];
    d->check_at = clock_monotonic_us() + AGAIN_US;
    snprintf(count, sizeof count, "%llu", (unsigned long long)c->report.records);
    if (c->status != STATUS_OK) {
        log_line(LEVEL_WARN, "audit", "the log could not be checked", "error", c->err.text, NULL);
    } else {
        d->api.verified = (struct v1_verified){.good = c->report.good, .records = c->report.records,
                                               .checkpoints = c->report.checkpoints, .bad_seq = c->report.bad_seq};
        (void)text_copy(d->api.verified.why, sizeof d->api.verified.why, c->report.why);
        d->api.verified_at = clock_real_us();
        log_line(c->report.good ? LEVEL_DEBUG : LEVEL_ERROR, "audit", c->report.good ? "the log is good" : "the log is NOT good",
                 "records", count, "why", c->report.why, NULL);
        if (!c->report.good) daemon_notice(d, NOTICE_PAGE, "the audit log does not verify", c->report.why);
    }
    free(c);
}

void daemon_check_second(struct daemon *d)
{
    int64_t now = clock_monotonic_us();
    if (d->check_at == 0) d->check_at = now + FIRST_US;
    if (now < d->check_at || d->ending) return;
    if (!d->checker) d->checker = work_new(d->base);
    struct check *c = d->checker ? calloc(1, sizeof *c) : NULL;
    d->check_at = now + AGAIN_US;
    if (!c) return;
    c->d = d;
    snprintf(c->path, sizeof c->path, "%s/audit.db", d->data);
    d->check_at = INT64_MAX;              /* until this one has ended */
    if (work_add(d->checker, run, done, drop, c, false)) return;
    d->check_at = now + AGAIN_US;
    free(c);
}

void daemon_check_close(struct daemon *d)
{
    /* A long log takes longer than the end of the process may. */
    if (d->checker && work_waiting(d->checker) > 0) work_abandon(d->checker);
    else work_free(d->checker);
    d->checker = NULL;
}
