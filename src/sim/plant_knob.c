/* The settings that trimtab may turn, as a server takes them: text in, text out, limits kept. */
#include <math.h>

#include "base/num.h"
#include "base/text.h"
#include "sim/plant.h"
#include "sim/plant_env.h"

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

static const double *knob_field(const struct plant_env *v, int knob)
{
    const double *fields[] = {&v->batch_max, &v->concurrency, &v->cache_mb, &v->replicas, &v->placebo};
    return fields[knob];
}

static enum status no_knob(const char *knob, struct err *e)
{
    return err_set(e, STATUS_NOT_FOUND,
                   "no knob %.60s; there are batch_max, concurrency, feature_cache_mb, replicas, placebo", knob);
}

enum status env_knob_get(const struct plant_env *v, const char *knob, struct buf *out, struct err *e)
{
    int k = knob_of(knob);
    if (k < 0) return no_knob(knob, e);
    buf_double(out, v->config.knobs_dead > 0 ? v->shown[k] : *knob_field(v, k));
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
static enum status admit(const struct plant_env *v, int knob, const char *text, size_t len, double *ret, struct err *e)
{
    const struct plant_param *limit = limits_of(names[knob]);
    double value;
    if (!num_parse_all(text, len, &value) || isnan(value)) return err_set(e, STATUS_INVALID, "%s must be a number", names[knob]);
    if (knob != KNOB_PLACEBO && value != floor(value)) return err_set(e, STATUS_INVALID, "%s must be a whole number", names[knob]);
    if (v->config.knob_clamps > 0) value = fmin(fmax(value, limit->least), limit->most);
    if (!(value >= limit->least && value <= limit->most))
        return err_set(e, STATUS_INVALID, "%s must be %ld to %ld", names[knob], (long)limit->least, (long)limit->most);
    *ret = value;
    return STATUS_OK;
}

enum status env_knob_set(struct plant_env *v, const char *knob, const char *text, size_t len, double *ret_in_force,
                         bool *ret_reload, struct err *e)
{
    int k = knob_of(knob);
    double value;
    if (k < 0) return no_knob(knob, e);
    enum status s = admit(v, k, text, len, &value, e);
    if (s != STATUS_OK) return s;
    double *fields[] = {&v->batch_max, &v->concurrency, &v->cache_mb, &v->replicas, &v->placebo};
    double *field = v->config.knobs_dead > 0 ? &v->shown[k] : fields[k];
    bool changed = *field != value;
    *field = value;
    v->knob_version++;
    *ret_reload = k == KNOB_BATCH && changed && v->config.reload_s > 0;
    if (ret_in_force) *ret_in_force = value;
    return STATUS_OK;
}
