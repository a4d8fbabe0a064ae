#include "adapt/prom_range.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/fetch.h"
#include "adapt/prometheus_ask.h"
#include "base/buf.h"

struct prom_range {
    struct event_base *base;
    struct fetch *fetch;
    char url[1100];
    const char *bearer_file;
};

struct prom_range *prom_range_new(const char *url, const char *bearer_file, struct err *e)
{
    struct prom_range *p = calloc(1, sizeof *p);
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/') n--;
    if (!p || n > 1000) {
        (void)err_set(e, p ? STATUS_LIMIT : STATUS_MEMORY, p ? "the address is too long" : "no memory");
        free(p);
        return NULL;
    }
    snprintf(p->url, sizeof p->url, "%.*s/api/v1/query_range", (int)n, url);
    p->bearer_file = bearer_file;
    p->base = event_base_new();
    p->fetch = p->base ? fetch_new(p->base) : NULL;
    if (p->fetch) return p;
    (void)err_set(e, STATUS_MEMORY, "no memory for a connection");
    prom_range_free(p);
    return NULL;
}

void prom_range_free(struct prom_range *p)
{
    if (!p) return;
    if (p->fetch) fetch_free(p->fetch);
    if (p->base) event_base_free(p->base);
    free(p);
}

/* ---- one request ---- */

/* Each value at its place on the grid, so that series which take turns become one. */
struct grid { double *values; uint32_t *seen; int64_t from, step; size_t n; uint64_t ambiguous; bool astray; };

static void put(void *ctx, uint32_t place, struct wall at, double v)
{
    struct grid *g = ctx;
    double step = rint((double)(at.us - g->from) / (double)g->step);
    if (!(step >= 0 && step < (double)g->n)) {
        g->astray = true;
        return;
    }
    size_t i = (size_t)step;
    bool other = g->seen[i] && g->seen[i] != place + 1;
    if (other && !isnan(g->values[i])) g->ambiguous++;
    g->values[i] = other ? (double)NAN : v;
    g->seen[i] = place + 1;
}

struct answer { struct event_base *base; struct grid *grid; struct err *e; enum status status; };

static void done(void *arg, const struct fetch_result *r)
{
    struct answer *a = arg;
    struct prometheus_answer said;
    (void)event_base_loopbreak(a->base);
    a->status = STATUS_OK;
    if (r->outcome != FETCH_ANSWER) {
        enum status s = r->outcome == FETCH_TIMEOUT ? STATUS_TIMEOUT : STATUS_IO;
        a->status = err_set(a->e, s, "the server does not answer: %.250s", r->error);
        return;
    }
    prometheus_read_each(r->body, r->len, r->http, put, a->grid, &said);
    if (!said.ok && said.refused) a->status = err_set(a->e, STATUS_INVALID, "the server refuses it: %s", said.error);
    else if (!said.ok) a->status = err_set(a->e, STATUS_IO, "%s; is the address right?", said.error);
    else if (a->grid->astray) a->status = err_set(a->e, STATUS_IO, "the answer holds a time that was not asked for");
}

static enum status ask(struct prom_range *p, const struct prom_range_query *q, struct grid *g, struct err *e)
{
    struct buf body = BUF_INIT;
    struct answer a = {.base = p->base, .grid = g, .e = e};
    a.status = err_set(e, STATUS_IO, "the server does not answer");
    struct prometheus_span span = {{g->from}, {g->from + (int64_t)(g->n - 1) * g->step}, q->step};
    prometheus_ask_one(&body, q->text, &span);
    struct fetch_request r = {
        .method = "POST", .url = p->url, .headers = {"Content-Type: application/x-www-form-urlencoded"}, .header_count = 1,
        .body = buf_text(&body), .body_len = body.len, .bearer_file = p->bearer_file, .timeout = q->timeout,
        .done = done, .arg = &a,
    };
    fetch_start(p->fetch, &r);
    (void)event_base_dispatch(p->base);
    buf_free(&body);
    return a.status;
}

static bool hand_over(const struct grid *g, const struct prom_range_sink *sink)
{
    for (size_t i = 0; i < g->n; i++) {
        struct wall at = {g->from + (int64_t)i * g->step};
        if (g->seen[i] && !sink->point(sink->arg, at, g->values[i])) return false;
    }
    return true;
}

enum status prom_range_ask(struct prom_range *p, const struct prom_range_query *q, const struct prom_range_sink *sink,
                           uint64_t *ret_ambiguous, struct err *e)
{
    enum status s = STATUS_OK;
    struct grid g = {.step = q->step.us};
    g.values = calloc(PROM_RANGE_STEPS, sizeof *g.values);
    g.seen = calloc(PROM_RANGE_STEPS, sizeof *g.seen);
    if (!g.values || !g.seen) s = err_set(e, STATUS_MEMORY, "no memory for an answer");
    bool more = true;
    for (int64_t from = q->from.us; s == STATUS_OK && more && from <= q->to.us; from += PROM_RANGE_STEPS * g.step) {
        int64_t last = from + (PROM_RANGE_STEPS - 1) * g.step;
        g.from = from;
        g.n = (size_t)(((last < q->to.us ? last : q->to.us) - from) / g.step) + 1;
        memset(g.seen, 0, PROM_RANGE_STEPS * sizeof *g.seen);
        s = ask(p, q, &g, e);
        if (s == STATUS_OK) more = hand_over(&g, sink);
    }
    *ret_ambiguous = g.ambiguous;
    free(g.values);
    free(g.seen);
    return s;
}
