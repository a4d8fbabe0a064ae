/* Named worlds: the reference service with settings and faults that are known to tell a certain story (issue scenarios, demo acts).
 * The numbers they give are in this room's README and held by plant_world_test.c, in both forms of the plant. */
#ifndef SIM_PLANT_WORLD_H
#define SIM_PLANT_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "sim/plant_config.h"
#include "sim/plant_fault.h"

enum { PLANT_WORLD_SETS = 3, PLANT_WORLD_FAULTS = 3 };

struct plant_world {
    const char *name, *story;
    struct { const char *param; double value; } set[PLANT_WORLD_SETS];          /* ends at param NULL */
    struct { enum fault_kind kind; double size; int64_t ramp_us; } fault[PLANT_WORLD_FAULTS]; /* ends at size 0 */
};

const struct plant_world *plant_worlds(size_t *ret_n);
/* NOT_FOUND names the ones there are. */
enum status plant_world_find(const char *name, const struct plant_world **ret, struct err *e);
/* The reference parameters with the world's own over them. */
void plant_world_config(const struct plant_world *w, struct plant_config *ret);
/* Its faults, beginning at `at_us` and ending at `until_us` (0: never). Returns how many. */
unsigned plant_world_faults(const struct plant_world *w, int64_t at_us, int64_t until_us,
                            struct plant_fault ret[PLANT_WORLD_FAULTS]);

#endif
