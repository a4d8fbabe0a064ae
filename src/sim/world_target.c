/* The target of the simulated world: pages, reads and writes against a plant, or points from a script or the fluid form. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/faults.h"
#include "sim/page.h"
#include "sim/world_inside.h"

/* A stuck exporter answers with what it had. */
static bool page_now(struct world *w)
{
    if (w->page.len > 0 && spoiler_now(&w->spoiler, FAULTS_METRICS_FROZEN, w->now)) return true;
    buf_clear(&w->page);
    plant_advance(w->plant, w->now.us);
    return page_write(w->plant, w->o.start, &w->page);
}

void target_page(struct world *w, const struct later *l)
{
    struct event e = {.kind = EVENT_PAGE};
    e.u.page.target = l->target;
    e.u.page.began = l->began;
    e.u.page.began_wall = (struct wall){w->o.start.us + l->began.us};
    e.u.page.outcome = PAGE_DOWN;
    if (!spoiler_now(&w->spoiler, FAULTS_METRICS_MISSING, w->now) && page_now(w)) {
        e.u.page.outcome = PAGE_OK;
        e.u.page.bytes = w->page.data;
        e.u.page.len = w->page.len;
    }
    world_step(w, &e);
}

static struct world_target_knob *script_knob(struct world *w, const char *name)
{
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (w->knobs[i].present && strcmp(w->knobs[i].name, name) == 0) return &w->knobs[i];
    }
    return NULL;
}

enum status target_get(const struct world *w, const char *knob, struct buf *out, struct err *e)
{
    if (w->plant) return plant_knob_get(w->plant, knob, out, e);
    if (w->fluid) return fluid_knob_get(w->fluid, knob, out, e);
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (!w->knobs[i].present || strcmp(w->knobs[i].name, knob) != 0) continue;
        buf_double(out, w->knobs[i].value);
        return STATUS_OK;
    }
    return err_set(e, STATUS_NOT_FOUND, "the simulated target has no knob '%s'", knob);
}

static enum status set_value(struct world *w, const char *knob, const char *text, size_t len, struct err *e)
{
    double v;
    if (w->plant) return plant_knob_set(w->plant, knob, text, len, NULL, e);
    if (w->fluid) return fluid_knob_set(w->fluid, knob, text, len, NULL, e);
    struct world_target_knob *k = script_knob(w, knob);
    if (!k) return err_set(e, STATUS_NOT_FOUND, "the simulated target has no knob '%s'", knob);
    if (!num_parse_all(text, len, &v)) return err_set(e, STATUS_INVALID, "knob '%s' takes a number", knob);
    k->value = v;
    return STATUS_OK;
}

enum status target_set(struct world *w, const char *knob, const char *text, size_t len, struct err *e)
{
    if (w->plant) plant_advance(w->plant, w->now.us);
    enum status st = set_value(w, knob, text, len, e);
    uint16_t i = service_knob(w->service, knob);
    if (st == STATUS_OK && i != NO_INDEX) w->versions[i]++;
    return st;
}

void target_read(struct world *w, const struct later *l)
{
    const struct knob_def *def = &w->service->knobs[l->knob];
    struct read_vector *v = &w->read;        /* 25 KB, of which one instance is used: it is not cleared each time */
    struct event e = {.kind = EVENT_READ, .u.read = {l->knob, v}};
    struct buf *text = &w->answer;
    v->n = 1;
    v->failed = 0;
    v->values[0].len = v->values[0].version_len = 0;
    buf_clear(text);
    if (w->plant) plant_advance(w->plant, w->now.us);
    bool up = !w->plant || plant_up(w->plant);
    if (!up || target_get(w, def->name, text, NULL) != STATUS_OK) {
        v->failed = 1;
    } else {
        (void)knob_value_set(&v->values[0], text->data, (unsigned)text->len);
        if (def->read.version_header) {
            buf_clear(text);
            buf_u64(text, w->versions[l->knob]);
            (void)knob_value_set_version(&v->values[0], text->data, (unsigned)text->len);
        }
    }
    world_step(w, &e);
}

void target_write(struct world *w, const struct later *l)
{
    const struct knob_def *def = &w->service->knobs[l->knob];
    struct event e = {.kind = EVENT_ANSWER, .u.answer = {.knob = l->knob, .action = l->action, .kind = ANSWER_OK}};
    if (w->plant && !plant_up(w->plant)) e.u.answer.kind = ANSWER_ERROR;
    else if (target_set(w, def->name, l->value.bytes, l->value.len, NULL) != STATUS_OK) e.u.answer.kind = ANSWER_REFUSED;
    world_step(w, &e);
}

unsigned world_signal_place(const char *name)
{
    static const char *const names[WORLD_PLACES] = {
        "latency_p99", "latency_p50", "latency_mean", "queue_depth", "gpu_util", "throughput", "feature_fetch_ms", "kernel_ms",
        "queue_wait_ms", "running", "batch_limit", "concurrency_limit", "replica_spread", "batch_size", "cache_hit",
        "gpu_memory", "arrivals", "error_ratio", "timeout_ratio", "rest_ms"};
    unsigned i = 0;
    while (i < WORLD_PLACES && strcmp(names[i], name) != 0) i++;
    return i;
}

static double if_above_zero(double v) { return v > 0 ? v : NAN; }

void world_signal_values(const struct plant_window *t, double ret[WORLD_PLACES + 1])
{
    const double all[WORLD_PLACES + 1] = {
        t->p99_ms, t->p50_ms, t->mean_ms, t->queue, t->gpu_util, t->throughput, t->fetch_ms, t->kernel_ms,
        t->throughput > 0 ? 1e3 * t->queue / t->throughput : NAN,   /* Little's law */
        t->replicas > 0 ? t->throughput * t->fetch_ms / 1000 / t->replicas : NAN,
        if_above_zero(t->batch_limit), if_above_zero(t->concurrency_limit), if_above_zero(t->replica_spread),
        t->batch, t->cache_hit, t->gpu_memory,
        t->seconds > 0 ? (double)t->offered / t->seconds : NAN,
        t->offered ? (double)(t->refused + t->failed) / (double)t->offered : 0,
        t->offered ? (double)t->timeouts / (double)t->offered : 0,
        t->throughput > 0 ? t->mean_ms - t->fetch_ms - t->kernel_ms - 1e3 * t->queue / t->throughput : NAN,
        NAN};
    memcpy(ret, all, sizeof all);
}

double world_signal_of(const struct plant_window *t, const char *name)
{
    double all[WORLD_PLACES + 1];
    world_signal_values(t, all);
    return all[world_signal_place(name)];
}

static struct point point_of(const struct plant_window *t, const struct signal_def *d, double v, struct instant at)
{
    uint32_t n = d->is_quantile ? (uint32_t)t->completed : 0;
    return (struct point){at, v, n, isfinite(v) ? WHY_KNOWN : WHY_MISSING};
}

static struct point script_point(const struct world *w, uint16_t i)
{
    struct script_point p = script_at(&w->series[i].script, (uint64_t)(w->now.us / w->o.interval.us));
    bool known = w->series[i].present && p.kind == SCRIPT_VALUE;
    return (struct point){w->now, known ? p.value : NAN, 0, known ? WHY_KNOWN : WHY_MISSING};
}

void target_deliver(struct world *w, const struct world_points *p)
{
    struct event e = {.kind = EVENT_VALUES, .u.values = {p->signals, p->points, p->n, false}};
    world_step(w, &e);
}

static void deliver_late(struct world *w, const struct world_points *p, struct span delay)
{
    struct world_points *copy = malloc(sizeof *copy);
    CHECK(copy != NULL);
    *copy = *p;
    world_later(w, LATER_VALUES, instant_add(w->now, delay))->points = copy;
}

void target_values(struct world *w)
{
    struct world_points p = {.n = 0};
    struct plant_window t = {0};
    double truth[WORLD_PLACES + 1];
    if (w->fluid) {
        fluid_advance(w->fluid, w->now.us);
        fluid_window_take(w->fluid, &t);
        world_signal_values(&t, truth);
        w->last = t;
    }
    for (uint16_t i = 0; i < w->service->signal_count; i++) {
        struct point x = w->fluid ? point_of(&t, &w->service->signals[i], truth[w->place[i]], w->now) : script_point(w, i);
        w->newest[i] = x.value;
        if (x.why != WHY_KNOWN) continue;
        p.signals[p.n] = i;
        p.points[p.n++] = x;
    }
    struct span late = spoil_points(&w->spoiler, w->now, w->service, p.signals, p.points, &p.n);
    if (late.us > 0) deliver_late(w, &p, late);
    else target_deliver(w, &p);
}

/* The past of a healthy service, from the fluid form of the same plant: one point a tick for each signal it knows. */
void target_history(struct world *w)
{
    struct err err;
    struct fluid *f = fluid_new(&w->o.plant, w->o.seed ^ UINT64_C(0x9e3779b97f4a7c15), &err);
    CHECK_MEMORY(f);
    int64_t tick = w->o.policy->tick.us;
    uint32_t n = (uint32_t)(w->o.history.us / tick), signals = w->service->signal_count;
    struct point *points = calloc((size_t)n * signals, sizeof *points);
    struct wall *walls = calloc(n ? n : 1u, sizeof *walls);
    CHECK(points && walls);
    if (w->fluid) fluid_coarse(f, tick);         /* nothing happens in it: steps of a tick, loop.md section 8 */
    fluid_calendar(f, -w->o.history.us - 600 * US_PER_S);   /* its last day is the day before the start */
    fluid_advance(f, 600 * US_PER_S);
    struct plant_window t;
    fluid_window_take(f, &t);
    for (uint32_t i = 0; i < n; i++) {
        struct instant at = {(int64_t)i * tick - w->o.history.us};
        fluid_advance(f, 600 * US_PER_S + (int64_t)(i + 1) * tick);
        fluid_window_take(f, &t);
        double truth[WORLD_PLACES + 1];
        walls[i] = (struct wall){w->o.start.us + at.us};
        world_signal_values(&t, truth);
        for (uint32_t s = 0; s < signals; s++)
            points[(size_t)s * n + i] = point_of(&t, &w->service->signals[s], truth[w->place[s]], at);
    }
    for (uint32_t s = 0; s < signals; s++) {
        struct event e = {.kind = EVENT_HISTORY};
        e.u.history.signal = (uint16_t)s;
        e.u.history.points = points + (size_t)s * n;
        e.u.history.walls = walls;
        e.u.history.n = n;
        e.u.history.last = s + 1 == signals;
        world_step(w, &e);
    }
    free(points);
    free(walls);
    fluid_free(f);
}

enum status world_fault(struct world *w, const struct plant_fault *f, struct err *e)
{
    if (w->plant) return plant_fault_add(w->plant, f, e);
    if (w->fluid) return fluid_fault_add(w->fluid, f, e);
    return err_set(e, STATUS_UNSUPPORTED, "a scripted world has no faults: write them into its series");
}

enum status world_series(struct world *w, const char *signal, struct series_script *script, struct err *e)
{
    uint16_t i = service_signal(w->service, signal);
    if (w->o.kind != WORLD_SCRIPT) return err_set(e, STATUS_UNSUPPORTED, "only a scripted world takes series");
    if (i == NO_INDEX) return err_set(e, STATUS_NOT_FOUND, "the policy has no signal '%s'", signal);
    if (w->series[i].present) return err_set(e, STATUS_EXISTS, "the series of '%s' is given twice", signal);
    w->series[i] = (struct world_series){*script, true};
    return STATUS_OK;
}

enum status world_knob(struct world *w, const char *knob, double value, struct err *e)
{
    if (w->o.kind != WORLD_SCRIPT) return err_set(e, STATUS_UNSUPPORTED, "the knobs of a plant are set by its parameters");
    uint16_t i = service_knob(w->service, knob);
    if (i == NO_INDEX) return err_set(e, STATUS_NOT_FOUND, "the policy has no knob '%s'", knob);
    w->knobs[i] = (struct world_target_knob){w->service->knobs[i].name, value, true};
    return STATUS_OK;
}

bool world_truth(struct world *w, struct plant_window *ret)
{
    if (w->plant) plant_window_take(w->plant, ret);
    else if (w->fluid) *ret = w->last;
    return w->plant || w->fluid;
}
