/* Things that will happen, ordered by (time, sequence): equal times keep the order in which they were put. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct heap_item { struct instant at; uint64_t seq; void *thing; };
struct heap { struct heap_item *items; size_t n, cap; uint64_t next_seq; };

void heap_free(struct heap *h);                                  /* not the things */
bool heap_put(struct heap *h, struct instant at, void *thing);   /* false: out of memory */
struct instant heap_next(const struct heap *h);                  /* NEVER when empty */
void *heap_take(struct heap *h);                                 /* the earliest; NULL when empty */

#endif
