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
#define V1_RECENT 30
#define V1_BASELINE "@baseline"
#define V1_SCALE "@scale"

struct v1_action;
struct v1_revision;
struct v1_step;

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
    bool (*action)(void *arg, const struct v1_action *row);
    bool (*revision)(void *arg, const struct v1_revision *row);
    bool (*step)(void *arg, const struct v1_step *step);
};

struct v1_action {
    const char *action, *service, *knob, *class, *cause, *from, *to, *by, *verdict, *outcome, *last_kind;
    uint64_t incident;
    bool automatic;
    struct wall intended, applied, last_at;   /* WALL_NONE: not yet */
};

struct v1_revision { const char *revision, *path; struct wall loaded; };

/* One step of a signal's past; NaN when nothing is known. */
struct v1_step { struct wall at; double mean, min, max; uint32_t known; };

/* What the stores take. */
struct v1_store { uint64_t audit_bytes, metrics_bytes, metrics_budget, waiting, dropped; char metrics_trouble[256]; };

struct v1_audit {
    uint64_t size;
    const char *state;               /* of the store: static text */
    char trouble[256];
};

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
    /* Newest first, below `before`; service NULL: of all. */
    enum status (*records_back)(void *ctx, const char *service, uint64_t before, const struct v1_sink *sink, struct err *e);
    enum status (*actions)(void *ctx, const char *service, uint32_t limit, const struct v1_sink *sink, struct err *e);
    enum status (*revisions)(void *ctx, const struct v1_sink *sink, struct err *e);
    enum status (*policy_text)(void *ctx, const char *revision, struct buf *out, struct err *e);
    /* [from, to) in steps of step_us, 0: each point. V1_BASELINE and V1_SCALE behind a name: what was believed then. */
    enum status (*range)(void *ctx, const char *service, const char *signal, struct wall from, struct wall to, int64_t step_us,
                         const struct v1_sink *sink, struct err *e);
    uint32_t (*recent)(void *ctx, uint16_t service, const float **ret);   /* newest values of the judging latency, oldest first */
    /* Hodges-Lehmann shift of the second against the first, and its 95 % interval: ret[3]. false: too few. */
    bool (*shift)(const double *before, uint32_t n, const double *after, uint32_t m, double ret[3]);
    const char *(*rule)(const struct expr *e);                    /* as it was written */
    void (*store)(void *ctx, struct v1_store *ret);
    void (*tls)(void *ctx, char subject[200], struct wall *ends);  /* "": none */
    enum status (*checkpoint)(void *ctx, struct buf *note, struct err *e);
    enum status (*prove)(void *ctx, uint64_t seq, struct buf *out, struct err *e);
    /* The whole log, beside the loop, however long it is. `done` is called once; `v` is NULL when the check could not be made. */
    void (*verify)(void *ctx, void (*done)(void *done_ctx, const struct v1_verified *v, enum status s, const char *why),
                   void *done_ctx);
    void (*audit)(void *ctx, struct v1_audit *ret);
    enum status (*deploy)(void *ctx, uint16_t service, const char *version, const char *by, struct err *e);
    /* NOT_FOUND: no such incident. `done` is called once, when the record is durable or it is known that it is not. */
    void (*feedback)(void *ctx, const struct v1_feedback *f,
                     void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx);
    /* Emits the key "data". service NULL: all. LIMIT: too long for an answer. */
    enum status (*report)(void *ctx, const char *service, struct wall since, struct wall until, struct emit *out, struct err *e);
    /* `done` is called once, when the receiver has answered. */
    void (*notify_test)(void *ctx, const char *receiver,
                        void (*done)(void *done_ctx, enum status s, const char *text, const char *detail), void *done_ctx);
    struct wall (*now)(void *ctx);                                /* nominal */
    /* Pieces of one import come one after another; `last` makes them count, all at once. */
    enum status (*import)(void *ctx, uint16_t service, const struct v1_series *series, uint32_t n, bool last,
                          const char *by, struct err *e);
};

/* The port is borrowed. */
void v1_open(struct api *api, const struct v1_port *port);

#endif
