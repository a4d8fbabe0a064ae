/* Inside of a scenario's run: shared by run*.c only. */
#ifndef SIM_RUN_INSIDE_H
#define SIM_RUN_INSIDE_H

#include "sim/naive.h"
#include "sim/run.h"

struct run {
    const struct scenario *scenario;
    const struct scenario_part *part;
    const struct run_options *o;
    const struct policy *policy;
    struct buf *out;
    struct config_diagnostics *d;
    uint64_t seed, digest;
    uint32_t rows, parts;
    struct buf tail;                 /* JSON of the parts' ends */
    struct buf last_knobs;           /* of the part that ended last */
    struct naive naive;
    uint64_t naive_ticks, naive_acts;
    struct instant naive_first;
    struct run_result *result;       /* expectations are looked at, and nothing else is told; NULL: a plain run */
    const char *path;                /* of the scenario file, for what was not as expected */
};

/* run_expect.c */
void run_expect(struct run *r, struct world *w);


/* run_tell.c */
void run_begins(struct run *r);
void run_part_begins(struct run *r);
void run_json_row(struct run *r, const struct world_row *row);
void run_story_row(struct run *r, const struct world_row *row);
void run_part_ends(struct run *r, struct world *w);
void run_ends(struct run *r);
double run_knob(const struct world *w, const char *knob);   /* NaN: no such knob */

#endif
