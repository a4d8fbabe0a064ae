/* A scenario file: which world, for how long, what goes wrong, who does what when; docs/scenarios.md describes every key.
 * One run of it is deterministic. A scenario may have several parts; each is a run of its own. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "base/arena.h"
#include "config/diag.h"
#include "sim/world.h"

#define SCENARIO_PARTS_MAX 32
#define SCENARIO_STEPS_MAX 64

enum scenario_step_kind { STEP_FAULT, STEP_COMMAND, STEP_RELEASE, STEP_BY_HAND, STEP_METRIC_FAULT, STEP_RECONCILE, STEP_CLOCK };

struct scenario_step {
    enum scenario_step_kind kind;
    struct instant at;
    struct plant_fault fault;
    struct metric_fault metric;
    bool waits;                      /* BY_HAND: `at` counts from the first record of kind `on` */
    enum record_kind on;
    struct span by;                  /* RECONCILE: between two looks; CLOCK: the step */
    struct command command;
    const char *knob, *value, *version;
};

struct scenario_series { const char *signal, *text; };
struct scenario_knob { const char *name; double value; };

/* What a tick must have come to at a time; what is NULL or NaN is not asked. For `trimtab test`. */
struct scenario_expect {
    struct instant at;
    const char *state, *decision, *reason, *symptom, *cause, *knob;
    double to;
    struct text_pos pos;
};

#define SCENARIO_EXPECT_MAX 64

/* What the first automatic change of the whole part must be. For `trimtab test`. */
struct scenario_first {
    bool asked;
    const char *knob;                /* "": none at all */
    enum direction direction;
    struct text_pos pos;
};

struct scenario_part {
    const char *name;
    enum world_kind kind;
    const char *policy;              /* file beside the scenario, or the name of a shipped one */
    const char *service;             /* which of the policy's services; NULL: it has one */
    struct span interval;            /* script worlds: between two values of a series; 0: the tick */
    bool has_mode;
    enum mode mode;                  /* over the policy's */
    struct wall start;
    struct span history, duration;
    struct plant_config plant;
    struct scenario_step steps[SCENARIO_STEPS_MAX]; uint16_t step_count;
    struct scenario_series series[POLICY_SIGNALS_MAX]; uint16_t series_count;
    struct scenario_knob knobs[POLICY_KNOBS_MAX]; uint16_t knob_count;
    struct scenario_expect expect[SCENARIO_EXPECT_MAX]; uint16_t expect_count;
    struct scenario_first first_write;
};

struct scenario {
    const char *name, *about;
    uint64_t seed;
    struct scenario_part *parts; uint16_t part_count;
};

/* NULL: errors are in `d` with file, line, column and hint. Lives in `a`. */
const struct scenario *scenario_parse(struct arena *a, const char *bytes, size_t len, const char *path,
                                      struct config_diagnostics *d);
/* Bytes of a shipped scenario or policy by name ("reference"); NULL when there is none. */
const char *scenario_shipped(const char *name, size_t *ret_len);
const char *scenario_shipped_policy(const char *name, size_t *ret_len);
/* Names of the shipped scenarios, NULL at the end. */
const char *const *scenario_names(void);

#endif
