/* HTTP requests on the event loop, each with hard caps: bytes on the wire, bytes unzipped, ratio, header bytes, time.
 * http and https only, no redirects, no proxy from the environment. The peer is hostile: it may drip, lie about
 * lengths, close in the middle, send a bomb or no HTTP at all; each of these ends as one result with a reason. */
#ifndef ADAPT_FETCH_H
#define ADAPT_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/time.h"

struct event_base;
struct fetch;

#define FETCH_WIRE_MAX ((size_t)4 << 20)       /* facts/trust.md 5.3 */
#define FETCH_BODY_MAX ((size_t)16 << 20)
#define FETCH_HEADER_MAX ((size_t)32 << 10)
#define FETCH_RATIO_MAX 100                    /* unzipped : wire, from FETCH_RATIO_FROM bytes on */
#define FETCH_RATIO_FROM ((size_t)1 << 20)
#define FETCH_HEADERS 12

enum fetch_outcome {
    FETCH_ANSWER,          /* a whole HTTP answer of any status, redirects included */
    FETCH_DOWN,            /* no connection, or it broke off before the end */
    FETCH_TIMEOUT,
    FETCH_TOO_LARGE,       /* a cap was hit; nothing of the body counts */
    FETCH_GARBAGE,         /* not HTTP, or the compressed body is broken */
    FETCH_NOT_SENT         /* may_send said no, or the request could not be made; nothing went out */
};

struct fetch_result {
    enum fetch_outcome outcome;
    long http;                     /* status; 0 without an answer */
    bool sent;                     /* bytes of the request may have gone out */
    const char *body;              /* unzipped; only for FETCH_ANSWER. Never NULL */
    size_t len;
    const char *content_type;      /* "" when absent */
    const char *wanted;            /* value of `want_header`; "" when absent */
    const char *error;             /* one sentence for people; "" for FETCH_ANSWER */
};

struct fetch_request {
    const char *method, *url;
    const char *headers[FETCH_HEADERS];   /* "Name: value" */
    unsigned header_count;
    const char *body;              /* NULL: none */
    size_t body_len;
    const char *bearer_file;       /* read at each use, see secret.h; NULL: none */
    const char *basic_file;        /* the same, holding user:password; NULL: none */
    const char *ca_file, *cert_file, *key_file;   /* PEM: whom to trust, who we are; NULL: the system's, nobody */
    const char *want_header;       /* NULL: none */
    struct span timeout;           /* wall time, for all of it */
    size_t max_wire, max_body;     /* 0: the defaults above */
    bool once;                     /* a write: own connection, so that no layer below ever sends it twice */
    bool (*may_send)(void *arg);   /* asked right before the bytes go out; NULL: yes */
    void (*done)(void *arg, const struct fetch_result *r);   /* exactly once, later; r dies when it returns */
    void *arg;
};

struct fetch *fetch_new(struct event_base *base);   /* NULL: out of memory */
/* What is still running ends as FETCH_DOWN, so that each `done` frees its own; none may start a new one. Takes NULL. */
void fetch_free(struct fetch *f);
/* Copies what it needs. Never fails: what is wrong with the request comes as FETCH_NOT_SENT. */
void fetch_start(struct fetch *f, const struct fetch_request *r);
unsigned fetch_running(const struct fetch *f);

#endif
