#include "loop/allowed.h"

#include "decide/decide.h"
#include "expr/expr.h"

static enum tri limit_binds(const struct service_def *s, const struct knob_def *k, double now, const struct evidence *e)
{
    if (k->use_signal >= s->signal_count) return TRI_TRUE;
    int i = needs_find(e->needs, (struct need){.fn = FN_VALUE, .subject = k->use_signal});
    if (i < 0 || e->items[i].why != WHY_KNOWN) return TRI_UNKNOWN;
    return tri_of(e->items[i].value > DECIDE_CEILING_SHARE * now);
}

enum tri loop_allowed(const struct service_def *s, const struct knob_def *k, enum direction d, double now,
                      const struct evidence *e)
{
    enum tri holds = d == DIR_UP ? limit_binds(s, k, now, e) : TRI_TRUE;
    return k->precondition ? tri_and(holds, expr_eval(k->precondition, e)) : holds;
}
