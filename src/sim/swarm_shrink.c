/* A shorter story of the same violation: item after item is left out, and stays out as long as something is still violated. */
#include <string.h>

#include "sim/swarm.h"

static bool fails(struct swarm_options *o, struct swarm_result *ret, struct err *e)
{
    return swarm_run(o, ret, e) == STATUS_OK && ret->violated;
}

static bool has(const struct swarm_options *o, unsigned i) { return o->only[i / 64] >> (i % 64) & 1; }

static bool try_without(struct swarm_options *o, unsigned from, unsigned n, struct err *e)
{
    struct swarm_options t = *o;
    struct swarm_result r;
    bool any = false;
    t.story = NULL;
    for (unsigned i = from; i < from + n && i < FAULTS_MAX; i++) {
        any = any || has(o, i);
        t.only[i / 64] &= ~(UINT64_C(1) << (i % 64));
    }
    if (!any || !fails(&t, &r, e)) return false;
    memcpy(o->only, t.only, sizeof o->only);
    return true;
}

enum status swarm_shrink(struct swarm_options *o, struct swarm_result *ret, struct err *e)
{
    struct buf *story = o->story;
    o->story = NULL;
    if (!o->has_only) memset(o->only, 0xff, sizeof o->only);
    o->has_only = true;
    if (!fails(o, ret, e)) {
        o->story = story;
        return e->code;
    }
    unsigned items = ret->items;
    for (unsigned n = items / 2; n > 0; n /= 2) {
        for (unsigned from = 0; from < items; from += n) (void)try_without(o, from, n, e);
    }
    for (unsigned i = items; i < FAULTS_MAX; i++) o->only[i / 64] &= ~(UINT64_C(1) << (i % 64));
    o->story = story;
    return swarm_run(o, ret, e);
}
