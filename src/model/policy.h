/* Policy as plain data: what config produces from YAML and everything else reads. Immutable once built; a reload
 * builds a new one, a running action keeps the old one alive (reference count in loop).
 * Indices (signal, knob, symptom, cause) are positions in the arrays of one service. */
#ifndef MODEL_POLICY_H
#define MODEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/time.h"
#include "model/enums.h"
#include "model/evidence.h"
#include "model/freeze.h"

struct expr;     /* expr/expr.h */
struct pq;       /* promql/promql.h */

#define POLICY_NAME_MAX 63
#define POLICY_SERVICES_MAX 20000
#define POLICY_SIGNALS_MAX 128
#define POLICY_KNOBS_MAX 12        /* = CONTROL_KNOBS */
#define POLICY_SYMPTOMS_MAX 32
#define POLICY_CAUSES_MAX 128
#define POLICY_TRY_MAX 6
#define POLICY_TARGETS_MAX READ_TARGETS_MAX
#define READ_TARGETS_MAX 64
#define NO_INDEX UINT16_MAX

struct signal_def {
    const char *name;
    enum layer layer;
    enum unit unit;
    enum bad bad;
    enum shape shape;            /* not NONE: the query gives buckets by `le`, the value says how far they have moved */
    double rel_floor;            /* relative floor of the scale, 0.02 = 2 % of the level */
    double resolution;           /* smallest step of the value, in its unit; the bucket width for a quantile */
    struct span interval;        /* default: its layer's */
    struct span range;           /* widest range of its query; a block is not shorter. 0: none */
    const char *query_text;      /* PromQL */
    const struct pq *query;      /* NULL when points come from outside (prometheus source, scripts) */
    const char *ask_text;        /* prometheus source: what is sent, always a vector */
    const char *newest_text;     /* prometheus source: PromQL for the time of the newest sample; NULL: not needed */
    const char *requests_text;   /* prometheus source: PromQL for the requests behind a quantile; NULL: cannot be told */
    bool is_quantile;            /* needs requests behind it: minimum evidence, p99 noise */
    double quantile;             /* 0.99; 0 when not a quantile */
    bool has_sentinel;
    double sentinel;             /* this exact value means unknown, e.g. -1 */
    struct text_pos pos;
};

/* A Prometheus-compatible server, or a receiver of remote write. */
struct prometheus_def {
    const char *url;             /* server: up to what stands before /api/v1/query, no slash at its end; receiver: all of it */
    struct span timeout, history, interval;   /* history: of servers; interval: of receivers */
    const char *headers[8]; uint16_t header_count;
    const char *bearer_file, *basic_file, *ca_file, *cert_file, *key_file;   /* NULL: none */
};

struct target_def {
    const char *url;             /* http://host:port/metrics */
    const char *instance;        /* label value */
    struct span interval;        /* scrape interval: the smallest of its service's layers unless set */
    struct span timeout;
    const char *bearer_file;     /* NULL: no secret */
};

enum access_kind { ACCESS_NONE, ACCESS_HTTP, ACCESS_FILE };

/* How a knob is read or written by one instance or one place. Templates know {value}, {old}, {instance}, {version}. */
struct access_def {
    enum access_kind kind;
    const char *url;             /* http: may hold {instance} (host:port of each target) */
    const char *method;          /* GET, PUT, POST, PATCH */
    const char *headers[8];      /* "Name: value" */
    uint16_t header_count;
    const char *body;            /* template; NULL: none */
    const char *pointer;         /* JSON pointer (RFC 6901) to the value in the reply or file; "" = the whole text */
    const char *version_header;  /* reply header that carries the version, "ETag"; NULL: none */
    const char *secret_file;     /* bearer token */
    const char *path;            /* file */
    struct span timeout;         /* default 5 s */
    bool per_instance;           /* once for each target, else once */
};

struct knob_def {
    const char *name;
    enum unit unit;
    enum action_class class;
    int tier;                    /* 1..3 */
    double min, max;
    enum ladder_kind ladder;
    double ladder_by;            /* factor (x2 -> 2) or step (+4 -> 4) */
    const double *rungs;         /* LADDER_LIST, ascending */
    uint16_t rung_count;
    double min_step;             /* 0: none */
    bool allow_up, allow_down;
    bool integer;                /* values are whole numbers */
    struct span interval;        /* 4 h */
    struct span protect;         /* 24 h */
    struct span settle;          /* 2 min */
    struct span readback;        /* deadline: 60 s hot, 5 min reload, 15 min restart */
    enum apply apply;
    double dead_band;            /* 0.10 */
    enum budget budget;
    bool cas, single_writer;
    uint16_t coupled[4];         /* other knobs; NO_INDEX ends */
    const struct expr *precondition;   /* NULL: none */
    uint16_t use_signal;         /* the ceiling must bind: up only when use > 0.85 * value. NO_INDEX: not configured */
    struct access_def read, write;
    struct text_pos pos;
};

struct symptom_def {
    const char *name;
    const struct expr *when;
    const struct expr *clear;    /* NULL: false on 10 known ticks */
    bool slo;
    bool request_layer;          /* names a request-layer signal: may lead to tuning. Others only report */
    int severity;                /* 0 most severe: slo 0, request 1, other 2 */
    uint16_t judge_signal;       /* the signal whose dead band and drift verdict it is judged by */
    struct text_pos pos;
};

struct candidate_def {
    uint16_t knob;               /* NO_INDEX: advice */
    enum direction direction;
    const char *advice;          /* when knob == NO_INDEX */
};

struct cause_def {
    const char *name;
    const char *id;              /* unique row id in its service, for tests and the console */
    uint16_t symptom;            /* NO_INDEX: any symptom of the service */
    enum cause_group group;
    int rank;                    /* position inside the ranking when `rank:` is given, else -1 */
    const struct expr *when;
    uint16_t share_signal;       /* time split: which part's growth this cause explains; NO_INDEX none */
    struct candidate_def tries[POLICY_TRY_MAX];
    uint16_t try_count;
    struct text_pos pos;
};

/* Which signals play the parts that the verdict and the gates need; NO_INDEX: not configured. */
struct judge_def {
    uint16_t latency;            /* p99, else mean: decides; stale -> gate stale-judge */
    uint16_t latency_mean;
    uint16_t queue;
    uint16_t throughput;
    uint16_t arrivals;           /* requests per second offered; else throughput + change of queue */
    uint16_t errors;             /* ratio */
    uint16_t gpu_memory;         /* ratio, early harm over 95 % */
    double objective;            /* SLO of the latency signal in its unit; 0: none */
};

struct timing_def {
    struct span settle, window, readback_hot, readback_reload, readback_restart, late_watch, approval, release_watch,
        freeze_baseline, blind_after, cause_wait, renotify;
};

struct window_def {              /* a change window: changes only inside */
    const char *name;
    uint8_t weekdays;            /* bit 0 = Monday; 0: the window is over, no change is made in it */
    uint16_t from_min, to_min;   /* minutes of the day in `offset_s`; to > from, up to 1440 */
    int offset_s;
};

struct service_def {
    const char *name, *environment, *group;
    uint16_t index;
    enum mode mode;
    enum mode class_mode[CLASS_COUNT];
    const struct prometheus_def *prometheus;   /* its signals come from there; NULL: scraped from the targets */
    struct target_def *targets; uint16_t target_count;
    uint16_t exporter_count;     /* the last so many targets measure something beside the service: no instances of it */
    struct signal_def *signals; uint16_t signal_count;
    struct knob_def *knobs; uint16_t knob_count;
    struct symptom_def *symptoms; uint16_t symptom_count;
    struct cause_def *causes; uint16_t cause_count;
    struct window_def *windows; uint16_t window_count;
    const struct freeze_def **freezes; uint16_t freeze_count;   /* of the policy, those that cover this service */
    struct needs needs;
    struct judge_def judge;
    struct timing_def timing;
    const char **depends_on; uint16_t depends_count;
    int utc_offset_s;            /* for day slots */
    struct text_pos pos;
};

enum web_anonymous { WEB_ANONYMOUS_FIRST, WEB_ANONYMOUS_NEVER, WEB_ANONYMOUS_ALWAYS };   /* FIRST: until there is a user */

/* Who is told. X(ID, "word in the configuration") */
#define RECEIVER_TABLE(X)                                                                             \
    X(WEBHOOK, "webhook") X(ALERTMANAGER, "alertmanager") X(DINGTALK, "dingtalk") X(FEISHU, "feishu") \
    X(WECOM, "wecom") X(SLACK, "slack") X(GRAFANA, "grafana")
#define X(id, ...) RECEIVER_##id,
enum receiver_type { RECEIVER_TABLE(X) RECEIVER_TYPE_COUNT };
#undef X
const char *receiver_type_name(enum receiver_type t);

#define RECEIVER_RATE_MOST 600

struct receiver_def {
    const char *name;            /* unique in the policy */
    enum receiver_type type;
    const char *url, *url_file;  /* one of them */
    const char *secret_file;     /* what requests are signed with; NULL: not signed */
    const char *bearer_file, *basic_file;
    const char *ca_file, *cert_file, *key_file;
    struct span timeout;
    uint16_t rate;               /* requests a minute, 1..RECEIVER_RATE_MOST */
    uint8_t least;               /* the least severe that is told: enum notice of loop/event.h */
    bool chinese;
};

struct web_def {                 /* how people and programs reach the API */
    const char *cert_file, *key_file;          /* TLS; NULL: plain */
    const char **names; uint16_t name_count;   /* host names besides localhost and addresses */
    const char **proxies; uint16_t proxy_count;/* addresses whose forwarding headers are believed */
    const char *proxy_header;                  /* holds the user's name; NULL: proxies do not log in */
    const char *basic_file;                    /* NULL: none */
    enum web_anonymous anonymous;
    struct span session_idle, session_longest;
    const char *external_url;                  /* what links in notices begin with, no slash at the end; NULL: no links */
};

struct policy {
    struct arena arena;          /* owns all of it */
    char revision[65];           /* SHA-256 of the file's bytes, lower hex */
    const char *path;
    struct service_def *services; uint16_t service_count;
    struct freeze_def *freezes; uint16_t freeze_count;          /* freeze and maintenance windows */
    struct span tick;            /* 30 s */
    double fleet_fraction;       /* 0.05 */
    int fleet_per_hour;          /* 6 */
    const char *data_dir, *listen;
    uint64_t metrics_bytes;      /* disk for kept signals and samples */
    const char *origin;          /* of the audit log: schema-less, "trimtab/prod-cn" */
    double ewma_alpha;           /* 0.2, 0.1..0.3 */
    const struct prometheus_def *remote_write;   /* NULL: none */
    const struct receiver_def *receivers; uint16_t receiver_count;
    struct web_def web;
    uint32_t references;
};

/* Targets that are instances of the service; they come first. */
static inline uint16_t service_instances(const struct service_def *s) { return (uint16_t)(s->target_count - s->exporter_count); }
uint16_t service_signal(const struct service_def *s, const char *name);   /* NO_INDEX when absent */
uint16_t service_knob(const struct service_def *s, const char *name);
uint16_t policy_service(const struct policy *p, const char *name);
struct timing_def timing_defaults(void);

#endif
