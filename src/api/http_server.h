/* Our own HTTP/1.1 server on the event loop: small, strict, every resource capped. One request at a time on a
 * connection. The interface hides what is behind it, so that it can be exchanged. */
#ifndef API_HTTP_SERVER_H
#define API_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http_parse.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/time.h"

struct event_base;
struct http_server;
struct http_request;
struct http_stream;
struct http_tls;
struct identity;

#define HTTP_STREAM_BEHIND_MAX (256u << 10)

struct http_limits {
    size_t head_bytes;               /* 8 KiB: request line and headers */
    size_t body_bytes;               /* 1 MiB */
    unsigned connections;            /* 640; beyond, the one that is idle longest gives way */
    unsigned streams;                /* 256 of them may listen to a stream */
    struct span head_deadline;       /* 10 s from the first byte to the end of the headers */
    struct span request_deadline;    /* 30 s to the end of the body, and for the peer to take the answer */
    struct span idle;                /* 60 s between requests */
};
struct http_limits http_limits_default(void);

/* Called for each request in the loop thread. It must lead to exactly one http_reply..., now or later. */
struct http_server *http_server_new(struct event_base *base, struct http_limits limits,
                                    void (*handle)(void *ctx, struct http_request *r), void *ctx);
/* "HOST:PORT"; port 0: any. `bound` gets the real one. BUSY: the port is in use; INVALID; DENIED; IO. */
enum status http_server_listen(struct http_server *s, const char *address, char bound[80], struct err *e);
/* Closes everything; requests without an answer are forgotten. Takes NULL. */
void http_server_free(struct http_server *s);
/* From now on connections speak TLS; borrowed. Before listening. */
void http_server_tls(struct http_server *s, struct http_tls *tls);
bool http_server_is_tls(const struct http_server *s);
unsigned http_server_streams(const struct http_server *s);
unsigned http_server_connections(const struct http_server *s);
uint64_t http_server_requests(const struct http_server *s, unsigned class);   /* answers 1xx .. 5xx so far */

/* ---- the request: valid until it is answered ---- */
enum http_method http_request_method(const struct http_request *r);
const char *http_request_path(const struct http_request *r);                   /* still percent-encoded */
const char *http_request_header(const struct http_request *r, const char *name);   /* NULL when absent */
const char *http_request_body(const struct http_request *r, size_t *ret_len);  /* terminated; "" without one */
const char *http_request_peer(const struct http_request *r);                   /* "127.0.0.1" */
/* Value of ?name=, decoded, into out. false: absent, broken or too long. */
bool http_request_query(const struct http_request *r, const char *name, char *out, size_t cap);
/* Values of {name} in the route's pattern, decoded; NULL when the pattern has no such name. Set by routes_dispatch. */
const char *http_request_param(const struct http_request *r, const char *name);
bool http_request_add_param(struct http_request *r, const char *name, const char *value, size_t len);
/* Who sends it; filled before the handler is called. */
struct identity *http_request_who(struct http_request *r);
const char *http_request_address(const struct http_request *r);   /* the peer, or whom a trusted proxy speaks for */
bool http_request_gone(const struct http_request *r);   /* the peer has left; the answer will go nowhere */

/* ---- the answer: ends the request ---- */
void http_reply_header(struct http_request *r, const char *name, const char *value);   /* before the reply */
void http_reply_cache(struct http_request *r, const char *value);   /* Cache-Control, static text; else no-store */
void http_reply(struct http_request *r, int status, const char *content_type, const void *bytes, size_t len);
void http_reply_buf(struct http_request *r, int status, const char *content_type, struct buf *b);   /* frees b */
/* Prometheus's error envelope: {"status":"error","errorType":...,"error":...}. */
void http_reply_error(struct http_request *r, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- an answer without end: ends the request, the connection stays for it ---- */

/* `gone` is called once when the peer has left or was dropped, also after http_stream_close. NULL: answered with 503. */
struct http_stream *http_reply_stream(struct http_request *r, const char *content_type, void (*gone)(void *ctx), void *ctx);
/* Never waits. false: the peer is more than HTTP_STREAM_BEHIND_MAX behind; it was dropped and `gone` was called. */
bool http_stream_write(struct http_stream *s, const void *bytes, size_t len);
void http_stream_close(struct http_stream *s);

#endif
