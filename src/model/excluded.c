#include "model/excluded.h"

bool excluded_has(const struct excluded_list *l, uint16_t cause, uint16_t knob, enum direction d)
{
    for (unsigned i = 0; i < l->n; i++) {
        if (l->items[i].cause == cause && l->items[i].knob == knob && l->items[i].direction == d) return true;
    }
    return false;
}

bool excluded_add(struct excluded_list *l, uint16_t cause, uint16_t knob, enum direction d)
{
    if (excluded_has(l, cause, knob, d)) return true;
    if (l->n >= EXCLUDED_MAX) return false;
    l->items[l->n++] = (struct excluded){cause, knob, d};
    return true;
}
