/* Memory by lifetime: allocate freely, free all at once. One arena per pass, request or policy. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *head;
    size_t used;   /* bytes handed out */
    size_t limit;  /* bytes; 0 = none. Over it arena_alloc returns NULL */
};

#define ARENA_INIT ((struct arena){0})

/* Zeroed memory, aligned for any type. NULL: out of memory or over the limit. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t n, size_t size);  /* overflow-checked n * size */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
void arena_reset(struct arena *a);  /* keeps one chunk for reuse; all earlier pointers die */
void arena_free(struct arena *a);   /* takes NULL */

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_NEW_N(a, n, type) ((type *)arena_array((a), (n), sizeof(type)))

#endif
