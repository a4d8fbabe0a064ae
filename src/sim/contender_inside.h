/* Inside of the contenders: shared by contender*.c only. */
#ifndef SIM_CONTENDER_INSIDE_H
#define SIM_CONTENDER_INSIDE_H

#include "sim/contender.h"

/* Changes of knobs, for counting acts and flips. */
struct acts {
    struct conduct *c;
    struct { bool any, undone; enum direction direction; struct instant at; } last[POLICY_KNOBS_MAX];
    struct instant first;
};
void acts_forward(struct acts *a, unsigned knob, enum direction d, struct instant now);
void acts_undone(struct acts *a, unsigned knob, struct instant now);

/* What the target did, tick by tick. */
struct truth { double *p99; uint32_t n, cap; double replica_s; };
bool truth_begin(struct truth *t, uint32_t ticks);
void truth_add(struct truth *t, const struct plant_window *w);
void truth_end(struct truth *t, const struct contest *c, struct conduct *ret);   /* the figures; frees */

/* A tuner without a loop of its own: state, the target, and what its metrics say. */
struct tuner {
    const struct contest *contest;
    const struct contender *contender;
    struct rig *rig;
    struct acts acts;
    struct naive naive;
    struct { double wanted[64]; struct instant at[64]; unsigned n; } hpa;   /* of the last five minutes */
};
/* Sets a knob within the policy's limits, if the policy has it, and counts it when the target's value changed. */
void tuner_set(struct tuner *t, const char *knob, double value);

void hpa_tick(struct tuner *t, const struct plant_window *w);
void aimd_tick(struct tuner *t, const struct plant_window *w);
void naive_tick(struct tuner *t, const struct plant_window *w);

/* contender_loop.c */
enum status contender_loop(const struct contender *c, const struct contest *t, struct conduct *ret, struct err *e);
/* contender_without.c */
extern const struct contender contender_ablations[];
extern const unsigned contender_ablations_n;

#endif
