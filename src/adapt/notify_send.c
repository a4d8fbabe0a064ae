/* One request to a receiver, and what its answer leads to. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/log.h"
#include "adapt/notify_inside.h"
#include "adapt/secret.h"
#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

#define ANSWER_MOST ((size_t)64 << 10)
#define FILES_AGAIN (10 * US_PER_S)      /* a file that cannot be read is looked at again */

struct sending {
    struct notify *n;
    struct receiver *r;
    enum receiver_type type;
    char url[SECRET_MAX], secret[SECRET_MAX];   /* to be hidden in what is said */
    struct letter *test;                        /* not of the queue */
    void (*done)(void *ctx, enum status s, const char *text, const char *detail);
    void *ctx;
};

/* ---- secrets ---- */

static enum status read_url(struct sending *s, const struct receiver_def *d, struct err *e)
{
    if (!d->url_file) {
        bool fits = text_copy(s->url, sizeof s->url, d->url);
        return fits ? STATUS_OK : err_set(e, STATUS_INVALID, "the address is longer than %d bytes", SECRET_MAX - 1);
    }
    enum status st = secret_read(d->url_file, s->url, e);
    if (st != STATUS_OK || text_starts(s->url, "http://") || text_starts(s->url, "https://")) return st;
    return err_set(e, STATUS_INVALID, "secret %s: it holds no address that begins with http:// or https://", d->url_file);
}

static bool read_files(struct sending *s, const struct receiver_def *d, struct err *e)
{
    if (read_url(s, d, e) != STATUS_OK) return false;
    return !d->secret_file || secret_read(d->secret_file, s->secret, e) == STATUS_OK;
}

static void sending_free(struct sending *s)
{
    if (s->test) {
        told_free(s->test->newest);
        free(s->test);
    }
    sodium_memzero(s, sizeof *s);
    free(s);
}

/* ---- the answer ---- */

static void hide_file(char *why, const char *path)
{
    char secret[SECRET_MAX];
    if (!path || secret_read(path, secret, NULL) != STATUS_OK) return;
    notify_hide(why, secret);
    sodium_memzero(secret, sizeof secret);
}

static void hide(const struct sending *s, char *why)
{
    const struct receiver_def *d = notify_def(s->n, s->r);
    if (!why[0]) return;
    notify_hide(why, s->url);
    if (s->secret[0]) notify_hide(why, s->secret);
    hide_file(why, d ? d->bearer_file : NULL);
    hide_file(why, d ? d->basic_file : NULL);
}

/* As much as people read, not ending inside a letter. */
static void cut(char *why)
{
    size_t n = utf8_cut(why, strlen(why), 200);
    why[n] = '\0';
}

static void trouble(struct receiver *r, const struct notify_verdict *v)
{
    bool said = r->troubled && text_eq(r->error, v->why);
    r->troubled = true;
    r->refused = v->receiver_wrong;
    (void)text_copy(r->error, sizeof r->error, v->why);
    if (!said)
        log_line(LEVEL_WARN, "notify", "a receiver does not take notices; they wait", "receiver", r->name, "type",
                 receiver_type_name(r->type), "error", r->error, NULL);
}

static void good(struct receiver *r)
{
    if (r->troubled) log_line(LEVEL_INFO, "notify", "a receiver takes notices again", "receiver", r->name, NULL);
    r->troubled = r->refused = false;
    r->error[0] = '\0';
    r->good_at = notify_now();
}

static void count(struct receiver *r, const struct notify_verdict *v)
{
    switch (v->how) {
    case DELIVERY_TAKEN:
        r->sent++;
        good(r);
        break;
    case DELIVERY_REFUSED:
        r->failed++;
        (void)text_copy(r->error, sizeof r->error, v->why);
        log_line(LEVEL_WARN, "notify", "a notice could not be delivered", "receiver", r->name, "type", receiver_type_name(r->type),
                 "error", r->error, NULL);
        break;
    case DELIVERY_LATER:
        r->retried++;
        trouble(r, v);
        break;
    }
}

static void alerts_done(struct receiver *r, const struct notify_verdict *v, int64_t now)
{
    r->alerts.out = false;
    if (v->how == DELIVERY_LATER) {
        r->alerts.next = 0;
        queue_failed(&r->queue, v->pause, now);
        return;
    }
    queue_good(&r->queue);               /* refused: said in the log; it is told again in a minute in any case */
    if (r->alerts.next) return;
    r->alerts.version = r->alerts.sending;
    r->alerts.done_at = now;
}

static void test_done(struct sending *s, const struct notify_verdict *v)
{
    char text[1200];
    if (v->how == DELIVERY_TAKEN) {
        snprintf(text, sizeof text, "%s (%s) took the test message", s->r->name, receiver_type_name(s->type));
        good(s->r);
        s->done(s->ctx, STATUS_OK, text, "");
        return;
    }
    snprintf(text, sizeof text, "%s (%s) did not take the test message: %s", s->r->name, receiver_type_name(s->type), v->why);
    s->done(s->ctx, STATUS_STATE, text, "");
}

static void forget_gone(struct notify *n, struct receiver *r)
{
    struct receiver **at = &n->gone;
    if (!r->gone || r->running > 0) return;
    while (*at && *at != r) at = &(*at)->next_gone;
    if (*at) *at = r->next_gone;
    queue_close(&r->queue);
    free(r);
}

static void on_done(void *arg, const struct fetch_result *f)
{
    struct sending *s = arg;
    struct notify *n = s->n;
    struct receiver *r = s->r;
    struct notify_verdict v;
    int64_t now = notify_now();
    notify_judge(&v, s->type, f, notify_real());
    hide(s, v.why);
    cut(v.why);
    r->running--;
    if (s->done) {
        if (!n->ending) test_done(s, &v);
    } else if (!n->ending) {
        count(r, &v);
        if (s->type == RECEIVER_ALERTMANAGER) alerts_done(r, &v, now);
        else queue_done(&r->queue, v.how, v.pause, now);
    }
    sending_free(s);
    forget_gone(n, r);
    if (n->ending) return;
    notify_dirty(n);
    notify_pull(n);
    notify_pump(n);
}

/* ---- the request ---- */

static void start(struct sending *s, const struct receiver_def *d, struct notify_draft *draft)
{
    struct fetch_request q = {
        .method = "POST", .url = buf_text(&draft->url), .body = buf_text(&draft->body), .body_len = draft->body.len,
        .bearer_file = d->bearer_file, .basic_file = d->basic_file, .ca_file = d->ca_file, .cert_file = d->cert_file,
        .key_file = d->key_file, .want_header = "Retry-After", .timeout = d->timeout, .max_body = ANSWER_MOST,
        .done = on_done, .arg = s};
    for (unsigned i = 0; i < draft->header_count; i++) q.headers[q.header_count++] = buf_text(&draft->headers[i]);
    s->r->running++;
    fetch_start(s->n->a->fetch, &q);
    notify_draft_free(draft);
}

static struct sending *sending_new(struct notify *n, struct receiver *r)
{
    struct sending *s = calloc(1, sizeof *s);
    CHECK_MEMORY(s);
    s->n = n;
    s->r = r;
    s->type = r->type;
    return s;
}

static struct notify_context context(const struct sending *s)
{
    return (struct notify_context){.url = s->url, .secret = s->secret, .log = s->n->log.name, .real_us = notify_real(),
                                   .external_url = s->n->a->policy(s->n->a->ctx)->web.external_url};
}

static void files_failed(struct sending *s, const struct err *e, int64_t now)
{
    struct notify_verdict v = {.how = DELIVERY_LATER, .pause = FILES_AGAIN, .receiver_wrong = true};
    (void)text_copy(v.why, sizeof v.why, e->text);
    count(s->r, &v);
    if (s->type == RECEIVER_ALERTMANAGER) alerts_done(s->r, &v, now);
    else queue_done(&s->r->queue, v.how, v.pause, now);
    sending_free(s);
}

static void alerts_url(struct buf *url, const char *base)
{
    size_t n = strlen(base);
    while (n > 0 && base[n - 1] == '/') n--;
    buf_add(url, base, n);
    buf_puts(url, "/api/v2/alerts");
}

static void alerts_draft(struct notify_draft *d, struct sending *s)
{
    *d = (struct notify_draft){.url = BUF_INIT};
    alerts_url(&d->url, s->url);
    buf_puts(&d->headers[d->header_count++], "Content-Type: application/json");
    buf_puts(&d->headers[d->header_count++], "User-Agent: trimtab");
}

static bool alerts_new_to(const struct notify *n, const struct receiver *r)
{
    return r->alerts.next || r->alerts.version != alerts_version(n->alerts) || r->alerts.done_at == INT64_MIN;
}

static bool alerts_due(const struct notify *n, const struct receiver *r, int64_t now)
{
    return alerts_new_to(n, r) || now - r->alerts.done_at >= ALERTS_REPEAT;
}

static void send_alerts(struct notify *n, struct receiver *r, const struct receiver_def *def, int64_t now)
{
    struct notify_draft d;
    struct err e;
    if (r->alerts.out || !n->alerts_whole || now < r->queue.retry_at) return;
    if (!queue_may_send(&r->queue, now) || !alerts_due(n, r, now)) return;
    struct sending *s = sending_new(n, r);
    r->alerts.out = true;
    queue_count(&r->queue, now);
    if (!read_files(s, def, &e)) {
        files_failed(s, &e, now);
        return;
    }
    if (r->alerts.next == 0) r->alerts.sending = alerts_version(n->alerts);
    alerts_draft(&d, s);
    r->alerts.next = alerts_print(n->alerts, &d.body, r->alerts.next, def->least, def->chinese, n->log.name,
                                  n->a->policy(n->a->ctx)->web.external_url, notify_real());
    start(s, def, &d);
}

void notify_send(struct notify *n, struct receiver *r, int64_t now)
{
    const struct receiver_def *def = notify_def(n, r);
    struct notify_draft d;
    struct err e;
    if (!def) return;
    if (r->type == RECEIVER_ALERTMANAGER) {
        send_alerts(n, r, def, now);
        return;
    }
    const struct letter *l = queue_take(&r->queue, now);
    if (!l) return;
    struct sending *s = sending_new(n, r);
    if (!read_files(s, def, &e)) {
        files_failed(s, &e, now);
        return;
    }
    struct notify_context c = context(s);
    notify_format(&d, def, l, &c);
    start(s, def, &d);
}

int64_t notify_send_wake(const struct notify *n, const struct receiver *r)
{
    int64_t at = INT64_MIN;
    const struct queue *q = &r->queue;
    if (r->type != RECEIVER_ALERTMANAGER) return queue_wake(q);
    if (r->alerts.out || !n->alerts_whole) return QUEUE_NEVER;
    if (!alerts_new_to(n, r)) at = r->alerts.done_at + ALERTS_REPEAT;
    if (q->retry_at > at) at = q->retry_at;
    if (q->sent_n >= q->rate && q->sent[q->sent_n % q->rate] + US_PER_MIN > at) at = q->sent[q->sent_n % q->rate] + US_PER_MIN;
    return at;
}

/* ---- a test ---- */

static struct receiver *find(const struct notify *n, const char *name)
{
    for (unsigned i = 0; i < n->receiver_n; i++) {
        if (text_eq(n->receivers[i]->name, name)) return n->receivers[i];
    }
    return NULL;
}

static void test_letter(struct sending *s, const struct receiver_def *d)
{
    struct instant now;
    struct wall wall;
    char id[NOTIFY_ID];
    uint64_t number = (uint64_t)notify_real() | TOLD_NOTICE;
    s->n->a->now(s->n->a->ctx, &now, &wall);
    s->test = calloc(1, sizeof *s->test);
    CHECK_MEMORY(s->test);
    struct told *t = told_of_test(d->name, wall, d->chinese && d->type != RECEIVER_WEBHOOK);
    s->test->newest = t;
    s->test->numbers[s->test->number_n++] = number;
    notify_id(id, s->n->log.name, d->name, &number, 1);
    if (d->type == RECEIVER_GRAFANA) notify_annotation(&t->body, t);
    if (d->type == RECEIVER_WEBHOOK)
        notify_document(&t->body, 0, NULL, t, id, d->name, s->n->a->policy(s->n->a->ctx)->web.external_url);
}

void notify_test(struct notify *n, const char *receiver,
                 void (*done)(void *ctx, enum status s, const char *text, const char *detail), void *ctx)
{
    struct receiver *r = n->open ? find(n, receiver) : NULL;
    const struct receiver_def *def = r ? notify_def(n, r) : NULL;
    struct notify_draft d;
    struct err e;
    if (!def) {
        done(ctx, STATUS_NOT_FOUND, "there is no receiver of this name; `trimtab notify list` shows all", "");
        return;
    }
    if (!queue_may_send(&r->queue, notify_now())) {
        done(ctx, STATUS_BUSY, "as many messages as its rate allows went out in the last minute; try again in a minute", "");
        return;
    }
    struct sending *s = sending_new(n, r);
    s->done = done;
    s->ctx = ctx;
    if (!read_files(s, def, &e)) {
        sending_free(s);
        done(ctx, STATUS_STATE, e.text, "");
        return;
    }
    queue_count(&r->queue, notify_now());
    if (def->type == RECEIVER_ALERTMANAGER) {
        alerts_draft(&d, s);
        alerts_print_test(&d.body, def->name, n->log.name, notify_real());
    } else {
        test_letter(s, def);
        struct notify_context c = context(s);
        notify_format(&d, def, s->test, &c);
    }
    start(s, def, &d);
}
