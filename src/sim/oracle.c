#include "sim/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/oracle_inside.h"
#include "stats/elem.h"
#include "stats/order.h"

#define ONSET_TICKS 10
#define ONSET_OF_THEM 8
#define REF_HALF 10

const char *oracle_label_name(enum label l)
{
#define X(id, word) word,
    static const char *const names[] = {LABEL_TABLE(X)};
#undef X
    return names[l];
}

double oracle_p99(const struct plant_window *w) { return w->completed > 0 && isfinite(w->p99_ms) ? w->p99_ms : INFINITY; }

static uint32_t ticks_of(struct span s, struct span tick) { return (uint32_t)((s.us + tick.us - 1) / tick.us); }

static double median_of(const double *x, uint32_t n)
{
    double copy[256];
    if (n > ARRAY_LEN(copy)) n = ARRAY_LEN(copy);
    memcpy(copy, x, n * sizeof *copy);
    return stats_median(copy, n);
}

/* What is promised is good enough, as far as being restored goes. */
static double ratio_of(const struct oracle *o, const double *p99, uint32_t t, double promised)
{
    double r = p99[t] / o->ref[t];
    return r > ORACLE_DEGRADED && p99[t] <= promised ? ORACLE_DEGRADED : r;
}

static double median_ratio(const struct oracle *o, const double *p99, uint32_t from, uint32_t n, double promised)
{
    double r[256];
    if (n > ARRAY_LEN(r)) n = ARRAY_LEN(r);
    for (uint32_t i = 0; i < n; i++) r[i] = ratio_of(o, p99, from + i, promised);
    return stats_median(r, n);
}

static bool good_from(const struct oracle *o, const double *p99, uint32_t t)
{
    uint32_t bad = 0;
    if (ratio_of(o, p99, t, o->promised) > ORACLE_DEGRADED) return false;
    for (uint32_t i = 0; i < ONSET_TICKS; i++) bad += ratio_of(o, p99, t + i, o->promised) > ORACLE_DEGRADED;
    return bad <= ONSET_TICKS - ONSET_OF_THEM;
}

void oracle_hour(const struct oracle *o, const double *p99, struct span tick, struct span length, struct oracle_hour *ret)
{
    uint32_t n = ticks_of(length, tick), window = ticks_of(ORACLE_WINDOW, tick), bad = 0;
    uint32_t late = ticks_of(SPAN_MIN(20), tick), end = o->t0 + n;
    *ret = (struct oracle_hour){.restored_at = o->t0, .normal = median_ratio(o, p99, end - window, window, 0) <= ORACLE_DEGRADED};
    for (uint32_t t = o->t0; t < end; t++) bad += p99[t] / o->ref[t] > ORACLE_DEGRADED;
    for (uint32_t s = end - window; median_ratio(o, p99, s, window, o->promised) <= ORACLE_DEGRADED; s--) {
        ret->restored = true;
        ret->restored_at = s;
        if (s == o->t0) break;
    }
    while (ret->restored && ret->restored_at + ONSET_TICKS < end && !good_from(o, p99, ret->restored_at)) ret->restored_at++;
    ret->degraded_min = bad * span_seconds(tick) / 60.0;
    ret->late = late <= n ? median_of(p99 + end - late, late) : NAN;
}

/* ---- the two runs that all others are compared with ---- */

struct ticks { double *p99, *queue, *util, *replicas; uint32_t n, cap; };

static bool ticks_add(struct ticks *t, const struct plant_window *w)
{
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 512;
        double **all[] = {&t->p99, &t->queue, &t->util, &t->replicas};
        for (unsigned i = 0; i < ARRAY_LEN(all); i++) {
            double *grown = realloc(*all[i], cap * sizeof **all[i]);
            if (!grown) return false;
            *all[i] = grown;
        }
        t->cap = cap;
    }
    t->p99[t->n] = oracle_p99(w);
    t->queue[t->n] = w->queue;
    t->util[t->n] = w->gpu_util;
    t->replicas[t->n++] = w->replicas;
    return true;
}

static void ticks_free(struct ticks *t)
{
    free(t->p99);
    free(t->queue);
    free(t->util);
    free(t->replicas);
}

static bool run_to(struct rig *r, struct ticks *t, uint32_t n)
{
    struct plant_window w;
    while (t->n < n) {
        rig_tick(r, &w);
        if (!ticks_add(t, &w)) return false;
    }
    return true;
}

static bool reference(struct oracle *o, const struct ticks *twin)
{
    double *ref = realloc(o->ref, (twin->n ? twin->n : 1) * sizeof *ref);
    if (!ref) return false;
    o->ref = ref;
    for (uint32_t t = 0; t < twin->n; t++) {
        uint32_t from = t > REF_HALF ? t - REF_HALF : 0;
        uint32_t to = t + REF_HALF + 1 < twin->n ? t + REF_HALF + 1 : twin->n;
        ref[t] = median_of(twin->p99 + from, to - from);
    }
    return true;
}

static bool degraded_from(const struct oracle *o, const struct ticks *nothing, uint32_t t)
{
    uint32_t bad = 0;
    if (!(nothing->p99[t] / o->ref[t] > ORACLE_DEGRADED)) return false;
    for (uint32_t i = 0; i < ONSET_TICKS; i++) bad += nothing->p99[t + i] / o->ref[t + i] > ORACLE_DEGRADED;
    return bad >= ONSET_OF_THEM;
}

static bool heals(struct oracle *o, const struct ticks *nothing, uint32_t t, struct span tick)
{
    struct oracle_hour half;
    o->t0 = t;
    if (t + ticks_of(ORACLE_HEALS, tick) > nothing->n) return false;
    oracle_hour(o, nothing->p99, tick, ORACLE_HEALS, &half);
    return half.restored;
}

/* The first from which it does not heal by itself; if all do, the first. */
static bool find_onset(struct oracle *o, const struct ticks *nothing, struct span tick)
{
    bool any = false;
    uint32_t first = 0;
    for (uint32_t t = 0; t + ONSET_TICKS <= nothing->n; t++) {
        if (!degraded_from(o, nothing, t)) continue;
        if (!any) first = t;
        any = true;
        if (!heals(o, nothing, t, tick)) return true;
        t += ticks_of(ORACLE_HEALS, tick) - 1;
    }
    o->t0 = first;
    return any;
}

static double median_all(const double *x, uint32_t n)
{
    double *copy = calloc(n ? n : 1, sizeof *copy);
    double m = NAN;
    if (copy) {
        memcpy(copy, x, n * sizeof *copy);
        m = stats_median(copy, n);
    }
    free(copy);
    return m;
}

static double tick_noise(const struct oracle *o, uint32_t n)
{
    double x[512];
    uint32_t known = 0;
    for (uint32_t t = o->t0; t < o->t0 + n && known < ARRAY_LEN(x); t++) {
        if (isfinite(o->nothing[t]) && o->nothing[t] > 0) x[known++] = stats_log(o->nothing[t]);
    }
    return known >= 3 ? stats_diff_sd(x, known) : NAN;
}

static struct plant_window usual_of(const struct ticks *t)
{
    return (struct plant_window){.p99_ms = median_all(t->p99, t->n), .queue = median_all(t->queue, t->n),
                                 .gpu_util = median_all(t->util, t->n), .replicas = median_all(t->replicas, t->n)};
}

static void knobs_of(const struct oracle_world *w, const struct rig *r, struct oracle *o)
{
    for (unsigned k = 0; k < w->service->knob_count; k++) o->knobs_end[k] = rig_get(r, w->service->knobs[k].name);
}

/* A clean world may be years long: one day says what is usual. */
static enum status look_at_clean(const struct oracle_world *w, struct oracle *o, struct err *e)
{
    struct ticks day = {0};
    uint32_t n = ticks_of(span_min(w->part->duration, SPAN_DAY(1)), w->tick);
    struct rig *r = rig_new(w->part, w->part->kind, RIG_HEALTHY, w->seed, w->tick, e);
    if (!r) return e->code;
    rig_coarse(r);
    bool ok = run_to(r, &day, n);
    o->usual = usual_of(&day);
    knobs_of(w, r, o);
    ticks_free(&day);
    rig_free(r);
    return ok ? STATUS_OK : err_set(e, STATUS_MEMORY, "out of memory for a clean world");
}

/* Doing nothing, and the healthy twin, over the whole world and far enough beyond the onset. */
static enum status run_both(const struct oracle_world *w, struct rig *nothing, struct rig *twin, struct oracle *o, struct err *e)
{
    struct ticks a = {0}, b = {0};
    uint32_t n = ticks_of(w->part->duration, w->tick), on = ticks_of(ORACLE_RUN_ON, w->tick);
    bool ok = run_to(nothing, &a, n) && run_to(twin, &b, n) && reference(o, &b);
    if (ok) o->degraded = find_onset(o, &a, w->tick);
    if (ok && o->degraded && o->t0 + on > n) {
        n = o->t0 + on;
        ok = run_to(nothing, &a, n) && run_to(twin, &b, n) && reference(o, &b);
    }
    o->n = n;
    o->usual = usual_of(&b);
    knobs_of(w, nothing, o);
    for (uint32_t i = 0; i < a.n; i++) {
        if (isfinite(a.replicas[i])) o->replica_s += a.replicas[i] * span_seconds(w->tick);
    }
    o->nothing = a.p99;
    a.p99 = NULL;
    ticks_free(&a);
    ticks_free(&b);
    return ok ? STATUS_OK : err_set(e, STATUS_MEMORY, "out of memory for a world of %u ticks", n);
}

bool oracle_is_clean(const struct scenario_part *p)
{
    for (uint16_t i = 0; i < p->step_count; i++) {
        const struct scenario_step *s = &p->steps[i];
        bool calendar = s->kind == STEP_FAULT && s->fault.kind == FAULT_SEASON_SHIFT;   /* of healthy users */
        if (s->kind != STEP_COMMAND && !calendar) return false;
    }
    return true;
}

/* A deploy that the service's watch of releases covers at the onset. */
static bool after_release(const struct oracle_world *w, const struct oracle *o)
{
    int64_t onset = (int64_t)o->t0 * w->tick.us, watch = w->service->timing.release_watch.us;
    for (uint16_t i = 0; i < w->part->step_count; i++) {
        const struct scenario_step *s = &w->part->steps[i];
        bool is = s->kind == STEP_RELEASE || (s->kind == STEP_FAULT && s->fault.kind == FAULT_RELEASE);
        int64_t at = s->kind == STEP_FAULT ? s->fault.at_us : s->at.us;
        if (is && at <= onset + w->tick.us && onset - at < watch) return true;
    }
    return false;
}

static bool somebody_answers(const struct scenario_part *p)
{
    for (uint16_t i = 0; i < p->step_count; i++) {
        const struct scenario_step *s = &p->steps[i];
        if (s->kind == STEP_RECONCILE || (s->kind == STEP_BY_HAND && s->waits)) return true;
    }
    return false;
}

static void label(const struct oracle_world *w, struct oracle *o, const struct oracle_best *b)
{
    struct oracle_hour nothing, half;
    oracle_hour(o, o->nothing, w->tick, ORACLE_HOUR, &nothing);
    oracle_hour(o, o->nothing, w->tick, ORACLE_HEALS, &half);
    o->late = nothing.late;
    o->best_late = fmin(b->late, nothing.late);
    o->best_degraded_min = fmin(b->degraded_min, nothing.degraded_min);
    if (b->degraded_min < nothing.degraded_min) memcpy(o->best, b->name, sizeof o->best);
    o->harmful_knob = b->worst_single > nothing.late && b->worst_single >= ORACLE_HARMS * nothing.late;
    o->scaling_cures = b->scaling_restores;
    o->block_sd = tick_noise(o, ticks_of(ORACLE_HOUR, w->tick));
    o->release = after_release(w, o);
    if (somebody_answers(w->part)) o->label = LABEL_PARTIAL;
    else if (half.restored) o->label = LABEL_SELF_HEALING;
    else if (o->release) o->label = LABEL_INCURABLE;
    else if (b->any_restores && !nothing.restored) o->label = LABEL_TUNABLE;
    else if (!(b->late < nothing.late && b->late <= ORACLE_IMPROVES * nothing.late)) o->label = LABEL_INCURABLE;
    else o->label = LABEL_PARTIAL;
    bool alike = b->worst_single <= (1 + ORACLE_INERT) * nothing.late && b->least_single >= (1 - ORACLE_INERT) * nothing.late;
    o->inert = o->label == LABEL_INCURABLE && !o->release && alike && isfinite(nothing.late);
}

static double promised(const struct oracle_world *w, const struct oracle *o)
{
    struct oracle_hour nothing;
    double objective = w->service->judge.objective;
    oracle_hour(o, o->nothing, w->tick, ORACLE_HOUR, &nothing);
    return objective > 0 && !(nothing.late <= objective) ? objective : 0;
}

enum status oracle_ask(const struct oracle_world *w, struct oracle *ret, struct err *e)
{
    struct oracle o = {.label = LABEL_CLEAN, .n = ticks_of(w->part->duration, w->tick), .block_sd = NAN, .late = NAN,
                       .best_late = NAN};
    struct oracle_best best = {0};
    enum status s = STATUS_OK;
    *ret = o;
    if (oracle_is_clean(w->part)) return look_at_clean(w, ret, e);
    struct rig *nothing = rig_new(w->part, w->part->kind, RIG_AS_IT_IS, w->seed, w->tick, e);
    struct rig *twin = nothing ? rig_new(w->part, w->part->kind, RIG_HEALTHY, w->seed, w->tick, e) : NULL;
    s = twin ? run_both(w, nothing, twin, &o, e) : e->code;
    rig_free(nothing);
    rig_free(twin);
    o.label = LABEL_QUIET;
    if (s == STATUS_OK && o.degraded) o.promised = promised(w, &o);
    if (s == STATUS_OK && o.degraded) s = oracle_replay(w, &o, &best, e);
    if (s == STATUS_OK && o.degraded) label(w, &o, &best);
    o.replays = best.replays;
    *ret = o;
    if (s != STATUS_OK) oracle_free(ret);
    return s;
}

void oracle_free(struct oracle *o)
{
    free(o->nothing);
    free(o->ref);
    o->nothing = o->ref = NULL;
}
