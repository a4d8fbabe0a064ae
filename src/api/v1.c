#include "api/v1.h"

#include <stdio.h>
#include <string.h>

#include "api/v1_inside.h"
#include "api/view_json.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"


/* ---- what all answers share ---- */

void v1_begin(struct v1_answer *a)
{
    *a = (struct v1_answer){.b = BUF_INIT};
    a->e.out = &a->b;
    emit_open(&a->e, NULL, '{');
    emit_text(&a->e, "status", "success");
}

void v1_end(struct v1_answer *a, struct http_request *r)
{
    emit_close(&a->e, '}');
    buf_putc(&a->b, '\n');
    http_reply_buf(r, 200, "application/json", &a->b);
}

void v1_drop(struct v1_answer *a) { buf_free(&a->b); }

static const struct { int http; const char *type; } kinds[] = {
    [STATUS_OK] = {200, ""}, [STATUS_INVALID] = {400, "bad_data"}, [STATUS_LIMIT] = {413, "too_large"},
    [STATUS_NOT_FOUND] = {404, "not_found"}, [STATUS_EXISTS] = {409, "conflict"}, [STATUS_CONFLICT] = {409, "conflict"},
    [STATUS_DENIED] = {403, "forbidden"}, [STATUS_IO] = {500, "internal"}, [STATUS_CORRUPT] = {500, "corrupt"},
    [STATUS_TIMEOUT] = {503, "timeout"}, [STATUS_BUSY] = {503, "unavailable"}, [STATUS_FULL] = {503, "unavailable"},
    [STATUS_MEMORY] = {503, "unavailable"}, [STATUS_UNSUPPORTED] = {422, "execution"}, [STATUS_STATE] = {409, "state"},
};

void v1_error(struct http_request *r, int http, const char *type, const char *text, const char *reason)
{
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    emit_open(&e, NULL, '{');
    emit_text(&e, "status", "error");
    emit_text(&e, "errorType", type);
    emit_text(&e, "error", text);
    if (reason && reason[0]) emit_text(&e, "reason", reason);
    emit_close(&e, '}');
    buf_putc(&b, '\n');
    http_reply_buf(r, http, "application/json", &b);
}

void v1_refuse(struct http_request *r, enum status s, const char *text, const char *reason)
{
    v1_error(r, kinds[s].http, kinds[s].type, text && text[0] ? text : status_text(s), reason);
}

void v1_done(struct http_request *r, const char *sentence)
{
    struct v1_answer a;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_text(&a.e, "done", sentence);
    emit_null(&a.e, "detail");
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

bool v1_service(struct api *api, struct http_request *r, const char *name, uint16_t *ret)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    char text[400];
    *ret = name ? policy_service(p, name) : NO_INDEX;
    if (*ret != NO_INDEX) return true;
    const char *names[256], *near = NULL;
    unsigned n = 0;
    for (; n < p->service_count && n < ARRAY_LEN(names); n++) names[n] = p->services[n].name;
    if (name) near = text_nearest(name, names, n);
    if (near) snprintf(text, sizeof text, "no service '%.80s'; did you mean '%s'?", name, near);
    else snprintf(text, sizeof text, "no service '%.80s' in the configuration; GET /api/v1/services lists them", name ? name : "");
    v1_refuse(r, STATUS_NOT_FOUND, text, "");
    return false;
}

bool v1_number(struct http_request *r, const char *name, uint64_t absent, uint64_t most, uint64_t *ret)
{
    char text[32], why[120];
    *ret = absent;
    if (!http_request_query(r, name, text, sizeof text)) return true;
    if (num_parse_u64(text, strlen(text), ret) && *ret <= most) return true;
    snprintf(why, sizeof why, "%s is a whole number from 0 to %llu", name, (unsigned long long)most);
    v1_refuse(r, STATUS_INVALID, why, "");
    return false;
}

/* ---- services ---- */

/* Who stopped everything, when everything is stopped. */
struct halt_facts { bool all; char by[64], why[200]; struct wall since, at; };

static void note_halt(struct halt_facts *h, const struct service_view *v)
{
    h->at = v->wall;
    h->all = h->all && v->halted;
    if (!v->halted || v->halted_at.us <= h->since.us) return;
    h->since = v->halted_at;
    (void)text_copy(h->by, sizeof h->by, v->halted_by);
    (void)text_copy(h->why, sizeof h->why, v->halted_why);
}

static void halt_json(struct emit *e, const struct halt_facts *h)
{
    emit_wall(e, "at", h->at);
    emit_open(e, "halt", '{');
    emit_bool(e, "all", h->all);
    emit_text_or_null(e, "by", h->all ? h->by : NULL);
    emit_text_or_null(e, "why", h->all ? h->why : NULL);
    emit_wall(e, "since", h->all ? h->since : WALL_NONE);
    emit_close(e, '}');
}

static void services_json(struct api *api, struct emit *e, struct halt_facts *ret_halt)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    const struct v1_port *port = api->v1;
    struct arena arena = ARENA_INIT;
    *ret_halt = (struct halt_facts){.all = p->service_count > 0, .since = WALL_NONE, .at = WALL_NONE};
    emit_open(e, "services", '[');
    for (uint16_t i = 0; i < p->service_count; i++) {
        struct service_view v;
        const float *recent = NULL;
        uint32_t n = port->recent(port->ctx, i, &recent);
        api->control.view(api->control.ctx, i, &arena, &v);
        view_json_line(e, NULL, &v, recent, n);
        note_halt(ret_halt, &v);
        arena_reset(&arena);
    }
    emit_close(e, ']');
    arena_free(&arena);
}

void v1_get_services(void *ctx, struct http_request *r)
{
    struct v1_answer a;
    struct halt_facts halt;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    services_json(ctx, &a.e, &halt);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

static void one_service(struct api *api, struct http_request *r,
                        void (*say)(struct emit *, const char *, const struct service_view *))
{
    uint16_t i;
    struct arena arena = ARENA_INIT;
    struct service_view v;
    struct v1_answer a;
    if (!v1_service(api, r, http_request_param(r, "service"), &i)) return;
    api->control.view(api->control.ctx, i, &arena, &v);
    v1_begin(&a);
    say(&a.e, "data", &v);
    v1_end(&a, r);
    arena_free(&arena);
}

void v1_get_service(void *ctx, struct http_request *r) { one_service(ctx, r, view_json_service); }
void v1_get_explain(void *ctx, struct http_request *r) { one_service(ctx, r, view_json_explain); }

/* ---- the daemon ---- */

static void audit_json(void *ctx, struct emit *e)
{
    const struct v1_port *port = v1_port_of(ctx);
    struct v1_audit audit = {0};
    struct v1_store store = {0};
    port->audit(port->ctx, &audit);
    port->store(port->ctx, &store);
    emit_open(e, "audit", '{');
    emit_int(e, "records", (int64_t)audit.size);
    emit_text(e, "store", audit.state);
    emit_text_or_null(e, "trouble", audit.trouble);
    emit_text_or_null(e, "metrics_trouble", store.metrics_trouble);
    v1_audit_state_json(ctx, e);
    emit_close(e, '}');
}

void v1_runtime_json(struct api *api, struct emit *e, struct api_runtime *run)
{
    char why[200] = "";
    *run = (struct api_runtime){0};
    api->runtime(api->ctx, run);
    bool ready = api->ready(api->ctx, why);
    emit_text(e, "version", run->version);
    emit_wall(e, "started", (struct wall){(int64_t)(run->start_seconds * 1e6)});
    emit_bool(e, "ready", ready);
    emit_text_or_null(e, "not_ready_why", ready ? NULL : why);
}

void v1_get_status(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct api_runtime run;
    struct v1_answer a;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    v1_runtime_json(api, &a.e, &run);
    emit_text(&a.e, "revision", run.revision);
    emit_bool(&a.e, "dry_run", run.dry_run);
    emit_number(&a.e, "clock_speed", run.speed);
    emit_text_or_null(&a.e, "name", api->control.policy(api->control.ctx)->origin);
    emit_bool(&a.e, "last_reload_good", run.reload_ok);
    emit_open(&a.e, "counts", '{');
    emit_int(&a.e, "services", run.services);
    emit_int(&a.e, "acting", run.in_flight);
    emit_int(&a.e, "waiting_for_a_person", run.awaiting);
    emit_int(&a.e, "with_a_person", run.with_person);
    emit_int(&a.e, "halted", run.halted);
    emit_int(&a.e, "incidents", (int64_t)run.incidents);
    emit_int(&a.e, "actions", (int64_t)run.actions);
    emit_int(&a.e, "rollbacks", (int64_t)run.rollbacks);
    emit_close(&a.e, '}');
    emit_open(&a.e, "receivers_failing", '[');
    for (unsigned i = 0; i < run.receiver_n; i++) {
        if (!run.receivers[i].up) emit_text(&a.e, NULL, run.receivers[i].name);
    }
    emit_close(&a.e, ']');
    audit_json(api, &a.e);
    struct halt_facts halt;
    services_json(api, &a.e, &halt);
    halt_json(&a.e, &halt);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

void v1_get_config(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct v1_answer a;
    v1_begin(&a);
    view_json_config(&a.e, "data", api->control.policy(api->control.ctx));
    v1_end(&a, r);
}

void v1_get_reasons(void *ctx, struct http_request *r)
{
    struct v1_answer a;
    (void)ctx;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "reasons", '[');
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        enum reason x = (enum reason)i;
        emit_open(&a.e, NULL, '{');
        emit_text(&a.e, "reason", reason_code(x));
        emit_text(&a.e, "kind", reason_kind_name(reason_kind(x)));
        emit_text(&a.e, "sentence", reason_sentence(x));
        emit_text(&a.e, "opens_when", reason_advice(x));
        emit_text_or_null(&a.e, "keys", reason_keys(x));
        emit_close(&a.e, '}');
    }
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

void v1_open(struct api *api, const struct v1_port *port) { api->v1 = port; }
