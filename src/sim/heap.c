#include "sim/heap.h"

#include <stdlib.h>

void heap_free(struct heap *h)
{
    free(h->items);
    *h = (struct heap){0};
}

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->at.us != b->at.us ? a->at.us < b->at.us : a->seq < b->seq;
}

static void swap(struct heap *h, size_t a, size_t b)
{
    struct heap_item t = h->items[a];
    h->items[a] = h->items[b];
    h->items[b] = t;
}

bool heap_put(struct heap *h, struct instant at, void *thing)
{
    if (h->n == h->cap) {
        size_t cap = h->cap ? h->cap * 2 : 64;
        struct heap_item *grown = realloc(h->items, cap * sizeof *grown);
        if (!grown) return false;
        h->items = grown;
        h->cap = cap;
    }
    size_t i = h->n++;
    h->items[i] = (struct heap_item){at, h->next_seq++, thing};
    for (; i > 0 && before(&h->items[i], &h->items[(i - 1) / 2]); i = (i - 1) / 2) swap(h, i, (i - 1) / 2);
    return true;
}

struct instant heap_next(const struct heap *h) { return h->n ? h->items[0].at : INSTANT_NEVER; }

void *heap_take(struct heap *h)
{
    if (h->n == 0) return NULL;
    void *thing = h->items[0].thing;
    h->items[0] = h->items[--h->n];
    for (size_t i = 0;;) {
        size_t least = i, l = 2 * i + 1, r = l + 1;
        if (l < h->n && before(&h->items[l], &h->items[least])) least = l;
        if (r < h->n && before(&h->items[r], &h->items[least])) least = r;
        if (least == i) break;
        swap(h, i, least);
        i = least;
    }
    return thing;
}
