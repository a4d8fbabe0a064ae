#include "execute/execute.h"

#include <math.h>

#include "model/ladder.h"

enum status execute_next_rung(const struct knob_def *k, const struct knob_value *now, enum direction dir,
                              struct knob_value *ret, struct err *err)
{
    return ladder_next(k, now, dir, ret, err);
}

uint32_t execute_rungs(const struct knob_def *k, double *out, uint32_t cap)
{
    return ladder_rungs(k, out, cap);
}

enum read_class execute_classify(const struct read_vector *r, const struct knob_value *old, const struct knob_value *new_)
{
    CHECK(r->n <= READ_INSTANCES_MAX);
    if (r->n == 0 || r->failed > 0) return READ_NONE;
    uint16_t olds = 0, news = 0;
    for (uint16_t i = 0; i < r->n; i++) {
        if (r->values[i].len == 0) return READ_NONE;
        if (knob_value_same(&r->values[i], new_)) news++;
        else if (knob_value_same(&r->values[i], old)) olds++;
    }
    if (olds + news < r->n) return READ_THIRD;
    return news == 0 ? READ_OLD : olds == 0 ? READ_NEW : READ_MIX;
}

enum read_class execute_classify_versions(const struct read_vector *r, const struct knob_value *old,
                                          const struct knob_value *new_, const struct knob_value *old_at,
                                          const struct knob_value *new_at)
{
    enum read_class c = execute_classify(r, old, new_);
    const struct knob_value *want = c == READ_OLD ? old_at : c == READ_NEW ? new_at : NULL;
    if (!want || r->n != 1 || want->version_len == 0) return c;
    return knob_version_same(&r->values[0], want) ? c : READ_THIRD;
}

struct span execute_deadline(const struct service_def *s, const struct knob_def *k)
{
    if (k->readback.us > 0) return k->readback;
    switch (k->apply) {
    case APPLY_RELOAD: return s->timing.readback_reload;
    case APPLY_RESTART: return s->timing.readback_restart;
    default: return s->timing.readback_hot;
    }
}

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
