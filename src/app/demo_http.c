/* HTTP of the demo: the daemon's own client, waited for. */
#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/fetch.h"
#include "app/demo.h"

struct answer {
    struct event_base *base;
    json_t *json;
    char *why;
};

static void on_done(void *arg, const struct fetch_result *r)
{
    struct answer *a = arg;
    json_error_t error;
    if (r->outcome == FETCH_ANSWER) a->json = json_loadb(r->body, r->len, JSON_REJECT_DUPLICATES, &error);
    if (r->outcome == FETCH_ANSWER && r->http / 100 != 2) {
        const char *text = json_string_value(json_object_get(a->json, "error"));
        snprintf(a->why, 200, "HTTP %ld: %s", r->http, text ? text : "");
        json_decref(a->json);
        a->json = NULL;
    } else if (!a->json) {
        snprintf(a->why, 200, "%s", r->outcome == FETCH_ANSWER ? "the answer is no JSON" : r->error);
    }
    event_base_loopbreak(a->base);
}

json_t *demo_send(const struct demo *d, const char *address, const char *method, const char *path, const char *type,
                  const char *body, size_t len, char why[200])
{
    struct answer a = {.base = event_base_new(), .why = why};
    struct fetch *f = a.base ? fetch_new(a.base) : NULL;
    struct buf url = BUF_INIT, content = BUF_INIT, auth = BUF_INIT;
    buf_printf(&url, "http://%s%s", address, path);
    struct fetch_request r = {.method = method, .url = buf_text(&url), .body = body, .body_len = len,
                              .timeout = SPAN_S(20), .done = on_done, .arg = &a};
    if (type) {
        buf_printf(&content, "Content-Type: %s", type);
        r.headers[r.header_count++] = buf_text(&content);
    }
    if (d && d->token[0]) {
        buf_printf(&auth, "Authorization: Bearer %s", d->token);
        r.headers[r.header_count++] = buf_text(&auth);
    }
    why[0] = '\0';
    if (f) {
        fetch_start(f, &r);
        event_base_dispatch(a.base);
    }
    fetch_free(f);
    if (a.base) event_base_free(a.base);
    buf_free(&url);
    buf_free(&content);
    buf_free(&auth);
    return a.json;
}

json_t *demo_get(const char *address, const char *path, char why[200])
{
    return demo_send(NULL, address, "GET", path, NULL, NULL, 0, why);
}

struct text_answer { struct event_base *base; struct buf *out; bool ok; };

static void on_text(void *arg, const struct fetch_result *r)
{
    struct text_answer *a = arg;
    a->ok = r->outcome == FETCH_ANSWER && r->http / 100 == 2;
    if (a->ok) buf_add(a->out, r->body, r->len);
    event_base_loopbreak(a->base);
}

bool demo_text(const char *address, const char *path, struct buf *out)
{
    struct text_answer a = {.base = event_base_new(), .out = out};
    struct fetch *f = a.base ? fetch_new(a.base) : NULL;
    struct buf url = BUF_INIT;
    buf_printf(&url, "http://%s%s", address, path);
    struct fetch_request r = {.method = "GET", .url = buf_text(&url), .timeout = SPAN_S(20), .done = on_text, .arg = &a};
    if (f) {
        fetch_start(f, &r);
        event_base_dispatch(a.base);
    }
    fetch_free(f);
    if (a.base) event_base_free(a.base);
    buf_free(&url);
    return a.ok;
}

double demo_knob(const struct demo *d, const char *knob)
{
    char path[80], why[200];
    snprintf(path, sizeof path, "/config/%s", knob);
    json_t *j = demo_get(d->target, path, why);
    const json_t *v = json_object_get(j, "value");
    double value = json_is_number(v) ? json_number_value(v) : NAN;
    json_decref(j);
    return value;
}
