/* Looking through the audit: newest first with filters, its state, a proof of any record, export. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_inside.h"
#include "api/view_json.h"
#include "base/num.h"
#include "base/text.h"

#define LOOK_AT_MOST 20000           /* records of one answer; `next` says where to go on */
#define EXPORT_BYTES_MAX ((size_t)64 << 20)

struct search {
    struct emit *e;
    struct buf *b;
    char q[200], kind[32], by[64], action[100];
    struct wall since, until;
    uint64_t limit, n, looked, next;
    bool more;
};

static bool holds(const char *text, const char *q)
{
    size_t n = strlen(q);
    for (; *text; text++) {
        if (strncasecmp(text, q, n) == 0) return true;
    }
    return false;
}

static bool any_field(const struct record *r, const char *q)
{
    if (holds(record_kind_name(r->kind), q)) return true;
    for (unsigned f = 0; f < RF_COUNT; f++) {
        enum record_field field = (enum record_field)f;
        if (record_has(r, field) && record_field_type(field) == RT_TEXT && holds(record_get_text(r, field), q)) return true;
    }
    return false;
}

static bool fits(const struct search *s, const struct record *r)
{
    int64_t at = record_get_i64(r, RF_AT, INT64_MIN);
    if (s->kind[0] && strcasecmp(s->kind, record_kind_name(r->kind)) != 0) return false;
    if (s->by[0] && !text_eq(s->by, record_get_text(r, RF_BY))) return false;
    if (s->action[0] && !text_eq(s->action, record_get_text(r, RF_ACTION))) return false;
    if (s->until.us != WALL_NONE.us && at >= s->until.us) return false;
    return !s->q[0] || any_field(r, s->q);
}

static bool add(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct search *s = arg;
    (void)bytes, (void)len;
    s->next = seq;
    if (record_get_i64(r, RF_AT, 0) < s->since.us) return false;
    s->looked++;
    if (fits(s, r)) {
        view_json_record(s->e, NULL, seq, r);
        s->n++;
    }
    s->more = s->n >= s->limit || s->looked >= LOOK_AT_MOST || s->b->len > (size_t)8 << 20;
    return !s->more;
}

static bool time_query(struct http_request *r, const char *name, struct wall *ret)
{
    char text[64], why[100];
    *ret = WALL_NONE;
    if (!http_request_query(r, name, text, sizeof text) || wall_parse(text, ret)) return true;
    snprintf(why, sizeof why, "%s is a time like 2026-05-12T10:02:30Z or Unix seconds", name);
    v1_refuse(r, STATUS_INVALID, why, "");
    return false;
}

void v1_get_search(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char service[64] = "";
    struct search s = {0};
    struct v1_audit audit = {0};
    struct v1_answer a;
    struct err e;
    uint64_t before;
    if (!time_query(r, "since", &s.since) || !time_query(r, "until", &s.until)) return;
    if (!v1_number(r, "before", INT64_MAX, INT64_MAX, &before) || !v1_number(r, "limit", 100, V1_LIMIT_MAX, &s.limit)) return;
    (void)http_request_query(r, "service", service, sizeof service);
    (void)http_request_query(r, "q", s.q, sizeof s.q);
    (void)http_request_query(r, "kind", s.kind, sizeof s.kind);
    (void)http_request_query(r, "by", s.by, sizeof s.by);
    (void)http_request_query(r, "action", s.action, sizeof s.action);
    port->audit(port->ctx, &audit);
    v1_begin(&a);
    s.e = &a.e;
    s.b = &a.b;
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "records", '[');
    enum status st = STATUS_OK;
    if (s.limit) st = port->records_back(port->ctx, service[0] ? service : NULL, before, &(struct v1_sink){.arg = &s,
            .record = add}, &e);
    emit_close(&a.e, ']');
    if (s.more && s.next > 0) emit_int(&a.e, "next", (int64_t)s.next);
    else emit_null(&a.e, "next");
    emit_int(&a.e, "size", (int64_t)audit.size);
    emit_close(&a.e, '}');
    if (st == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, st, e.text, "");
}

/* ---- state ---- */

/* A checkpoint note: origin, size, root in base64, then the signature. */
static void checkpoint_json(struct emit *e, const char *note)
{
    char line[3][200] = {"", "", ""};
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(note, "\n");
        snprintf(line[i], sizeof line[i], "%.*s", (int)(n < 199 ? n : 199), note);
        note += n + (note[n] == '\n');
    }
    uint64_t size = 0;
    (void)num_parse_u64(line[1], strlen(line[1]), &size);
    emit_open(e, "checkpoint", '{');
    emit_text(e, "origin", line[0]);
    emit_int(e, "size", (int64_t)size);
    emit_text(e, "root", line[2]);
    emit_close(e, '}');
}

void v1_audit_state_json(struct api *api, struct emit *e)
{
    const struct v1_verified *v = &api->verified;
    if (api->verified_at == ACCESS_NEVER) {
        emit_null(e, "verified");
        return;
    }
    emit_open(e, "verified", '{');
    emit_bool(e, "good", v->good);
    emit_wall(e, "at", (struct wall){api->verified_at});
    emit_int(e, "records", (int64_t)v->records);
    emit_text_or_null(e, "why", v->why);
    emit_close(e, '}');
}

void v1_get_audit_state(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    struct v1_audit audit = {0};
    struct buf note = BUF_INIT;
    struct v1_answer a;
    struct err e;
    port->audit(port->ctx, &audit);
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_int(&a.e, "size", (int64_t)audit.size);
    emit_text(&a.e, "store", audit.state);
    emit_text_or_null(&a.e, "trouble", audit.trouble);
    if (port->checkpoint(port->ctx, &note, &e) == STATUS_OK) checkpoint_json(&a.e, buf_text(&note));
    else emit_null(&a.e, "checkpoint");
    v1_audit_state_json(ctx, &a.e);
    emit_close(&a.e, '}');
    v1_end(&a, r);
    buf_free(&note);
}

/* ---- files ---- */

void v1_get_record_proof(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    const char *text = http_request_param(r, "seq");
    struct buf out = BUF_INIT;
    struct err e;
    char name[100];
    uint64_t seq = 0;
    enum status s = num_parse_u64(text, strlen(text), &seq) && seq < INT64_MAX
                        ? port->prove(port->ctx, seq, &out, &e) : err_set(&e, STATUS_INVALID, "the position is a whole number");
    if (s != STATUS_OK) {
        buf_free(&out);
        v1_refuse(r, s, e.text, "");
        return;
    }
    snprintf(name, sizeof name, "attachment; filename=\"%llu.tlog-proof\"", (unsigned long long)seq);
    http_reply_header(r, "Content-Disposition", name);
    http_reply_buf(r, 200, "text/plain; charset=utf-8", &out);
}

struct export { struct buf b; const char *service; struct wall since, until; bool cut; };

static bool export_one(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct export *x = arg;
    int64_t at = record_get_i64(r, RF_AT, 0);
    (void)seq;
    if (x->service[0] && !text_eq(x->service, record_get_text(r, RF_SERVICE))) return true;
    if (at < x->since.us || (x->until.us != WALL_NONE.us && at >= x->until.us)) return true;
    buf_add(&x->b, bytes, len);
    buf_putc(&x->b, '\n');
    x->cut = x->b.len > EXPORT_BYTES_MAX;
    return !x->cut;
}

void v1_get_export(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char service[64] = "";
    struct export x = {.b = BUF_INIT, .service = service};
    struct err e;
    if (!time_query(r, "since", &x.since) || !time_query(r, "until", &x.until)) return;
    (void)http_request_query(r, "service", service, sizeof service);
    enum status s = port->records(port->ctx, 0, &(struct v1_sink){.arg = &x, .record = export_one}, &e);
    if (s == STATUS_OK && x.cut) s = err_set(&e, STATUS_LIMIT,
                                             "more than 64 MiB: narrow it by since and until, or use trimtab audit export");
    if (s != STATUS_OK) {
        buf_free(&x.b);
        v1_refuse(r, s, e.text, "");
        return;
    }
    http_reply_header(r, "Content-Disposition", "attachment; filename=\"audit.jsonl\"");
    http_reply_buf(r, 200, "application/jsonl", &x.b);
}
