#include "sim/plant_world.h"

#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/text.h"
#include "base/time.h"

static const struct plant_world worlds[] = {
    {.name = "clean", .story = "nothing happens"},
    {.name = "reference", .story = "more load on slower kernels: larger batches heal it",
     .fault = {{FAULT_LOAD, 1.034, 0}, {FAULT_KERNEL, 1.06, 0}}},
    {.name = "reference-ineffective",
     .story = "looks the same, but fragmented memory holds 31 items: a larger batch limit changes nothing",
     .fault = {{FAULT_LOAD, 1.03, 0}, {FAULT_KERNEL, 1.06, 0}, {FAULT_FRAGMENTATION, 0.48975, 0}}},
    {.name = "upstream",
     .story = "features come three times as late and requests pile up for a fetch slot: batches do not matter",
     .fault = {{FAULT_UPSTREAM, 3, 0}}},
    {.name = "wobble", .story = "as reference; with the larger batch the GPU swings between busy and idle while p99 is fine",
     .fault = {{FAULT_LOAD, 1.034, 0}, {FAULT_KERNEL, 1.06, 0}, {FAULT_SWING, 0.2, 0}}},
    {.name = "release", .story = "a new model version computes 30 % longer",
     .fault = {{FAULT_RELEASE, 1.3, 0}}},
    {.name = "throttled",
     .story = "batch_max is 64 already and the kernels take 1.8 times as long: more concurrency changes nothing",
     .set = {{"batch_max", 64}}, .fault = {{FAULT_KERNEL, 1.8, 0}}},
    {.name = "host", .story = "a neighbour takes the cores: the queue backs up while the GPU idles",
     .fault = {{FAULT_HOST, 2.8, 0}}},
    {.name = "cache", .story = "the working set grew to twice its size: more lookups miss, a larger cache helps",
     .fault = {{FAULT_WORKING_SET, 2, 0}}},
    {.name = "creep", .story = "kernels get slower over two months, p99 from 38 to 60 ms",
     .set = {{"batch_max", 64}}, .fault = {{FAULT_KERNEL, 1.66, 60 * US_PER_DAY}}},
};

const struct plant_world *plant_worlds(size_t *ret_n)
{
    *ret_n = ARRAY_LEN(worlds);
    return worlds;
}

enum status plant_world_find(const char *name, const struct plant_world **ret, struct err *e)
{
    struct buf all = BUF_INIT;
    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        if (text_eq(name, worlds[i].name)) {
            *ret = &worlds[i];
            buf_free(&all);
            return STATUS_OK;
        }
        buf_printf(&all, "%s%s", i ? ", " : "", worlds[i].name);
    }
    enum status s = err_set(e, STATUS_NOT_FOUND, "no world %.60s; there are %s", name, buf_text(&all));
    buf_free(&all);
    return s;
}

void plant_world_config(const struct plant_world *w, struct plant_config *ret)
{
    struct err e;
    plant_config_reference(ret);
    for (unsigned i = 0; i < PLANT_WORLD_SETS && w->set[i].param; i++)
        CHECK(plant_config_set(ret, w->set[i].param, w->set[i].value, &e) == STATUS_OK);
}

unsigned plant_world_faults(const struct plant_world *w, int64_t at_us, int64_t until_us,
                            struct plant_fault ret[PLANT_WORLD_FAULTS])
{
    unsigned n = 0;
    for (; n < PLANT_WORLD_FAULTS && w->fault[n].size > 0; n++) {
        ret[n] = (struct plant_fault){.at_us = at_us, .ramp_us = w->fault[n].ramp_us, .until_us = until_us,
                                      .size = w->fault[n].size, .kind = w->fault[n].kind};
        if (w->fault[n].kind == FAULT_RELEASE) memcpy(ret[n].version, "v2", 2);
    }
    return n;
}
