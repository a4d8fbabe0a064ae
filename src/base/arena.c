#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t size, used;  /* bytes of data */
    alignas(max_align_t) unsigned char data[];
};

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 20 };

static size_t round_up(size_t size)
{
    return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

static struct arena_chunk *add_chunk(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : CHUNK_FIRST;
    if (size > CHUNK_LARGEST) size = CHUNK_LARGEST;
    if (size < need) size = need;
    struct arena_chunk *c = malloc(sizeof *c + size);
    if (!c) return NULL;
    *c = (struct arena_chunk){.next = a->head, .size = size};
    a->head = c;
    return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    size_t need = round_up(size ? size : 1);
    if (a->limit && (a->used > a->limit || need > a->limit - a->used)) return NULL;
    struct arena_chunk *c = a->head;
    if (!c || need > c->size - c->used) c = add_chunk(a, need);
    if (!c) return NULL;
    void *p = c->data + c->used;
    c->used += need;
    a->used += need;
    return memset(p, 0, need);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    if (len == SIZE_MAX) return NULL;
    char *copy = arena_alloc(a, len + 1);
    if (copy && len) memcpy(copy, s, len);
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

static void free_chunks(struct arena_chunk *c)
{
    while (c) {
        struct arena_chunk *next = c->next;
        free(c);
        c = next;
    }
}

void arena_reset(struct arena *a)
{
    if (a->head) {
        free_chunks(a->head->next);
        a->head->next = NULL;
        a->head->used = 0;
    }
    a->used = 0;
}

void arena_free(struct arena *a)
{
    if (!a) return;
    free_chunks(a->head);
    a->head = NULL;
    a->used = 0;
}
