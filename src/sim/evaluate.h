/* One world through everybody: a scenario file of one part, labelled by the oracle, then run by each contender. */
#ifndef SIM_EVALUATE_H
#define SIM_EVALUATE_H

#include "config/diag.h"
#include "sim/contender.h"

#define EVALUATE_NAME_MAX 64

/* Who takes part, as bits in the order of contender_list(). */
struct evaluate_options {
    uint32_t who;
    uint64_t seed_add;           /* added to the file's seed: run 0, 1, 2 ... of one world */
    struct span clean;           /* clean worlds go on for so long; 0: as their file says */
    const char *folder;          /* of the file, for its policy; NULL: shipped ones only */
};

/* Plain data without pointers: it goes through a pipe. */
struct evaluate_result {
    bool broken;                 /* not run: `why` says the place and what is wrong */
    char why[600];
    char name[EVALUATE_NAME_MAX], family[EVALUATE_NAME_MAX];
    char policy[65];             /* revision: SHA-256 of its bytes */
    uint64_t seed;
    enum label label;
    bool degraded, harmful_knob, scaling_cures, release, inert;
    double onset_s, years, block_sd, usual_p99, late, best_late, best_degraded_min, objective;
    char best[96];
    uint32_t replays;
    struct conduct conduct[CONTENDERS_MAX];
};

/* `path` is for messages; the family is the scenario's name without a number at its end. Never fails: what is wrong with the
 * file is in `ret`. */
void evaluate_world(const char *bytes, size_t len, const char *path, const struct evaluate_options *o,
                    struct evaluate_result *ret);

#endif
