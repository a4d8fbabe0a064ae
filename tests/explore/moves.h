/* Inside of the explorer: what events.c, faults.c and people.c share. */
#ifndef EXPLORE_MOVES_H
#define EXPLORE_MOVES_H

#include <stdio.h>

#include "explore/world.h"

enum symptom_now { SYM_TRUE, SYM_FALSE, SYM_CLEARS, SYM_UNKNOWN, SYM_BLIND };

struct tick {
    enum symptom_now symptom;
    bool later, poll, only_active, no_reads, advice, alert_mode, old_doubtful, short_gap;
    int harm;                         /* 1 early harm, 2 a neighbour's incident */
    enum verdict verdict;
};

struct moves {
    const struct world *w;
    successor_fn *fn;
    void *user;
};

void tick_event(const struct world *w, const struct tick *t, struct control_event *e);
void moves_emit(struct moves *m, struct world *next, uint16_t row, const char *what);          /* the environment alone */
void moves_step(struct moves *m, const struct world *from, const struct control_event *e, const char *what);
bool window_may_end(const struct world *w, unsigned k);
void window_ends(struct world *w, unsigned k);
void gap_ends(struct world *w);
void store_good(struct world *w);

void free_moves(struct moves *m);     /* faults.c: what ends by itself */
void faults(struct moves *m);         /* faults.c: each costs one of the budget */
void people_free(struct moves *m);    /* people.c: answers to what the loop asks */
void people(struct moves *m);         /* people.c: each costs one of the budget */

#endif
