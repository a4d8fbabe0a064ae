/* The operational addresses. */
#include "api/api.h"

#include "api/route_table.h"

#include <stdio.h>
#include <string.h>

#include "api/http_request.h"
#include "api/site.h"
#include "api/v1_inside.h"
#include "base/check.h"

#define TEXT "text/plain; charset=utf-8"
#define PAGE "text/plain; version=0.0.4; charset=utf-8"

static void text(struct http_request *r, int status, const char *s) { http_reply(r, status, TEXT, s, strlen(s)); }

void api_get_healthy(void *ctx, struct http_request *r)
{
    (void)ctx;
    text(r, 200, "trimtab is healthy.\n");
}

void api_get_ready(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    char why[200] = "", line[240];
    if (api->ready(api->ctx, why)) {
        text(r, 200, "trimtab is ready.\n");
        return;
    }
    snprintf(line, sizeof line, "not ready: %s\n", why);
    text(r, 503, line);
}

void api_post_reload(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct v1_field by = {.key = "by", .most = 60}, via = {.key = "via", .most = 8};
    struct v1_field f[] = {by, via};
    struct v1_caller who;
    struct err e;
    if (!v1_body(r, f, ARRAY_LEN(f)) || !v1_caller(r, &f[0], &f[1], &who)) return;
    if (api->reload(api->ctx, who.by, &e) == STATUS_OK) text(r, 200, "configuration loaded\n");
    else http_reply_error(r, 500, "the old configuration stays in force: %s", e.text);
}

static bool module_of(struct http_request *r, enum module *ret)
{
    const char *name = http_request_param(r, "module");
    if (name && module_parse(name, ret)) return true;
    http_reply_error(r, 404, "no module '%.60s'; there are collect, detect, locate, decide, execute, verify", name ? name : "");
    return false;
}

void api_get_module(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct module_view m[MODULE_COUNT];
    enum module which;
    char line[320];
    if (!module_of(r, &which)) return;
    api->modules(api->ctx, m);
    snprintf(line, sizeof line, "%s is %s%s%s\n", module_name(which), m[which].healthy ? "healthy" : "not healthy",
             m[which].note[0] ? ": " : "", m[which].note);
    text(r, m[which].healthy ? 200 : 503, line);
}

void api_get_metrics(void *ctx, struct http_request *r)
{
    struct buf b = BUF_INIT;
    metrics_page(ctx, &b);
    http_reply_buf(r, 200, PAGE, &b);
}

void api_get_module_metrics(void *ctx, struct http_request *r)
{
    struct buf b = BUF_INIT;
    enum module which;
    if (!module_of(r, &which)) return;
    metrics_module_page(ctx, which, &b);
    http_reply_buf(r, 200, PAGE, &b);
}

void api_init(struct api *api)
{
    unsigned n;
    const struct route *rows = route_table(&n);
    api->verified_at = ACCESS_NEVER;
    api->table = (struct route_table){rows, n};
    api->routes = (struct routes){.tables = &api->table, .n = 1, .ctx = api, .guard = gate_check, .other = site_serve};
}

void api_handle(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    routes_dispatch(&api->routes, r);
}
