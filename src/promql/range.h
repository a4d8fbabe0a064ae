#ifndef PROMQL_RANGE_H
#define PROMQL_RANGE_H

#include "promql/eval.h"

/* X(word, body, arguments, keeps the metric's name) */
#define RANGE_TABLE(X)                                                                                       \
    X("rate", rate, "m", false) X("increase", increase, "m", false) X("delta", delta, "m", false)            \
    X("irate", irate, "m", false) X("idelta", idelta, "m", false)                                            \
    X("avg_over_time", avg_over_time, "m", false) X("sum_over_time", sum_over_time, "m", false)              \
    X("min_over_time", min_over_time, "m", false) X("max_over_time", max_over_time, "m", false)              \
    X("count_over_time", count_over_time, "m", false) X("last_over_time", last_over_time, "m", true)         \
    X("first_over_time", first_over_time, "m", true)                                                         \
    X("present_over_time", present_over_time, "m", false) X("stddev_over_time", stddev_over_time, "m", false) \
    X("stdvar_over_time", stdvar_over_time, "m", false)                                                      \
    X("quantile_over_time", quantile_over_time, "sm", false) X("changes", changes, "m", false)               \
    X("resets", resets, "m", false) X("deriv", deriv, "m", false)                                            \
    X("predict_linear", predict_linear, "ms", false) X("mad_over_time", mad_over_time, "m", false)           \
    X("double_exponential_smoothing", smoothed, "mss", false) X("holt_winters", winters, "mss", false)       \
    X("ts_of_min_over_time", time_of_min, "m", false) X("ts_of_max_over_time", time_of_max, "m", false)      \
    X("ts_of_first_over_time", time_of_first, "m", false)                                                    \
    X("ts_of_last_over_time", time_of_last, "m", false)

struct range {
    const struct pq_sample *samples;
    uint32_t n;
    int64_t from, to, now;
    double parameter, parameter2;      /* the call's scalars, in their order */
};

/* A mean that neither loses small parts nor overflows, and a variance (both as Prometheus computes them). */
struct mean { struct kahan k; double n; bool running; };
void pq_mean_add(struct mean *m, double v);
double pq_mean_result(const struct mean *m);
struct spread { struct kahan mean, squares; double n; };
void pq_spread_add(struct spread *s, double v);
double pq_spread_variance(const struct spread *s);

bool pq_range_function(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);

#endif
