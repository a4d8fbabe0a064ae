/* The swarm: the shipped loop under a virtual clock, hours to days a run, with faults in every port, and after every event the
 * invariants of the specification's section 12, checked against the world itself (invariants.h). One seed is one run, byte for
 * byte.
 * The last part of a run has no faults: the service must come to rest, watching or in a person's hands. */
#ifndef SIM_SWARM_H
#define SIM_SWARM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/time.h"
#include "sim/faults.h"

#define SWARM_CALM SPAN_HOUR(3)      /* the last part of each run, without faults */
#define SWARM_REST SPAN_MIN(90)      /* in it a service is watched in peace, or in a person's hands, within this */

struct swarm_options {
    uint64_t seed;
    bool has_only;                   /* only these items of the drawn list */
    uint64_t only[(FAULTS_MAX + 63) / 64];
    bool sabotage;                   /* tests of the checker: the shell sends each undo with the value that stands */
    struct buf *story;               /* NULL: not told */
};

struct swarm_result {
    uint64_t seed, events, records, writes, undos, digest;
    struct span lived;               /* simulated service time, of all services together */
    struct span unrest;              /* the longest time in the calm at the end in which a service was not at rest */
    bool violated;
    char what[400];                  /* the first violation: when, what */
    unsigned items, left;            /* faults drawn, and of them not left out */
    unsigned by_kind[RECORD_KIND_COUNT];
    uint64_t bites[FAULTS_KINDS];    /* how often each kind of fault made a difference */
};

/* Runs one seed. INVALID only when the shipped configuration cannot be loaded. */
enum status swarm_run(const struct swarm_options *o, struct swarm_result *ret, struct err *e);
/* Leaves out one item after the other as long as the violation stays. `o->only` is then the shorter list. */
enum status swarm_shrink(struct swarm_options *o, struct swarm_result *ret, struct err *e);
/* What kind of run the seed is: hours, services, target, log; one line. */
void swarm_about(const struct swarm_options *o, struct buf *out);
/* The items that o leaves in, one a line. */
void swarm_list(const struct swarm_options *o, struct buf *out);
/* Frees what is kept between runs (warmed services). */
void swarm_end(void);

#endif
