/* A documented subset of PromQL (docs/promql.md), with Prometheus's semantics: 5 min lookback, staleness markers,
 * extrapolated rate, counter resets. Anything else is refused at compile time with line and column. */
#ifndef PROMQL_PROMQL_H
#define PROMQL_PROMQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/text.h"
#include "base/time.h"
#include "model/enums.h"

#define PQ_LIMIT_BYTES 8192
#define PQ_LIMIT_NODES 512
#define PQ_LIMIT_DEPTH 64
#define PQ_LIMIT_SERIES 200000       /* vectors wider than this fail with LIMIT */
#define PQ_LIMIT_WORK 20000000       /* parts evaluated plus samples looked at, all steps together: about a second */
#define PQ_LOOKBACK SPAN_MIN(5)

/* NaN bit pattern by which Prometheus marks a series as ended. */
#define PQ_STALE_BITS UINT64_C(0x7ff0000000000002)

struct pq;                           /* compiled query, immutable, lives in its arena */

struct pq_error {
    struct text_pos pos;
    size_t offset, length;
    char text[200];
    char hint[160];
};

struct pq_label { const char *name, *value; };   /* sorted by name; __name__ is one of them */
struct pq_labels { const struct pq_label *items; uint32_t n; };
struct pq_sample { int64_t t_ms; double v; };

/* The samples of one series, ascending in time. Memory stays valid until the evaluation ends. */
struct pq_series { struct pq_labels labels; const struct pq_sample *samples; uint32_t n; };

enum pq_match_kind { PQ_EQ, PQ_NE, PQ_RE, PQ_NRE };
struct pq_matcher;                   /* compiled; ask with pq_matches */

/* Storage behind an evaluation. select: all series that match, with samples in [from_ms, to_ms]; `sink` is called once
 * per series; return false to stop. */
struct pq_source {
    void *ctx;
    bool (*select)(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                   bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx);
};
const char *pq_matcher_name(const struct pq_matcher *m);
enum pq_match_kind pq_matcher_kind(const struct pq_matcher *m);
const char *pq_matcher_value(const struct pq_matcher *m);
bool pq_matches(const struct pq_matcher *m, const char *value);  /* absent label = "" */

struct pq_element { struct pq_labels labels; double v; int64_t t_ms; };
enum pq_type { PQ_SCALAR, PQ_VECTOR, PQ_STRING, PQ_MATRIX };
struct pq_result {
    enum pq_type type;
    double scalar;
    const char *string;
    const struct pq_element *items; uint32_t n;   /* vector; order as Prometheus defines it, else by labels */
    struct pq_series *series; uint32_t series_n;  /* matrix */
    int64_t newest_ms;           /* newest sample any selector used; INT64_MIN: none. Freshness of a signal */
    bool reset_seen;             /* a counter reset inside a range that rate or increase used */
    double observations;         /* requests behind a pq_histogram_quantile over rate or increase; 0: cannot be told */
    uint32_t warnings, infos;    /* what Prometheus would have annotated */
    const char *note;            /* the first of them, for people; NULL: none */
};

const struct pq *pq_compile(struct arena *a, const char *text, size_t len, struct pq_error *error);
/* Longest time the query looks back from its evaluation time, lookback included. */
struct span pq_reach(const struct pq *q);
/* Widest range selector inside rate, increase, delta..., 0 when none: the block of loop.md section 1. */
struct span pq_range(const struct pq *q);
enum pq_type pq_type(const struct pq *q);
/* Whether it is a quantile (pq_histogram_quantile or a quantile="..." matcher) and which. */
bool pq_quantile(const struct pq *q, double *ret);
/* The selectors of the query, for a store that keeps only what is asked for. reach: how far back this one looks,
 * lookback and offset included; range: of its range selector or subquery, 0: none. */
struct pq_selector {
    const char *name;            /* metric, NULL: not pinned to one */
    const struct pq_matcher *const *matchers;
    uint32_t n;
    struct span reach, range;
};
uint32_t pq_selector_count(const struct pq *q);
void pq_selector(const struct pq *q, uint32_t i, struct pq_selector *ret);
/* Metric names it selects, for scrape filtering. Returns the count, fills up to cap. A nameless selector gives NULL. */
uint32_t pq_metric_names(const struct pq *q, const char **names, uint32_t cap);
/* Results live in `scratch`. LIMIT, INVALID (many-to-many match...) with err filled. */
enum status pq_eval(const struct pq *q, const struct pq_source *source, int64_t at_ms, struct arena *scratch,
                    struct pq_result *ret, struct err *err);
enum status pq_eval_range(const struct pq *q, const struct pq_source *source, int64_t from_ms, int64_t to_ms,
                          int64_t step_ms, struct arena *scratch, struct pq_result *ret, struct err *err);
/* Words of all functions and aggregations, for documentation and completion; NULL behind the last. */
const char *pq_function(uint32_t i);
const char *pq_aggregation(uint32_t i);
void pq_print(struct buf *out, const struct pq *q);   /* canonical text */
/* Companions, for a server that evaluates the query in our place and answers with nothing but values. Each appends a
 * query and returns true; false: there is nothing to ask, `out` is as it was.
 * observations: how many requests stand behind its histogram quantile, as pq_result.observations.
 * newest: Unix time of the newest sample of its plain selectors, the oldest of them; a rate needs none, it ends with
 * its range. */
bool pq_print_observations(struct buf *out, const struct pq *q);
bool pq_print_newest(struct buf *out, const struct pq *q);

#endif
