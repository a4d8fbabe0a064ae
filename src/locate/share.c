/* The time split: which part of the growth of latency a cause explains. */
#include <math.h>

#include "locate/locate.h"

static uint16_t latency_signal(const struct service_def *s)
{
    return s->judge.latency_mean < s->signal_count ? s->judge.latency_mean : s->judge.latency;
}

static double known(const struct evidence *e, enum fn fn, uint16_t signal)
{
    int at = needs_find(e->needs, (struct need){.fn = fn, .subject = signal});
    if (at < 0 || e->items[at].why != WHY_KNOWN || !isfinite(e->items[at].value)) return NAN;
    return e->items[at].value;
}

/* How far the signal is over its baseline, in base units; NaN when either is unknown. */
static double growth(const struct service_def *s, const struct evidence *e, uint16_t signal)
{
    return (known(e, FN_VALUE, signal) - known(e, FN_BASELINE, signal)) * unit_factor(s->signals[signal].unit);
}

double locate_share(const struct service_def *s, const struct evidence *e, uint16_t part_signal)
{
    uint16_t latency = latency_signal(s);
    if (latency >= s->signal_count || part_signal >= s->signal_count) return NAN;
    if (unit_dimension(s->signals[part_signal].unit) != unit_dimension(s->signals[latency].unit)) return NAN;
    double all = growth(s, e, latency), part = growth(s, e, part_signal);
    double least = LOCATE_GROWTH_MIN * fabs(known(e, FN_BASELINE, latency)) * unit_factor(s->signals[latency].unit);
    if (isnan(all) || isnan(part) || !(all > least)) return NAN;
    double share = part / all;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static bool need_signal(struct needs *needs, uint16_t signal)
{
    return needs_add(needs, (struct need){.fn = FN_VALUE, .subject = signal}) >= 0 &&
           needs_add(needs, (struct need){.fn = FN_BASELINE, .subject = signal}) >= 0;
}

bool locate_needs(const struct service_def *s, struct needs *needs)
{
    uint16_t latency = latency_signal(s);
    if (latency >= s->signal_count) return true;
    for (uint16_t i = 0; i < s->cause_count; i++) {
        uint16_t part = s->causes[i].share_signal;
        if (part >= s->signal_count) continue;
        if (!need_signal(needs, latency) || !need_signal(needs, part)) return false;
    }
    return true;
}
