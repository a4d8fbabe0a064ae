/* The settings that trimtab may turn, as a server takes them: text in, text out, limits kept. */
#include <math.h>

#include "base/num.h"
#include "base/text.h"
#include "sim/plant_state.h"

static const char *const names[] = {"batch_max", "concurrency", "feature_cache_mb", "replicas", "placebo"};
enum { KNOB_BATCH, KNOB_CONCURRENCY, KNOB_CACHE, KNOB_REPLICAS, KNOB_PLACEBO };

const char *const *plant_knob_names(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(names);
    return names;
}

/* Index in `names`, or -1. */
static int knob_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (text_eq(name, names[i])) return (int)i;
    return -1;
}

static const double *knob_field(const struct plant *p, int knob)
{
    const double *fields[] = {&p->batch_max, &p->concurrency, &p->cache_mb, &p->replicas, &p->placebo};
    return fields[knob];
}

static enum status no_knob(const char *knob, struct err *e)
{
    return err_set(e, STATUS_NOT_FOUND,
                   "no knob %.60s; there are batch_max, concurrency, feature_cache_mb, replicas, placebo", knob);
}

enum status plant_knob_get(const struct plant *p, const char *knob, struct buf *out, struct err *e)
{
    int k = knob_of(knob);
    if (k < 0) return no_knob(knob, e);
    buf_double(out, *knob_field(p, k));
    return STATUS_OK;
}

static const struct plant_param *limits_of(const char *knob)
{
    size_t n;
    const struct plant_param *all = plant_params(&n);
    for (size_t i = 0; i < n; i++)
        if (text_eq(all[i].name, knob)) return &all[i];
    return NULL;
}

/* The value that comes into force for `text`, or a refusal. */
static enum status admit(const struct plant *p, int knob, const char *text, size_t len, double *ret, struct err *e)
{
    const struct plant_param *limit = limits_of(names[knob]);
    double v;
    if (!num_parse_all(text, len, &v) || isnan(v)) return err_set(e, STATUS_INVALID, "%s must be a number", names[knob]);
    if (knob != KNOB_PLACEBO && v != floor(v)) return err_set(e, STATUS_INVALID, "%s must be a whole number", names[knob]);
    if (p->config.knob_clamps > 0) v = fmin(fmax(v, limit->least), limit->most);
    if (!(v >= limit->least && v <= limit->most))
        return err_set(e, STATUS_INVALID, "%s must be %ld to %ld", names[knob], (long)limit->least, (long)limit->most);
    *ret = v;
    return STATUS_OK;
}

enum status plant_knob_set(struct plant *p, const char *knob, const char *text, size_t len, double *ret_in_force,
                           struct err *e)
{
    int k = knob_of(knob);
    double v;
    if (k < 0) return no_knob(knob, e);
    enum status s = admit(p, k, text, len, &v, e);
    if (s != STATUS_OK) return s;
    double *fields[] = {&p->batch_max, &p->concurrency, &p->cache_mb, &p->replicas, &p->placebo};
    bool changed = *fields[k] != v;
    *fields[k] = v;
    p->knob_version++;
    if (k == KNOB_BATCH && changed && p->config.reload_s > 0)
        plant_slow_down(p, p->now_ns + (int64_t)(p->config.reload_s * 1e9), false);
    if (ret_in_force) *ret_in_force = v;
    return STATUS_OK;
}

uint64_t plant_knob_version(const struct plant *p) { return p->knob_version; }
