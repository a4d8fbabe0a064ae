#include "adapt/remote_write.h"

#include <event2/event.h>
#include <snappy-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/fetch.h"
#include "adapt/log.h"
#include "base/check.h"

#define PAUSE_MOST_S 60

/* ---- protobuf: WriteRequest { repeated TimeSeries timeseries = 1 } ---- */

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_varint(struct buf *out, uint64_t v)
{
    while (v >= 0x80) {
        buf_putc(out, (char)(v | 0x80));
        v >>= 7;
    }
    buf_putc(out, (char)v);
}

static void put_key(struct buf *out, unsigned field, unsigned wire) { put_varint(out, field << 3 | wire); }

static void put_bytes(struct buf *out, unsigned field, const char *bytes, size_t len)
{
    put_key(out, field, WIRE_BYTES);
    put_varint(out, len);
    buf_add(out, bytes, len);
}

static void put_double(struct buf *out, unsigned field, double v)
{
    uint64_t bits;
    char bytes[8];
    memcpy(&bits, &v, sizeof bits);
    for (int i = 0; i < 8; i++) bytes[i] = (char)(bits >> (8 * i));
    put_key(out, field, WIRE_FIXED64);
    buf_add(out, bytes, sizeof bytes);
}

static int by_name(const struct remote_label *a, const struct remote_label *b)
{
    uint32_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
    int c = memcmp(a->name, b->name, n);
    return c ? c : (int)a->name_len - (int)b->name_len;
}

/* Few and nearly sorted. */
static void sort_labels(struct remote_label *l, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct remote_label x = l[i];
        uint32_t k = i;
        for (; k > 0 && by_name(&l[k - 1], &x) > 0; k--) l[k] = l[k - 1];
        l[k] = x;
    }
}

void remote_add(struct buf *message, struct remote_label *labels, uint32_t n, double value, int64_t time_ms)
{
    struct buf series = BUF_INIT, part = BUF_INIT;
    sort_labels(labels, n);
    for (uint32_t i = 0; i < n; i++) {
        if (labels[i].value_len == 0) continue;
        buf_clear(&part);
        put_bytes(&part, 1, labels[i].name, labels[i].name_len);
        put_bytes(&part, 2, labels[i].value, labels[i].value_len);
        put_bytes(&series, 1, part.data, part.len);
    }
    buf_clear(&part);
    put_double(&part, 1, value);
    put_key(&part, 2, WIRE_VARINT);
    put_varint(&part, (uint64_t)time_ms);
    put_bytes(&series, 2, part.data, part.len);
    put_bytes(message, 1, series.data, series.len);
    buf_free(&series);
    buf_free(&part);
}

/* ---- the queue ---- */

struct request { struct request *next; char *body; size_t len; };

struct remote_write {
    const struct adapt *a;
    struct request *first, **last;
    struct event *again;
    bool out, ending, troubled;
    unsigned tries;
    struct remote_counters counters;
};

static void on_again(evutil_socket_t fd, short what, void *arg);

struct remote_write *remote_write_new(const struct adapt *a)
{
    struct remote_write *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->a = a;
    r->last = &r->first;
    r->again = evtimer_new(a->base, on_again, r);
    if (r->again) return r;
    free(r);
    return NULL;
}

void remote_write_end(struct remote_write *r)
{
    if (r) r->ending = true;
}

static void drop_first(struct remote_write *r)
{
    struct request *q = r->first;
    r->first = q->next;
    if (!r->first) r->last = &r->first;
    r->counters.waiting--;
    free(q->body);
    free(q);
}

void remote_write_free(struct remote_write *r)
{
    if (!r) return;
    while (r->first) drop_first(r);
    event_free(r->again);
    free(r);
}

static void say(struct remote_write *r, const char *what, const char *error)
{
    if (r->troubled == (error != NULL)) return;
    r->troubled = error != NULL;
    log_line(error ? LEVEL_WARN : LEVEL_INFO, "remote_write", what, "error", error, NULL);
}

static void send_first(struct remote_write *r);

static void on_done(void *arg, const struct fetch_result *f)
{
    struct remote_write *r = arg;
    r->out = false;
    if (r->ending) return;
    bool answered = f->outcome == FETCH_ANSWER, good = answered && f->http >= 200 && f->http < 300;
    bool may_help = !answered || f->http >= 500 || f->http == 429;
    if (good) {
        say(r, "the receiver takes what is sent again", NULL);
        r->counters.sent++;
    } else {
        char error[200];
        if (answered) snprintf(error, sizeof error, "HTTP %ld: %.150s", f->http, f->body);
        say(r, "the receiver does not take what is sent", answered ? error : f->error);
    }
    if (!good && may_help) {
        struct timeval pause = {r->tries < 6 ? 1L << r->tries : PAUSE_MOST_S, 0};
        r->tries++;
        CHECK_MEMORY(evtimer_add(r->again, &pause) == 0);
        return;
    }
    if (!good) r->counters.failed++;
    r->tries = 0;
    drop_first(r);
    send_first(r);
}

static void send_first(struct remote_write *r)
{
    const struct policy *p = r->a->policy(r->a->ctx);
    const struct prometheus_def *to = p->remote_write;
    if (r->out || r->ending || !r->first) return;
    if (!to) {                            /* taken out of the configuration */
        while (r->first) drop_first(r);
        return;
    }
    struct fetch_request q = {
        .method = "POST", .url = to->url, .body = r->first->body, .body_len = r->first->len, .bearer_file = to->bearer_file,
        .basic_file = to->basic_file, .ca_file = to->ca_file, .cert_file = to->cert_file, .key_file = to->key_file,
        .timeout = to->timeout, .max_body = 64u << 10, .done = on_done, .arg = r};
    q.headers[q.header_count++] = "Content-Type: application/x-protobuf";
    q.headers[q.header_count++] = "Content-Encoding: snappy";
    q.headers[q.header_count++] = "X-Prometheus-Remote-Write-Version: 0.1.0";
    q.headers[q.header_count++] = "User-Agent: trimtab";
    for (uint16_t i = 0; i < to->header_count; i++) q.headers[q.header_count++] = to->headers[i];
    r->out = true;
    fetch_start(r->a->fetch, &q);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    send_first(arg);
}

/* The one under way is never dropped: its place in the queue is where its answer looks for it. */
static void make_room(struct remote_write *r)
{
    if (r->counters.waiting < REMOTE_QUEUE) return;
    if (!r->out) {
        drop_first(r);
    } else if (r->first->next) {
        struct request *q = r->first->next;
        r->first->next = q->next;
        if (!q->next) r->last = &r->first->next;
        r->counters.waiting--;
        free(q->body);
        free(q);
    }
    if (r->counters.dropped++ == 0)
        log_line(LEVEL_WARN, "remote_write", "the queue is full; the oldest samples are dropped", NULL);
}

void remote_write_put(struct remote_write *r, const struct buf *message, uint32_t samples)
{
    size_t len = snappy_max_compressed_length(message->len);
    struct request *q = calloc(1, sizeof *q);
    CHECK_MEMORY(q);
    q->body = malloc(len ? len : 1);
    CHECK(q->body != NULL && snappy_compress(message->data, message->len, q->body, &len) == SNAPPY_OK);
    q->len = len;
    make_room(r);
    *r->last = q;
    r->last = &q->next;
    r->counters.waiting++;
    r->counters.samples += samples;
    if (!r->out && r->tries == 0) send_first(r);
}

void remote_write_counters(const struct remote_write *r, struct remote_counters *ret) { *ret = r->counters; }
