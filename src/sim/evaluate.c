#include "sim/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "config/load.h"
#include "sim/part.h"

#define HISTORY_LEAST SPAN_DAY(3)    /* of a world that brings none: nobody acts before it is warm */

/* "load-17" and "load_17" are of family load. */
static void family_of(const char *name, char out[EVALUATE_NAME_MAX])
{
    (void)text_copy(out, EVALUATE_NAME_MAX, name);
    size_t n = strlen(out), digits = n;
    while (digits > 0 && out[digits - 1] >= '0' && out[digits - 1] <= '9') digits--;
    bool numbered = digits < n && digits > 1 && (out[digits - 1] == '-' || out[digits - 1] == '_');
    if (numbered) out[digits - 1] = '\0';
}

static void broken(struct evaluate_result *r, const char *path, const char *why)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s: %s", path, why);
    r->broken = true;
    (void)text_copy(r->why, sizeof r->why, buf_text(&b));
    buf_free(&b);
}

/* The first error, as file:line:col: message. */
static void broken_at(struct evaluate_result *r, const char *path, struct config_diagnostics *d)
{
    config_diagnostics_sort(d);
    for (size_t i = 0; i < d->n; i++) {
        const struct config_diagnostic *x = &d->items[i];
        struct buf b = BUF_INIT;
        if (x->severity != CONFIG_ERROR) continue;
        buf_printf(&b, "%s:%u:%u: %s", x->source->path, x->pos.line, x->pos.col, x->text);
        if (x->hint[0]) buf_printf(&b, " (%s)", x->hint);
        r->broken = true;
        (void)text_copy(r->why, sizeof r->why, buf_text(&b));
        buf_free(&b);
        return;
    }
    broken(r, path, "it cannot be read");
}

static void keep_oracle(struct evaluate_result *r, const struct oracle *o, const struct oracle_world *w)
{
    double tick_s = span_seconds(w->tick);
    r->label = o->label;
    r->degraded = o->degraded;
    r->harmful_knob = o->harmful_knob;
    r->scaling_cures = o->scaling_cures;
    r->release = o->release;
    r->inert = o->inert;
    r->onset_s = o->degraded ? o->t0 * tick_s : NAN;
    r->years = o->n * tick_s / (365.25 * 86400);
    r->block_sd = o->block_sd;
    r->usual_p99 = o->usual.p99_ms;
    r->late = o->late;
    r->best_late = o->best_late;
    r->best_degraded_min = o->best_degraded_min;
    r->replays = o->replays;
    memcpy(r->best, o->best, sizeof r->best);
}

static enum status run_all(const struct contest *t, const struct evaluate_options *o, struct evaluate_result *r, struct err *e)
{
    unsigned n;
    const struct contender *all = contender_list(&n);
    for (unsigned i = 0; i < n; i++) {
        if (!(o->who >> i & 1)) continue;
        enum status s = contender_run(&all[i], t, &r->conduct[i], e);
        if (s != STATUS_OK) return s;
    }
    return STATUS_OK;
}

static enum status evaluate_part(const struct scenario_part *part, const struct policy *p, const struct evaluate_options *o,
                                 struct evaluate_result *r, struct err *e)
{
    struct oracle_world w = {.part = part, .service = &p->services[0], .seed = r->seed, .tick = p->tick};
    struct oracle oracle;
    enum status s = oracle_ask(&w, &oracle, e);
    if (s != STATUS_OK) return s;
    struct contest t = {.world = &w, .oracle = &oracle, .folder = o->folder, .objective = w.service->judge.objective};
    if (!(t.objective > 0)) t.objective = 2 * oracle.usual.p99_ms;
    r->objective = t.objective;
    (void)text_copy(r->policy, sizeof r->policy, p->revision);
    keep_oracle(r, &oracle, &w);
    s = run_all(&t, o, r, e);
    oracle_free(&oracle);
    return s;
}

/* What a scenario may be and an evaluation cannot use. */
static const char *unfit(const struct scenario *s)
{
    if (s->part_count != 1) return "a world to be evaluated has one part";
    if (s->parts[0].kind == WORLD_SCRIPT) return "a scripted world does not answer to what is done; use world: fluid or plant";
    return NULL;
}

void evaluate_world(const char *bytes, size_t len, const char *path, const struct evaluate_options *o,
                    struct evaluate_result *ret)
{
    struct config_diagnostics d = CONFIG_DIAGNOSTICS_INIT;
    struct arena a = ARENA_INIT;
    struct err e = {0};
    memset(ret, 0, sizeof *ret);
    const struct scenario *s = scenario_parse(&a, bytes, len, path, &d);
    const char *why = s ? unfit(s) : NULL;
    (void)text_copy(ret->name, sizeof ret->name, s ? s->name : path);
    family_of(ret->name, ret->family);
    if (!s) broken_at(ret, path, &d);
    else if (why) broken(ret, path, why);
    if (!ret->broken) {
        struct scenario_part part = s->parts[0];
        if (o->clean.us > 0 && part.kind == WORLD_FLUID && oracle_is_clean(&part)) part.duration = o->clean;
        if (part.history.us <= 0) part.history = HISTORY_LEAST;
        ret->seed = s->seed + o->seed_add;
        struct policy *p = part_policy(&part, o->folder, &d);
        if (!p) broken_at(ret, path, &d);
        else if (p->service_count != 1) broken(ret, path, "its policy must have exactly one service");
        else if (evaluate_part(&part, p, o, ret, &e) != STATUS_OK) broken(ret, path, e.text);
        config_free(p);
    }
    config_diagnostics_free(&d);
    arena_free(&a);
}
