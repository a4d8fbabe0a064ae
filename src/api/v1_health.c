/* trimtab's own health, and all words that its answers may hold. */
#include <string.h>

#include "api/http_server.h"
#include "api/stream.h"
#include "api/v1_inside.h"
#include "base/check.h"

void v1_modules_json(struct api *api, struct emit *e)
{
    struct module_view m[MODULE_COUNT];
    api->modules(api->ctx, m);
    emit_open(e, "modules", '[');
    for (unsigned i = 0; i < MODULE_COUNT; i++) {
        emit_open(e, NULL, '{');
        emit_text(e, "module", module_name(m[i].module));
        emit_bool(e, "healthy", m[i].healthy);
        emit_seconds(e, "silent_seconds", m[i].silent_for);
        emit_int(e, "runs", (int64_t)m[i].runs);
        emit_int(e, "errors", (int64_t)m[i].errors);
        emit_text_or_null(e, "note", m[i].note);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

/* How late a target is: the time since its last good page, beyond the interval. */
static void target_json(struct emit *e, const struct service_view *v, uint16_t i)
{
    const struct target_view *t = &v->targets[i];
    struct span interval = v->def->targets[i].interval;
    emit_open(e, NULL, '{');
    emit_text(e, "service", v->def->name);
    emit_text(e, "instance", v->def->targets[i].instance);
    emit_bool(e, "up", t->up);
    emit_seconds(e, "interval_seconds", interval);
    if (t->age.us < 0) {
        emit_null(e, "age_seconds");
        emit_null(e, "lag_seconds");
    } else {
        emit_seconds(e, "age_seconds", t->age);
        emit_seconds(e, "lag_seconds", (struct span){t->age.us > interval.us ? t->age.us - interval.us : 0});
    }
    emit_text_or_null(e, "error", t->error);
    emit_close(e, '}');
}

/* Those that are down or late first, at most a thousand in all. */
static void targets_json(struct api *api, struct emit *e)
{
    const struct policy *p = api->control.policy(api->control.ctx);
    struct arena arena = ARENA_INIT;
    unsigned told = 0;
    emit_open(e, "scrape", '[');
    for (int good = 0; good < 2; good++) {
        for (uint16_t s = 0; s < p->service_count && told < V1_LIMIT_MAX; s++) {
            struct service_view v;
            api->control.view(api->control.ctx, s, &arena, &v);
            for (uint16_t i = 0; i < v.def->target_count && told < V1_LIMIT_MAX; i++) {
                bool late = !v.targets[i].up || v.targets[i].age.us < 0 || v.targets[i].age.us > 3 * v.def->targets[i].interval.us;
                if (late == (good == 1)) continue;
                target_json(e, &v, i);
                told++;
            }
            arena_reset(&arena);
        }
    }
    emit_close(e, ']');
    arena_free(&arena);
}

static double points_a_day(const struct policy *p)
{
    double n = 0;
    for (uint16_t i = 0; i < p->service_count; i++) {
        for (uint16_t k = 0; k < p->services[i].signal_count; k++) {
            double seconds = span_seconds(p->services[i].signals[k].interval);
            if (seconds > 0) n += 86400 / seconds;
        }
    }
    return n;
}

static void store_json(struct api *api, struct emit *e)
{
    const struct v1_port *port = api->v1;
    struct v1_store s = {0};
    struct v1_audit audit = {0};
    port->store(port->ctx, &s);
    port->audit(port->ctx, &audit);
    emit_open(e, "store", '{');
    emit_text(e, "state", audit.state);
    emit_int(e, "audit_records", (int64_t)audit.size);
    emit_int(e, "audit_bytes", (int64_t)s.audit_bytes);
    emit_int(e, "metrics_bytes", (int64_t)s.metrics_bytes);
    emit_int(e, "metrics_budget", (int64_t)s.metrics_budget);
    emit_int(e, "waiting", (int64_t)s.waiting);
    emit_int(e, "points_dropped", (int64_t)s.dropped);
    emit_text_or_null(e, "trouble", audit.trouble);
    emit_text_or_null(e, "metrics_trouble", s.metrics_trouble);
    emit_number(e, "points_a_day", points_a_day(api->control.policy(api->control.ctx)));
    emit_close(e, '}');
}

static void receivers_json(struct emit *e, const struct api_runtime *run)
{
    emit_open(e, "receivers", '[');
    for (unsigned i = 0; i < run->receiver_n; i++) {
        const struct api_receiver *r = &run->receivers[i];
        emit_open(e, NULL, '{');
        emit_text(e, "name", r->name);
        emit_text(e, "type", r->type);
        emit_text(e, "state", r->state);
        emit_int(e, "waiting", r->waiting);
        emit_int(e, "sent", (int64_t)r->sent);
        emit_int(e, "failed", (int64_t)r->failed);
        emit_int(e, "dropped", (int64_t)r->dropped);
        emit_int(e, "retried", (int64_t)r->retried);
        if (r->good_seconds < 0) emit_null(e, "good_seconds");
        else emit_number(e, "good_seconds", r->good_seconds);
        emit_text_or_null(e, "error", r->error);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void reload_json(struct emit *e, const struct api_runtime *run)
{
    emit_open(e, "reload", '{');
    emit_bool(e, "good", run->reload_ok);
    emit_wall(e, "at", (struct wall){(int64_t)(run->reload_seconds * 1e6)});
    emit_text_or_null(e, "error", run->reload_error);
    emit_text(e, "revision", run->revision);
    emit_close(e, '}');
}

static void tls_json(struct api *api, struct emit *e)
{
    char subject[200] = "";
    struct wall ends = WALL_NONE;
    api->v1->tls(api->v1->ctx, subject, &ends);
    bool on = ends.us != WALL_NONE.us;
    emit_open(e, "tls", '{');
    emit_bool(e, "on", on);
    emit_text_or_null(e, "subject", subject);
    emit_wall(e, "not_after", ends);
    if (on) emit_int(e, "days_left", (ends.us - api->access.port.now(api->access.port.ctx)) / (24 * US_PER_HOUR));
    else emit_null(e, "days_left");
    emit_close(e, '}');
}

void v1_get_health(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct api_runtime run;
    struct v1_answer a;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    v1_runtime_json(api, &a.e, &run);
    emit_wall(&a.e, "at", (struct wall){api->access.port.now(api->access.port.ctx)});
    v1_modules_json(api, &a.e);
    targets_json(api, &a.e);
    store_json(api, &a.e);
    receivers_json(&a.e, &run);
    reload_json(&a.e, &run);
    tls_json(api, &a.e);
    emit_int(&a.e, "listeners", stream_listeners(api->stream));
    emit_int(&a.e, "connections", run.http_connections);
    emit_int(&a.e, "loop_bytes", (int64_t)run.loop_bytes);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

void v1_post_receiver_test(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    port->notify_test(port->ctx, http_request_param(r, "receiver"), v1_outcome, r);
}

void v1_get_modules(void *ctx, struct http_request *r)
{
    struct v1_answer a;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    v1_modules_json(ctx, &a.e);
    emit_close(&a.e, '}');
    v1_end(&a, r);
}

/* ---- words ---- */

#define WORDS(e, key, count, type, name)                             \
    do {                                                             \
        emit_open(e, key, '[');                                      \
        for (int i_ = 0; i_ < (int)(count); i_++) emit_text(e, NULL, name((type)i_)); \
        emit_close(e, ']');                                          \
    } while (0)

void v1_get_words(void *ctx, struct http_request *r)
{
    struct v1_answer a;
    (void)ctx;
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    WORDS(&a.e, "states", STATE_COUNT, enum state, state_name);
    WORDS(&a.e, "modes", MODE_COUNT, enum mode, mode_name);
    WORDS(&a.e, "decisions", DECISION_COUNT, enum decision_kind, decision_name);
    WORDS(&a.e, "verdicts", VERDICT_COUNT, enum verdict, verdict_name);
    WORDS(&a.e, "causes", CAUSE_VERDICT_COUNT, enum cause_verdict, cause_verdict_name);
    WORDS(&a.e, "groups", GROUP_COUNT, enum cause_group, cause_group_name);
    WORDS(&a.e, "layers", LAYER_COUNT, enum layer, layer_name);
    WORDS(&a.e, "units", UNIT_COUNT, enum unit, unit_name);
    WORDS(&a.e, "series", SERIES_STATE_COUNT, enum series_state, series_state_name);
    WORDS(&a.e, "unknown", WHY_COUNT, enum unknown_why, unknown_name);
    WORDS(&a.e, "classes", CLASS_COUNT, enum action_class, class_name);
    WORDS(&a.e, "modules", MODULE_COUNT, enum module, module_name);
    emit_open(&a.e, "kinds", '[');
    for (int k = 0; k < RECORD_KIND_COUNT; k++) {
        emit_open(&a.e, NULL, '{');
        emit_text(&a.e, "kind", record_kind_name((enum record_kind)k));
        emit_text(&a.e, "meaning", record_kind_meaning((enum record_kind)k));
        emit_close(&a.e, '}');
    }
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    v1_end(&a, r);
}
