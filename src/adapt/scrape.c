#include "adapt/scrape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/check.h"
#include "base/text.h"

/* OpenMetrics first, as Prometheus asks; then the plain text format. */
#define ACCEPT                                                                                                  \
    "Accept: application/openmetrics-text;version=1.0.0;q=0.75,application/openmetrics-text;version=0.0.1;q=0.5," \
    "text/plain;version=0.0.4;q=0.4,*/*;q=0.1"

struct poll {
    struct scrape *owner;
    struct poll *next;
    struct adapt_place place;
    struct instant began;
    struct wall began_wall;
    struct timespec started;
};

struct scrape {
    const struct adapt *a;
    struct poll *out;                  /* asked, no answer yet */
    struct scrape_counters counters;
};

struct scrape *scrape_new(const struct adapt *a)
{
    struct scrape *s = calloc(1, sizeof *s);
    if (s) s->a = a;
    return s;
}

void scrape_free(struct scrape *s)
{
    if (!s) return;
    while (s->out) {
        struct poll *p = s->out;
        s->out = p->next;
        free(p);
    }
    free(s);
}

static enum page_outcome kind_of(const struct fetch_result *r)
{
    switch (r->outcome) {
    case FETCH_ANSWER: break;
    case FETCH_TIMEOUT: return PAGE_TIMEOUT;
    case FETCH_TOO_LARGE: return PAGE_TOO_LARGE;
    case FETCH_GARBAGE: return PAGE_GARBAGE;
    case FETCH_DOWN:
    case FETCH_NOT_SENT: return PAGE_DOWN;
    }
    if (r->http >= 300 && r->http < 400) return PAGE_REDIRECT;
    return r->http == 200 ? PAGE_OK : PAGE_HTTP_ERROR;
}

static const char *error_of(enum page_outcome k, const struct fetch_result *r, char *out, size_t cap)
{
    if (k == PAGE_REDIRECT) snprintf(out, cap, "the target redirects (HTTP %ld); give its final address in url", r->http);
    else if (k == PAGE_HTTP_ERROR) snprintf(out, cap, "the target answered HTTP %ld", r->http);
    else return r->error[0] ? r->error : NULL;
    return out;
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void unlink_poll(struct scrape *s, struct poll *p)
{
    for (struct poll **at = &s->out; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            return;
        }
    }
}

static void on_done(void *arg, const struct fetch_result *r)
{
    struct poll *p = arg;
    struct scrape *s = p->owner;
    char error[200];
    enum page_outcome kind = kind_of(r);
    struct event e = {.kind = EVENT_PAGE};
    s->counters.pages[kind]++;
    s->counters.seconds += seconds_since(&p->started);
    if (kind == PAGE_OK) s->counters.bytes += r->len;
    unlink_poll(s, p);
    if (adapt_find_target(s->a, &p->place)) {
        e.service = p->place.service_index;
        e.u.page.target = p->place.item_index;
        e.u.page.outcome = kind;
        e.u.page.bytes = kind == PAGE_OK ? r->body : NULL;
        e.u.page.len = kind == PAGE_OK ? r->len : 0;
        e.u.page.openmetrics = strncasecmp(r->content_type, "application/openmetrics-text", 28) == 0;
        e.u.page.error = error_of(kind, r, error, sizeof error);
        e.u.page.began = p->began;
        e.u.page.began_wall = p->began_wall;
        s->a->sink.deliver(s->a->sink.ctx, &e);
    }
    free(p);
}

static bool already_out(const struct scrape *s, const struct adapt_place *place)
{
    for (const struct poll *p = s->out; p; p = p->next) {
        if (p->place.item_index == place->item_index && strcmp(p->place.item, place->item) == 0 &&
            strcmp(p->place.service, place->service) == 0)
            return true;
    }
    return false;
}

static void poll_target(void *ctx, const struct policy *policy, uint16_t service, uint16_t target)
{
    struct scrape *s = ctx;
    const struct target_def *t = &policy->services[service].targets[target];
    struct adapt_place place = adapt_place_target(policy, service, target);
    if (already_out(s, &place)) return;
    struct poll *p = calloc(1, sizeof *p);
    CHECK_MEMORY(p);
    p->owner = s;
    p->place = place;
    p->next = s->out;
    s->out = p;
    s->a->now(s->a->ctx, &p->began, &p->began_wall);
    clock_gettime(CLOCK_MONOTONIC, &p->started);
    fetch_start(s->a->fetch, &(struct fetch_request){
        .method = "GET", .url = t->url, .headers = {ACCEPT, "User-Agent: trimtab"}, .header_count = 2,
        .bearer_file = t->bearer_file, .timeout = t->timeout.us > 0 ? t->timeout : SPAN_S(10), .done = on_done, .arg = p});
}

struct source_port scrape_port(struct scrape *s) { return (struct source_port){s, poll_target}; }
void scrape_counters(const struct scrape *s, struct scrape_counters *ret) { *ret = s->counters; }
