#include "promql/sort.h"

#include <string.h>

#include "base/check.h"

#define INSERTION_MAX 32
#define ELEMENT_MAX 64

static void insertion(char *p, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    char hold[ELEMENT_MAX];
    for (size_t i = 1; i < n; i++) {
        size_t k = i;
        while (k && compare(p + (k - 1) * size, p + i * size) > 0) k--;
        if (k == i) continue;
        memcpy(hold, p + i * size, size);
        memmove(p + (k + 1) * size, p + k * size, (i - k) * size);
        memcpy(p + k * size, hold, size);
    }
}

static void swap(char *a, char *b, size_t size)
{
    char hold[ELEMENT_MAX];
    memcpy(hold, a, size);
    memcpy(a, b, size);
    memcpy(b, hold, size);
}

static void sink(char *p, size_t at, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(p + child * size, p + (child + 1) * size) < 0) child++;
        if (compare(p + at * size, p + child * size) >= 0) return;
        swap(p + at * size, p + child * size, size);
    }
}

void pq_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    CHECK(size <= ELEMENT_MAX);
    char *p = items;
    if (n <= INSERTION_MAX) {
        insertion(p, n, size, compare);
        return;
    }
    for (size_t i = n / 2; i-- > 0;) sink(p, i, n, size, compare);
    for (size_t end = n; end-- > 1;) {
        swap(p, p + end * size, size);
        sink(p, 0, end, size, compare);
    }
}
