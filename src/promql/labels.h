/* Sets of labels, sorted by name. A label with an empty value does not exist. */
#ifndef PROMQL_LABELS_H
#define PROMQL_LABELS_H

#include "promql/ast.h"

const char *pq_labels_get(struct pq_labels l, const char *name);   /* NULL: absent */
int pq_labels_compare(struct pq_labels a, struct pq_labels b);
uint64_t pq_labels_hash(struct pq_labels l);
bool pq_names_have(const struct names *names, const char *name);
struct eval;
/* New sets in the step's arena; items NULL and n 0 when nothing is left. The strings are shared. Without memory the evaluation
 * fails. */
struct pq_labels pq_labels_without_name(struct eval *ev, struct pq_labels l);
struct pq_labels pq_labels_keep(struct eval *ev, struct pq_labels l, const struct names *names);
/* Without `names`, and without __name__ when drop_name. */
struct pq_labels pq_labels_drop(struct eval *ev, struct pq_labels l, const struct names *names, bool drop_name);
/* Value "" or NULL removes. */
struct pq_labels pq_labels_set(struct eval *ev, struct pq_labels l, const char *name, const char *value);
void pq_labels_print(struct buf *out, struct pq_labels l);              /* {a="b", c="d"} */

#endif
