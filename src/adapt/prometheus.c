#include "adapt/prometheus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/log.h"
#include "adapt/prometheus_server.h"
#include "base/check.h"
#include "base/text.h"

#define ALONE_FOR SPAN_MIN(10)

/* What is remembered of a service between its polls. */
struct asked {
    struct asked *next;
    char service[POLICY_NAME_MAX + 1];
    char revision[65];
    uint16_t n;
    struct instant due[POLICY_SIGNALS_MAX], alone_until[POLICY_SIGNALS_MAX];
    bool out;                            /* a poll is under way */
    char trouble[240];                   /* last said; "": all is well */
};

/* One poll: some batches, and what they brought so far. */
struct poll {
    struct prometheus *owner;
    struct asked *asked;
    char revision[65];
    uint16_t service;
    struct instant began;
    unsigned batches;                    /* under way */
    uint16_t signals[POLICY_SIGNALS_MAX];
    struct point points[POLICY_SIGNALS_MAX];
    uint32_t n;
    char trouble[240];
};

struct batch { struct poll *poll; uint16_t signals[PROMETHEUS_BATCH]; uint32_t n; };

struct prometheus {
    const struct adapt *a;
    struct servers *servers;
    struct asked *services;
    struct prometheus_counters counters;
};

struct prometheus *prometheus_new(const struct adapt *a)
{
    struct prometheus *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->a = a;
    p->servers = servers_new(a->base, a->fetch);
    if (p->servers) return p;
    free(p);
    return NULL;
}

void prometheus_end(struct prometheus *p)
{
    if (p) servers_end(p->servers);
}

void prometheus_free(struct prometheus *p)
{
    if (!p) return;
    servers_free(p->servers);
    while (p->services) {
        struct asked *s = p->services;
        p->services = s->next;
        free(s);
    }
    free(p);
}

void prometheus_counters(const struct prometheus *p, struct prometheus_counters *ret) { *ret = p->counters; }

static struct asked *asked_of(struct prometheus *p, const struct policy *policy, uint16_t service)
{
    const struct service_def *def = &policy->services[service];
    struct asked *s = p->services;
    while (s && !text_eq(s->service, def->name)) s = s->next;
    if (!s) {
        s = calloc(1, sizeof *s);
        CHECK_MEMORY(s);
        (void)text_copy(s->service, sizeof s->service, def->name);
        s->next = p->services;
        p->services = s;
    }
    if (!text_eq(s->revision, policy->revision)) {      /* other signals under the same numbers */
        (void)text_copy(s->revision, sizeof s->revision, policy->revision);
        s->n = def->signal_count;
        for (uint16_t i = 0; i < POLICY_SIGNALS_MAX; i++) s->due[i] = s->alone_until[i] = INSTANT_NEVER;
    }
    return s;
}

/* ---- the end of a poll ---- */

static const struct service_def *still_there(const struct poll *p, uint16_t *ret)
{
    const struct policy *now = p->owner->a->policy(p->owner->a->ctx);
    *ret = p->service;
    if (!text_eq(now->revision, p->revision)) *ret = policy_service(now, p->asked->service);
    return *ret == NO_INDEX ? NULL : &now->services[*ret];
}

static void say_trouble(const struct poll *p)
{
    struct asked *s = p->asked;
    if (text_eq(s->trouble, p->trouble)) return;
    if (p->trouble[0])
        log_line(LEVEL_WARN, "prometheus", "signals are unknown: the server did not answer well", "service", s->service, "error",
                 p->trouble, NULL);
    else log_line(LEVEL_INFO, "prometheus", "the server answers again", "service", s->service, NULL);
    (void)text_copy(s->trouble, sizeof s->trouble, p->trouble);
}

static void deliver(struct poll *p)
{
    struct prometheus *owner = p->owner;
    struct event e = {.kind = EVENT_VALUES};
    const struct service_def *def = still_there(p, &e.service);
    say_trouble(p);
    p->asked->out = false;
    if (def && def->prometheus) {
        bool same = text_eq(owner->a->policy(owner->a->ctx)->revision, p->revision);
        e.u.values.signals = p->signals;
        e.u.values.points = p->points;
        e.u.values.n = same ? p->n : 0;
        e.u.values.last = true;
        owner->a->sink.deliver(owner->a->sink.ctx, &e);
    }
    free(p);
}

static void take(struct poll *p, uint16_t signal, struct point x)
{
    p->signals[p->n] = signal;
    p->points[p->n++] = x;
}

/* ---- batches ---- */

static void send_batch(struct poll *p, const struct service_def *def, const uint16_t *signals, uint32_t n);

static void fail_batch(struct batch *b, enum unknown_why why, const char *error)
{
    struct poll *p = b->poll;
    for (uint32_t i = 0; i < b->n; i++)
        take(p, b->signals[i], (struct point){.at = p->began, .value = __builtin_nan(""), .why = why});
    if (!p->trouble[0]) (void)text_copy(p->trouble, sizeof p->trouble, error);
}

static void part_ways(struct batch *b, const struct service_def *def)
{
    struct poll *p = b->poll;
    for (uint32_t i = 0; i < b->n; i++) send_batch(p, def, &b->signals[i], 1);
}

static void read_answer(struct batch *b, const struct service_def *def, const struct fetch_result *r)
{
    struct poll *p = b->poll;
    struct prometheus *owner = p->owner;
    struct point points[PROMETHEUS_BATCH];
    struct prometheus_answer answer;
    prometheus_read_now(r->body, r->len, r->http, def->signals, b->signals, b->n, p->began, points, &answer);
    if (answer.refused) owner->counters.refused++;
    else if (!answer.ok) owner->counters.failed++;
    if (answer.refused && b->n > 1) {
        part_ways(b, def);
        return;
    }
    if (answer.refused) p->asked->alone_until[b->signals[0]] = instant_add(p->began, ALONE_FOR);
    if (answer.ok && answer.error[0]) owner->counters.partial++;
    else if (answer.ok) owner->counters.ok++;
    for (uint32_t i = 0; i < b->n; i++) take(p, b->signals[i], points[i]);
    if (answer.error[0] && !p->trouble[0])
        snprintf(p->trouble, sizeof p->trouble, "%.63s%s%.160s", b->n == 1 ? def->signals[b->signals[0]].name : "",
                 b->n == 1 ? ": " : "", answer.error);
}

static void on_batch(void *arg, const struct fetch_result *r)
{
    struct batch *b = arg;
    struct poll *p = b->poll;
    uint16_t service;
    const struct service_def *def = still_there(p, &service);
    bool same = def && def->prometheus && text_eq(p->owner->a->policy(p->owner->a->ctx)->revision, p->revision);
    if (r->outcome == FETCH_NOT_SENT) p->owner->counters.not_sent++;
    else if (r->outcome != FETCH_ANSWER) p->owner->counters.failed++;
    if (!same) { /* the numbers of its signals mean others now */
    } else if (r->outcome != FETCH_ANSWER) fail_batch(b, WHY_SCRAPE, r->error);
    else read_answer(b, def, r);
    free(b);
    if (--p->batches == 0) deliver(p);
}

static void send_batch(struct poll *p, const struct service_def *def, const uint16_t *signals, uint32_t n)
{
    struct buf body = BUF_INIT;
    struct batch *b = calloc(1, sizeof *b);
    CHECK_MEMORY(b);
    b->poll = p;
    b->n = n;
    memcpy(b->signals, signals, n * sizeof *signals);
    prometheus_ask(&body, def->signals, signals, n, def->prometheus->timeout, NULL);
    p->batches++;
    servers_send(p->owner->servers, &(struct server_order){.def = def->prometheus, .path = "/api/v1/query",
                                                           .body = buf_text(&body), .done = on_batch, .arg = b});
    buf_free(&body);
}

/* ---- a poll ---- */

static bool is_due(struct asked *s, const struct signal_def *d, uint16_t i, struct instant now)
{
    struct span early = {d->interval.us / 20};
    if (!d->ask_text || (instant_is_set(s->due[i]) && instant_before(instant_add(now, early), s->due[i]))) return false;
    s->due[i] = instant_add(now, d->interval);
    return true;
}

static void poll_server(void *ctx, const struct policy *policy, uint16_t service, uint16_t target)
{
    struct prometheus *owner = ctx;
    const struct service_def *def = &policy->services[service];
    struct asked *s = asked_of(owner, policy, service);
    struct instant now;
    struct wall wall;
    CHECK(target == POLL_SERVER && def->prometheus);
    if (s->out) return;                  /* the one answer under way counts */
    struct poll *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    owner->a->now(owner->a->ctx, &now, &wall);
    *p = (struct poll){.owner = owner, .asked = s, .service = service, .began = now};
    (void)text_copy(p->revision, sizeof p->revision, policy->revision);
    s->out = true;
    uint16_t batch[PROMETHEUS_BATCH];
    uint32_t n = 0;
    p->batches = 1;                      /* ours, until all are sent */
    for (uint16_t i = 0; i < def->signal_count; i++) {
        if (!is_due(s, &def->signals[i], i, now)) continue;
        bool alone = instant_is_set(s->alone_until[i]) && instant_before(now, s->alone_until[i]);
        if (alone) send_batch(p, def, &i, 1);
        else batch[n++] = i;
        if (n < PROMETHEUS_BATCH) continue;
        send_batch(p, def, batch, n);
        n = 0;
    }
    if (n) send_batch(p, def, batch, n);
    if (--p->batches > 0) return;
    /* Nothing was due, by a hair: the loop's round ends by its patience. */
    s->out = false;
    free(p);
}

struct source_port prometheus_port(struct prometheus *p) { return (struct source_port){p, poll_server}; }

/* ---- the past ---- */

struct past { void (*done)(void *, const char *, size_t, long, const char *); void *arg; };

static void on_past(void *arg, const struct fetch_result *r)
{
    struct past *p = arg;
    bool good = r->outcome == FETCH_ANSWER;
    p->done(p->arg, good ? r->body : "", good ? r->len : 0, r->http, good ? NULL : r->error);
    free(p);
}

void prometheus_ask_past(struct prometheus *p, const struct prometheus_past *ask)
{
    struct buf body = BUF_INIT;
    struct past *past = calloc(1, sizeof *past);
    CHECK_MEMORY(past);
    past->done = ask->done;
    past->arg = ask->arg;
    prometheus_ask(&body, ask->signals, ask->batch, ask->n, ask->server->timeout, &ask->span);
    servers_send(p->servers, &(struct server_order){.def = ask->server, .path = "/api/v1/query_range", .body = buf_text(&body),
                                                    .done = on_past, .arg = past});
    buf_free(&body);
}
