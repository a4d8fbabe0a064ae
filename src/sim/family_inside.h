/* A world while its family draws it. Private to family*.c. */
#ifndef SIM_FAMILY_INSIDE_H
#define SIM_FAMILY_INSIDE_H

#include "base/prng.h"
#include "sim/family.h"

enum { DRAFT_PARAMS = 24, DRAFT_FAULTS = 24, DRAFT_LINES = 16 };

/* Durations are whole seconds. */
struct draft {
    struct prng root;
    int64_t onset_s, history_s, duration_s;
    struct { const char *name; double value; } params[DRAFT_PARAMS];
    unsigned param_count;
    struct { enum fault_kind kind; int64_t at_s, ramp_s, until_s; double size; unsigned instance; } faults[DRAFT_FAULTS];
    unsigned fault_count;
    struct { const char *list; char text[120]; } lines[DRAFT_LINES];   /* entries of the other lists, ready to print */
    unsigned line_count;
};

struct family {
    const char *name;
    enum family_intent intent;
    const char *about;
    void (*draw)(struct draft *d);
};

/* family.c. `what` names the stream of chance. */
double draft_uniform(const struct draft *d, const char *what, double least, double most);
double draft_log(const struct draft *d, const char *what, double least, double most);       /* log-uniform */
int64_t draft_minutes(const struct draft *d, const char *what, double least, double most);  /* log-uniform; in seconds */
bool draft_coin(const struct draft *d, const char *what, double chance);
/* Sets a parameter of the service; the last one wins. */
void draft_param(struct draft *d, const char *name, double value);
/* From the onset on; until_s 0: for good. Rounded to what the file shows. */
void draft_fault(struct draft *d, enum fault_kind kind, double size, int64_t ramp_s);
void draft_fault_between(struct draft *d, enum fault_kind kind, double size, int64_t at_s, int64_t until_s);
/* An entry of a list such as by_hand or releases. */
void draft_line(struct draft *d, const char *list, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* family_draw.c, family_trap.c */
extern const struct family family_ills[], family_traps[];
extern const unsigned family_ill_count, family_trap_count;

/* A healthy service, no two alike. */
void draft_service(struct draft *d);
/* A disease that one or two steps of a knob cure, as in the reference scenario: for traps that must catch trimtab at work. */
void draft_curable(struct draft *d);

#endif
