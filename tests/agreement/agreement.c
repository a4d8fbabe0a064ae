/* Do the two forms of the simulated service say the same? loop.md section 8: medians over the seeds of p50, p99 and queue lie
 * within 15 % on every family, near saturation and in overload too.
 *
 *     agreement [--seeds N] [--warm S] [--measure S] [--moves 0|1] [FAMILY ...]
 *
 * Each seed draws a world; its faults are in force at full size from the start, so that a month's creep is measured in a minute.
 * Families of tunable worlds are measured once more with one knob moved by a notch: the oracle's and trimtab's moves must mean
 * the same in both. Prints a table in Markdown; ends with 1 when a median differs by more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/time.h"
#include "sim/family.h"
#include "sim/fluid.h"
#include "sim/scenario.h"

enum { SEEDS_MAX = 200 };
enum { P50, P99, QUEUE, MEASURES };
static const char *const measure_names[MEASURES] = {"p50", "p99", "queue"};

struct move { const char *name, *knob; double factor, add; };
static const struct move moves[] = {
    {"", NULL, 1, 0},
    {"batch_max x2", "batch_max", 2, 0},
    {"batch_max x4", "batch_max", 4, 0},
    {"batch_max /2", "batch_max", .5, 0},
    {"concurrency x2", "concurrency", 2, 0},
    {"feature_cache_mb x2", "feature_cache_mb", 2, 0},
    {"feature_cache_mb /2", "feature_cache_mb", .5, 0},
    {"replicas +1", "replicas", 1, 1},
};

struct options { uint64_t seeds; int64_t warm_s, measure_s, moves; };

static double tolerance = 0.15;
static double queue_floor = 10;      /* requests: below that a queue is the same queue */

/* A family's world with everything in force at second 0. */
struct still { struct plant_config plant; struct plant_fault faults[SCENARIO_STEPS_MAX]; unsigned n; };

static void fail(const char *what)
{
    fprintf(stderr, "agreement: %s\n", what);
    exit(2);
}

/* Memory that leaked for hours is there after half the warm-up; how much, the seed says: from nothing to what is left of it. */
static void leaked(struct plant_fault *f, uint64_t seed, const struct options *o)
{
    double percent = 40.0 * (double)(seed % 30) / 29.0, hours = (double)o->warm_s * 0.5 / 3600.0;
    f->size = percent / hours;
    f->until_us = o->warm_s * US_PER_S / 2;
}

static struct still still_world(const char *family, uint64_t seed, const struct options *o)
{
    struct arena a = ARENA_INIT;
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct buf yaml = BUF_INIT;
    struct err e;
    struct still s = {.n = 0};
    if (family_write(family, seed, WORLD_FLUID, &yaml, &e) != STATUS_OK) fail(e.text);
    const struct scenario *sc = scenario_parse(&a, buf_text(&yaml), yaml.len, family, &d);
    if (!sc) fail("a family wrote what cannot be read");
    s.plant = sc->parts[0].plant;
    for (unsigned i = 0; i < sc->parts[0].step_count; i++) {
        const struct scenario_step *step = &sc->parts[0].steps[i];
        if (step->kind != STEP_FAULT || step->fault.kind == FAULT_RESTART) continue;
        if (s.n > 0 && s.faults[s.n - 1].kind == step->fault.kind) continue;   /* the first of some bursts */
        struct plant_fault *f = &s.faults[s.n++];
        *f = step->fault;
        f->at_us = f->ramp_us = f->until_us = 0;
        if (f->kind == FAULT_LEAK) leaked(f, seed, o);
    }
    if (s.plant.day_amp > 0) {       /* another hour of the day for each seed */
        s.faults[s.n++] = (struct plant_fault){.kind = FAULT_SEASON_SHIFT, .size = (double)(seed * 7 % 24) - 12};
    }
    config_diagnostics_free(&d);
    arena_free(&a);
    buf_free(&yaml);
    return s;
}

static void moved_text(const struct plant_config *c, const struct move *m, struct buf *out)
{
    size_t n;
    const struct plant_param *p = plant_params(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(p[i].name, m->knob) != 0) continue;
        double v;
        memcpy(&v, (const char *)c + p[i].offset, sizeof v);
        buf_double(out, fmin(fmax(floor(v * m->factor + m->add), p[i].least), p[i].most));
    }
}

/* The knob is part of the configuration: a replica that starts for minutes is not what is compared. */
static void apply_move(struct still *s, const struct move *m)
{
    struct buf text = BUF_INIT;
    double v;
    struct err e;
    if (!m->knob) return;
    moved_text(&s->plant, m, &text);
    if (num_parse_all(buf_text(&text), text.len, &v)) (void)plant_config_set(&s->plant, m->knob, v, &e);
    buf_free(&text);
}

static struct plant_window measure_plant(const struct still *s, uint64_t seed, const struct options *o)
{
    struct plant_window w;
    struct err e;
    struct plant *p = plant_new(&s->plant, seed, &e);
    if (!p) fail(e.text);
    for (unsigned i = 0; i < s->n; i++) (void)plant_fault_add(p, &s->faults[i], &e);
    plant_advance(p, o->warm_s * US_PER_S);
    plant_window_take(p, &w);
    plant_advance(p, (o->warm_s + o->measure_s) * US_PER_S);
    plant_window_take(p, &w);
    plant_free(p);
    return w;
}

static struct plant_window measure_fluid(const struct still *s, uint64_t seed, const struct options *o)
{
    struct plant_window w;
    struct err e;
    struct fluid *f = fluid_new(&s->plant, seed, &e);
    if (!f) fail(e.text);
    for (unsigned i = 0; i < s->n; i++) (void)fluid_fault_add(f, &s->faults[i], &e);
    fluid_advance(f, o->warm_s * US_PER_S);
    fluid_window_take(f, &w);
    fluid_advance(f, (o->warm_s + o->measure_s) * US_PER_S);
    fluid_window_take(f, &w);
    fluid_free(f);
    return w;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* NaN: nothing was answered, in whole runs. */
static double median(const double *v, uint64_t n)
{
    double sorted[SEEDS_MAX];
    uint64_t known = 0;
    for (uint64_t i = 0; i < n; i++)
        if (!isnan(v[i])) sorted[known++] = v[i];
    if (known == 0) return NAN;
    qsort(sorted, known, sizeof *sorted, compare_doubles);
    return known % 2 ? sorted[known / 2] : 0.5 * (sorted[known / 2 - 1] + sorted[known / 2]);
}

static void pick(const struct plant_window *w, double v[MEASURES][SEEDS_MAX], uint64_t i)
{
    v[P50][i] = w->p50_ms;
    v[P99][i] = w->p99_ms;
    v[QUEUE][i] = w->queue;
}

static bool differs(int measure, double a, double b)
{
    if (measure == QUEUE && fabs(b - a) <= queue_floor) return false;
    return !(fabs(b / a - 1) <= tolerance);
}

/* Runs of a family's seeds in which a number differs by more than the tolerance: told, not judged. */
static unsigned runs_apart(double a[MEASURES][SEEDS_MAX], double b[MEASURES][SEEDS_MAX], uint64_t n)
{
    unsigned apart = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool any = false;
        for (int m = 0; m < MEASURES; m++) any = any || differs(m, a[m][i], b[m][i]);
        apart += any;
    }
    return apart;
}

static bool row(const char *family, const struct move *m, const struct options *o)
{
    static double a[MEASURES][SEEDS_MAX], b[MEASURES][SEEDS_MAX];
    bool good = true;
    for (uint64_t i = 0; i < o->seeds; i++) {
        struct still s = still_world(family, i + 1, o);
        apply_move(&s, m);
        struct plant_window x = measure_plant(&s, i + 1, o), y = measure_fluid(&s, i + 1, o);
        pick(&x, a, i);
        pick(&y, b, i);
        if (getenv("AGREEMENT_RUNS"))
            fprintf(stderr, "%s %s %d: p50 %.1f %.1f p99 %.1f %.1f queue %.1f %.1f batch %.1f %.1f\n", family, m->name, (int)i + 1,
                    x.p50_ms, y.p50_ms, x.p99_ms, y.p99_ms, x.queue, y.queue, x.batch, y.batch);
    }
    printf("| %s | %s |", family, m->name);
    for (int k = 0; k < MEASURES; k++) {
        double x = median(a[k], o->seeds), y = median(b[k], o->seeds);
        bool apart = differs(k, x, y);
        printf(" %.1f | %.1f | %s%+.1f%s |", x, y, apart ? "**" : "", 100 * (y / x - 1), apart ? "**" : "");
        good = good && !apart;
    }
    printf(" %u |\n", runs_apart(a, b, o->seeds));
    fflush(stdout);
    return good;
}

static bool family_rows(const char *family, const struct options *o)
{
    enum family_intent intent;
    bool good = true;
    if (!family_intent(family, &intent)) fail("no such family");
    unsigned n = intent == INTENT_TUNABLE && o->moves ? sizeof moves / sizeof moves[0] : 1;
    for (unsigned i = 0; i < n; i++) good = row(family, &moves[i], o) && good;
    return good;
}

static int64_t number(const char *text)
{
    uint64_t v = 0;
    if (!text || !num_parse_u64(text, strlen(text), &v) || v > 100000) fail("a whole number is expected after an option");
    return (int64_t)v;
}

int main(int argc, char **argv)
{
    struct options o = {30, 40, 120, 1};
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--seeds") == 0) o.seeds = (uint64_t)number(argv[at + 1]);
        else if (strcmp(argv[at], "--warm") == 0) o.warm_s = number(argv[at + 1]);
        else if (strcmp(argv[at], "--measure") == 0) o.measure_s = number(argv[at + 1]);
        else if (strcmp(argv[at], "--moves") == 0) o.moves = number(argv[at + 1]);
        else fail("options are --seeds N, --warm S, --measure S, --moves 0|1");
    }
    if (o.seeds < 1 || o.seeds > SEEDS_MAX || o.measure_s < 1) fail("1 to 200 seeds, measured for a second at least");
    printf("| family | moved |");
    for (int m = 0; m < MEASURES; m++) printf(" %s requests | flows | %% |", measure_names[m]);
    printf(" runs apart |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    bool good = true;
    if (at < argc) {
        for (; at < argc; at++) good = family_rows(argv[at], &o) && good;
    } else {
        for (const char *const *f = family_names(); *f; f++) good = family_rows(*f, &o) && good;
    }
    return good ? 0 : 1;
}
