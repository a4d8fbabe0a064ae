/* What people say about incidents, what came of it all, and reading the configuration again. */
#include <stdio.h>
#include <string.h>

#include "api/v1_inside.h"
#include "base/num.h"
#include "base/text.h"

enum { BY, VIA, FIELDS };

static bool from_whom(struct http_request *r, struct v1_field *f, unsigned n, struct v1_caller *ret)
{
    f[BY] = (struct v1_field){.key = "by", .most = 60};
    f[VIA] = (struct v1_field){.key = "via", .most = 16};
    return v1_body(r, f, n) && v1_caller(r, &f[BY], &f[VIA], ret);
}

void v1_post_feedback(void *ctx, struct http_request *r)
{
    enum { VERDICT = FIELDS, COMMENT, ALL };
    const struct v1_port *port = v1_port_of(ctx);
    struct v1_field f[ALL] = {[VERDICT] = {.key = "verdict", .most = 8}, [COMMENT] = {.key = "comment", .most = 256}};
    const char *number = http_request_param(r, "incident");
    struct v1_caller who;
    struct v1_feedback said = {.service = http_request_param(r, "service")};
    if (!number || !num_parse_u64(number, strlen(number), &said.incident)) {
        v1_refuse(r, STATUS_INVALID, "the incident in the address is a whole number", "");
        return;
    }
    if (!from_whom(r, f, ALL, &who)) return;
    said.verdict = f[VERDICT].text;
    if (!text_eq(said.verdict, "false") && !text_eq(said.verdict, "true") && !text_eq(said.verdict, "useful")) {
        v1_refuse(r, STATUS_INVALID, "verdict is false (a false alarm), true (it was real) or useful (and it helped)", "");
        return;
    }
    said.comment = f[COMMENT].text[0] ? f[COMMENT].text : NULL;
    said.by = who.by;
    said.via = who.via;
    port->feedback(port->ctx, &said, v1_outcome, r);
}

void v1_post_reload(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct v1_field f[FIELDS];
    struct v1_caller who;
    struct err e;
    char text[600];
    if (!from_whom(r, f, FIELDS, &who)) return;
    enum status s = api->reload(api->ctx, who.by, &e);
    if (s == STATUS_OK) snprintf(text, sizeof text, "the configuration is loaded");
    else snprintf(text, sizeof text, "the old configuration stays in force: %s", e.text);
    v1_outcome(r, s, text, "");
}

/* A span before the end ("14d"), or a time. */
static bool since_of(struct http_request *r, struct wall until, struct wall *ret)
{
    char text[48] = "14d";
    struct span back;
    (void)http_request_query(r, "since", text, sizeof text);
    size_t n = strlen(text);
    if (n && span_parse(text, (unsigned)n, &back) == n) *ret = (struct wall){until.us - back.us};
    else if (!wall_parse(text, ret)) {
        v1_refuse(r, STATUS_INVALID, "since is a time like 2026-05-12T10:00:00Z, or a span before the end like 14d", "");
        return false;
    }
    return true;
}

void v1_get_report(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    char service[64] = "", until_text[48] = "";
    struct wall since, until = port->now(port->ctx);
    struct v1_answer a;
    struct err e;
    if (http_request_query(r, "until", until_text, sizeof until_text) && !wall_parse(until_text, &until)) {
        v1_refuse(r, STATUS_INVALID, "until is a time like 2026-05-12T10:00:00Z", "");
        return;
    }
    (void)http_request_query(r, "service", service, sizeof service);
    if (!since_of(r, until, &since)) return;
    v1_begin(&a);
    enum status s = port->report(port->ctx, service[0] ? service : NULL, since, until, &a.e, &e);
    if (s == STATUS_OK) {
        v1_end(&a, r);
        return;
    }
    v1_drop(&a);
    v1_refuse(r, s, e.text, "");
}
