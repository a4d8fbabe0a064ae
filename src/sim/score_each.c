/* One line of JSON for each world: what it is, and what everybody did in it. */
#include <math.h>
#include <string.h>

#include "sim/score.h"

static void number(struct buf *out, const char *name, double v)
{
    buf_printf(out, ",\"%s\":", name);
    if (isfinite(v)) buf_double(out, v);
    else buf_puts(out, "null");
}

static void flag(struct buf *out, const char *name, bool v) { buf_printf(out, ",\"%s\":%s", name, v ? "true" : "false"); }

static void conduct(struct buf *out, const char *name, const struct conduct *c)
{
    buf_printf(out, ",\"%s\":{\"acts\":%u,\"undos\":%u,\"judged_kept\":%u,\"flips\":%u", name, c->acts, c->undos, c->judged_kept,
               c->flips);
    buf_printf(out, ",\"incidents\":%u,\"handovers\":%u", c->incidents, c->handovers);
    flag(out, "kept", c->kept);
    flag(out, "restored", c->restored);
    flag(out, "normal", c->normal);
    number(out, "detect_s", c->detect_s);
    number(out, "restore_s", c->restore_s);
    number(out, "undone_s", c->undone_s);
    number(out, "degraded_min", c->degraded_min);
    number(out, "slo_min", c->slo_min);
    number(out, "harm_min", c->harm_min);
    number(out, "replica_h", c->replica_h);
    buf_printf(out, ",\"digest\":\"%016llx\"}", (unsigned long long)c->digest);
}

void score_each(const struct evaluate_result *r, struct buf *out)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    buf_puts(out, "{\"name\":");
    buf_json_string(out, r->name, strlen(r->name));
    buf_puts(out, ",\"family\":");
    buf_json_string(out, r->family, strlen(r->family));
    buf_printf(out, ",\"seed\":%llu", (unsigned long long)r->seed);
    if (r->broken) {
        buf_puts(out, ",\"error\":");
        buf_json_string(out, r->why, strlen(r->why));
        buf_puts(out, "}\n");
        return;
    }
    buf_printf(out, ",\"label\":\"%s\",\"best\":\"%s\"", oracle_label_name(r->label), r->best);
    flag(out, "harmful_knob", r->harmful_knob);
    flag(out, "scaling_cures", r->scaling_cures);
    flag(out, "release", r->release);
    flag(out, "inert", r->inert);
    number(out, "onset_s", r->onset_s);
    number(out, "block_sd", r->block_sd);
    number(out, "usual_p99", r->usual_p99);
    number(out, "late", r->late);
    number(out, "best_late", r->best_late);
    number(out, "best_degraded_min", r->best_degraded_min);
    number(out, "years", r->years);
    for (unsigned i = 0; i < n; i++) {
        if (r->conduct[i].ran) conduct(out, all[i].name, &r->conduct[i]);
    }
    buf_puts(out, "}\n");
}
