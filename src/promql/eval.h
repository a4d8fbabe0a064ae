/* Inside of the evaluator. */
#ifndef PROMQL_EVAL_H
#define PROMQL_EVAL_H

#include "promql/ast.h"
#include "promql/labels.h"

struct value {
    enum pq_type type;
    double scalar;
    const char *string;
    struct pq_element *items;            /* vector */
    uint32_t n;
    struct pq_series *series;            /* matrix */
    uint32_t series_n;
};

struct fetched { struct pq_series *items; uint32_t n, cap; };

struct eval {
    const struct pq *q;
    const struct pq_source *source;
    struct arena *arena;                 /* of the step at hand */
    struct arena *keep;                  /* of the whole evaluation */
    struct err *err;
    enum status status;
    int64_t start_ms, end_ms;
    struct fetched *fetched;             /* by selector index */
    uint64_t work;                       /* done so far, see PQ_LIMIT_WORK */
    struct pq_result *ret;               /* the counters in it are kept up to date */
};

bool pq_eval_fail(struct eval *ev, enum status code, const char *fmt, ...) PRINTF_LIKE(3, 4);
void pq_eval_warn(struct eval *ev, const char *note);
void pq_eval_info(struct eval *ev, const char *note);
bool pq_eval_node(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret);
/* Room for n elements; an empty vector for 0. */
bool pq_vector_room(struct eval *ev, uint32_t n, struct value *ret);
/* false and an error when two elements have the same labels. */
bool pq_vector_check_unique(struct eval *ev, const struct value *v);

/* Time a range selector or subquery ends and begins, with @ and offset. */
int64_t pq_node_end_time(const struct eval *ev, const struct pq_node *n, int64_t t);
/* Parts of a vector: equal labels get equal numbers from 0. keys[i] belongs to element i. */
bool pq_group_by_labels(struct eval *ev, const struct pq_labels *keys, uint32_t n, uint32_t *ret_group, uint32_t *ret_count);

bool pq_eval_binary(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret);
bool pq_eval_aggregate(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret);

/* math that Prometheus fixes */
struct kahan { double sum, c; };
void pq_kahan_add(struct kahan *k, double v);
double pq_kahan_result(const struct kahan *k);
double pq_quantile_of(double q, double *values, uint32_t n);            /* sorts */
int pq_double_compare(const void *a, const void *b);                    /* NaN first */
bool pq_is_stale(double v);

#endif
