#include "detect/series.h"

#include <string.h>

static const struct { uint32_t rows, width; } parts[] = {
    {SERIES_BLOCKS, BLOCK_WIDTH}, {SERIES_POINTS, POINT_WIDTH}, {SERIES_WEIGHTS, 4}, {SLOT_RING, 2},
    {SLOTS_WEEK, 2}, {SLOT_RING / 8, 1}, {SLOTS_DAY, 4}, {SLOTS_DAY, 1},
};
enum { PARTS = sizeof parts / sizeof *parts };

static size_t row_size(unsigned i, uint32_t n)
{
    size_t bytes = (size_t)parts[i].width * n;
    return i == 0 ? (bytes + 3) / 4 * 4 : bytes;         /* of blocks: the next row begins with numbers again */
}

/* Whole words: the digest takes them. */
static size_t part_size(unsigned i, uint32_t n) { return (parts[i].rows * row_size(i, n) + 7) / 8 * 8; }

size_t archive_size(uint32_t n)
{
    size_t size = 0;
    for (unsigned i = 0; i < PARTS; i++) size += part_size(i, n);
    return size;
}

void archive_place(struct archive *a, char *memory, uint32_t n)
{
    char *at = memory;
    char **places[PARTS] = {&a->blocks, &a->points, &a->requests, &a->slots, &a->weeks, &a->marks, &a->season, &a->season_days};
    for (unsigned i = 0; i < PARTS; i++) {
        *places[i] = at;
        at += part_size(i, n);
    }
    a->memory = memory;
    a->size = (size_t)(at - memory);
    a->block_row = row_size(0, n);
    a->n = n;
}

void archive_copy(struct archive *to, const struct archive *from)
{
    static const char zeros[4096];
    for (size_t at = 0; at < from->size; at += sizeof zeros) {
        size_t n = from->size - at < sizeof zeros ? from->size - at : sizeof zeros;
        if (memcmp(from->memory + at, zeros, n) != 0) memcpy(to->memory + at, from->memory + at, n);
    }
}
