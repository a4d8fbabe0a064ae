#include "sim/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

struct rig {
    const struct scenario_part *part;
    struct plant *plant;
    struct fluid *fluid;
    struct instant now;
    struct span tick;
    bool hands;                      /* people change knobs by hand */
    struct instant acted;            /* first time that a tuner changed a knob; NONE: not yet */
};

static enum status add_faults(struct rig *r, struct err *e)
{
    enum status st = STATUS_OK;
    for (uint16_t i = 0; i < r->part->step_count && st == STATUS_OK; i++) {
        const struct scenario_step *s = &r->part->steps[i];
        if (s->kind != STEP_FAULT) continue;
        st = r->plant ? plant_fault_add(r->plant, &s->fault, e) : fluid_fault_add(r->fluid, &s->fault, e);
    }
    return st;
}

struct rig *rig_new(const struct scenario_part *part, enum world_kind kind, enum rig_world which, uint64_t seed,
                    struct span tick, struct err *e)
{
    struct rig *r = calloc(1, sizeof *r);
    if (!r) {
        err_set(e, STATUS_MEMORY, "out of memory for a simulated target");
        return NULL;
    }
    *r = (struct rig){.part = part, .tick = tick, .hands = which == RIG_AS_IT_IS, .acted = INSTANT_NONE};
    if (kind == WORLD_PLANT) r->plant = plant_new(&part->plant, seed, e);
    else r->fluid = fluid_new(&part->plant, seed, e);
    bool ok = r->plant || r->fluid;
    if (ok && which == RIG_AS_IT_IS) ok = add_faults(r, e) == STATUS_OK;
    if (ok) {                        /* as a world does, which looks at its target at second 0 too */
        struct plant_window first;
        if (r->fluid) fluid_window_take(r->fluid, &first);
        return r;
    }
    rig_free(r);
    return NULL;
}

void rig_coarse(struct rig *r)
{
    if (r->fluid) fluid_coarse(r->fluid, r->tick.us);
}

struct rig *rig_clone(const struct rig *r)
{
    struct rig *c = malloc(sizeof *c);
    if (!c) return NULL;
    *c = *r;
    c->plant = r->plant ? plant_clone(r->plant) : NULL;
    c->fluid = r->fluid ? fluid_clone(r->fluid) : NULL;
    if (c->plant || c->fluid) return c;
    free(c);
    return NULL;
}

void rig_free(struct rig *r)
{
    if (!r) return;
    plant_free(r->plant);
    fluid_free(r->fluid);
    free(r);
}

static void advance(struct rig *r, struct instant until)
{
    if (r->plant) plant_advance(r->plant, until.us);
    else fluid_advance(r->fluid, until.us);
}

static bool set_text(struct rig *r, const char *knob, const char *text, size_t len)
{
    enum status s = r->plant ? plant_knob_set(r->plant, knob, text, len, NULL, NULL)
                             : fluid_knob_set(r->fluid, knob, text, len, NULL, NULL);
    return s == STATUS_OK;
}

static void hand(struct rig *r, const struct scenario_step *s, struct instant at)
{
    if (r->plant) advance(r, at);
    (void)set_text(r, s->knob, s->value, strlen(s->value));
}

/* A hand that waits for an action of trimtab waits here for whoever tunes; what comes after an action's end does not come. */
static struct instant hand_at(const struct rig *r, const struct scenario_step *s)
{
    if (!s->waits) return s->at;
    bool begins = s->on == RECORD_INTENT || s->on == RECORD_APPLIED;
    return begins && instant_is_set(r->acted) ? instant_add(r->acted, (struct span){s->at.us}) : INSTANT_NEVER;
}

/* What people and their tools do between `from` and before `to`. */
static void hands(struct rig *r, struct instant from, struct instant to)
{
    for (uint16_t i = 0; i < r->part->step_count; i++) {
        const struct scenario_step *s = &r->part->steps[i];
        if (s->kind != STEP_BY_HAND && s->kind != STEP_RECONCILE) continue;
        struct instant at = hand_at(r, s);
        while (s->kind == STEP_RECONCILE && s->by.us > 0 && instant_before(at, from)) at = instant_add(at, s->by);
        while (!instant_before(at, from) && instant_before(at, to)) {
            hand(r, s, at);
            if (s->kind != STEP_RECONCILE || s->by.us <= 0) break;
            at = instant_add(at, s->by);
        }
    }
}

void rig_tick(struct rig *r, struct plant_window *ret)
{
    struct instant next = instant_add(r->now, r->tick);
    if (r->hands) hands(r, r->now, next);
    advance(r, next);
    r->now = next;
    if (r->plant) plant_window_take(r->plant, ret);
    else fluid_window_take(r->fluid, ret);
}

struct instant rig_now(const struct rig *r) { return r->now; }

uint64_t rig_restarts(const struct rig *r) { return r->plant ? plant_restarts(r->plant) : fluid_restarts(r->fluid); }

double rig_get(const struct rig *r, const char *knob)
{
    struct buf b = BUF_INIT;
    double v = NAN;
    enum status s = r->plant ? plant_knob_get(r->plant, knob, &b, NULL) : fluid_knob_get(r->fluid, knob, &b, NULL);
    if (s != STATUS_OK || !num_parse_all(buf_text(&b), b.len, &v)) v = NAN;
    buf_free(&b);
    return v;
}

bool rig_set(struct rig *r, const char *knob, double value)
{
    struct buf b = BUF_INIT;
    buf_double(&b, value);
    bool ok = set_text(r, knob, buf_text(&b), b.len);
    if (ok && !instant_is_set(r->acted)) r->acted = r->now;
    buf_free(&b);
    return ok;
}
