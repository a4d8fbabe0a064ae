/* A simulated target without a tuner: the plant of a scenario part, tick by tick, with its faults and what people do to it by
 * hand. Whoever tunes it reads a window a tick and sets knobs. The same part and seed see the same chance whoever tunes. */
#ifndef SIM_RIG_H
#define SIM_RIG_H

#include "sim/scenario.h"

struct rig;

enum rig_world { RIG_AS_IT_IS, RIG_HEALTHY };   /* HEALTHY: the same service to which nothing happens */

/* `kind`: WORLD_PLANT or WORLD_FLUID; the part's own, or the other form of the same service. `part` must outlive the rig.
 * NULL and *e: the plant refuses its configuration or a fault. */
struct rig *rig_new(const struct scenario_part *part, enum world_kind kind, enum rig_world which, uint64_t seed,
                    struct span tick, struct err *e);
/* Steps as long as a tick (fluid_coarse), before the first tick. A plant stays as it is. */
void rig_coarse(struct rig *r);
struct rig *rig_clone(const struct rig *r);     /* NULL: out of memory */
void rig_free(struct rig *r);                   /* takes NULL */
/* One tick further; what happened in it. */
void rig_tick(struct rig *r, struct plant_window *ret);
struct instant rig_now(const struct rig *r);
uint64_t rig_restarts(const struct rig *r);     /* of the process, since creation */
/* NaN: no such knob. */
double rig_get(const struct rig *r, const char *knob);
/* As a server takes it: REFUSED values leave the knob as it was, and give false. */
bool rig_set(struct rig *r, const char *knob, double value);

#endif
