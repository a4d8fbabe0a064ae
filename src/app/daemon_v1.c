/* What the JSON API asks of store and loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1.h"
#include "app/daemon.h"
#include "base/text.h"
#include "loop/control.h"

#define VERIFY_RECORDS_MAX 20000   /* a second or so in the loop thread; more is for the command line */

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

static enum status verify(void *ctx, struct v1_verified *ret, struct err *e)
{
    struct daemon *d = ctx;
    struct store_report report;
    struct store_health h;
    store_health(d->store, &h);
    if (h.size > VERIFY_RECORDS_MAX) {
        return err_set(e, STATUS_LIMIT, "the log is too long to check in an answer; use: trimtab audit verify %.300s/audit.db",
                       d->data);
    }
    enum status s = store_verify(d->store, &report, e);
    if (s != STATUS_OK) return s;
    *ret = (struct v1_verified){.good = report.good, .records = report.records, .checkpoints = report.checkpoints,
                                .bad_seq = report.bad_seq};
    (void)text_copy(ret->why, sizeof ret->why, report.why);
    return STATUS_OK;
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

/* ---- import: lived through beside the running service, then put in its place as a whole ---- */

static void import_end(struct daemon *d)
{
    loop_free(d->import);
    d->import = NULL;
}

static enum status import_begin(struct daemon *d, uint16_t service, struct err *e)
{
    struct instant now;
    struct wall wall;
    if (d->import && d->import_service == service && d->import_policy == d->policy) return STATUS_OK;
    import_end(d);
    clock_now(&d->clock, &now, &wall);
    d->import = loop_new(d->policy, now, wall, (struct loop_options){.alone = true});
    d->import_service = service;
    d->import_policy = d->policy;
    d->import_rows = 0;
    return d->import ? STATUS_OK : err_set(e, STATUS_MEMORY, "no memory for an import");
}

static bool import_feed(struct daemon *d, const struct v1_series *s, bool last, struct wall *ret_newest)
{
    struct instant now;
    struct wall wall;
    struct update u;
    clock_now(&d->clock, &now, &wall);
    struct point *points = calloc(s->n ? s->n : 1, sizeof *points);
    if (!points) return false;
    for (uint32_t i = 0; i < s->n; i++) {
        bool known = s->values[i] - s->values[i] == 0;
        points[i] = (struct point){.at = {now.us - (wall.us - s->times[i].us)}, .value = s->values[i],
                                   .why = known ? WHY_KNOWN : WHY_MISSING};
        *ret_newest = s->times[i];
    }
    struct event e = {.kind = EVENT_HISTORY, .now = now, .wall = wall, .service = d->import_service};
    e.u.history.signal = s->signal;
    e.u.history.points = points;
    e.u.history.walls = s->times;
    e.u.history.n = s->n;
    e.u.history.last = last;
    loop_step(d->import, &e, &u);
    free(points);
    return true;
}

static enum status import_put(struct daemon *d, const char *by, struct err *e)
{
    struct instant now;
    struct wall wall;
    struct buf state = BUF_INIT;
    char note[200];
    const char *name = d->policy->services[d->import_service].name;
    clock_now(&d->clock, &now, &wall);
    loop_service_state(d->import, d->import_service, &state);
    struct event x = {.kind = EVENT_STATE, .service = d->import_service};
    x.u.state.bytes = state.data;
    x.u.state.len = state.len;
    x.u.state.age = (struct span){wall.us - d->import_newest.us};
    daemon_step(d, &x);
    enum status s = store_state_put(d->store, name, wall.us, state.data, state.len, e);
    buf_free(&state);
    snprintf(note, sizeof note, "%llu rows of history for %s", (unsigned long long)d->import_rows, name);
    daemon_log_own(d, RECORD_IMPORT, by, note);
    return s;
}

static enum status import(void *ctx, uint16_t service, const struct v1_series *series, uint32_t n, bool last, const char *by,
                          struct err *e)
{
    struct daemon *d = ctx;
    struct instant now;
    struct wall wall;
    const struct control *c = loop_control(d->loop, service);
    clock_now(&d->clock, &now, &wall);
    if (c->incident_open || control_in_flight(c)) {
        return err_set(e, STATUS_STATE, "an incident is open or an action runs; import when it has ended");
    }
    if (n && series[0].n && series[0].times[series[0].n - 1].us > wall.us) {
        return err_set(e, STATUS_INVALID, "the newest row lies in the future of the daemon's nominal clock");
    }
    enum status s = import_begin(d, service, e);
    if (s != STATUS_OK) return s;
    if (d->import_rows && n && series[0].n && series[0].times[0].us <= d->import_newest.us) {
        import_end(d);
        return err_set(e, STATUS_INVALID, "this piece does not continue the one before; begin again");
    }
    for (uint32_t i = 0; i < n && s == STATUS_OK; i++) {
        if (!import_feed(d, &series[i], last && i + 1 == n, &d->import_newest)) s = err_set(e, STATUS_MEMORY, "no memory");
    }
    d->import_rows += n ? series[0].n : 0;
    if (s == STATUS_OK && last && d->import_rows == 0) s = err_set(e, STATUS_INVALID, "there is no row to import");
    if (s == STATUS_OK && last) s = import_put(d, by, e);
    if (s != STATUS_OK || last) import_end(d);
    return s;
}

void daemon_v1_open(struct daemon *d)
{
    d->v1 = (struct v1_port){
        .ctx = d, .incidents = get_incidents, .incident = get_incident, .story = get_story, .records = get_records,
        .checkpoint = get_checkpoint, .prove = get_proof, .verify = verify, .audit = get_audit, .deploy = deploy, .import = import,
    };
    v1_open(&d->api, &d->v1);
}

void daemon_v1_close(struct daemon *d) { import_end(d); }
