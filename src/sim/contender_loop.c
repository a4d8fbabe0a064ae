/* trimtab itself: the shipped loop with the scenario's policy in mode auto, as the daemon runs it. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "config/load.h"
#include "loop/control.h"
#include "sim/contender_inside.h"
#include "sim/part.h"

struct watch {
    struct acts acts;
    const struct service_def *service;
    struct instant onset;            /* NONE: no onset */
};

static unsigned knob_of(const struct watch *w, const struct record *r)
{
    uint16_t k = service_knob(w->service, record_get_text(r, RF_KNOB));
    return k < POLICY_KNOBS_MAX ? k : 0;
}

static void on_applied(struct watch *w, const struct record *r, struct instant now)
{
    enum direction d = DIR_UP;
    (void)direction_parse(record_get_text(r, RF_DIRECTION), &d);
    acts_forward(&w->acts, knob_of(w, r), d, now);
}

/* Noticed: an incident opened, or still open when the trouble began. */
static void on_incident(struct watch *w, struct instant now)
{
    struct conduct *c = w->acts.c;
    c->incidents++;
    if (instant_is_set(w->onset) && isnan(c->detect_s) && instant_reached(now, w->onset)) {
        c->detect_s = span_seconds(instant_since(now, w->onset));
    }
}

static void on_row(void *ctx, const struct world_row *row)
{
    struct watch *w = ctx;
    const struct record *r = row->record;
    if (!r) return;
    switch (r->kind) {
    case RECORD_INCIDENT: on_incident(w, row->t); break;
    case RECORD_APPLIED: on_applied(w, r, row->t); break;
    case RECORD_UNDONE: acts_undone(&w->acts, knob_of(w, r), row->t); break;
    case RECORD_HANDOVER: w->acts.c->handovers++; break;
    case RECORD_VERDICT:
        if (strcmp(record_get_text(r, RF_OUTCOME), "keep") == 0) w->acts.c->judged_kept++;
        break;
    default: break;
    }
}

static bool knobs_differ(const struct world *w, const struct contest *t)
{
    const struct service_def *s = t->world->service;
    struct buf b = BUF_INIT;
    bool differ = false;
    for (unsigned k = 0; k < s->knob_count; k++) {
        double v;
        buf_clear(&b);
        bool there = world_knob_get(w, s->knobs[k].name, &b, NULL) == STATUS_OK && num_parse_all(buf_text(&b), b.len, &v);
        if (there && isfinite(t->oracle->knobs_end[k]) && v != t->oracle->knobs_end[k]) differ = true;
    }
    buf_free(&b);
    return differ;
}

static void run_ticks(struct world *w, const struct contest *t, struct truth *truth)
{
    for (uint32_t i = 0; i < t->oracle->n; i++) {
        struct plant_window window;
        world_run(w, (struct instant){(int64_t)(i + 1) * t->world->tick.us});
        if (world_truth(w, &window)) truth_add(truth, &window);
    }
}

static enum status run_world(struct world *w, const struct contest *t, struct conduct *ret, struct err *e)
{
    struct watch watch = {.acts = {.c = ret}, .service = t->world->service, .onset = INSTANT_NONE};
    struct truth truth;
    if (t->oracle->degraded) watch.onset = (struct instant){(int64_t)t->oracle->t0 * t->world->tick.us};
    if (!truth_begin(&truth, t->oracle->n)) return err_set(e, STATUS_MEMORY, "out of memory for a run of trimtab");
    world_watch(w, on_row, &watch);
    run_ticks(w, t, &truth);
    ret->kept = knobs_differ(w, t);
    ret->digest = world_digest(w);
    truth_end(&truth, t, ret);
    return STATUS_OK;
}

enum status contender_loop(const struct contender *c, const struct contest *t, struct conduct *ret, struct err *e)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct policy *p = part_policy(t->world->part, t->folder, &d);
    if (!p) {
        config_diagnostics_free(&d);
        return err_set(e, STATUS_INVALID, "the policy '%s' has errors", t->world->part->policy);
    }
    part_set_mode(p, MODE_AUTO);
    if (c->without) c->without(&p->services[0]);
    bool years = t->oracle->label == LABEL_CLEAN && t->world->part->kind == WORLD_FLUID;
    struct world *w = years ? part_world_coarse(t->world->part, p, t->world->seed, e)
                            : part_world(t->world->part, p, t->world->seed, e);
    enum status s = w ? run_world(w, t, ret, e) : e->code;
    world_free(w);
    config_free(p);
    config_diagnostics_free(&d);
    return s;
}
