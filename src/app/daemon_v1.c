/* What the JSON API asks of store and loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1.h"
#include "app/daemon.h"
#include "base/text.h"
#include "loop/control.h"

struct relay { const struct v1_sink *sink; };

static bool relay_record(void *arg, const struct store_entry *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    return sink->record(sink->arg, x->seq, x->record, x->bytes, x->len);
}

static bool relay_incident(void *arg, const struct store_incident_row *x)
{
    const struct v1_sink *sink = ((struct relay *)arg)->sink;
    struct v1_incident row = {
        .service = x->service, .symptom = x->symptom, .cause = x->cause, .last_kind = x->last_kind, .last_reason = x->last_reason,
        .feedback = x->feedback,
        .incident = x->incident, .actions = x->actions, .onset = {x->onset}, .opened = {x->opened}, .closed = {x->closed},
    };
    return sink->incident(sink->arg, &row);
}

static enum status get_incidents(void *ctx, const char *service, uint32_t limit, const struct v1_sink *sink, struct err *e)
{
    struct daemon *d = ctx;
    struct relay relay = {sink};
    return store_incidents(d->store, service, INT64_MAX, limit, &(struct store_incident_sink){relay_incident, &relay}, e);
}

static enum status get_incident(void *ctx, const char *service, uint64_t n, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_incident(((struct daemon *)ctx)->store, service, n, &(struct store_sink){relay_record, &relay}, e);
}

static enum status get_story(void *ctx, const char *action, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_story(((struct daemon *)ctx)->store, action, &(struct store_sink){relay_record, &relay}, e);
}

static enum status get_records(void *ctx, uint64_t from, const struct v1_sink *sink, struct err *e)
{
    struct relay relay = {sink};
    return store_records(((struct daemon *)ctx)->store, from, &(struct store_sink){relay_record, &relay}, e);
}

static enum status get_checkpoint(void *ctx, struct buf *note, struct err *e)
{
    struct audit_checkpoint c;
    return store_checkpoint(((struct daemon *)ctx)->store, &c, note, e);
}

static enum status get_proof(void *ctx, uint64_t seq, struct buf *out, struct err *e)
{
    return store_prove(((struct daemon *)ctx)->store, seq, out, e);
}

static void get_audit(void *ctx, struct v1_audit *ret)
{
    struct store_health h;
    store_health(((struct daemon *)ctx)->store, &h);
    ret->size = h.size;
    ret->state = store_state_name(h.state);
    (void)text_copy(ret->trouble, sizeof ret->trouble, h.text);
}

static enum status deploy(void *ctx, uint16_t service, const char *version, const char *by, struct err *e)
{
    struct event x = {.kind = EVENT_RELEASE, .service = service};
    (void)e;
    x.u.release.version = version;
    x.u.release.by = by;
    daemon_step(ctx, &x);
    return STATUS_OK;
}

void daemon_v1_open(struct daemon *d)
{
    d->v1 = (struct v1_port){
        .ctx = d, .incidents = get_incidents, .incident = get_incident, .story = get_story, .records = get_records,
        .checkpoint = get_checkpoint, .prove = get_proof, .verify = daemon_check_now, .audit = get_audit, .deploy = deploy,
        .import = daemon_import,
    };
    daemon_feedback_open(d);
    daemon_chart_open(d);
    v1_open(&d->api, &d->v1);
}

void daemon_v1_close(struct daemon *d) { daemon_import_end(d); }
