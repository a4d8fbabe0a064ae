/* What the API needs from the daemon, and the tables of addresses it serves. The daemon fills one struct api. */
#ifndef API_API_H
#define API_API_H

#include "api/access.h"
#include "api/http_server.h"
#include "api/metrics.h"
#include "api/routes.h"
#include "loop/ports.h"

/* Outcome of checking the whole audit log. */
struct v1_verified { bool good; uint64_t records, checkpoints, bad_seq; char why[400]; };

struct v1_port;   /* api/v1.h */
struct stream_hub;   /* api/stream.h */

struct api {
    struct control_port control;
    void *ctx;                       /* for the functions below */
    void (*modules)(void *ctx, struct module_view ret[MODULE_COUNT]);
    void (*runtime)(void *ctx, struct api_runtime *ret);
    /* false: not ready, `why` says what for. Healthy is the process that answers at all. */
    bool (*ready)(void *ctx, char why[200]);
    enum status (*reload)(void *ctx, const char *by, struct err *e);
    const struct v1_port *v1;        /* what /api/v1 asks besides */
    struct access access;            /* who may come in */
    struct v1_verified verified;     /* of the last check of the whole log */
    int64_t verified_at;             /* real clock; ACCESS_NEVER: not checked yet */
    struct stream_hub *stream;       /* who listens */
    struct routes routes;
    struct route_table table;        /* route.def */
};

/* Fills the routes. All else is the daemon's to fill. */
void api_init(struct api *api);
/* handle function for http_server_new; ctx is the struct api. */
void api_handle(void *ctx, struct http_request *r);

#endif
