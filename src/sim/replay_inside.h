/* Between replay.c (the run) and replay_book.c (what is kept of it). */
#ifndef SIM_REPLAY_INSIDE_H
#define SIM_REPLAY_INSIDE_H

#include "sim/replay.h"

void replay_book_record(struct replay *r, uint16_t service, const struct record *rec, const struct loop *l);
void replay_book_tick(struct replay *r, uint16_t service, const struct loop *l);
void replay_book_end(struct replay *r);
/* One more element at the end of a growing array, zeroed. */
void *replay_grow(void *array, size_t *n, size_t *cap, size_t size);
#define REPLAY_PUSH(array, n, cap) ((array) = replay_grow((array), &(n), &(cap), sizeof *(array)), &(array)[(n) - 1])

#endif
