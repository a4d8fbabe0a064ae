/* Services whose signals come from a Prometheus-compatible server. */
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

static const char *file_of(struct config_work *w, const struct config_value *v)
{
    return v->is_set ? config_copy(w, v->text) : NULL;
}

static void check_auth(struct config_work *w, const struct config_prometheus *raw)
{
    if (raw->bearer_file.is_set && raw->basic_file.is_set)
        config_wrong(w->d, raw->basic_file.at, NULL, "write either `bearer_file` or `basic_file`");
    if (raw->cert_file.is_set != raw->key_file.is_set && !raw->cert_file.is_wrong && !raw->key_file.is_wrong)
        config_wrong(w->d, raw->cert_file.is_set ? raw->cert_file.at : raw->key_file.at, NULL,
                     "`cert_file` and `key_file` belong together");
    bool secret = raw->bearer_file.is_set || raw->basic_file.is_set;
    if (secret && raw->url.is_set && strncmp(raw->url.text, "http://", 7) == 0)
        config_warn(w->d, raw->url.at, "use https, unless the way to the server is trusted",
                    "the secret for this server goes over the network as it is");
}

static const struct prometheus_def *build(struct config_work *w, const struct config_value *v)
{
    struct config_prometheus raw;
    size_t before = w->d->errors;
    if (!config_read_block(w->d, CONFIG_BLOCK_PROMETHEUS, v->at, v->inherited, &raw)) return NULL;
    check_auth(w, &raw);
    struct prometheus_def *p = config_alloc(w, 1, sizeof *p);
    if (!p || !raw.url.is_set) return p;
    p->url = without_slash(w, raw.url.text);
    p->timeout = raw.timeout.span;
    p->history = raw.history.span;
    p->header_count = config_headers(w, &raw.headers, false, p->headers);
    p->bearer_file = file_of(w, &raw.bearer_file);
    p->basic_file = file_of(w, &raw.basic_file);
    p->ca_file = file_of(w, &raw.ca_file);
    p->cert_file = file_of(w, &raw.cert_file);
    p->key_file = file_of(w, &raw.key_file);
    return w->d->errors == before ? p : NULL;
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
