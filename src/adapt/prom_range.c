#include "adapt/prom_range.h"

#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/fetch.h"
#include "base/buf.h"
#include "base/num.h"

struct prom_range {
    struct event_base *base;
    struct fetch *fetch;
    char url[1100];
    const char *bearer_file;
};

struct answer { struct event_base *base; json_t *root; long http; enum status status; char text[300]; };

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

static void done(void *arg, const struct fetch_result *r)
{
    struct answer *a = arg;
    json_error_t fault;
    a->http = r->http;
    a->status = r->outcome == FETCH_ANSWER ? STATUS_OK : r->outcome == FETCH_TIMEOUT ? STATUS_TIMEOUT : STATUS_IO;
    snprintf(a->text, sizeof a->text, "%.250s", r->error);
    if (r->outcome == FETCH_ANSWER) a->root = json_loadb(r->body, r->len, 0, &fault);
    (void)event_base_loopbreak(a->base);
}

static void form(struct buf *b, const char *key, const char *value)
{
    static const char hex[] = "0123456789ABCDEF";
    buf_printf(b, "%s%s=", b->len ? "&" : "", key);
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (plain) {
            buf_putc(b, (char)*p);
        } else {
            buf_putc(b, '%');
            buf_putc(b, hex[*p >> 4]);
            buf_putc(b, hex[*p & 15]);
        }
    }
}

static void seconds(struct buf *b, const char *key, int64_t us)
{
    struct buf text = BUF_INIT;
    buf_i64(&text, us / US_PER_MS / 1000);
    buf_printf(&text, ".%03d", (int)(us / US_PER_MS % 1000));
    form(b, key, buf_text(&text));
    buf_free(&text);
}

/* The envelope's data.result, borrowed; NULL: *e. */
static json_t *result_of(const struct answer *a, struct err *e)
{
    json_t *status = json_object_get(a->root, "status"), *text = json_object_get(a->root, "error");
    if (a->status != STATUS_OK) {
        (void)err_set(e, a->status, "the server does not answer: %s", a->text);
    } else if (!json_is_string(status)) {
        (void)err_set(e, STATUS_IO, "HTTP %ld, and no answer of Prometheus's API; is the address right?", a->http);
    } else if (strcmp(json_string_value(status), "success") != 0) {
        (void)err_set(e, STATUS_INVALID, "the server refuses it (HTTP %ld): %.300s", a->http,
                      json_is_string(text) ? json_string_value(text) : "without a word");
    } else {
        json_t *result = json_object_get(json_object_get(a->root, "data"), "result");
        if (json_is_array(result)) return result;
        (void)err_set(e, STATUS_IO, "an answer without data.result");
    }
    return NULL;
}

static json_t *ask(struct prom_range *p, const struct prom_range_query *q, int64_t from, int64_t to, struct answer *a)
{
    struct buf body = BUF_INIT;
    form(&body, "query", q->text);
    seconds(&body, "start", from);
    seconds(&body, "end", to);
    seconds(&body, "step", q->step.us);
    *a = (struct answer){.base = p->base, .status = STATUS_IO};
    struct fetch_request r = {
        .method = "POST", .url = p->url, .headers = {"Content-Type: application/x-www-form-urlencoded"}, .header_count = 1,
        .body = buf_text(&body), .body_len = body.len, .bearer_file = p->bearer_file, .timeout = q->timeout, .done = done, .arg = a,
    };
    fetch_start(p->fetch, &r);
    (void)event_base_dispatch(p->base);
    buf_free(&body);
    return a->root;
}

/* ---- points ---- */

/* Each value at its place on the grid, so that series which take turns become one. */
struct grid { double *values; unsigned char *seen; int64_t from, step; size_t n; uint64_t ambiguous; };

static bool put(struct grid *g, const json_t *pair)
{
    const json_t *at = json_array_get(pair, 0), *value = json_array_get(pair, 1);
    double v;
    if (!json_is_number(at) || !json_is_string(value)) return false;
    const char *text = json_string_value(value);
    if (!num_parse_all(text, strlen(text), &v)) return false;
    double place = rint((json_number_value(at) * 1e6 - (double)g->from) / (double)g->step);
    if (!(place >= 0 && place < (double)g->n)) return false;
    size_t i = (size_t)place;
    if (g->seen[i] == 1) g->ambiguous++;
    g->values[i] = g->seen[i] ? (double)NAN : v;
    g->seen[i] = g->seen[i] ? 2 : 1;
    return true;
}

static enum status fill(struct grid *g, const json_t *result, struct err *e)
{
    json_t *series, *pair;
    size_t i, k;
    json_array_foreach(result, i, series) {
        json_t *values = json_object_get(series, "values");
        if (!json_is_array(values)) return err_set(e, STATUS_IO, "a series without values");
        json_array_foreach(values, k, pair) {
            if (!put(g, pair)) return err_set(e, STATUS_IO, "a value that was not asked for, or is no number");
        }
    }
    return STATUS_OK;
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
    g.seen = calloc(PROM_RANGE_STEPS, 1);
    if (!g.values || !g.seen) s = err_set(e, STATUS_MEMORY, "no memory for an answer");
    bool more = true;
    for (int64_t from = q->from.us; s == STATUS_OK && more && from <= q->to.us; from += PROM_RANGE_STEPS * g.step) {
        int64_t last = from + (PROM_RANGE_STEPS - 1) * g.step;
        struct answer a;
        g.from = from;
        g.n = (size_t)(((last < q->to.us ? last : q->to.us) - from) / g.step) + 1;
        memset(g.seen, 0, PROM_RANGE_STEPS);
        (void)ask(p, q, from, from + (int64_t)(g.n - 1) * g.step, &a);
        json_t *result = result_of(&a, e);
        s = result ? fill(&g, result, e) : e->code;
        if (s == STATUS_OK) more = hand_over(&g, sink);
        json_decref(a.root);
    }
    *ret_ambiguous = g.ambiguous;
    free(g.values);
    free(g.seen);
    return s;
}
