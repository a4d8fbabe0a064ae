/* The JSON API under /api/v1: what people and programs ask the daemon. Every answer is
 * {"status":"success","data":...} or {"status":"error","errorType":...,"error":...,"reason":...}.
 * The addresses stand in route.def. */
#ifndef API_V1_H
#define API_V1_H

#include "api/api.h"
#include "api/emit.h"
#include "model/record.h"

#define V1_LIMIT_MAX 1000        /* rows of one answer */
#define V1_IMPORT_SIGNALS 128

struct v1_incident {
    const char *service, *symptom, *cause, *last_kind, *last_reason;
    uint64_t incident, actions;
    const char *feedback;                /* the newest: false, true, useful; "" none */
    struct wall onset, opened, closed;   /* closed: WALL_NONE while open */
};

/* Return false to end early. */
struct v1_sink {
    void *arg;
    bool (*record)(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len);
    bool (*incident)(void *arg, const struct v1_incident *row);
};

struct v1_audit {
    uint64_t size;
    const char *state;               /* of the store: static text */
    char trouble[256];
};

struct v1_verified { bool good; uint64_t records, checkpoints, bad_seq; char why[400]; };

/* Points of one signal, oldest first. */
struct v1_series { uint16_t signal; const struct wall *times; const double *values; uint32_t n; };

/* What a person says about an incident. verdict: false, true, useful; comment: NULL none. */
struct v1_feedback { const char *service; uint64_t incident; const char *verdict, *comment, *by, *via; };

/* What only the daemon can do for this API. Every function answers at once. */
struct v1_port {
    void *ctx;                                                    /* first argument of all of them */
    enum status (*incidents)(void *ctx, const char *service, uint32_t limit, const struct v1_sink *sink, struct err *e);
    enum status (*incident)(void *ctx, const char *service, uint64_t n, const struct v1_sink *sink, struct err *e);
    enum status (*story)(void *ctx, const char *action, const struct v1_sink *sink, struct err *e);
    enum status (*records)(void *ctx, uint64_t from, const struct v1_sink *sink, struct err *e);
    enum status (*checkpoint)(void *ctx, struct buf *note, struct err *e);
    enum status (*prove)(void *ctx, uint64_t seq, struct buf *out, struct err *e);
    enum status (*verify)(void *ctx, struct v1_verified *ret, struct err *e);   /* LIMIT: too long for an answer */
    void (*audit)(void *ctx, struct v1_audit *ret);
    enum status (*deploy)(void *ctx, uint16_t service, const char *version, const char *by, struct err *e);
    /* NOT_FOUND: no such incident. `done` is called once, when the record is durable or it is known that it is not. */
    void (*feedback)(void *ctx, const struct v1_feedback *f,
                     void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx);
    /* Emits the key "data". service NULL: all. LIMIT: too long for an answer. */
    enum status (*report)(void *ctx, const char *service, struct wall since, struct wall until, struct emit *out, struct err *e);
    struct wall (*now)(void *ctx);                                /* nominal */
    /* Pieces of one import come one after another; `last` makes them count, all at once. */
    enum status (*import)(void *ctx, uint16_t service, const struct v1_series *series, uint32_t n, bool last,
                          const char *by, struct err *e);
};

/* The port is borrowed. */
void v1_open(struct api *api, const struct v1_port *port);

#endif
