#include "base/memory.h"

#include <stdlib.h>

void *memory_take(const struct memory *m, size_t bytes)
{
    size_t n = bytes ? bytes : 1;
    return m ? m->take(m->ctx, n) : calloc(1, n);
}

void memory_give(const struct memory *m, void *memory, size_t bytes)
{
    if (!memory) return;
    if (m) m->give(m->ctx, memory, bytes ? bytes : 1);
    else free(memory);
}
