/* Signals from Prometheus-compatible servers: EFFECT_POLL with POLL_SERVER in, EVENT_VALUES out, its last one marked.
 *
 * Of a service's signals those are asked that are due, in batches of PROMETHEUS_BATCH as one instant query each. A batch that
 * the server refuses is asked again one by one, so that one bad query costs the others nothing; what was at fault stays alone
 * for ten minutes. At most PROMETHEUS_IN_FLIGHT queries are out at one server; the others wait in order, and one that waited
 * longer than its time-out is not sent at all. So a slow server delays no other and is not flooded. After 429 or 503 a server
 * is left alone as long as its Retry-After says, at most a minute. */
#ifndef ADAPT_PROMETHEUS_H
#define ADAPT_PROMETHEUS_H

#include "adapt/adapt.h"
#include "adapt/prometheus_ask.h"

#define PROMETHEUS_IN_FLIGHT 8

struct prometheus;

struct prometheus_counters { uint64_t ok, failed, refused, partial, not_sent; };

struct prometheus *prometheus_new(const struct adapt *a);   /* NULL: out of memory */
void prometheus_end(struct prometheus *p);                  /* before fetch_free: nothing more is sent. Takes NULL */
void prometheus_free(struct prometheus *p);                 /* after prometheus_end and fetch_free. Takes NULL */
struct source_port prometheus_port(struct prometheus *p);
void prometheus_counters(const struct prometheus *p, struct prometheus_counters *ret);

/* The past of up to PROMETHEUS_BATCH signals, as query_range gives it, in `ask.body`'s order. `done` once, later, with the
 * bytes of the answer; they die when it returns. `error` NULL: good. */
struct prometheus_past {
    const struct prometheus_def *server;
    const struct signal_def *signals;
    const uint16_t *batch;
    uint32_t n;
    struct prometheus_span span;
    void (*done)(void *arg, const char *body, size_t len, long http, const char *error);
    void *arg;
};
void prometheus_ask_past(struct prometheus *p, const struct prometheus_past *ask);

#endif
