/* trimtab simulate --swarm: many seeded runs with faults, in several processes. */
#ifndef APP_SWARM_H
#define APP_SWARM_H

#include "app/command.h"

int swarm_command(const struct args *a);

#endif
