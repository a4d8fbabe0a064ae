/* A request inside the server. Whoever handles it sees http_server.h only. */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include "api/http_server.h"
#include "api/identity.h"

#define HTTP_PARAMS_MAX 4

struct http_connection;

struct http_request {
    struct http_connection *connection;   /* NULL: the peer has left */
    char *raw;                            /* the head; `head` points into it */
    struct http_head head;
    struct buf body, more;                /* more: header lines of the answer */
    const char *cache;                    /* Cache-Control; NULL: no-store */
    struct identity who;
    char peer[48], address[48];           /* address: the peer, or whom a trusted proxy speaks for */
    struct { char name[32], value[256]; } params[HTTP_PARAMS_MAX];
    unsigned param_count;
};

struct http_request *http_request_new(struct http_connection *c, const char *peer);
bool http_request_reserve(struct http_request *r, size_t head_len);
void http_request_free(struct http_request *r);
void http_request_orphan(struct http_request *r);   /* its connection ends; lives on until it is answered */
/* Implemented by the server. */
void http_connection_answer(struct http_connection *c, struct http_request *r, int status, const char *content_type,
                            const void *bytes, size_t len);
const char *http_status_text(int status);
/* A listening socket, not blocking; `bound` gets the real address. */
enum status http_listen(const char *address, int *ret_fd, char bound[80], struct err *e);

#endif
