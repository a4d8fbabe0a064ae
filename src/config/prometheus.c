/* Servers that are asked for signals, and the receiver of our own. */
#include <string.h>

#include "config/build.h"

static const char *without_slash(struct config_work *w, const char *url)
{
    size_t n = strlen(url);
    while (n > 0 && url[n - 1] == '/') n--;
    char *copy = arena_strndup(w->arena, url, n);
    if (!copy) w->b->no_memory = true;
    return copy;
}

#define AUTH(raw) \
    (struct config_auth){&(raw).url, &(raw).bearer_file, &(raw).basic_file, &(raw).ca_file, &(raw).cert_file, &(raw).key_file}

static const char *file_of(struct config_build *b, const struct config_value *v)
{
    char *copy = v->is_set ? arena_strdup(&b->p->arena, v->text) : NULL;
    b->no_memory = b->no_memory || (v->is_set && !copy);
    return copy;
}

void config_check_auth(struct config_diagnostics *d, const struct config_auth *a)
{
    if (a->bearer->is_set && a->basic->is_set) config_wrong(d, a->basic->at, NULL, "write either `bearer_file` or `basic_file`");
    if (a->cert->is_set != a->key->is_set && !a->cert->is_wrong && !a->key->is_wrong)
        config_wrong(d, a->cert->is_set ? a->cert->at : a->key->at, NULL, "`cert_file` and `key_file` belong together");
    bool secret = a->bearer->is_set || a->basic->is_set;
    if (secret && a->url->is_set && strncmp(a->url->text, "http://", 7) == 0)
        config_warn(d, a->url->at, "use https, unless the way to the server is trusted",
                    "the secret for this server goes over the network as it is");
}

static void take_auth(struct config_build *b, const struct config_auth *a, struct prometheus_def *p)
{
    config_check_auth(b->d, a);
    p->bearer_file = file_of(b, a->bearer);
    p->basic_file = file_of(b, a->basic);
    p->ca_file = file_of(b, a->ca);
    p->cert_file = file_of(b, a->cert);
    p->key_file = file_of(b, a->key);
}

static const struct prometheus_def *build(struct config_work *w, const struct config_value *v)
{
    struct config_prometheus raw;
    size_t before = w->d->errors;
    if (!config_read_block(w->d, CONFIG_BLOCK_PROMETHEUS, v->at, v->inherited, &raw)) return NULL;
    struct prometheus_def *p = config_alloc(w, 1, sizeof *p);
    if (!p || !raw.url.is_set) return p;
    p->url = without_slash(w, raw.url.text);
    p->timeout = raw.timeout.span;
    p->history = raw.history.span;
    p->header_count = config_headers(w, &raw.headers, false, p->headers);
    take_auth(w->b, &AUTH(raw), p);
    return w->d->errors == before ? p : NULL;
}

void config_build_remote_write(struct config_build *b, const struct config_value *v)
{
    struct config_remote_write raw;
    struct config_work w = {.b = b, .d = b->d, .arena = &b->p->arena};
    if (!v->is_set || !config_read_block(b->d, CONFIG_BLOCK_REMOTE_WRITE, v->at, NULL, &raw) || !raw.url.is_set) return;
    struct prometheus_def *p = config_alloc(&w, 1, sizeof *p);
    if (!p) return;
    p->url = config_copy(&w, raw.url.text);
    p->timeout = raw.timeout.span;
    p->interval = raw.interval.span;
    p->header_count = config_headers(&w, &raw.headers, false, p->headers);
    take_auth(b, &AUTH(raw), p);
    b->p->remote_write = p;
}

void config_build_source(struct config_work *w)
{
    static const struct prometheus_def wrong = {.url = "", .timeout = SPAN_S(10)};
    const struct config_value *own = &w->raw.prometheus;
    const struct config_value *v = own->is_set ? own : &w->b->prometheus;
    if (w->raw.source.word != CONFIG_SOURCE_PROMETHEUS) {
        if (own->at)
            config_warn(w->d, own->at, "source: prometheus", "`prometheus` has no effect while the source is embedded");
        return;
    }
    w->s->prometheus = &wrong;       /* what follows is judged as for such a service, whatever is wrong here */
    if (v->is_set) {
        const struct prometheus_def *built = build(w, v);
        if (built) w->s->prometheus = built;
    } else if (!own->is_wrong && !w->cut) {
        config_wrong(w->d, w->node, "prometheus: {url: http://prometheus:9090}, for the file or this service",
                     "`source: prometheus`, but no server is named");
    }
}

static const char *companion(struct config_work *w, const struct pq *q, bool (*print)(struct buf *, const struct pq *))
{
    struct buf b = BUF_INIT;
    const char *text = print(&b, q) ? config_copy(w, buf_text(&b)) : NULL;
    buf_free(&b);
    return text;
}

void config_build_companions(struct config_work *w, struct signal_def *s)
{
    struct buf b = BUF_INIT;
    bool scalar = s->query && pq_type(s->query) == PQ_SCALAR;
    buf_puts(&b, scalar ? "vector(" : "");
    buf_puts(&b, s->query_text);
    buf_puts(&b, scalar ? ")" : "");
    s->ask_text = config_copy(w, buf_text(&b));
    buf_free(&b);
    if (!s->query) return;
    s->newest_text = companion(w, s->query, pq_print_newest);
    s->requests_text = companion(w, s->query, pq_print_observations);
}
