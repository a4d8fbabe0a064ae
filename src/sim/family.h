/* Families of worlds for the evaluation (loop.md section 8): each draws one world from a seed and writes it as a scenario file, so
 * that anybody can look at it, change it and run it again. What a world truly is (tunable, incurable ...) is told by the
 * oracle afterwards; the intent here only says what the family was made for. Nothing here knows a policy. */
#ifndef SIM_FAMILY_H
#define SIM_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "sim/world.h"

enum family_intent {
    INTENT_TUNABLE, INTENT_INCURABLE, INTENT_TRAP, INTENT_CLEAN, INTENT_PLACEBO, INTENT_SELF_HEALING, INTENT_COUNT
};

/* All names in a fixed order, NULL at the end. */
const char *const *family_names(void);
/* false: no such family. `ret` may be NULL. */
bool family_intent(const char *family, enum family_intent *ret);
/* "tunable", "incurable", "trap", "clean", "placebo", "self-healing". */
const char *family_intent_word(enum family_intent intent);
/* One sentence; "" for an unknown name. */
const char *family_about(const char *family);

/* Appends the scenario file of one world: one part, mode auto, the reference policy. Same family, seed and kind, same bytes.
 * Every parameter has its own stream of chance, so that a change of one draw moves no other. `kind` is WORLD_PLANT or
 * WORLD_FLUID; both get the same world. NOT_FOUND with the nearest name; INVALID: a scripted world was asked for. */
enum status family_write(const char *family, uint64_t seed, enum world_kind kind, struct buf *ret_yaml, struct err *e);

#endif
