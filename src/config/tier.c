/* How much risk a knob may carry: loop.md section 1 "replicas", spec section 5. */
#include "config/build.h"

static const struct config_node *tier_at(const struct config_work *w, uint16_t i)
{
    return w->knobs[i].tier.at ? w->knobs[i].tier.at : w->knob_nodes[i];
}

static void check_replicas(struct config_work *w, uint16_t i)
{
    const struct config_knob *raw = &w->knobs[i];
    const struct knob_def *k = &w->s->knobs[i];
    const struct config_node *ladder = raw->ladder.at;
    if (k->tier == 1 && !raw->budget.at)
        config_wrong(w->d, tier_at(w, i), "write `budget: own` if that is so",
                     "replicas are tier 1 only with their own budget, said in the file");
    bool one = k->ladder == LADDER_STEP && k->ladder_by == 1;
    bool quarter = k->ladder == LADDER_FACTOR && k->ladder_by <= 1.25;
    if (raw->ladder.is_set && ladder->kind == CONFIG_SCALAR && !one && !quarter && k->ladder_by > 0)
        config_wrong(w->d, ladder, "write +1 or +25%", "replicas move by one, or by a quarter, at a time");
}

/* A tier below what the class, the budget, the owner or the way of applying allows. */
static void check_low_tier(struct config_work *w, uint16_t i)
{
    const struct config_knob *raw = &w->knobs[i];
    const struct knob_def *k = &w->s->knobs[i];
    const struct config_node *at = tier_at(w, i);
    int usual = class_default_tier(k->class);
    if (raw->owner.word != CONFIG_OWNER_NONE && k->tier < 3)
        config_wrong(w->d, at, "write tier 3: trimtab then advises its bounds",
                     "another controller (%s) writes this knob: it can only be tier 3", raw->owner.at->text);
    if (k->budget == BUDGET_SHARED && k->tier < 3)
        config_wrong(w->d, at, "write tier 3", "this knob spends a shared budget: it can only be tier 3");
    if (k->tier < usual && k->class != CLASS_REPLICAS)
        config_wrong(w->d, at, NULL, "class %s is tier %d at least: %s", class_name(k->class), usual,
                     usual == 2 ? "a person always approves" : "advice only");
    if (k->tier == 1 && k->apply == APPLY_RESTART)
        config_wrong(w->d, at, "write tier 2", "a knob that needs a restart is tier 2 at least");
    if (k->tier == 1 && k->apply == APPLY_RELOAD && !raw->gapless.flag && service_instances(w->s) < 2)
        config_wrong(w->d, at, "write tier 2, or `gapless: true` if that was proven",
                     "a knob that needs a reload is tier 1 only with 2 or more instances or a proven gapless reload");
}

void config_check_tier(struct config_work *w, uint16_t i)
{
    const struct knob_def *k = &w->s->knobs[i];
    if (w->knobs[i].tier.is_wrong) return;
    check_low_tier(w, i);
    if (k->class == CLASS_REPLICAS) check_replicas(w, i);
    if (!w->cut && w->s->class_mode[k->class] == MODE_AUTO && k->tier == 1 && !k->cas && !k->single_writer &&
        !w->knobs[i].cas.is_wrong)
        config_warn(
            w->d, w->knob_nodes[i],
            "write `cas: true` if the target can compare and set, or `single_writer: true` if nobody else writes it",
            "'%s' is in mode auto, but each change of it will ask a person: it has neither `cas` nor `single_writer`",
            k->name);
}
