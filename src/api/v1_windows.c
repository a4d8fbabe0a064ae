/* /api/v1/windows: freeze and maintenance windows, of the configuration and those that people have open. */
#include <stdio.h>
#include <string.h>

#include "api/v1_inside.h"
#include "base/text.h"

static void window_json(struct emit *e, const struct window_view *w)
{
    emit_open(e, NULL, '{');
    emit_text(e, "id", w->id);
    emit_text(e, "kind", freeze_kind_name(w->kind));
    emit_text(e, "source", w->configured ? "configuration" : "person");
    emit_bool(e, "in_force", w->in_force);
    emit_open(e, "services", '[');
    for (uint16_t i = 0; i < w->service_n; i++) emit_text(e, NULL, w->services[i]);
    emit_close(e, ']');
    emit_bool(e, "all", w->service_n == 0);
    emit_wall(e, "from", w->from);
    emit_wall(e, "until", w->until);
    emit_wall(e, "changes", w->changes);
    emit_text(e, "zone", w->zone);
    emit_text_or_null(e, "by", w->by);
    emit_text_or_null(e, "comment", w->comment);
    emit_close(e, '}');
}

void v1_get_windows(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct arena arena = ARENA_INIT;
    struct window_view *all;
    uint32_t n;
    struct v1_answer a;
    api->control.windows(api->control.ctx, &arena, &all, &n);
    v1_begin(&a);
    emit_open(&a.e, "data", '{');
    emit_open(&a.e, "windows", '[');
    for (uint32_t i = 0; i < n; i++) window_json(&a.e, &all[i]);
    emit_close(&a.e, ']');
    emit_close(&a.e, '}');
    v1_end(&a, r);
    arena_free(&arena);
}

enum { KIND, SERVICE, ALL, FOR, UNTIL, COMMENT, BY, VIA, FIELDS };

static struct wall now_of(struct api *api)
{
    struct arena arena = ARENA_INIT;
    struct service_view v;
    api->control.view(api->control.ctx, 0, &arena, &v);
    arena_free(&arena);
    return v.wall;
}

/* One end, said as a length or as a time. */
static bool end_of(struct api *api, struct http_request *r, const struct v1_field *f, struct wall *ret)
{
    struct span d;
    size_t n = strlen(f[FOR].text);
    if (f[FOR].set == f[UNTIL].set) {
        v1_refuse(r, STATUS_INVALID, "say its end: either for (as 2h) or until (as 2026-11-12T18:00:00+08:00)", "");
        return false;
    }
    if (f[UNTIL].set) {
        if (n == 0 && strlen(f[UNTIL].text) > 10 && f[UNTIL].text[4] == '-' && wall_parse(f[UNTIL].text, ret)) return true;
        v1_refuse(r, STATUS_INVALID, "until is a time with its zone, as 2026-11-12T18:00:00+08:00", "");
        return false;
    }
    bool good = n > 0 && span_parse(f[FOR].text, (unsigned)n, &d) == n && d.us >= US_PER_MIN && d.us <= 365 * US_PER_DAY;
    if (!good) {
        v1_refuse(r, STATUS_INVALID, "for is a length from 1m to 365d, as 90m or 2h", "");
        return false;
    }
    *ret = (struct wall){now_of(api).us + d.us};
    return true;
}

static bool scope_of(struct api *api, struct http_request *r, const struct v1_field *f, uint16_t *ret)
{
    *ret = ALL_SERVICES;
    if (f[ALL].on != f[SERVICE].set) return f[ALL].on || v1_service(api, r, f[SERVICE].text, ret);
    v1_refuse(r, STATUS_INVALID, "say what it is for: either a service, or \"all\": true", "");
    return false;
}

void v1_post_window(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct v1_field f[FIELDS] = {
        [KIND] = {.key = "kind", .most = 16}, [SERVICE] = {.key = "service", .most = 63}, [ALL] = {.key = "all", .is_bool = true},
        [FOR] = {.key = "for", .most = 16}, [UNTIL] = {.key = "until", .most = 40}, [COMMENT] = {.key = "comment", .most = 190},
        [BY] = {.key = "by", .most = 60}, [VIA] = {.key = "via", .most = 8},
    };
    enum freeze_kind kind;
    uint16_t service;
    struct v1_caller caller;
    struct command c = {.role = http_request_who(r)->role};
    if (!v1_body(r, f, FIELDS) || !v1_caller(r, &f[BY], &f[VIA], &caller)) return;
    if (!freeze_kind_parse(f[KIND].text, &kind)) {
        v1_refuse(r, STATUS_INVALID, "kind is freeze or maintenance", "");
        return;
    }
    if (!scope_of(api, r, f, &service) || !end_of(api, r, f, &c.until)) return;
    c.verb = kind == FREEZE_KIND_FREEZE ? COMMAND_FREEZE : COMMAND_MAINTENANCE;
    c.by = caller.by;
    c.via = caller.via;
    c.reason = f[COMMENT].set ? f[COMMENT].text : NULL;
    api->control.command(api->control.ctx, service, &c, v1_outcome, r);
}

void v1_delete_window(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct v1_field by = {.key = "by"}, via = {.key = "via"};
    by.set = http_request_query(r, by.key, by.text, 61);
    via.set = http_request_query(r, via.key, via.text, 9);
    struct v1_caller caller;
    if (!v1_caller(r, &by, &via, &caller)) return;
    struct command c = {.verb = COMMAND_WINDOW_END, .role = http_request_who(r)->role, .by = caller.by, .via = caller.via,
                        .action = http_request_param(r, "id")};
    api->control.command(api->control.ctx, ALL_SERVICES, &c, v1_outcome, r);
}
