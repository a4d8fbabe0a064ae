/* Parameters of the simulated inference service by name, with limits. The table is plant_param.def. */
#ifndef SIM_PLANT_CONFIG_H
#define SIM_PLANT_CONFIG_H

#include <stddef.h>

#include "base/status.h"

struct plant_config {
#define X(field, dflt, least, most, unit, meaning) double field;
#include "sim/plant_param.def"
#undef X
};

struct plant_param {
    const char *name, *unit, *meaning;
    double dflt, least, most;
    size_t offset;               /* of its double in struct plant_config */
};

/* The reference service, scenario R2 of loop.md section 7. */
void plant_config_reference(struct plant_config *c);
/* All parameters in the table's order; ends at *ret_n. For reading scenario files and for their documentation. */
const struct plant_param *plant_params(size_t *ret_n);
/* NOT_FOUND with the nearest name; INVALID outside the limits. */
enum status plant_config_set(struct plant_config *c, const char *name, double value, struct err *e);
/* Every field within its limits. */
enum status plant_config_check(const struct plant_config *c, struct err *e);

#endif
