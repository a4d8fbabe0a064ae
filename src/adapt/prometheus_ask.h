/* What is sent to a Prometheus-compatible server for a batch of signals, and what its answers say. No I/O. */
#ifndef ADAPT_PROMETHEUS_ASK_H
#define ADAPT_PROMETHEUS_ASK_H

#include <stdbool.h>

#include "base/buf.h"
#include "model/policy.h"
#include "model/series.h"

#define PROMETHEUS_BATCH 16            /* signals of one query */

/* Form body: query=..., the batch as one union, each part marked by a label of ours. With `range`, start, end and step
 * are added and no companions are asked. */
struct prometheus_span { struct wall from, to; struct span step; };
void prometheus_ask(struct buf *out, const struct signal_def *signals, const uint16_t *batch, uint32_t n, struct span timeout,
                    const struct prometheus_span *range);

/* The same for one expression as it is, over a time. */
void prometheus_ask_one(struct buf *out, const char *query, const struct prometheus_span *range);

struct prometheus_answer {
    bool ok;                           /* status "success" */
    bool refused;                      /* the query itself is at fault (bad_data, execution): asking one by one helps */
    char error[240];
};

/* One point for each of the batch. `began`: when it was asked. A warning makes all of them unknown (partial). */
void prometheus_read_now(const char *body, size_t len, long http, const struct signal_def *signals, const uint16_t *batch,
                         uint32_t n, struct instant began, struct point *out, struct prometheus_answer *ret);

/* Series of a range answer: `row(ctx, place in the batch, time, value)`, each series ascending in time. More than one
 * series for a signal: none of its rows are given. */
void prometheus_read_range(const char *body, size_t len, long http, uint32_t n,
                           void (*row)(void *ctx, uint32_t place, struct wall at, double value), void *ctx,
                           struct prometheus_answer *ret);

/* The same of a query as it is: `place` counts the series of the answer. A value that is no number: not ok. */
void prometheus_read_each(const char *body, size_t len, long http,
                          void (*row)(void *ctx, uint32_t place, struct wall at, double value), void *ctx,
                          struct prometheus_answer *ret);

#endif
