#include "adapt/prometheus_server.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapt/prometheus.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define HOLD_MOST_S 60
#define HOLD_S 10                      /* without Retry-After */

/* A request owns copies of all it names: the policy may go while it waits. */
struct waiting {
    struct waiting *next;
    struct server *server;
    struct prometheus_def def;
    char *texts, *url, *body;
    struct timespec since;
    void (*done)(void *arg, const struct fetch_result *r);
    void *arg;
};

struct server {
    struct server *next;
    struct servers *owner;
    struct waiting *first, **last;
    unsigned in_flight;
    struct timespec hold_until;
    char url[];
};

struct servers {
    struct fetch *fetch;
    struct event *soon;                /* so that nobody is answered from inside the call that asks */
    struct server *all;
    bool ending;
};

static void on_soon(evutil_socket_t fd, short what, void *arg);

struct servers *servers_new(struct event_base *base, struct fetch *f)
{
    struct servers *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->fetch = f;
    s->soon = evtimer_new(base, on_soon, s);
    if (s->soon) return s;
    free(s);
    return NULL;
}

static void waiting_free(struct waiting *w)
{
    free(w->texts);
    free(w->url);
    free(w->body);
    free(w);
}

static void end(struct waiting *w, enum fetch_outcome outcome, const char *error)
{
    w->done(w->arg, &(struct fetch_result){.outcome = outcome, .body = "", .content_type = "", .wanted = "", .error = error});
    waiting_free(w);
}

void servers_end(struct servers *s)
{
    s->ending = true;
    for (struct server *v = s->all; v; v = v->next) {
        while (v->first) {
            struct waiting *w = v->first;
            v->first = w->next;
            end(w, FETCH_DOWN, "the program ends");
        }
    }
}

void servers_free(struct servers *s)
{
    if (!s) return;
    while (s->all) {
        struct server *v = s->all;
        s->all = v->next;
        free(v);
    }
    event_free(s->soon);
    free(s);
}

static struct server *server_of(struct servers *s, const char *url)
{
    for (struct server *v = s->all; v; v = v->next)
        if (text_eq(v->url, url)) return v;
    size_t n = strlen(url) + 1;
    struct server *v = calloc(1, sizeof *v + n);
    CHECK_MEMORY(v);
    memcpy(v->url, url, n);
    v->owner = s;
    v->last = &v->first;
    v->next = s->all;
    s->all = v;
    return v;
}

static double seconds_between(struct timespec a, struct timespec b)
{
    return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static struct timespec now_of_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

static void pump(struct server *v);

static void hold(struct server *v, const char *retry_after)
{
    uint64_t seconds = HOLD_S;
    (void)num_parse_u64(retry_after, strlen(retry_after), &seconds);
    v->hold_until = now_of_clock();
    v->hold_until.tv_sec += (time_t)(seconds < HOLD_MOST_S ? seconds : HOLD_MOST_S);
}

static void on_done(void *arg, const struct fetch_result *r)
{
    struct waiting *w = arg;
    struct server *v = w->server;
    v->in_flight--;
    if (r->outcome == FETCH_ANSWER && (r->http == 429 || r->http == 503)) hold(v, r->wanted);
    w->done(w->arg, r);
    waiting_free(w);
    if (!v->owner->ending) pump(v);
}

static void send_now(struct server *v, struct waiting *w)
{
    struct fetch_request r = {
        .method = "POST", .url = w->url, .body = w->body, .body_len = strlen(w->body), .bearer_file = w->def.bearer_file,
        .basic_file = w->def.basic_file, .ca_file = w->def.ca_file, .cert_file = w->def.cert_file, .key_file = w->def.key_file,
        .timeout = w->def.timeout, .want_header = "Retry-After", .done = on_done, .arg = w};
    r.headers[r.header_count++] = "Content-Type: application/x-www-form-urlencoded";
    r.headers[r.header_count++] = "Accept: application/json";
    r.headers[r.header_count++] = "User-Agent: trimtab";
    for (uint16_t i = 0; i < w->def.header_count; i++) r.headers[r.header_count++] = w->def.headers[i];
    v->in_flight++;
    fetch_start(v->owner->fetch, &r);
}

static void pump(struct server *v)
{
    while (v->first && v->in_flight < PROMETHEUS_IN_FLIGHT) {
        struct waiting *w = v->first;
        struct timespec now = now_of_clock();
        v->first = w->next;
        if (!v->first) v->last = &v->first;
        if (seconds_between(now, v->hold_until) > 0) {
            end(w, FETCH_NOT_SENT, "the server asked to be left alone for a while (HTTP 429 or 503)");
        } else if (seconds_between(w->since, now) > span_seconds(w->def.timeout)) {
            end(w, FETCH_TIMEOUT, "too many queries wait for this server");
        } else {
            send_now(v, w);
        }
    }
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
    struct servers *s = arg;
    (void)fd;
    (void)what;
    for (struct server *v = s->all; v && !s->ending; v = v->next) pump(v);
}

static const char *keep(char **at, const char *text)
{
    if (!text) return NULL;
    size_t n = strlen(text) + 1;
    char *copy = *at;
    memcpy(copy, text, n);
    *at += n;
    return copy;
}

/* All texts of the definition in one piece. */
static void copy_def(struct waiting *w, const struct prometheus_def *d)
{
    const char *const files[] = {d->bearer_file, d->basic_file, d->ca_file, d->cert_file, d->key_file};
    size_t n = 1;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) n += files[i] ? strlen(files[i]) + 1 : 0;
    for (uint16_t i = 0; i < d->header_count; i++) n += strlen(d->headers[i]) + 1;
    char *at = w->texts = malloc(n);
    CHECK_MEMORY(at);
    w->def = (struct prometheus_def){.timeout = d->timeout, .header_count = d->header_count,
                                     .bearer_file = keep(&at, d->bearer_file), .basic_file = keep(&at, d->basic_file),
                                     .ca_file = keep(&at, d->ca_file), .cert_file = keep(&at, d->cert_file),
                                     .key_file = keep(&at, d->key_file)};
    for (uint16_t i = 0; i < d->header_count; i++) w->def.headers[i] = keep(&at, d->headers[i]);
}

void servers_send(struct servers *s, const struct server_order *o)
{
    struct server *v = server_of(s, o->def->url);
    struct waiting *w = calloc(1, sizeof *w);
    CHECK_MEMORY(w);
    size_t url = strlen(o->def->url), path = strlen(o->path) + 1;
    *w = (struct waiting){.server = v, .since = now_of_clock(), .done = o->done, .arg = o->arg,
                          .url = malloc(url + path), .body = strdup(o->body)};
    CHECK(w->url != NULL && w->body != NULL);
    memcpy(w->url, o->def->url, url);
    memcpy(w->url + url, o->path, path);
    copy_def(w, o->def);
    *v->last = w;
    v->last = &w->next;
    struct timeval now = {0, 0};
    CHECK_MEMORY(evtimer_add(s->soon, &now) == 0);
}
