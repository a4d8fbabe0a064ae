/* Excluded in one incident: cause x knob x direction (loop.md section 4). Shared by locate, decide and loop. */
#ifndef MODEL_EXCLUDED_H
#define MODEL_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/enums.h"

#define EXCLUDED_MAX 64
struct excluded { uint16_t cause, knob; enum direction direction; };
struct excluded_list { struct excluded items[EXCLUDED_MAX]; uint16_t n; };

bool excluded_has(const struct excluded_list *l, uint16_t cause, uint16_t knob, enum direction d);
bool excluded_add(struct excluded_list *l, uint16_t cause, uint16_t knob, enum direction d);  /* false: full; true: there now */

#endif
