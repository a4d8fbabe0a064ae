/* One part of a scenario, made ready to run: its policy and its world with all that is going to happen in it. */
#ifndef SIM_PART_H
#define SIM_PART_H

#include "sim/scenario.h"

/* The shipped policy of that name, else the file, beside `folder` (NULL: as it is). NULL: see `d`. For config_free. */
struct policy *part_policy(const struct scenario_part *part, const char *folder, struct config_diagnostics *d);
/* Of its one service, over what the file says. */
void part_set_mode(struct policy *p, enum mode mode);
/* NULL and *e: the plant refuses its configuration, a fault, series or knob does not fit. */
struct world *part_world(const struct scenario_part *part, struct policy *policy, uint64_t seed, struct err *e);
/* The same, in steps as long as a tick (world_options.coarse). */
struct world *part_world_coarse(const struct scenario_part *part, struct policy *policy, uint64_t seed, struct err *e);

#endif
