#ifndef PROMQL_HISTOGRAM_H
#define PROMQL_HISTOGRAM_H

#include "promql/eval.h"

struct bucket { double bound, count; };         /* observations at or below bound, cumulative */
struct histogram { struct pq_labels labels; struct bucket *buckets; uint32_t n; };
struct histograms { struct histogram *items; uint32_t n; };

/* Both sort and mend the buckets in place. NaN: no answer. */
double pq_bucket_quantile(double q, struct bucket *b, uint32_t n, bool *ret_forced);
double pq_bucket_fraction(double lower, double upper, struct bucket *b, uint32_t n);

bool pq_histogram_quantile(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);
bool pq_histogram_quantiles(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);
bool pq_histogram_fraction(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);

#endif
