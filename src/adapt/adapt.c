/* Names of services, knobs and targets across a change of policy. */
#include "adapt/adapt.h"

#include <string.h>

#include "base/text.h"

static struct adapt_place place_of(const struct policy *p, uint16_t service, uint16_t index, const char *name)
{
    struct adapt_place place = {.service_index = service, .item_index = index};
    (void)text_copy(place.service, sizeof place.service, p->services[service].name);
    (void)text_copy(place.item, sizeof place.item, name);
    return place;
}

struct adapt_place adapt_place_knob(const struct policy *p, uint16_t service, uint16_t knob)
{
    return place_of(p, service, knob, p->services[service].knobs[knob].name);
}

struct adapt_place adapt_place_target(const struct policy *p, uint16_t service, uint16_t target)
{
    return place_of(p, service, target, p->services[service].targets[target].url);
}

static const struct service_def *find_service(const struct adapt *a, struct adapt_place *place)
{
    const struct policy *p = a->policy(a->ctx);
    uint16_t i = place->service_index;
    if (i >= p->service_count || !text_eq(p->services[i].name, place->service)) i = policy_service(p, place->service);
    if (i == NO_INDEX) return NULL;
    place->service_index = i;
    return &p->services[i];
}

bool adapt_find_knob(const struct adapt *a, struct adapt_place *place)
{
    const struct service_def *s = find_service(a, place);
    if (!s) return false;
    uint16_t k = service_knob(s, place->item);
    if (k == NO_INDEX) return false;
    place->item_index = k;
    return true;
}

/* Two targets may begin alike beyond what is kept; the index tells them apart as long as it fits. */
bool adapt_find_target(const struct adapt *a, struct adapt_place *place)
{
    const struct service_def *s = find_service(a, place);
    if (!s) return false;
    size_t n = sizeof place->item - 1;
    uint16_t t = place->item_index;
    if (t < s->target_count && strncmp(s->targets[t].url, place->item, n) == 0) return true;
    for (t = 0; t < s->target_count; t++) {
        if (strncmp(s->targets[t].url, place->item, n) == 0) {
            place->item_index = t;
            return true;
        }
    }
    return false;
}
