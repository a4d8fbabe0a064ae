/* What people say about incidents, as durable records; and the report over all of it. */
#include <stdlib.h>
#include <string.h>

#include "app/daemon.h"
#include "app/report.h"
#include "base/check.h"
#include "base/text.h"

static const char *const verdicts[] = {"false", "true", "useful"};

void daemon_feedback_count(struct daemon *d, const struct record *r)
{
    for (unsigned i = 0; i < ARRAY_LEN(verdicts); i++) {
        if (r->kind == RECORD_FEEDBACK && text_eq(record_get_text(r, RF_OUTCOME), verdicts[i])) d->feedback[i]++;
    }
}

struct find { char symptom[POLICY_NAME_MAX + 1]; bool found; };

static bool see(void *arg, const struct store_entry *x)
{
    struct find *f = arg;
    if (x->record->kind != RECORD_INCIDENT) return true;
    f->found = true;
    (void)text_copy(f->symptom, sizeof f->symptom, record_get_text(x->record, RF_SYMPTOM));
    return false;
}

static void keep(struct daemon *d, const struct v1_feedback *f, const char *symptom)
{
    struct record r;
    struct instant now;
    struct wall wall;
    clock_now(&d->clock, &now, &wall);
    record_init(&r, RECORD_FEEDBACK);
    record_i64(&r, RF_AT, wall.us);
    record_text(&r, RF_SERVICE, f->service);
    if (symptom[0]) record_text(&r, RF_SYMPTOM, symptom);
    record_u64(&r, RF_INCIDENT, f->incident);
    record_text(&r, RF_BY, f->by);
    record_text(&r, RF_VIA, f->via);
    record_text(&r, RF_OUTCOME, f->verdict);
    record_text(&r, RF_POLICY, d->policy->revision);
    record_text(&r, RF_NOTE, f->comment);
    log_line(LEVEL_INFO, "audit", "FEEDBACK", "service", f->service, "verdict", f->verdict, "by", f->by, NULL);
    daemon_feedback_count(d, &r);
    daemon_log_append(d, f->service, &r, 1, 0);
}

static void feedback(void *ctx, const struct v1_feedback *f,
                     void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx)
{
    struct daemon *d = ctx;
    struct find find = {0};
    struct err e;
    enum status s = store_incident(d->store, f->service, f->incident, &(struct store_sink){see, &find}, &e);
    if (s == STATUS_OK && !find.found) s = err_set(&e, STATUS_NOT_FOUND, "no such incident; GET /api/v1/incidents lists them");
    if (s != STATUS_OK) {
        done(done_ctx, s, e.text, "");
        return;
    }
    keep(d, f, find.symptom);
    daemon_reply_when_durable(d, done, done_ctx);
}

/* ---- report ---- */

static enum status records(void *ctx, uint64_t from, const struct store_sink *sink, struct err *e)
{
    return store_records(((struct daemon *)ctx)->store, from, sink, e);
}

static enum status points(void *ctx, const char *service, const char *signal, int64_t from, int64_t to,
                          const struct store_step_sink *sink, struct err *e)
{
    return store_points_range(((struct daemon *)ctx)->store, service, signal, from, to, 0, sink, e);
}

static enum status report(void *ctx, const char *service, struct wall since, struct wall until, struct emit *out, struct err *e)
{
    struct daemon *d = ctx;
    struct store_health h;
    store_health(d->store, &h);
    struct report_source source = {.ctx = d, .records = records, .points = points, .size = h.size};
    struct report_request r = {.service = service, .since = since, .until = until, .records_max = REPORT_RECORDS_MAX};
    return report_make(&source, &r, out, e);
}

static struct wall now(void *ctx)
{
    struct instant at;
    struct wall wall;
    clock_now(&((struct daemon *)ctx)->clock, &at, &wall);
    return wall;
}

void daemon_feedback_open(struct daemon *d)
{
    d->v1.feedback = feedback;
    d->v1.report = report;
    d->v1.now = now;
}
