/* Scheduled changes of the simulated world: what happens, from when, how fast, how long. loop.md section 8. */
#ifndef SIM_PLANT_FAULT_H
#define SIM_PLANT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum fault_kind {
#define X(name, word, neutral, least, most, meaning) FAULT_##name,
#include "sim/plant_fault.def"
#undef X
    FAULT_KINDS
};

#define PLANT_VERSION_MAX 32

/* Plain data, no holes: it is part of the saved state. */
struct plant_fault {
    int64_t at_us;       /* start, in plant time */
    int64_t ramp_us;     /* linear from neutral to size over this; 0 = step */
    int64_t until_us;    /* end (a step back to neutral); 0 = never */
    double size;
    uint32_t kind;       /* enum fault_kind */
    uint32_t instance;   /* BAD_INSTANCE: replica from 0 */
    char version[PLANT_VERSION_MAX];  /* RELEASE: the new model version, terminated */
};

const char *fault_word(enum fault_kind kind);
const char *fault_meaning(enum fault_kind kind);
/* false: no such word. */
bool fault_kind_of(const char *word, enum fault_kind *ret);
double fault_neutral(enum fault_kind kind);
/* INVALID with a sentence when the fault makes no sense: size outside its range, times out of order, unknown kind. */
enum status fault_check(const struct plant_fault *f, struct err *e);
/* Value at `now_us`: neutral before `at` and from `until` on, in between as the ramp has it. */
double fault_value(const struct plant_fault *f, int64_t now_us);

#endif
