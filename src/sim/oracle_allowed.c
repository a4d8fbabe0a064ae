/* Which moves the whitelist lets anybody make: what the knob's precondition and the use of its limit say of the true state. */
#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "loop/allowed.h"
#include "sim/oracle_inside.h"
#include "sim/world.h"

/* The values of a tick as far as the target itself tells them; what needs a past (baselines, profiles) stays unknown. */
static void fill(const struct service_def *s, const struct plant_window *w, const struct rig *r, struct datum *items)
{
    for (uint16_t i = 0; i < s->needs.n; i++) {
        const struct need *n = &s->needs.items[i];
        bool level = n->fn == FN_VALUE || n->fn == FN_MEAN;
        double v = level ? world_signal_of(w, s->signals[n->subject].name)
                         : n->fn == FN_KNOB ? rig_get(r, s->knobs[n->subject].name) : (double)NAN;
        items[i] = (struct datum){.value = v, .n = 1, .why = isfinite(v) ? WHY_KNOWN : WHY_MISSING};
    }
}

bool oracle_allowed(const struct service_def *s, const struct oracle_recent *recent, const struct rig *r,
                    const struct knob_def *k, enum direction d)
{
    struct datum *items = calloc(s->needs.n ? s->needs.n : 1u, sizeof *items);
    struct evidence e = {.needs = &s->needs, .items = items};
    bool allowed = recent->n == 0;
    CHECK_MEMORY(items);
    for (uint32_t i = 0; i < ORACLE_RECENT && i < recent->n && !allowed; i++) {
        fill(s, &recent->of[i], r, items);
        allowed = loop_allowed(s, k, d, rig_get(r, k->name), &e) != TRI_FALSE;
    }
    free(items);
    return allowed;
}
