/* A bad disk under the real store: a VFS over the system's that fails on command, knows what was synced, and plays power cuts:
 * a write that was not synced is there, lost, or torn into sectors. One at a time in a process. */
#ifndef SIM_SWARM_DISK_H
#define SIM_SWARM_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

#define DISK_VFS "swarm"
#define DISK_ALWAYS UINT64_MAX

/* What the disk does now. */
struct disk_weather {
    bool full;                       /* writes find no space */
    bool fails, torn;                /* writes fail; torn: half of one is there */
    bool sync_fails;
    uint64_t writes_left;            /* then the process is dead; DISK_ALWAYS */
};

void disk_begin(void);               /* forgets all; registers the VFS the first time */
void disk_end(void);
struct disk_weather *disk_weather(void);
bool disk_sync_failed(void);         /* since this was asked last */
/* The process is dead: nothing that it still does reaches a file. */
void disk_process_dies(void);
/* The kernel goes on without it and writes everything back. */
void disk_settle(void);
/* The power fails instead, and comes back: the files are what a disk may hold then. */
void disk_power_cut(struct prng *chance);
void disk_process_lives(void);

#endif
