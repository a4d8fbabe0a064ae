#include "adapt/http_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapt/pointer.h"
#include "adapt/template.h"
#include "base/check.h"
#include "base/text.h"

#define TIMEOUT_DEFAULT SPAN_S(5)

struct reading {
    char *pointer;
    void (*done)(void *arg, const struct http_writer_read *r);
    void *arg;
    char wrong[160];               /* of the templates */
};

/* A request's texts while it is put together. */
struct draft {
    struct buf url, body, headers[FETCH_HEADERS];
    unsigned header_count;
    char why[160];
};

static void draft_free(struct draft *d)
{
    buf_free(&d->url);
    buf_free(&d->body);
    for (unsigned i = 0; i < FETCH_HEADERS; i++) buf_free(&d->headers[i]);
}

static bool has_header(const struct draft *d, const char *name)
{
    size_t n = strlen(name);
    for (unsigned i = 0; i < d->header_count; i++) {
        if (strncasecmp(buf_text(&d->headers[i]), name, n) == 0 && buf_text(&d->headers[i])[n] == ':') return true;
    }
    return false;
}

static bool draft_fill(struct draft *d, const struct access_def *def, const struct template_words *w)
{
    if (!template_expand(&d->url, def->url, TEMPLATE_URL, w, d->why)) return false;
    if (def->body && !template_expand(&d->body, def->body, TEMPLATE_BODY, w, d->why)) return false;
    for (; d->header_count < def->header_count; d->header_count++) {
        if (!template_expand(&d->headers[d->header_count], def->headers[d->header_count], TEMPLATE_HEADER, w, d->why)) return false;
    }
    if (def->body && !has_header(d, "Content-Type")) {
        bool json = def->body[0] == '{' || def->body[0] == '[';
        buf_puts(&d->headers[d->header_count++], json ? "Content-Type: application/json" : "Content-Type: text/plain");
    }
    return true;
}

static void draft_send(struct draft *d, struct fetch *f, const struct access_def *def, struct fetch_request *r)
{
    r->url = buf_text(&d->url);
    for (unsigned i = 0; i < d->header_count; i++) r->headers[i] = buf_text(&d->headers[i]);
    r->header_count = d->header_count;
    if (def->body) {
        r->body = buf_text(&d->body);
        r->body_len = d->body.len;
    }
    r->bearer_file = def->secret_file;
    r->timeout = def->timeout.us > 0 ? def->timeout : TIMEOUT_DEFAULT;
    r->max_body = POINTER_DOCUMENT_MAX;
    fetch_start(f, r);
}

/* ---- read ---- */

static void read_done(void *arg, const struct fetch_result *r)
{
    struct reading *g = arg;
    struct http_writer_read out = {0};
    if (r->outcome != FETCH_ANSWER) {
        (void)text_copy(out.why, sizeof out.why, g->wrong[0] ? g->wrong : r->error);
    } else if (r->http < 200 || r->http > 299) {
        snprintf(out.why, sizeof out.why, "the target answered HTTP %ld to the read", r->http);
    } else if (pointer_get(r->body, r->len, g->pointer, &out.value, out.why)) {
        out.ok = knob_value_set_version(&out.value, r->wanted, (unsigned)strlen(r->wanted));
        if (!out.ok) snprintf(out.why, sizeof out.why, "the version is longer than %d bytes", KNOB_VERSION_MAX);
    }
    g->done(g->arg, &out);
    free(g->pointer);
    free(g);
}

void http_writer_read(struct fetch *f, const struct access_def *def, const char *instance,
                      void (*done)(void *arg, const struct http_writer_read *r), void *arg)
{
    struct reading *g = calloc(1, sizeof *g);
    struct draft d = {0};
    struct template_words words = {.instance = instance};
    CHECK_MEMORY(g);
    g->pointer = strdup(def->pointer ? def->pointer : "");
    g->done = done;
    g->arg = arg;
    CHECK_MEMORY(g->pointer);
    bool ok = draft_fill(&d, def, &words);
    if (!ok) (void)text_copy(g->wrong, sizeof g->wrong, d.why);
    struct fetch_request r = {.method = ok ? (def->method ? def->method : "GET") : "", .want_header = def->version_header,
                              .done = read_done, .arg = g};
    if (!ok) buf_clear(&d.url);
    draft_send(&d, f, def, &r);
    draft_free(&d);
}

/* ---- write ---- */

struct writing {
    bool (*may_send)(void *arg);
    void (*done)(void *arg, const struct http_writer_answer *a);
    void *arg;
    char wrong[160];
};

static bool write_may_send(void *arg)
{
    struct writing *w = arg;
    return w->may_send(w->arg);
}

static enum answer_kind kind_of(const struct fetch_result *r)
{
    switch (r->outcome) {
    case FETCH_ANSWER: break;
    case FETCH_TIMEOUT: return r->sent ? ANSWER_TIMEOUT : ANSWER_NOT_SENT;
    case FETCH_NOT_SENT: return ANSWER_NOT_SENT;
    default: return r->sent ? ANSWER_ERROR : ANSWER_NOT_SENT;
    }
    if (r->http >= 200 && r->http < 300) return ANSWER_OK;
    return r->http >= 400 && r->http < 500 ? ANSWER_REFUSED : ANSWER_ERROR;
}

static void write_done(void *arg, const struct fetch_result *r)
{
    struct writing *w = arg;
    struct http_writer_answer a = {.kind = kind_of(r)};
    if (r->outcome == FETCH_ANSWER) snprintf(a.text, sizeof a.text, "HTTP %ld", r->http);
    else (void)text_copy(a.text, sizeof a.text, w->wrong[0] ? w->wrong : r->error);
    if (a.kind == ANSWER_REFUSED && (r->http == 412 || r->http == 409))
        snprintf(a.text, sizeof a.text, "HTTP %ld: the value has changed since it was read", r->http);
    if (strlen(r->wanted) < sizeof a.version) (void)text_copy(a.version, sizeof a.version, r->wanted);
    w->done(w->arg, &a);
    free(w);
}

static void add_if_match(struct draft *d, const struct http_writer_order *o)
{
    bool own = template_uses(o->def->url, "version") || template_uses(o->def->body, "version");
    for (unsigned i = 0; i < o->def->header_count; i++) own = own || template_uses(o->def->headers[i], "version");
    if (own || !o->version[0] || !o->read->version_header || has_header(d, "If-Match")) return;
    buf_printf(&d->headers[d->header_count++], "If-Match: %s", o->version);
}

void http_writer_write(struct fetch *f, const struct http_writer_order *o)
{
    struct writing *w = calloc(1, sizeof *w);
    struct draft d = {0};
    struct template_words words = {.value = o->value->bytes, .value_len = o->value->len, .old = o->old->bytes,
                                   .old_len = o->old->len, .instance = o->instance, .version = o->version};
    CHECK_MEMORY(w);
    *w = (struct writing){.may_send = o->may_send, .done = o->done, .arg = o->arg};
    bool ok = draft_fill(&d, o->def, &words);
    if (ok) add_if_match(&d, o);
    else (void)text_copy(w->wrong, sizeof w->wrong, d.why);
    struct fetch_request r = {.method = ok ? (o->def->method ? o->def->method : "PUT") : "", .once = true,
                              .want_header = o->read->version_header, .may_send = write_may_send, .done = write_done, .arg = w};
    if (!ok) buf_clear(&d.url);
    draft_send(&d, f, o->def, &r);
    draft_free(&d);
}
