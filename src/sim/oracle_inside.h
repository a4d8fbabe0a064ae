/* Inside of the oracle: shared by oracle*.c only. */
#ifndef SIM_ORACLE_INSIDE_H
#define SIM_ORACLE_INSIDE_H

#include "sim/oracle.h"

/* Of all replayed sequences. */
struct oracle_best {
    bool any_restores, scaling_restores;
    double late, degraded_min, worst_single, least_single;   /* single: of the moves alone, late p99 */
    char name[96];               /* of the one with the least degraded minutes */
    uint32_t replays;
};

/* The newest five minutes of truth. */
enum { ORACLE_RECENT = 10 };
struct oracle_recent { struct plant_window of[ORACLE_RECENT]; uint32_t n; };   /* n: ticks seen in all */

/* Does the whitelist let anybody turn the knob that way, by its precondition and by the use of its limit? Yes, when they hold on
 * any tick of the last five minutes, or ask for what the target itself does not tell. */
bool oracle_allowed(const struct service_def *s, const struct oracle_recent *recent, const struct rig *r,
                    const struct knob_def *k, enum direction d);

/* Replays every sequence from o->t0 on, in the world's own form, or in both (see oracle.h). */
enum status oracle_replay(const struct oracle_world *w, const struct oracle *o, struct oracle_best *ret, struct err *e);

#endif
