/* The daemon's own metrics as a Prometheus page. Names, types and help come from metrics.def. */
#ifndef API_METRICS_H
#define API_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "loop/ports.h"
#include "model/enums.h"

#define API_BUCKETS 12
struct api_histogram { uint64_t counts[API_BUCKETS + 1], n; double sum; };   /* 100 us .. 5 s, then +Inf */
void api_histogram_add(struct api_histogram *h, double seconds);

/* A counter by outcome, named by static words. */
struct api_outcome { const char *word; uint64_t count; };
#define API_OUTCOMES 8
struct api_outcomes { struct api_outcome items[API_OUTCOMES]; unsigned n; };

/* One receiver of notices. Texts live until the page is made; error "": none. */
struct api_receiver {
    const char *name, *type, *state, *error;
    bool up;
    uint64_t sent, failed, dropped, retried;
    unsigned waiting;
    double good_seconds;             /* since the newest success; < 0: none since the start */
};
#define API_RECEIVERS 16

/* Numbers that only the daemon knows. Texts are static or live until the page is made. */
struct api_runtime {
    const char *version, *revision, *store_state, *reload_error;
    double speed, start_seconds, reload_seconds, scrape_seconds;
    bool ready, dry_run, reload_ok;
    uint64_t ticks, unexpected, actions, rollbacks, incidents, scrape_bytes, audit_size, audit_waiting, points_dropped, loop_bytes;
    uint64_t points_evicted, metrics_used, metrics_budget;
    uint64_t feedback[3], false_alarms, incidents_judged;   /* false, true, useful */
    uint64_t decisions[DECISION_COUNT], verdicts[VERDICT_COUNT];
    unsigned services, in_flight, awaiting, halted, with_person, http_connections, listeners, notify_waiting, remote_waiting;
    uint64_t listeners_dropped;
    double tls_ends;                 /* since the epoch; 0: no TLS */
    struct api_outcomes scrapes, queries, remote_writes, reads, writes, notices, notifications, http_requests;
    struct api_receiver receivers[API_RECEIVERS]; unsigned receiver_n;
    const struct api_histogram *append_seconds;
};

struct api;
/* The whole page. */
void metrics_page(struct api *api, struct buf *out);
/* What belongs to one stage. */
void metrics_module_page(struct api *api, enum module m, struct buf *out);
/* "NAME TYPE help" of all, for the documentation. */
void metrics_list(struct buf *out);

#endif
