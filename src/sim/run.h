/* Runs a scenario and tells it: as JSON, or as a story. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "base/buf.h"
#include "config/diag.h"
#include "sim/scenario.h"

struct run_options {
    bool has_seed;
    uint64_t seed;
    bool json;
    const char *folder;              /* of the scenario file, for its policies; NULL: shipped ones only */
};

/* Appends the result to `out`. Same scenario and seed, same bytes. INVALID: the policy has errors, see `d`; or *e. */
enum status run_scenario(const struct scenario *s, const struct run_options *o, struct buf *out, struct config_diagnostics *d,
                         struct err *e);

/* Expectations (`expect:`) that held and that did not, of a run with `test`. */
struct run_result { uint32_t passed, failed; };
enum status run_expectations(const struct scenario *s, const struct run_options *o, const char *path, struct buf *out,
                             struct run_result *ret, struct config_diagnostics *d, struct err *e);

#endif
