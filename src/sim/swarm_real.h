/* The real audit store of the swarm, over a bad disk (swarm_disk.h). */
#ifndef SIM_SWARM_REAL_H
#define SIM_SWARM_REAL_H

#include "sim/swarm_inside.h"

void real_begin(struct swarm *w);                     /* a new, empty folder */
void real_end(struct swarm *w);
/* The process starts: opens the store, proves the log, takes over what is new in it. false: the disk does not let it yet. */
bool real_open(struct swarm *w);
/* OK: durable, and in the log. *ret_fatal: a sync failed, the process has to end. */
enum status real_append(struct swarm *w, const struct swarm_append *a, bool *ret_fatal);
bool real_well(struct swarm *w);
/* The process is killed while `first` and what follows wait for the disk. */
void real_dies(struct swarm *w, const struct swarm_append *first);
/* At the end of the run: one record is changed, dropped, swapped or cut off, and verification must find it (invariant 11). */
void real_forge(struct swarm *w);

#endif
