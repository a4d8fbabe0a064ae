#include "api/http_server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http_request.h"
#include "api/http_tls.h"
#include "base/check.h"
#include "base/text.h"

struct http_server {
    struct event_base *base;
    struct http_limits limits;
    void (*handle)(void *ctx, struct http_request *r);
    void *ctx;
    struct evconnlistener *listener;
    struct http_tls *tls;                  /* borrowed; NULL: plain */
    struct http_connection *connections;
    unsigned connection_n, stream_n;
    uint64_t answers[6];
};

enum phase { PHASE_IDLE, PHASE_HEAD, PHASE_BODY, PHASE_HANDLED, PHASE_CLOSING, PHASE_STREAM };

struct http_connection {
    struct http_server *server;
    struct http_connection *next, **link;
    struct bufferevent *bev;
    struct event *deadline;
    enum phase phase;
    struct http_request *request;
    struct http_stream *stream;
    char peer[INET6_ADDRSTRLEN];
};

struct http_stream { struct http_connection *connection; void (*gone)(void *ctx); void *ctx; };

struct http_limits http_limits_default(void)
{
    return (struct http_limits){.head_bytes = 8u << 10, .body_bytes = 1u << 20, .connections = 640, .streams = 256,
                                .head_deadline = SPAN_S(10),
                                .request_deadline = SPAN_S(30), .idle = SPAN_S(60)};
}

static void set_deadline(struct http_connection *c, struct span d)
{
    struct timeval tv = {d.us / US_PER_S, d.us % US_PER_S};
    CHECK_MEMORY(evtimer_add(c->deadline, &tv) == 0);
}

static void connection_free(struct http_connection *c)
{
    struct http_server *s = c->server;
    *c->link = c->next;
    if (c->next) c->next->link = c->link;
    struct http_stream *stream = c->stream;
    if (stream) s->stream_n--;
    if (c->request && c->phase == PHASE_HANDLED) http_request_orphan(c->request);
    else if (c->request) http_request_free(c->request);           /* nobody else has it yet */
    bufferevent_free(c->bev);
    event_free(c->deadline);
    free(c);
    s->connection_n--;
    if (stream) {
        void (*gone)(void *ctx) = stream->gone;
        void *ctx = stream->ctx;
        free(stream);
        gone(ctx);
    }
}

/* ---- reading ---- */

static void read_more(struct http_connection *c);

static void refuse(struct http_connection *c, int status, const char *why)
{
    if (!c->request) c->request = http_request_new(c, c->peer);
    CHECK_MEMORY(c->request);
    c->request->head.close = true;
    if (!c->request->head.method) c->request->head.method = HTTP_GET;
    c->phase = PHASE_HANDLED;
    if (status == 405) http_reply_header(c->request, "Allow", "GET, HEAD, POST, PUT, DELETE");
    http_reply_error(c->request, status, "%s", why);
}

static void hand_over(struct http_connection *c)
{
    c->phase = PHASE_HANDLED;
    (void)evtimer_del(c->deadline);
    c->server->handle(c->server->ctx, c->request);
}

static void read_body(struct http_connection *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    struct http_request *r = c->request;
    size_t want = (size_t)r->head.content_length - r->body.len;
    while (want > 0 && evbuffer_get_length(in) > 0) {
        char chunk[16384];
        int n = evbuffer_remove(in, chunk, want < sizeof chunk ? want : sizeof chunk);
        if (n <= 0) break;
        buf_add(&r->body, chunk, (size_t)n);
        want -= (size_t)n;
    }
    if (!buf_ok(&r->body)) refuse(c, 503, "out of memory for the body");
    else if (want == 0) hand_over(c);
}

static void begin_body(struct http_connection *c)
{
    struct http_request *r = c->request;
    if (r->head.content_length > c->server->limits.body_bytes) {
        refuse(c, 413, "the body is too large");
        return;
    }
    c->phase = PHASE_BODY;
    set_deadline(c, c->server->limits.request_deadline);
    if (r->head.expects_continue && r->head.content_length > 0) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        (void)bufferevent_write(c->bev, go_on, sizeof go_on - 1);
    }
    read_body(c);
}

static void read_head(struct http_connection *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    size_t limit = c->server->limits.head_bytes, have = evbuffer_get_length(in);
    if (have == 0) return;
    if (c->phase == PHASE_IDLE) {
        c->phase = PHASE_HEAD;
        set_deadline(c, c->server->limits.head_deadline);
    }
    struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
    if (end.pos < 0 || (size_t)end.pos + 4 > limit) {
        if (end.pos >= 0 || have > limit) refuse(c, 431, "the headers are too large");
        return;
    }
    size_t len = (size_t)end.pos + 4;
    const char *why = "";
    c->request = http_request_new(c, c->peer);
    CHECK_MEMORY(c->request && http_request_reserve(c->request, len));
    (void)evbuffer_remove(in, c->request->raw, len);
    int status = http_parse_head(c->request->raw, len, &c->request->head, &why);
    if (status) refuse(c, status, why);
    else begin_body(c);
}

static void read_more(struct http_connection *c)
{
    if (c->phase == PHASE_IDLE || c->phase == PHASE_HEAD) read_head(c);
    else if (c->phase == PHASE_BODY) read_body(c);
}

/* Who listens to a stream has nothing more to say. */
static void on_read(struct bufferevent *bev, void *arg)
{
    struct http_connection *c = arg;
    struct evbuffer *in = bufferevent_get_input(bev);
    size_t most = c->server->limits.head_bytes + c->server->limits.body_bytes;
    bool ahead = c->phase == PHASE_HANDLED && evbuffer_get_length(in) >= most;
    if (ahead) (void)bufferevent_disable(bev, EV_READ);   /* until it is answered */
    else if (c->phase == PHASE_STREAM) (void)evbuffer_drain(in, SIZE_MAX);
    else read_more(c);
}

/* Output is empty: the answer is with the kernel. */
static void on_written(struct bufferevent *bev, void *arg)
{
    struct http_connection *c = arg;
    (void)bev;
    if (c->phase == PHASE_CLOSING) connection_free(c);
}

/* With TLS, BEV_EVENT_CONNECTED says that the handshake is done. */
static void on_end(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    if (what != BEV_EVENT_CONNECTED) connection_free(arg);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct http_connection *c = arg;
    (void)fd;
    (void)what;
    if (c->phase == PHASE_HEAD || c->phase == PHASE_BODY) refuse(c, 408, "the request took too long to arrive");
    else if (c->phase != PHASE_HANDLED) connection_free(c);
}

/* ---- answering ---- */

static const char safety[] =
    "Content-Security-Policy: default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";

/* The head of an answer; every one says what a browser may do with it. */
static void put_head(struct http_connection *c, const struct http_request *r, int status, const char *content_type)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    /* Half of an answer would be worse than none. */
    CHECK_MEMORY(evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n", status, http_status_text(status)) >= 0);
    if (content_type) CHECK_MEMORY(evbuffer_add_printf(out, "Content-Type: %s\r\n", content_type) >= 0);
    const char *tls_only = c->server->tls ? "Strict-Transport-Security: max-age=31536000\r\n" : "";
    CHECK_MEMORY(evbuffer_add_printf(out, "Cache-Control: %s\r\n%s%s%s%s", r->cache ? r->cache : "no-store", safety, tls_only,
                                     buf_text(&r->more), r->head.close ? "Connection: close\r\n" : "") >= 0);
    if (status >= 100 && status < 600) c->server->answers[status / 100]++;
}

void http_connection_answer(struct http_connection *c, struct http_request *r, int status, const char *content_type,
                            const void *bytes, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    CHECK(c->request == r && c->phase == PHASE_HANDLED);
    put_head(c, r, status, content_type);
    if (status != 304) CHECK_MEMORY(evbuffer_add_printf(out, "Content-Length: %zu\r\n", len) >= 0);
    CHECK_MEMORY(evbuffer_add(out, "\r\n", 2) == 0);
    if (r->head.method != HTTP_HEAD && status != 304 && len > 0) CHECK_MEMORY(evbuffer_add(out, bytes, len) == 0);
    c->phase = r->head.close ? PHASE_CLOSING : PHASE_IDLE;
    c->request = NULL;
    set_deadline(c, c->phase == PHASE_CLOSING ? c->server->limits.request_deadline : c->server->limits.idle);
    if (c->phase == PHASE_CLOSING) (void)bufferevent_disable(c->bev, EV_READ);
    else CHECK_MEMORY(bufferevent_enable(c->bev, EV_READ) == 0);
    if (c->phase == PHASE_IDLE && evbuffer_get_length(bufferevent_get_input(c->bev)) > 0)
        bufferevent_trigger(c->bev, EV_READ, BEV_TRIG_DEFER_CALLBACKS);
}

/* ---- streams ---- */

struct http_stream *http_reply_stream(struct http_request *r, const char *content_type, void (*gone)(void *ctx), void *ctx)
{
    struct http_connection *c = r->connection;
    struct http_stream *s = c && c->server->stream_n < c->server->limits.streams ? calloc(1, sizeof *s) : NULL;
    if (!s) {
        http_reply_header(r, "Retry-After", "10");
        http_reply_error(r, 503, "too many listen already; close one, or ask again later");
        return NULL;
    }
    /* What the kernel holds for a listener that does not read is bounded too. */
    int small = 64 << 10;
    (void)setsockopt(bufferevent_getfd(c->bev), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    *s = (struct http_stream){c, gone, ctx};
    r->head.close = true;
    put_head(c, r, 200, content_type);
    CHECK_MEMORY(evbuffer_add(bufferevent_get_output(c->bev), "\r\n", 2) == 0);
    c->server->stream_n++;
    c->stream = s;
    c->request = NULL;
    c->phase = PHASE_STREAM;
    http_request_free(r);
    return s;
}

bool http_stream_write(struct http_stream *s, const void *bytes, size_t len)
{
    struct evbuffer *out = bufferevent_get_output(s->connection->bev);
    if (evbuffer_get_length(out) + len > HTTP_STREAM_BEHIND_MAX || evbuffer_add(out, bytes, len) != 0) {
        connection_free(s->connection);
        return false;
    }
    return true;
}

void http_stream_close(struct http_stream *s) { connection_free(s->connection); }

/* ---- listening ---- */

static void name_peer(struct http_connection *c, const struct sockaddr *a)
{
    const void *address = a->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr
                                                  : (const void *)&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
    if (!inet_ntop(a->sa_family, address, c->peer, sizeof c->peer)) (void)text_copy(c->peer, sizeof c->peer, "?");
}

/* Who leaves when all places are taken: who has waited longest without asking anything, else without finishing the question.
 * So nobody can keep others out, above all not whoever wants to halt, by holding connections open. */
static struct http_connection *least_wanted(const struct http_server *s)
{
    struct http_connection *oldest[PHASE_HANDLED] = {NULL};      /* the list begins with the newest */
    for (struct http_connection *c = s->connections; c; c = c->next) {
        if (c->phase < PHASE_HANDLED) oldest[c->phase] = c;
    }
    return oldest[PHASE_IDLE] ? oldest[PHASE_IDLE] : oldest[PHASE_HEAD] ? oldest[PHASE_HEAD] : oldest[PHASE_BODY];
}

static bool make_room(struct http_server *s)
{
    if (s->connection_n < s->limits.connections) return true;
    struct http_connection *c = least_wanted(s);
    if (c) connection_free(c);
    return c != NULL;
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *a, int a_len, void *arg)
{
    struct http_server *s = arg;
    struct http_connection *c = make_room(s) ? calloc(1, sizeof *c) : NULL;
    (void)l;
    (void)a_len;
    if (c) c->bev = s->tls ? http_tls_accept(s->tls, s->base, fd) : bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (c && c->bev) c->deadline = evtimer_new(s->base, on_deadline, c);
    if (!c || !c->bev || !c->deadline) {       /* no place or no memory: this one peer loses, the others go on */
        if (c && c->bev) bufferevent_free(c->bev);
        else (void)close(fd);
        free(c);
        return;
    }
    c->server = s;
    name_peer(c, a);
    c->next = s->connections;
    c->link = &s->connections;
    if (c->next) c->next->link = &c->next;
    s->connections = c;
    s->connection_n++;
    struct timeval slow = {s->limits.request_deadline.us / US_PER_S, s->limits.request_deadline.us % US_PER_S};
    bufferevent_setcb(c->bev, on_read, on_written, on_end, c);
    bufferevent_set_timeouts(c->bev, NULL, &slow);
    CHECK_MEMORY(bufferevent_enable(c->bev, EV_READ | EV_WRITE) == 0);
    set_deadline(c, s->limits.idle);
}

struct http_server *http_server_new(struct event_base *base, struct http_limits limits,
                                    void (*handle)(void *ctx, struct http_request *r), void *ctx)
{
    struct http_server *s = calloc(1, sizeof *s);
    if (s) *s = (struct http_server){.base = base, .limits = limits, .handle = handle, .ctx = ctx};
    return s;
}

enum status http_server_listen(struct http_server *s, const char *address, char bound[80], struct err *e)
{
    int fd;
    enum status st = http_listen(address, &fd, bound, e);
    if (st != STATUS_OK) return st;
    s->listener = evconnlistener_new(s->base, on_accept, s, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    /* A listener that nobody watches would be an API that nobody reaches, and libevent does not say so when it makes one. */
    if (s->listener && evconnlistener_enable(s->listener) == 0) return STATUS_OK;
    if (!s->listener) (void)close(fd);
    return err_set(e, STATUS_MEMORY, "cannot listen on %.80s: out of memory or of file descriptors", address);
}

void http_server_tls(struct http_server *s, struct http_tls *tls) { s->tls = tls; }
bool http_server_is_tls(const struct http_server *s) { return s->tls != NULL; }

void http_server_free(struct http_server *s)
{
    if (!s) return;
    while (s->connections) connection_free(s->connections);
    if (s->listener) evconnlistener_free(s->listener);
    free(s);
}

unsigned http_server_streams(const struct http_server *s) { return s->stream_n; }
unsigned http_server_connections(const struct http_server *s) { return s->connection_n; }
uint64_t http_server_requests(const struct http_server *s, unsigned class) { return class < 6 ? s->answers[class] : 0; }
