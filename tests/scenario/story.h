/* The files of tests/scenario/gates: each pair tells one gate twice, once shut and once lifted.
 *
 *   policy: policy.yaml           # beside the file
 *   services: [plain]             # those of the policy that run; the first is the one looked at
 *   series: {SIGNAL: "38 @24h 46.8"}   knobs: {KNOB: 32}   until: 24h10m   start: 2026-05-11T00:00:00Z
 *   pairs:
 *     - gate: tier-2              # the reason code
 *       with: [restart-knob]      # gates that cannot be open when this one is shut
 *       quiet: 24h                # writes count from then on
 *       shut: {services: [tier-2]}
 *       lifted: {steps: [{at: 24h8m, do: approve}]}
 *   states:                       # whole runs in which codes of kind STATE, PLAN and VOID occur
 *     - {reasons: [healthy], ...}
 *
 * What a pair says holds over the file, what shut or lifted says over the pair; `series`, `knobs` and `of` by name.
 * `holds: {KNOB: 32}`: what the target has at the end. `never: [CODES]` (of states): they must not occur.
 * `of: {SERVICE: {series: ..., knobs: ...}}` is for one service. Steps: {at, do, service, ...}, see story.c. */
#ifndef SCENARIO_STORY_H
#define SCENARIO_STORY_H

#include "config/tree.h"
#include "model/reason.h"
#include "scenario/world.h"

#define LAYERS_MAX 3                 /* file, pair, twin: later ones win */

struct tale {
    const struct config_node *layers[LAYERS_MAX];
    unsigned layer_n;
    const char *folder;
};

struct seen {
    uint64_t reasons;                /* bit per reason: of decisions, and of VOID and EXPIRED records */
    bool only;                       /* a tick on which exactly the expected gates were shut */
    uint64_t others;                 /* gates that were shut beside it on the nearest such tick */
    unsigned sends;                  /* forward writes to the first service since `quiet` */
    bool holds;                      /* its target ends with the values under `holds` */
    struct buf said, replies;        /* notices; answers to commands */
};

/* Runs it. `gate` NONE: nothing is looked for but reasons. All that is wrong with the file fails the test. */
void story_run(const struct tale *s, enum reason gate, uint64_t with, struct seen *ret);
const struct config_node *story_get(const struct tale *s, const char *key);   /* of the topmost layer that has it */

#endif
