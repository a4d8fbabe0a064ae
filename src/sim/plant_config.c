#include "sim/plant_config.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

static const struct plant_param params[] = {
#define X(field, dflt, least, most, unit, meaning) \
    {#field, unit, meaning, dflt, least, most, offsetof(struct plant_config, field)},
#include "sim/plant_param.def"
#undef X
};

const struct plant_param *plant_params(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(params);
    return params;
}

static double *field_of(struct plant_config *c, const struct plant_param *p)
{
    return (double *)(void *)((char *)c + p->offset);
}

void plant_config_reference(struct plant_config *c)
{
    for (size_t i = 0; i < ARRAY_LEN(params); i++) *field_of(c, &params[i]) = params[i].dflt;
}

static enum status unknown_name(const char *name, struct err *e)
{
    const char *names[ARRAY_LEN(params)];
    for (size_t i = 0; i < ARRAY_LEN(params); i++) names[i] = params[i].name;
    const char *near = text_nearest(name, names, ARRAY_LEN(params));
    if (near) return err_set(e, STATUS_NOT_FOUND, "no plant parameter %.60s; did you mean %s?", name, near);
    return err_set(e, STATUS_NOT_FOUND, "no plant parameter %.60s; docs of the scenario file list them", name);
}

static enum status out_of_limits(const struct plant_param *p, double value, struct err *e)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, p->name);
    buf_puts(&b, " = ");
    buf_double(&b, value);
    buf_puts(&b, " is outside ");
    buf_double(&b, p->least);
    buf_puts(&b, " .. ");
    buf_double(&b, p->most);
    enum status s = err_set(e, STATUS_INVALID, "plant parameter %s", buf_text(&b));
    buf_free(&b);
    return s;
}

static bool within(const struct plant_param *p, double value) { return value >= p->least && value <= p->most; }

enum status plant_config_set(struct plant_config *c, const char *name, double value, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        if (!text_eq(name, params[i].name)) continue;
        if (!within(&params[i], value)) return out_of_limits(&params[i], value, e);
        *field_of(c, &params[i]) = value;
        return STATUS_OK;
    }
    return unknown_name(name, e);
}

enum status plant_config_check(const struct plant_config *c, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        double value;
        memcpy(&value, (const char *)c + params[i].offset, sizeof value);
        if (!within(&params[i], value)) return out_of_limits(&params[i], value, e);
    }
    if (c->start_max_s < c->start_min_s)
        return err_set(e, STATUS_INVALID, "plant parameter start_max_s is below start_min_s");
    if (c->upstream_other + c->upstream_self > 0.98)
        return err_set(e, STATUS_INVALID, "upstream_other + upstream_self exceed 0.98: the upstream would never answer");
    return STATUS_OK;
}
