#include "api/stream.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_inside.h"
#include "api/view_json.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define FLUSH_MS 200
#define FLUSH_SERVICES 100           /* of one flush, so that a thousand at once do not overrun a good listener */
#define SERVICE_PAUSE_US US_PER_S
#define HEALTH_EVERY_BEATS 3

struct listener {
    struct listener *next, **link;
    struct stream_hub *hub;
    struct http_stream *stream;
    struct identity who;
};

struct kept { uint64_t id; char *text; size_t len; };
struct service_state { bool dirty; int64_t told; };

struct stream_hub {
    struct api *api;
    struct event *flush, *beat;
    struct listener *listeners;
    unsigned listener_n, beats, quiet_beats;
    uint64_t next, dropped;
    char boot[24];                   /* ids of another start mean nothing here */
    struct kept ring[STREAM_KEPT];
    struct service_state *services;
    unsigned service_n;
    bool armed;
    uint32_t health_seen;            /* bits of what the last health event said */
};

static int64_t now_of(const struct stream_hub *h) { return h->api->access.port.now(h->api->access.port.ctx); }

/* ---- listeners ---- */

static void on_gone(void *ctx)
{
    struct listener *l = ctx;
    *l->link = l->next;
    if (l->next) l->next->link = l->link;
    l->hub->listener_n--;
    free(l);
}

static bool say(struct listener *l, const char *text, size_t len)
{
    struct stream_hub *h = l->hub;
    if (http_stream_write(l->stream, text, len)) return true;
    h->dropped++;
    return false;
}

static void say_all(struct stream_hub *h, const struct buf *b)
{
    for (struct listener *l = h->listeners, *next; l; l = next) {
        next = l->next;
        (void)say(l, buf_text(b), b->len);
    }
}

/* Who may no longer read may no longer listen. */
static bool still_may(const struct stream_hub *h, const struct listener *l)
{
    const struct access *a = &h->api->access;
    if (l->who.kind == IDENTITY_SESSION) return auth_session_alive(a->auth, l->who.session, now_of(h));
    if (l->who.kind == IDENTITY_ANONYMOUS) return auth_lists(a->auth)->user_n == 0 || a->web->anonymous == WEB_ANONYMOUS_ALWAYS;
    return l->who.expires == ACCESS_NEVER || l->who.expires > now_of(h);
}

/* ---- events ---- */

/* `data` is one line. With an id it is kept. */
static void publish(struct stream_hub *h, const char *event, const struct buf *data, bool keep)
{
    struct buf b = BUF_INIT;
    if (keep) buf_printf(&b, "id: %s-%llu\n", h->boot, (unsigned long long)h->next);
    buf_printf(&b, "event: %s\ndata: ", event);
    buf_add(&b, buf_text(data), data->len);
    buf_puts(&b, "\n\n");
    if (buf_ok(&b)) say_all(h, &b);
    if (keep && buf_ok(&b)) {
        struct kept *k = &h->ring[h->next % STREAM_KEPT];
        size_t len = b.len;
        free(k->text);
        k->text = buf_take(&b, NULL);
        k->len = len;
        k->id = h->next++;
    }
    buf_free(&b);
}

static void health_json(struct stream_hub *h, struct buf *b, uint32_t *ret_bits)
{
    struct emit e = {.out = b};
    struct module_view m[MODULE_COUNT];
    struct v1_audit audit = {0};
    char why[200] = "";
    bool ready = h->api->ready(h->api->ctx, why);
    h->api->modules(h->api->ctx, m);
    h->api->v1->audit(h->api->v1->ctx, &audit);
    *ret_bits = ready;
    emit_open(&e, NULL, '{');
    emit_bool(&e, "ready", ready);
    emit_text_or_null(&e, "not_ready_why", why);
    emit_text(&e, "store", audit.state);
    emit_open(&e, "modules", '[');
    for (unsigned i = 0; i < MODULE_COUNT; i++) {
        *ret_bits |= m[i].healthy ? 2u << i : 0;
        emit_open(&e, NULL, '{');
        emit_text(&e, "module", module_name(m[i].module));
        emit_bool(&e, "healthy", m[i].healthy);
        emit_seconds(&e, "silent_seconds", m[i].silent_for);
        emit_text_or_null(&e, "note", m[i].note);
        emit_close(&e, '}');
    }
    emit_close(&e, ']');
    emit_close(&e, '}');
}

static void tell_health(struct stream_hub *h, bool anyway)
{
    struct buf b = BUF_INIT;
    uint32_t bits;
    health_json(h, &b, &bits);
    if (anyway || bits != h->health_seen) publish(h, "health", &b, false);
    h->health_seen = bits;
    buf_free(&b);
}

/* ---- services ---- */

static void tell_service(struct stream_hub *h, uint16_t i)
{
    struct arena arena = ARENA_INIT;
    struct service_view v;
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    h->api->control.view(h->api->control.ctx, i, &arena, &v);
    view_json_line(&e, NULL, &v, NULL, 0);
    publish(h, "service", &b, false);
    buf_free(&b);
    arena_free(&arena);
}

static void arm(struct stream_hub *h)
{
    struct timeval tv = {0, FLUSH_MS * 1000};
    if (!h->armed) h->armed = evtimer_add(h->flush, &tv) == 0;
}

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
    struct stream_hub *h = arg;
    const struct policy *p = h->api->control.policy(h->api->control.ctx);
    int64_t now = now_of(h);
    unsigned told = 0;
    bool more = false;
    (void)fd;
    (void)what;
    h->armed = false;
    for (uint16_t i = 0; i < h->service_n && h->listeners; i++) {
        struct service_state *s = &h->services[i];
        if (!s->dirty || i >= p->service_count) continue;
        if (told == FLUSH_SERVICES || (now - s->told < SERVICE_PAUSE_US && now >= s->told)) {
            more = true;
            continue;
        }
        s->dirty = false;
        s->told = now;
        told++;
        tell_service(h, i);
    }
    if (more) arm(h);
}

void stream_service(struct stream_hub *h, uint16_t service)
{
    if (!h || !h->listeners) return;
    const struct policy *p = h->api->control.policy(h->api->control.ctx);
    if (h->service_n < p->service_count) {
        struct service_state *more = realloc(h->services, p->service_count * sizeof *more);
        if (!more) return;
        memset(more + h->service_n, 0, (p->service_count - h->service_n) * sizeof *more);
        h->services = more;
        h->service_n = p->service_count;
    }
    for (uint16_t i = 0; i < h->service_n; i++) {
        if (service == i || service == ALL_SERVICES) h->services[i].dirty = true;
        if (service == i) break;
    }
    arm(h);
}

/* ---- records ---- */

static const char *event_of(enum record_kind k)
{
    switch (k) {
    case RECORD_INCIDENT:
    case RECORD_CLOSED:
    case RECORD_HANDOVER: return "incident";
    case RECORD_REQUEST:
    case RECORD_APPROVAL:
    case RECORD_REJECT:
    case RECORD_VOID:
    case RECORD_EXPIRED:
    case RECORD_INTENT:
    case RECORD_ABORTED:
    case RECORD_APPLIED:
    case RECORD_FAILED:
    case RECORD_PART:
    case RECORD_YIELDED:
    case RECORD_HELD:
    case RECORD_EXTENDED:
    case RECORD_VERDICT:
    case RECORD_CANCEL:
    case RECORD_ROLLBACK:
    case RECORD_UNDO:
    case RECORD_UNDO_RETRY:
    case RECORD_UNDONE:
    case RECORD_UNDO_FAILED: return "action";
    case RECORD_HALT:
    case RECORD_RESUME: return "halt";
    default: return "record";
    }
}

static void halt_json(struct emit *e, const struct record *r)
{
    const char *service = record_get_text(r, RF_SERVICE);
    bool all = !service || !service[0];
    emit_bool(e, "all", all);
    emit_text_or_null(e, "service", service);
    emit_bool(e, "halted", r->kind == RECORD_HALT);
    emit_text_or_null(e, "by", record_get_text(r, RF_BY));
    emit_text_or_null(e, "why", record_get_text(r, RF_NOTE));
    if (record_has(r, RF_AT)) emit_wall(e, "at", (struct wall){r->v[RF_AT].i64});
}

struct telling { struct stream_hub *hub; uint32_t left; };

static bool on_record(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct telling *t = arg;
    const char *event = event_of(r->kind);
    struct buf b = BUF_INIT;
    struct emit e = {.out = &b};
    (void)bytes, (void)len;
    emit_open(&e, NULL, '{');
    if (text_eq(event, "halt")) {
        halt_json(&e, r);
    } else if (!text_eq(event, "record")) {
        emit_text_or_null(&e, "service", record_get_text(r, RF_SERVICE));
        if (record_has(r, RF_INCIDENT)) emit_int(&e, "incident", (int64_t)r->v[RF_INCIDENT].u64);
        emit_text_or_null(&e, "action", record_get_text(r, RF_ACTION));
    }
    view_json_record(&e, "record", seq, r);
    emit_close(&e, '}');
    publish(t->hub, event, &b, true);
    buf_free(&b);
    return --t->left > 0;
}

/* While nobody has listened for a while nothing is kept, and who comes back loads anew. */
static bool is_quiet(const struct stream_hub *h) { return !h->listeners && h->quiet_beats > 30; }

void stream_records(struct stream_hub *h, uint64_t seq, uint32_t n)
{
    struct telling t = {h, n};
    struct err e;
    if (!h || n == 0) return;
    if (is_quiet(h)) {
        h->next += n;
        return;
    }
    (void)h->api->v1->records(h->api->v1->ctx, seq, &(struct v1_sink){.arg = &t, .record = on_record}, &e);
}

/* ---- life ---- */

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    static const char beat[] = ": beat\n\n";
    struct stream_hub *h = arg;
    (void)fd;
    (void)what;
    h->quiet_beats = h->listeners ? 0 : h->quiet_beats + 1;
    if (!h->listeners) return;
    for (struct listener *l = h->listeners, *next; l; l = next) {
        next = l->next;
        if (!still_may(h, l)) http_stream_close(l->stream);
        else (void)say(l, beat, sizeof beat - 1);
    }
    tell_health(h, ++h->beats % HEALTH_EVERY_BEATS == 0);
}

struct stream_hub *stream_new(struct event_base *base, struct api *api)
{
    struct timeval every = {STREAM_BEAT_S, 0};
    struct stream_hub *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->api = api;
    h->next = 1;
    h->flush = evtimer_new(base, on_flush, h);
    h->beat = event_new(base, -1, EV_PERSIST, on_beat, h);
    snprintf(h->boot, sizeof h->boot, "%llx", (unsigned long long)now_of(h));
    if (h->flush && h->beat && event_add(h->beat, &every) == 0) return h;
    stream_free(h);
    return NULL;
}

void stream_free(struct stream_hub *h)
{
    if (!h) return;
    while (h->listeners) http_stream_close(h->listeners->stream);
    for (unsigned i = 0; i < STREAM_KEPT; i++) free(h->ring[i].text);
    if (h->flush) event_free(h->flush);
    if (h->beat) event_free(h->beat);
    free(h->services);
    free(h);
}

unsigned stream_listeners(const struct stream_hub *h) { return h ? h->listener_n : 0; }
uint64_t stream_dropped(const struct stream_hub *h) { return h ? h->dropped : 0; }

/* ---- a new listener ---- */

/* The number of the last event it has seen; false: of another start, or not one of ours. */
static bool last_seen(const struct stream_hub *h, const char *id, uint64_t *ret)
{
    size_t n = strlen(h->boot);
    return strncmp(id, h->boot, n) == 0 && id[n] == '-' && num_parse_u64(id + n + 1, strlen(id + n + 1), ret) && *ret < h->next;
}

static void catch_up(struct listener *l, const char *id)
{
    static const char reset[] = "event: reset\ndata: {}\n\n";
    struct stream_hub *h = l->hub;
    uint64_t last = 0;
    if (!id[0]) return;
    bool known = last_seen(h, id, &last);
    for (uint64_t i = last + 1; known && i < h->next; i++) known = h->ring[i % STREAM_KEPT].id == i;
    if (!known) {
        (void)say(l, reset, sizeof reset - 1);
        return;
    }
    for (uint64_t i = last + 1; i < h->next; i++) {
        const struct kept *k = &h->ring[i % STREAM_KEPT];
        if (!say(l, k->text, k->len)) return;
    }
}

static void hello(struct stream_hub *h, struct buf *b)
{
    struct api_runtime run = {0};
    struct emit e = {.out = b};
    h->api->runtime(h->api->ctx, &run);
    buf_puts(b, "retry: 2000\nevent: hello\ndata: ");
    emit_open(&e, NULL, '{');
    emit_text(&e, "version", run.version);
    emit_text(&e, "revision", run.revision);
    emit_number(&e, "clock_speed", run.speed);
    emit_bool(&e, "ready", run.ready);
    emit_close(&e, '}');
    buf_puts(b, "\n\n");
}

void stream_get(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct stream_hub *h = api->stream;
    struct listener *l = calloc(1, sizeof *l);
    struct buf b = BUF_INIT;
    char last[64] = "";
    const char *header = http_request_header(r, "Last-Event-ID");
    CHECK_MEMORY(l);
    if (header) (void)text_copy(last, sizeof last, header);
    else (void)http_request_query(r, "last_event", last, sizeof last);
    l->hub = h;
    l->who = *http_request_who(r);
    http_reply_header(r, "X-Accel-Buffering", "no");
    l->stream = http_reply_stream(r, "text/event-stream", on_gone, l);
    if (!l->stream) {
        free(l);
        return;
    }
    l->next = h->listeners;
    l->link = &h->listeners;
    if (l->next) l->next->link = &l->next;
    h->listeners = l;
    h->listener_n++;
    hello(h, &b);
    bool there = say(l, buf_text(&b), b.len);
    buf_free(&b);
    if (there) catch_up(l, last);
}
