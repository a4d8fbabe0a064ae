/* The families of traps, clean months, and the placebo. */
#include "sim/family_inside.h"

/* A person sets a knob by hand while trimtab may be at work. */
static void person_writes(struct draft *d)
{
    static const char *const values[] = {"48", "32", "16"};
    draft_curable(d);
    int64_t at = d->onset_s + draft_minutes(d, "hand", 5, 40);
    draft_line(d, "by_hand", "{at: %llds, knob: batch_max, value: \"%s\"}", (long long)at,
               values[(unsigned)draft_uniform(d, "value", 0, 3)]);
}

static void clean_month(struct draft *d)
{
    draft_param(d, "rate", draft_uniform(d, "rate", 12000, 15000));
    draft_param(d, "day_amp", draft_uniform(d, "day_amp", .1, .45));
    draft_param(d, "weekend", draft_uniform(d, "weekend", .6, 1.05));
    draft_param(d, "load_sigma", draft_log(d, "load_sigma", .003, .03));
    draft_param(d, "load_tau_s", draft_log(d, "load_tau", 5, 300));
    d->history_s = 14 * 86400;
    d->duration_s = 30 * 86400;
}

const struct family family_traps[] = {
    {"person-writes", INTENT_TRAP, "A person changes the batch limit while an incident runs.", person_writes},
    {"clean-month", INTENT_CLEAN, "A healthy month with days and weekends.", clean_month},
};
const unsigned family_trap_count = sizeof family_traps / sizeof family_traps[0];
