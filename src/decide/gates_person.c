#include "decide/pass.h"

static enum hold ask_if(bool ask)
{
    return ask ? HOLD_WAIT : HOLD_OPEN;
}

static enum hold tier_2(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p;
    gate_numbers(g, a->tier, 2, UNIT_ONE);
    if (a->tier == 2 && a->def->tier == 1) gate_say(g, "tier 1 in the file counts as tier 2 here");
    return ask_if(a->tier >= 2);
}

static enum hold mode_confirm(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    bool storm = p->st->storm && a->mode == MODE_AUTO;
    if (storm) gate_say(g, "many services degrade at once: look for a common cause");
    return ask_if(a->mode == MODE_CONFIRM || storm);
}

static enum hold n_auto(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a;
    gate_numbers(g, p->st->n_auto, DECIDE_AUTO_IN_A_ROW, UNIT_ONE);
    return ask_if(p->st->n_auto >= DECIDE_AUTO_IN_A_ROW);
}

static enum hold breaker(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)a, (void)g;
    return ask_if(p->st->breaker);
}

static enum hold restart_knob(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p, (void)g;
    return ask_if(a->def->apply == APPLY_RESTART);
}

static enum hold no_cas(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p, (void)g;
    return ask_if(!a->def->cas && !a->def->single_writer);
}

static enum hold mode_alert(const struct pass *p, const struct attempt *a, struct gate_result *g)
{
    (void)p, (void)g;
    return ask_if(a->mode == MODE_ALERT);
}

const struct gate gates_person[] = {
    {REASON_TIER_2, tier_2},   {REASON_MODE_CONFIRM, mode_confirm}, {REASON_N_AUTO, n_auto},
    {REASON_BREAKER, breaker}, {REASON_RESTART_KNOB, restart_knob}, {REASON_NO_CAS, no_cas},
};
const uint16_t gates_person_count = ARRAY_LEN(gates_person);

const struct gate gates_last[] = {{REASON_MODE_ALERT, mode_alert}};
const uint16_t gates_last_count = ARRAY_LEN(gates_last);
