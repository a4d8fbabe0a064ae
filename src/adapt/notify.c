#include "adapt/notify.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/fetch.h"
#include "adapt/log.h"
#include "base/check.h"

struct delivery {
    struct notify *owner;
    struct delivery *next;
    char *url;
    struct buf body;
    unsigned tries;
    struct event *again;
};

struct notify {
    const struct adapt *a;
    struct delivery *list;
    struct notify_counters counters;
};

const char *notify_level_name(enum notice level)
{
    static const char *const names[] = {[NOTICE_INFO] = "info", [NOTICE_WARN] = "warning", [NOTICE_PAGE] = "page"};
    return names[level];
}

static void delivery_free(struct delivery *d)
{
    struct delivery **at = &d->owner->list;
    while (*at != d) at = &(*at)->next;
    *at = d->next;
    d->owner->counters.waiting--;
    if (d->again) event_free(d->again);
    buf_free(&d->body);
    free(d->url);
    free(d);
}

static void try_now(struct delivery *d);

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    try_now(arg);
}

static void try_later(struct delivery *d)
{
    struct timeval pause = {1L << (d->tries - 1), 0};
    CHECK_MEMORY(evtimer_add(d->again, &pause) == 0);
}

static void on_done(void *arg, const struct fetch_result *r)
{
    struct delivery *d = arg;
    struct notify *n = d->owner;
    char http[24];
    if (r->outcome == FETCH_ANSWER && r->http >= 200 && r->http < 300) {
        n->counters.sent++;
        delivery_free(d);
        return;
    }
    bool may_help = r->outcome != FETCH_ANSWER || r->http >= 500 || r->http == 429 || r->http == 408;
    snprintf(http, sizeof http, "%ld", r->http);
    if (may_help && d->tries < NOTIFY_TRIES) {
        try_later(d);
        return;
    }
    n->counters.failed++;
    log_line(LEVEL_WARN, "notify", "a notice could not be delivered", "url", d->url, "http", r->http ? http : NULL, "error",
             r->error, NULL);
    delivery_free(d);
}

static void try_now(struct delivery *d)
{
    d->tries++;
    fetch_start(d->owner->a->fetch, &(struct fetch_request){
        .method = "POST", .url = d->url, .headers = {"Content-Type: application/json", "User-Agent: trimtab"}, .header_count = 2,
        .body = buf_text(&d->body), .body_len = d->body.len, .timeout = SPAN_S(10), .max_body = 64u << 10, .done = on_done,
        .arg = d});
}

static void member(struct buf *b, const char *key, const char *value, bool last)
{
    buf_json_string(b, key, strlen(key));
    buf_putc(b, ':');
    buf_json_string(b, value, strlen(value));
    if (!last) buf_putc(b, ',');
}

static void labels(struct buf *b, const char *service, const char *subject, enum notice level)
{
    buf_putc(b, '{');
    member(b, "alertname", subject, false);
    member(b, "service", service, false);
    member(b, "severity", notify_level_name(level), true);
    buf_putc(b, '}');
}

static void document(struct buf *b, const char *service, const struct effect *e, struct wall at)
{
    struct buf when = BUF_INIT, group = BUF_INIT;
    wall_print(&when, at);
    buf_printf(&group, "trimtab/%s/%s", service, e->u.notify.subject);
    buf_puts(b, "{\"version\":\"4\",\"status\":\"firing\",\"receiver\":\"trimtab\",");
    member(b, "groupKey", buf_text(&group), false);
    buf_puts(b, "\"groupLabels\":{");
    member(b, "service", service, true);
    buf_puts(b, "},\"commonLabels\":");
    labels(b, service, e->u.notify.subject, e->u.notify.level);
    buf_puts(
        b, ",\"commonAnnotations\":{},\"externalURL\":\"\",\"truncatedAlerts\":0,\"alerts\":[{\"status\":\"firing\",\"labels\":");
    labels(b, service, e->u.notify.subject, e->u.notify.level);
    buf_puts(b, ",\"annotations\":{");
    member(b, "summary", e->u.notify.subject, false);
    member(b, "description", e->u.notify.text, true);
    buf_puts(b, "},");
    member(b, "startsAt", buf_text(&when), false);
    buf_puts(b, "\"endsAt\":\"0001-01-01T00:00:00Z\",\"generatorURL\":\"\"}]}");
    buf_free(&when);
    buf_free(&group);
}

static void enqueue(struct notify *n, const char *url, const struct buf *body)
{
    if (n->counters.waiting == NOTIFY_QUEUE) {
        n->counters.dropped++;
        if (n->counters.dropped == 1) log_line(LEVEL_WARN, "notify", "the queue of notices is full; notices are dropped", NULL);
        return;
    }
    struct delivery *d = calloc(1, sizeof *d);
    CHECK_MEMORY(d);
    d->owner = n;
    d->url = strdup(url);
    d->again = evtimer_new(n->a->base, on_again, d);
    CHECK_MEMORY(d->url && d->again);
    buf_add(&d->body, buf_text(body), body->len);
    CHECK_MEMORY(buf_ok(&d->body));
    d->next = n->list;
    n->list = d;
    n->counters.waiting++;
    try_now(d);
}

static void tell(void *ctx, const struct policy *p, const struct effect *e)
{
    static const enum log_level levels[] = {[NOTICE_INFO] = LEVEL_INFO, [NOTICE_WARN] = LEVEL_WARN, [NOTICE_PAGE] = LEVEL_ERROR};
    struct notify *n = ctx;
    const char *service = e->service < p->service_count ? p->services[e->service].name : "";
    struct buf body = BUF_INIT;
    struct instant now;
    struct wall wall;
    n->counters.notices[e->u.notify.level]++;
    log_line(levels[e->u.notify.level], "notice", e->u.notify.subject, "service", service, "severity",
             notify_level_name(e->u.notify.level), "text", e->u.notify.text, NULL);
    if (p->notify_count == 0) return;
    n->a->now(n->a->ctx, &now, &wall);
    document(&body, service, e, wall);
    CHECK_MEMORY(buf_ok(&body));
    for (uint16_t i = 0; i < p->notify_count; i++) enqueue(n, p->notify_urls[i], &body);
    buf_free(&body);
}

struct notify *notify_new(const struct adapt *a)
{
    struct notify *n = calloc(1, sizeof *n);
    if (n) n->a = a;
    return n;
}

void notify_free(struct notify *n)
{
    if (!n) return;
    while (n->list) delivery_free(n->list);
    free(n);
}

struct notify_port notify_port(struct notify *n) { return (struct notify_port){n, tell}; }
void notify_counters(const struct notify *n, struct notify_counters *ret) { *ret = n->counters; }
