#include "sim/contender.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sim/contender_inside.h"

#define FLIP_TIME SPAN_HOUR(24)

static const struct contender own[] = {
    {"nothing", "nobody tunes", CONTENDER_NOTHING, NULL},
    {"hpa", "replicas by GPU use and queue, as Kubernetes scales", CONTENDER_HPA, NULL},
    {"aimd", "concurrency up by one, down by a tenth", CONTENDER_AIMD, NULL},
    {"naive", "the engine trimtab grew from, its bug included", CONTENDER_NAIVE, NULL},
    {"trimtab", "the shipped loop in mode auto", CONTENDER_TRIMTAB, NULL},
};

const struct contender *contender_list(unsigned *ret_n)
{
    static struct contender all[CONTENDERS_MAX];
    unsigned n = ARRAY_LEN(own) + contender_ablations_n;
    CHECK(n <= CONTENDERS_MAX);
    memcpy(all, own, sizeof own);
    memcpy(all + ARRAY_LEN(own), contender_ablations, contender_ablations_n * sizeof *all);
    *ret_n = n;
    return all;
}

const struct contender *contender_find(const char *name)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(all[i].name, name) == 0) return &all[i];
    }
    return NULL;
}

/* ---- acts ---- */

void acts_forward(struct acts *a, unsigned knob, enum direction d, struct instant now)
{
    bool recent = a->last[knob].any && !a->last[knob].undone && span_less(instant_since(now, a->last[knob].at), FLIP_TIME);
    if (recent && a->last[knob].direction != d) a->c->flips++;
    if (a->c->acts++ == 0) a->first = now;
    a->last[knob].any = true;
    a->last[knob].undone = false;
    a->last[knob].direction = d;
    a->last[knob].at = now;
}

void acts_undone(struct acts *a, unsigned knob, struct instant now)
{
    if (a->c->undos++ == 0) a->c->undone_s = span_seconds(instant_since(now, a->first));
    a->last[knob].undone = true;
}

/* ---- truth ---- */

bool truth_begin(struct truth *t, uint32_t ticks)
{
    *t = (struct truth){.p99 = calloc(ticks ? ticks : 1, sizeof *t->p99), .cap = ticks};
    return t->p99 != NULL;
}

void truth_add(struct truth *t, const struct plant_window *w)
{
    if (t->n < t->cap) t->p99[t->n++] = oracle_p99(w);
    if (isfinite(w->replicas)) t->replica_s += w->replicas * w->seconds;
}

void truth_end(struct truth *t, const struct contest *c, struct conduct *ret)
{
    const struct oracle *o = c->oracle;
    double tick_min = span_seconds(c->world->tick) / 60.0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->p99[i] > c->objective) ret->slo_min += tick_min;
        if (o->nothing && t->p99[i] > 1.1 * o->nothing[i]) ret->harm_min += tick_min;
    }
    ret->replica_h = t->replica_s / 3600.0;
    ret->restore_s = NAN;
    if (o->degraded && t->n == o->n) {
        struct oracle_hour hour;
        oracle_hour(o, t->p99, c->world->tick, ORACLE_HOUR, &hour);
        ret->restored = hour.restored;
        ret->normal = hour.normal;
        ret->degraded_min = hour.degraded_min;
        if (hour.restored) ret->restore_s = (hour.restored_at - o->t0) * span_seconds(c->world->tick);
    }
    free(t->p99);
    t->p99 = NULL;
}

/* ---- tuners without a loop ---- */

void tuner_set(struct tuner *t, const char *knob, double value)
{
    const struct service_def *s = t->contest->world->service;
    uint16_t k = service_knob(s, knob);
    double now = rig_get(t->rig, knob);
    if (k == NO_INDEX || !isfinite(now)) return;
    value = fmin(fmax(value, s->knobs[k].min), s->knobs[k].max);
    if (value == now || !rig_set(t->rig, knob, value) || rig_get(t->rig, knob) == now) return;
    acts_forward(&t->acts, k, value > now ? DIR_UP : DIR_DOWN, rig_now(t->rig));
}

static void tuner_tick(struct tuner *t, const struct plant_window *w)
{
    switch (t->contender->kind) {
    case CONTENDER_HPA: hpa_tick(t, w); break;
    case CONTENDER_AIMD: aimd_tick(t, w); break;
    case CONTENDER_NAIVE: naive_tick(t, w); break;
    case CONTENDER_NOTHING:
    case CONTENDER_TRIMTAB: break;
    }
}

void naive_tick(struct tuner *t, const struct plant_window *w)
{
    struct naive_signals s = {.p99_ms = w->p99_ms, .queue = w->queue, .gpu_util = w->gpu_util,
                              .batch_max = rig_get(t->rig, "batch_max"), .replicas = rig_get(t->rig, "replicas")};
    struct naive_decision d = naive_step(&t->naive, &s);
    if (d.kind == DECISION_TUNE) tuner_set(t, d.knob, d.to);
}

/* Where people alone would leave the knobs. */
static bool knobs_differ(const struct contest *t, const struct rig *r)
{
    const struct service_def *s = t->world->service;
    for (unsigned k = 0; k < s->knob_count; k++) {
        double v = rig_get(r, s->knobs[k].name), own_end = t->oracle->knobs_end[k];
        if (isfinite(v) && isfinite(own_end) && v != own_end) return true;
    }
    return false;
}

static void detect_of(struct tuner *t, const struct contest *c, struct conduct *ret)
{
    double onset = c->oracle->t0 * span_seconds(c->world->tick);
    ret->detect_s = NAN;
    if (c->oracle->degraded && ret->acts > 0) ret->detect_s = fmax(span_seconds((struct span){t->acts.first.us}) - onset, 0);
}

/* Nobody tunes: the oracle has run that world already. */
static enum status run_nothing(const struct contest *t, struct conduct *ret, struct err *e)
{
    struct truth truth;
    if (!truth_begin(&truth, t->oracle->n)) return err_set(e, STATUS_MEMORY, "out of memory for a run of nothing");
    memcpy(truth.p99, t->oracle->nothing, t->oracle->n * sizeof *truth.p99);
    truth.n = t->oracle->n;
    truth.replica_s = t->oracle->replica_s;
    ret->detect_s = NAN;
    truth_end(&truth, t, ret);
    return STATUS_OK;
}

static enum status run_tuner(const struct contender *c, const struct contest *t, struct conduct *ret, struct err *e)
{
    const struct oracle_world *w = t->world;
    struct tuner u = {.contest = t, .contender = c, .acts = {.c = ret}};
    struct truth truth;
    struct plant_window window;
    naive_init(&u.naive);
    u.rig = rig_new(w->part, w->part->kind, RIG_AS_IT_IS, w->seed, w->tick, e);
    if (!u.rig) return e->code;
    if (!truth_begin(&truth, t->oracle->n)) {
        rig_free(u.rig);
        return err_set(e, STATUS_MEMORY, "out of memory for a run of %s", c->name);
    }
    if (t->oracle->label == LABEL_CLEAN) rig_coarse(u.rig);
    for (uint32_t i = 0; i < t->oracle->n; i++) {
        rig_tick(u.rig, &window);
        truth_add(&truth, &window);
        tuner_tick(&u, &window);
    }
    detect_of(&u, t, ret);
    ret->kept = knobs_differ(t, u.rig);
    truth_end(&truth, t, ret);
    rig_free(u.rig);
    return STATUS_OK;
}

enum status contender_run(const struct contender *c, const struct contest *t, struct conduct *ret, struct err *e)
{
    struct conduct d = {.detect_s = NAN, .undone_s = NAN, .restore_s = NAN};
    bool nobody = c->kind == CONTENDER_NOTHING && t->oracle->nothing;
    enum status s = c->kind == CONTENDER_TRIMTAB ? contender_loop(c, t, &d, e)
                                                 : nobody ? run_nothing(t, &d, e) : run_tuner(c, t, &d, e);
    d.ran = s == STATUS_OK;
    *ret = d;
    return s;
}
