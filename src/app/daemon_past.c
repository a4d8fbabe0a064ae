/* The first start of services whose signals come from a metrics server: its past in place of weeks of waiting. One service
 * after the other, a day at a time; a server that does not answer is asked again each minute for half an hour, by when
 * the first view is warm anyway. */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/daemon.h"
#include "base/check.h"
#include "base/text.h"

#define CHUNK SPAN_MIN(24 * 60)
#define RETRY_S 60
#define TRIES 30
#define ROWS_MAX 20000u               /* of a signal and a day */

struct column { struct wall *times; double *values; uint32_t n, cap; };

struct past_reading {
    struct daemon *d;
    char (*services)[POLICY_NAME_MAX + 1];
    uint16_t n, at;
    const struct policy *policy;      /* by which the service at hand was begun */
    struct wall from, to;             /* of the service at hand; to: the newest tick */
    struct wall chunk;                /* where the chunk at hand begins */
    uint16_t first, batch[PROMETHEUS_BATCH], batch_n;
    uint16_t alone_to;                /* signals up to here are asked one by one: a batch of them was refused */
    bool refused[POLICY_SIGNALS_MAX]; /* by itself: its query is at fault */
    struct column columns[POLICY_SIGNALS_MAX];
    uint64_t rows;
    unsigned tries;
    struct event *retry;
};

static void next_service(struct past_reading *r);
static void ask(struct past_reading *r);
static void end_of_chunk(struct past_reading *r, uint16_t service);
static void begin_service(struct past_reading *r);

static void clear_columns(struct past_reading *r)
{
    for (uint16_t i = 0; i < POLICY_SIGNALS_MAX; i++) {
        free(r->columns[i].times);
        free(r->columns[i].values);
        r->columns[i] = (struct column){0};
    }
}

void daemon_past_free(struct daemon *d)
{
    struct past_reading *r = d->past;
    if (!r) return;
    d->past = NULL;
    clear_columns(r);
    if (r->retry) event_free(r->retry);
    free(r->services);
    free(r);
}

static const struct service_def *service_at_hand(const struct past_reading *r, uint16_t *ret)
{
    const struct policy *p = r->d->policy;
    *ret = policy_service(p, r->services[r->at]);
    return *ret == NO_INDEX || !p->services[*ret].prometheus ? NULL : &p->services[*ret];
}

static void give_up(struct past_reading *r, const char *why)
{
    log_line(LEVEL_WARN, "prometheus", "no history was read; the service learns from now on", "service", r->services[r->at],
             "error", why, NULL);
    daemon_import_end(r->d);
    r->at++;
    next_service(r);
}

static void try_later(struct past_reading *r, const char *why)
{
    struct timeval tv = {RETRY_S, 0};
    clear_columns(r);
    daemon_import_end(r->d);
    if (++r->tries >= TRIES) {
        give_up(r, why);
        return;
    }
    log_line(LEVEL_WARN, "prometheus", "the history could not be read; asked again in a minute", "service", r->services[r->at],
             "error", why, NULL);
    CHECK_MEMORY(evtimer_add(r->retry, &tv) == 0);
}

static void add_row(void *ctx, uint32_t place, struct wall at, double value)
{
    struct past_reading *r = ctx;
    struct column *c = &r->columns[r->batch[place]];
    if (c->n == ROWS_MAX) return;
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 1024;
        c->times = realloc(c->times, c->cap * sizeof *c->times);
        c->values = realloc(c->values, c->cap * sizeof *c->values);
        CHECK_MEMORY(c->times && c->values);
    }
    c->times[c->n] = at;
    c->values[c->n++] = value;
}

static struct wall chunk_end(const struct past_reading *r)
{
    int64_t end = r->chunk.us + CHUNK.us - r->d->policy->tick.us;
    return (struct wall){end < r->to.us ? end : r->to.us};
}

/* The longest column leads: the import counts its rows by it. */
static uint32_t gather(struct past_reading *r, struct v1_series *series)
{
    uint32_t n = 0;
    for (uint16_t i = 0; i < POLICY_SIGNALS_MAX; i++) {
        const struct column *c = &r->columns[i];
        if (c->n == 0) continue;
        series[n++] = (struct v1_series){.signal = i, .times = c->times, .values = c->values, .n = c->n};
        if (series[n - 1].n <= series[0].n) continue;
        struct v1_series longest = series[n - 1];
        series[n - 1] = series[0];
        series[0] = longest;
    }
    return n;
}

static void end_of_chunk(struct past_reading *r, uint16_t service)
{
    static struct v1_series series[POLICY_SIGNALS_MAX];
    struct err e;
    bool last = chunk_end(r).us >= r->to.us;
    uint32_t n = gather(r, series);
    if (n) r->rows += series[0].n;
    enum status s = n || (last && r->rows) ? daemon_import(r->d, service, series, n, last, "prometheus", &e) : STATUS_OK;
    clear_columns(r);
    if (s != STATUS_OK) {
        give_up(r, e.text);
        return;
    }
    if (!last) {
        r->chunk.us += CHUNK.us;
        r->first = r->alone_to = 0;
        ask(r);
        return;
    }
    if (r->rows == 0) {
        give_up(r, "the server has no past of its signals");
        return;
    }
    char rows[24];
    snprintf(rows, sizeof rows, "%llu", (unsigned long long)r->rows);
    log_line(LEVEL_INFO, "prometheus", "history was read", "service", r->services[r->at], "rows", rows, NULL);
    r->at++;
    next_service(r);
}

/* One query that the server refuses must not cost the others their past. */
static void part_ways(struct past_reading *r, const struct service_def *def, const char *error)
{
    if (r->batch_n > 1) {
        r->alone_to = r->first;
        r->first = r->batch[0];
        return;
    }
    r->refused[r->batch[0]] = true;
    log_line(LEVEL_WARN, "prometheus", "a signal has no history: its query is refused", "service", r->services[r->at], "signal",
             def->signals[r->batch[0]].name, "error", error, NULL);
}

static void on_past(void *arg, const char *body, size_t len, long http, const char *error)
{
    struct past_reading *r = arg;
    struct prometheus_answer answer;
    uint16_t service;
    if (r->d->ending) return;
    const struct service_def *def = service_at_hand(r, &service);
    if (!def) {
        give_up(r, "the service is no longer configured so");
        return;
    }
    if (r->policy != r->d->policy) {  /* a reload: other signals, maybe, under the same numbers */
        clear_columns(r);
        daemon_import_end(r->d);
        begin_service(r);
        return;
    }
    if (error) {
        try_later(r, error);
        return;
    }
    prometheus_read_range(body, len, http, r->batch_n, add_row, r, &answer);
    if (!answer.ok && !answer.refused) {
        try_later(r, answer.error);
        return;
    }
    if (!answer.ok) part_ways(r, def, answer.error);
    if (r->first < def->signal_count) ask(r);
    else end_of_chunk(r, service);
}

static void ask(struct past_reading *r)
{
    uint16_t service;
    const struct service_def *def = service_at_hand(r, &service);
    if (!def) {
        give_up(r, "the service is no longer configured so");
        return;
    }
    r->batch_n = 0;
    while (r->first < def->signal_count && r->batch_n < (r->first < r->alone_to ? 1 : PROMETHEUS_BATCH)) {
        if (def->signals[r->first].ask_text && !r->refused[r->first]) r->batch[r->batch_n++] = r->first;
        r->first++;
    }
    if (r->batch_n == 0) {
        end_of_chunk(r, service);
        return;
    }
    prometheus_ask_past(r->d->prometheus, &(struct prometheus_past){
        .server = def->prometheus, .signals = def->signals, .batch = r->batch, .n = r->batch_n,
        .span = {r->chunk, chunk_end(r), r->d->policy->tick}, .done = on_past, .arg = r});
}

static void begin_service(struct past_reading *r)
{
    uint16_t service;
    struct instant now;
    struct wall wall;
    const struct service_def *def = service_at_hand(r, &service);
    if (!def) {
        r->at++;
        next_service(r);
        return;
    }
    int64_t tick = r->d->policy->tick.us;
    r->policy = r->d->policy;
    clock_now(&r->d->clock, &now, &wall);
    r->to.us = wall.us / tick * tick - tick;
    r->from.us = r->to.us - def->prometheus->history.us / tick * tick;
    r->chunk = r->from;
    r->first = r->alone_to = 0;
    r->rows = 0;
    memset(r->refused, 0, sizeof r->refused);
    ask(r);
}

static void next_service(struct past_reading *r)
{
    r->tries = 0;
    if (r->at < r->n) begin_service(r);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    begin_service(arg);
}

static bool is_new(struct daemon *d, const struct service_def *s)
{
    struct buf bytes = BUF_INIT;
    struct err e;
    int64_t at;
    bool none = s->prometheus && s->prometheus->history.us > 0 &&
                store_state_get(d->store, s->name, &at, &bytes, &e) == STATUS_NOT_FOUND;
    buf_free(&bytes);
    return none;
}

void daemon_past_start(struct daemon *d)
{
    struct past_reading *r = calloc(1, sizeof *r);
    CHECK_MEMORY(r);
    r->d = d;
    r->services = calloc(d->policy->service_count, sizeof *r->services);
    r->retry = evtimer_new(d->base, on_retry, r);
    CHECK_MEMORY(r->services && r->retry);
    for (uint16_t i = 0; i < d->policy->service_count; i++) {
        if (is_new(d, &d->policy->services[i]))
            (void)text_copy(r->services[r->n++], sizeof *r->services, d->policy->services[i].name);
    }
    d->past = r;
    next_service(r);
}
