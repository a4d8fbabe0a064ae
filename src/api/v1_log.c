/* What the store remembers: incidents, stories, the audit log. */
#include <stdio.h>
#include <string.h>

#include "api/v1_inside.h"
#include "api/view_json.h"
#include "base/num.h"
#include "base/text.h"

#define ANSWER_BYTES_MAX ((size_t)16 << 20)

struct incident_filter { struct emit *e; const char *state; struct wall since; uint64_t limit, n; };

static bool add_incident(void *arg, const struct v1_incident *x)
{
    struct incident_filter *f = arg;
    bool open = x->closed.us == WALL_NONE.us;
    if (x->opened.us < f->since.us) return false;
    if (f->state[0] && text_eq(f->state, "open") != open) return true;
    emit_open(f->e, NULL, '{');
    emit_text(f->e, "service", x->service);
    emit_int(f->e, "incident", (int64_t)x->incident);
    emit_text(f->e, "symptom", x->symptom);
    emit_text_or_null(f->e, "cause", x->cause);
    emit_text(f->e, "state", open ? "open" : "closed");
    emit_wall(f->e, "onset", x->onset);
    emit_wall(f->e, "opened", x->opened);
    emit_wall(f->e, "closed", x->closed);
    emit_int(f->e, "actions", (int64_t)x->actions);
    emit_text_or_null(f->e, "last", x->last_kind);
    emit_text_or_null(f->e, "reason", x->last_reason);
    emit_text_or_null(f->e, "feedback", x->feedback);
    emit_close(f->e, '}');
    return ++f->n < f->limit;
}

void v1_get_incidents(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char service[64] = "", state[16] = "", since[48] = "";
    struct incident_filter f = {.state = state, .since = WALL_NONE};
    struct v1_answer a;
    struct err e;
    uint16_t index;
    if (http_request_query(r, "service", service, sizeof service) && !v1_service(ctx, r, service, &index)) return;
    if (!v1_number(r, "limit", 50, V1_LIMIT_MAX, &f.limit)) return;
    if (http_request_query(r, "state", state, sizeof state) && !text_eq(state, "open") && !text_eq(state, "closed")) {
        v1_refuse(r, STATUS_INVALID, "state is open or closed", "");
        return;
    }
    if (http_request_query(r, "since", since, sizeof since) && !wall_parse(since, &f.since)) {
        v1_refuse(r, STATUS_INVALID, "since is a time like 2026-05-12T10:02:30Z or Unix seconds", "");
        return;
    }
    v1_begin(&a);
    f.e = &a.e;
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "incidents", '[');
    const struct v1_sink sink = {.arg = &f, .incident = add_incident};
    enum status s = f.limit == 0 ? STATUS_OK : port->incidents(port->ctx, service[0] ? service : NULL, UINT32_MAX, &sink, &e);
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    if (s == STATUS_OK) {
        v1_end(&a, r);
    } else {
        v1_drop(&a);
        v1_refuse(r, s, e.text, "");
    }
}

/* ---- records ---- */

struct record_list { struct emit *e; struct buf *b; uint64_t limit, n, next; };

static bool add_record(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct record_list *l = arg;
    (void)bytes, (void)len;
    view_json_record(l->e, NULL, seq, r);
    l->next = seq + 1;
    return ++l->n < l->limit && l->b->len < ANSWER_BYTES_MAX;
}

/* Ends the answer, or drops it for an error. Nothing found: 404 with that sentence. */
static void end_list(struct v1_answer *a, struct http_request *r, const struct record_list *l, enum status s, const struct err *e,
                     const char *nothing)
{
    if (s == STATUS_OK && l->n == 0 && nothing) {
        v1_drop(a);
        v1_refuse(r, STATUS_NOT_FOUND, nothing, "");
    } else if (s != STATUS_OK) {
        v1_drop(a);
        v1_refuse(r, s, e->text, "");
    } else {
        emit_close(&a->e, '}');
        v1_end(a, r);
    }
}

static bool param_number(struct http_request *r, const char *name, uint64_t *ret)
{
    const char *text = http_request_param(r, name);
    char why[80];
    if (text && num_parse_u64(text, strlen(text), ret)) return true;
    snprintf(why, sizeof why, "the %s in the address is a whole number", name);
    v1_refuse(r, STATUS_INVALID, why, "");
    return false;
}

void v1_get_incident(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    const char *service = http_request_param(r, "service");
    struct v1_answer a;
    struct record_list l = {.limit = V1_LIMIT_MAX};
    uint64_t n;
    struct err e;
    if (!param_number(r, "incident", &n)) return;
    v1_begin(&a);
    l.e = &a.e;
    l.b = &a.b;
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "service", service);
    emit_int(&a.e, "incident", (int64_t)n);
    emit_open(&a.e, "records", '[');
    enum status s = port->incident(port->ctx, service, n, &(struct v1_sink){.arg = &l, .record = add_record}, &e);
    emit_close(&a.e, ']');
    end_list(&a, r, &l, s, &e, "no such incident; GET /api/v1/incidents lists them");
}

static bool action_of(struct http_request *r, char *out, size_t cap)
{
    uint64_t n;
    if (!param_number(r, "action", &n)) return false;
    snprintf(out, cap, "%s/%llu", http_request_param(r, "service"), (unsigned long long)n);
    return true;
}

void v1_get_action(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char action[320];
    struct v1_answer a;
    struct record_list l = {.limit = V1_LIMIT_MAX};
    struct err e;
    if (!action_of(r, action, sizeof action)) return;
    v1_begin(&a);
    l.e = &a.e;
    l.b = &a.b;
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "action", action);
    emit_open(&a.e, "records", '[');
    enum status s = port->story(port->ctx, action, &(struct v1_sink){.arg = &l, .record = add_record}, &e);
    emit_close(&a.e, ']');
    end_list(&a, r, &l, s, &e, "no such action in the audit log");
}

void v1_get_audit(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    struct v1_answer a;
    struct record_list l = {0};
    struct v1_audit audit = {0};
    uint64_t from;
    struct err e;
    if (!v1_number(r, "from", 0, INT64_MAX, &from) || !v1_number(r, "limit", 100, V1_LIMIT_MAX, &l.limit)) return;
    port->audit(port->ctx, &audit);
    v1_begin(&a);
    l.e = &a.e;
    l.b = &a.b;
    l.next = from;
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "records", '[');
    enum status s = STATUS_OK;
    if (l.limit) s = port->records(port->ctx, from, &(struct v1_sink){.arg = &l, .record = add_record}, &e);
    emit_close(&a.e, ']');
    emit_int(&a.e, "next", (int64_t)l.next);
    emit_int(&a.e, "size", (int64_t)audit.size);
    end_list(&a, r, &l, s, &e, NULL);
}

/* ---- trust ---- */

static void reply_file(struct http_request *r, enum status s, struct buf *b, const struct err *e)
{
    if (s == STATUS_OK) {
        http_reply_buf(r, 200, "text/plain; charset=utf-8", b);
    } else {
        buf_free(b);
        v1_refuse(r, s, e->text, "");
    }
}

void v1_get_checkpoint(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    struct buf note = BUF_INIT;
    struct err e;
    enum status s = port->checkpoint(port->ctx, &note, &e);
    reply_file(r, s, &note, &e);
}

static void verified(void *ctx, const struct v1_verified *v, enum status s, const char *why)
{
    struct http_request *r = ctx;
    struct v1_answer a;
    if (!v) {
        v1_refuse(r, s, why, "");
        return;
    }
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_bool(&a.e, "good", v->good);
    emit_int(&a.e, "records", (int64_t)v->records);
    emit_int(&a.e, "checkpoints", (int64_t)v->checkpoints);
    if (!v->good && v->bad_seq <= INT64_MAX) emit_int(&a.e, "first_bad_record", (int64_t)v->bad_seq);
    else emit_null(&a.e, "first_bad_record");
    emit_text_or_null(&a.e, "why", v->why);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

void v1_get_verify(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    port->verify(port->ctx, verified, r);
}

static bool keep_seq(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    (void)r, (void)bytes, (void)len;
    *(uint64_t *)arg = seq;
    return true;
}

void v1_get_proof(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char action[320];
    struct buf out = BUF_INIT;
    uint64_t seq = UINT64_MAX;
    struct err e;
    if (!action_of(r, action, sizeof action)) return;
    enum status s = port->story(port->ctx, action, &(struct v1_sink){.arg = &seq, .record = keep_seq}, &e);
    if (s == STATUS_OK && seq == UINT64_MAX) s = err_set(&e, STATUS_NOT_FOUND, "no action %s in the audit log", action);
    if (s == STATUS_OK) s = port->prove(port->ctx, seq, &out, &e);
    reply_file(r, s, &out, &e);
}
