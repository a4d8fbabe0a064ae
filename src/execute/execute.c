#include "execute/execute.h"

#include <math.h>

/* Seconds until the added room is filled by misses; NaN when that cannot be told. */
static double fill_seconds(const struct knob_def *k, double added, double miss_rate_per_s, double item_bytes)
{
    bool bytes = unit_dimension(k->unit) == DIM_BYTES;   /* else the cache is counted in items */
    double per_s = bytes ? miss_rate_per_s * item_bytes : miss_rate_per_s;
    if (!(per_s > 0)) return NAN;
    return (bytes ? added * unit_factor(k->unit) : added) / per_s;
}

struct span execute_settle(const struct service_def *s, const struct knob_def *k, const struct knob_value *from,
                           const struct knob_value *to, double miss_rate_per_s, double item_bytes)
{
    struct span plain = k->settle.us > 0 ? k->settle : s->timing.settle;
    if (k->class != CLASS_CACHE || !from->is_number || !to->is_number || !(to->decimal > from->decimal)) return plain;
    double fill = fill_seconds(k, to->decimal - from->decimal, miss_rate_per_s, item_bytes);
    if (!(fill > span_seconds(plain))) return plain;
    if (!(fill < span_seconds(EXECUTE_SETTLE_MAX))) return span_max(plain, EXECUTE_SETTLE_MAX);
    return (struct span){(int64_t)ceil(fill * 1e6)};
}
