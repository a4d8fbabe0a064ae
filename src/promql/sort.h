/* Sorting in place without memory of its own; the same order on every machine. */
#ifndef PROMQL_SORT_H
#define PROMQL_SORT_H

#include <stddef.h>

/* Elements of at most 64 bytes. Stable for 32 elements and fewer; give `compare` a last tie-break where it matters. */
void pq_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
