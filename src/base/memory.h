/* Where large, rarely touched memory comes from. The pure rooms take it from whoever made them: the daemon lends pages of a
 * file, which the system may write out and drop; all others use the heap. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

struct memory {
    void *ctx;
    void *(*take)(void *ctx, size_t bytes);               /* zeroed, aligned as malloc's; NULL: none left */
    void (*give)(void *ctx, void *memory, size_t bytes);  /* back, with the size that was asked for */
};

/* m NULL: the heap. memory_give takes NULL. */
void *memory_take(const struct memory *m, size_t bytes);
void memory_give(const struct memory *m, void *memory, size_t bytes);

#endif
