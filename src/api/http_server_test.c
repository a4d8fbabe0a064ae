/* The server against peers that are slow, with deadlines of our own; streams to listeners that do not read. */
#include "api/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test.h"

struct place {
    struct event_base *base;
    struct http_server *server;
    char bound[80];
    unsigned handled;
    struct http_stream *stream;
    bool gone;
};

/* Lets the server work for so long. */
static void turn(struct place *p, int ms)
{
    struct timeval tv = {0, ms * 1000};
    (void)event_base_loopexit(p->base, &tv);
    (void)event_base_dispatch(p->base);
}

static void on_gone(void *ctx)
{
    struct place *p = ctx;
    p->stream = NULL;
    p->gone = true;
}

static void handle(void *ctx, struct http_request *r)
{
    struct place *p = ctx;
    p->handled++;
    if (strcmp(http_request_path(r), "/stream") == 0) p->stream = http_reply_stream(r, "text/event-stream", on_gone, p);
    else http_reply(r, 200, "text/plain", "good\n", 5);
}

static struct place *begin(struct http_limits limits)
{
    struct err e;
    struct place *p = calloc(1, sizeof *p);
    p->base = event_base_new();
    p->server = http_server_new(p->base, limits, handle, p);
    if (http_server_listen(p->server, "127.0.0.1:0", p->bound, &e) != STATUS_OK) fail_msg("%s", e.text);
    return p;
}

static void end(struct place *p)
{
    http_server_free(p->server);
    event_base_free(p->base);
    free(p);
}

static int peer(const struct place *p, int receive_bytes)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(strrchr(p->bound, ':') + 1))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (receive_bytes) (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
    assert_int_equal(0, connect(fd, (struct sockaddr *)&a, sizeof a));
    assert_int_equal(0, fcntl(fd, F_SETFL, O_NONBLOCK));
    return fd;
}

static void say(int fd, const char *text) { assert_int_equal((ssize_t)strlen(text), write(fd, text, strlen(text))); }

/* Turns the loop until the peer has read `until` or the end; returns what it read. */
static const char *listen_for(struct place *p, int fd, const char *until, int turns)
{
    static char text[65536];
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < turns; i++) {
        turn(p, 1);
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got == 0) return text;
        if (got > 0) n += (size_t)got, text[n] = '\0';
        if (until && strstr(text, until)) return text;
    }
    return text;
}

static const char *listen_until(struct place *p, int fd, const char *until) { return listen_for(p, fd, until, 10000); }

static struct http_limits short_limits(void)
{
    struct http_limits l = http_limits_default();
    l.head_deadline = SPAN_MS(60);
    l.request_deadline = SPAN_MS(120);
    l.idle = SPAN_MS(200);
    return l;
}

static void slow_heads_and_bodies_end(void **state)
{
    struct place *p = begin(short_limits());
    (void)state;
    int fd = peer(p, 0);
    say(fd, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    assert_non_null(strstr(listen_until(p, fd, NULL), "408"));
    close(fd);
    fd = peer(p, 0);
    say(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    for (int i = 0; i < 6; i++) {                      /* a byte now and then does not move the deadline */
        (void)!write(fd, "x", 1);
        turn(p, 10);
    }
    assert_non_null(strstr(listen_until(p, fd, NULL), "408"));
    close(fd);
    fd = peer(p, 0);
    assert_string_equal("", listen_until(p, fd, NULL));  /* idle: closed without a word */
    close(fd);
    assert_int_equal(0, p->handled);
    assert_int_equal(0, http_server_connections(p->server));
    end(p);
}

static void each_answer_says_what_a_browser_may(void **state)
{
    static const char *const lines[] = {"Content-Security-Policy: default-src 'self';", "frame-ancestors 'none'",
                                        "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                                            "Cache-Control: no-store",
                                        "Cross-Origin-Resource-Policy: same-origin"};
    struct place *p = begin(http_limits_default());
    (void)state;
    int fd = peer(p, 0);
    say(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const char *text = listen_until(p, fd, "good\n");
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) assert_non_null(strstr(text, lines[i]));
    assert_null(strstr(text, "Strict-Transport-Security"));     /* only under TLS */
    close(fd);
    end(p);
}

static void a_stream_is_not_waited_for(void **state)
{
    struct place *p = begin(short_limits());
    static char event[4096];
    unsigned sent = 0;
    (void)state;
    memset(event, 'x', sizeof event - 1);
    int fd = peer(p, 4096);
    say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    (void)listen_until(p, fd, "\r\n\r\n");
    assert_non_null(p->stream);
    assert_int_equal(1, http_server_streams(p->server));
    assert_null(strstr(listen_for(p, fd, "nothing comes", 400), "408"));   /* longer than any deadline: it stays */
    assert_non_null(p->stream);
    while (p->stream && sent < 1000) {
        sent++;
        if (!http_stream_write(p->stream, event, sizeof event - 1)) break;
        (void)event_base_loop(p->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    }
    assert_true(p->gone);
    assert_in_range(sent, 60, 400);
    assert_int_equal(0, http_server_streams(p->server));
    close(fd);
    end(p);
}

static void streams_are_bounded_and_never_give_way(void **state)
{
    struct http_limits l = http_limits_default();
    struct place *p;
    int held[6], first;
    (void)state;
    l.connections = 4;
    l.streams = 1;
    p = begin(l);
    first = peer(p, 0);
    say(first, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    (void)listen_until(p, first, "\r\n\r\n");
    struct http_stream *stream = p->stream;
    assert_non_null(stream);
    int second = peer(p, 0);
    say(second, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_non_null(strstr(listen_until(p, second, "}\n"), "503"));
    for (int i = 0; i < 6; i++) held[i] = peer(p, 0);
    int last = peer(p, 0);
    say(last, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_non_null(strstr(listen_until(p, last, "good\n"), "200"));
    assert_false(p->gone);
    assert_true(http_stream_write(stream, "x", 1));
    http_stream_close(stream);
    assert_true(p->gone);
    for (int i = 0; i < 6; i++) close(held[i]);
    close(first);
    close(second);
    close(last);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_heads_and_bodies_end),
        cmocka_unit_test(each_answer_says_what_a_browser_may),
        cmocka_unit_test(a_stream_is_not_waited_for),
        cmocka_unit_test(streams_are_bounded_and_never_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
