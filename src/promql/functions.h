#ifndef PROMQL_FUNCTIONS_H
#define PROMQL_FUNCTIONS_H

#include "promql/eval.h"

bool pq_label_replace(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);
bool pq_label_join(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);
bool pq_sort_by_label(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);

#endif
