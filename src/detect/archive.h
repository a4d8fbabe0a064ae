/* What a service keeps of its past: rings of points, blocks and slots, and the shape of its days and weeks. Private to this room.
 * A row holds all signals of the service for one point, block or slot: what one tick writes lies side by side, memory is touched
 * only as history grows, and what is old is looked at so rarely that it may be given to the disk. Zero at birth. */
#ifndef DETECT_ARCHIVE_H
#define DETECT_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

struct archive {
    char *blocks, *points, *requests, *slots, *weeks, *marks, *season, *season_days;   /* rows of each, inside `memory` */
    char *memory;
    size_t size, block_row;      /* bytes: of all, of a row of blocks */
    uint32_t n;
};

size_t archive_size(uint32_t n);             /* bytes for n signals; a multiple of 8 */
/* Into a fresh archive of the same size: what was never written stays unwritten there too. */
void archive_copy(struct archive *to, const struct archive *from);
void archive_place(struct archive *a, char *memory, uint32_t n);

#endif
