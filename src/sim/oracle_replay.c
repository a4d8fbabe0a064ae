/* Every whitelisted sequence of up to two notches, from clones of one warm world. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "model/ladder.h"
#include "sim/oracle_inside.h"

enum { MOVES_MAX = 2 * POLICY_KNOBS_MAX, SEQUENCES_MAX = MOVES_MAX * (MOVES_MAX + 1), CONFIRM = 3 };

struct move { const struct knob_def *knob; enum direction direction; };

struct sequence {
    struct move move[2];
    unsigned n;
    bool possible, restarts;     /* more often than doing nothing: what that cleans is no cure */
    struct oracle_hour hour;
};

struct replay {
    const struct oracle_world *w;
    const struct oracle *o;      /* with the onset that counts */
    struct rig *warm;            /* at the first notch's moment */
    double *p99;                 /* n ticks; what lies before that moment is there */
    struct oracle_recent recent, at_first;   /* at the first notch's moment, as it was when all were warm */
    uint32_t first, second, end;
    uint64_t restarts;
};

static uint32_t ticks_of(struct span s, struct span tick) { return (uint32_t)((s.us + tick.us - 1) / tick.us); }

/* One notch at the target as it stands. false: there is none, the whitelist forbids it now, or the target refuses it. */
static bool notch(const struct replay *p, struct rig *r, const struct move *m)
{
    struct knob_value now = {0}, next;
    struct buf b = BUF_INIT;
    double v = rig_get(r, m->knob->name);
    bool ok = isfinite(v) && oracle_allowed(p->w->service, &p->recent, r, m->knob, m->direction);
    if (ok) {
        buf_double(&b, v);
        ok = knob_value_set(&now, b.data, (unsigned)b.len) &&
             ladder_next(m->knob, &now, m->direction, &next, NULL) == STATUS_OK && rig_set(r, m->knob->name, next.decimal);
    }
    buf_free(&b);
    return ok;
}

static void run(struct replay *p, struct rig *r, uint32_t from, uint32_t to)
{
    struct plant_window w;
    for (uint32_t t = from; t < to; t++) {
        rig_tick(r, &w);
        p->p99[t] = oracle_p99(&w);
        p->recent.of[p->recent.n++ % ORACLE_RECENT] = w;
    }
}

static bool try_sequence(struct replay *p, struct sequence *s)
{
    struct rig *r = rig_clone(p->warm);
    if (!r) return false;
    p->recent = p->at_first;
    s->possible = notch(p, r, &s->move[0]);
    if (s->possible) {
        run(p, r, p->first, s->n == 2 ? p->second : p->end);
        if (s->n == 2) s->possible = notch(p, r, &s->move[1]);
        if (s->n == 2 && s->possible) run(p, r, p->second, p->end);
    }
    if (s->possible) oracle_hour(p->o, p->p99, p->w->tick, ORACLE_HOUR, &s->hour);
    s->restarts = rig_restarts(r) > p->restarts;
    rig_free(r);
    return true;
}

/* How often the process restarts by itself until the hour ends. */
static bool count_restarts(struct replay *p)
{
    struct rig *r = rig_clone(p->warm);
    if (!r) return false;
    run(p, r, p->first, p->end);
    p->restarts = rig_restarts(r);
    rig_free(r);
    return true;
}

static unsigned moves_of(const struct service_def *s, struct move moves[MOVES_MAX])
{
    unsigned n = 0;
    for (unsigned k = 0; k < s->knob_count; k++) {
        const struct knob_def *d = &s->knobs[k];
        if (d->tier > 2) continue;
        if (d->allow_up) moves[n++] = (struct move){d, DIR_UP};
        if (d->allow_down) moves[n++] = (struct move){d, DIR_DOWN};
    }
    return n;
}

static unsigned sequences_of(const struct service_def *s, struct sequence *all)
{
    struct move moves[MOVES_MAX];
    unsigned m = moves_of(s, moves), n = 0;
    for (unsigned i = 0; i < m; i++) all[n++] = (struct sequence){.move = {moves[i]}, .n = 1};
    for (unsigned i = 0; i < m; i++) {
        for (unsigned j = 0; j < m; j++) {
            bool same = moves[i].knob == moves[j].knob, back = same && moves[i].direction != moves[j].direction;
            bool too_soon = same && span_less(ORACLE_SECOND, moves[i].knob->interval);
            if (!back && !too_soon) all[n++] = (struct sequence){.move = {moves[i], moves[j]}, .n = 2};
        }
    }
    return n;
}

static void name_of(const struct sequence *s, char *out, size_t cap)
{
    struct buf b = BUF_INIT;
    for (unsigned i = 0; i < s->n; i++) {
        buf_printf(&b, "%s%s %s", i ? ", " : "", s->move[i].knob->name, direction_name(s->move[i].direction));
    }
    (void)text_copy(out, cap, buf_text(&b));
    buf_free(&b);
}

static void consider(struct oracle_best *b, const struct sequence *s)
{
    if (!s->possible) return;
    if (s->n == 1 && s->hour.late > b->worst_single) b->worst_single = s->hour.late;
    if (s->n == 1 && s->hour.late < b->least_single) b->least_single = s->hour.late;
    if (s->restarts) return;
    if (s->hour.restored) b->any_restores = true;
    if (s->hour.late < b->late) b->late = s->hour.late;
    if (!(s->hour.degraded_min < b->degraded_min)) return;
    b->degraded_min = s->hour.degraded_min;
    name_of(s, b->name, sizeof b->name);
}

static bool try_scaling(struct replay *p, struct oracle_best *b)
{
    const struct service_def *s = p->w->service;
    uint16_t k = service_knob(s, "replicas");
    struct rig *r = rig_clone(p->warm);
    struct oracle_hour hour;
    if (!r) return false;
    if (rig_set(r, "replicas", k == NO_INDEX ? 64 : s->knobs[k].max)) {
        run(p, r, p->first, p->end);
        oracle_hour(p->o, p->p99, p->w->tick, ORACLE_HOUR, &hour);
        b->scaling_restores = hour.restored;
        b->replays++;
    }
    rig_free(r);
    return true;
}

/* Runs a fresh world to the first notch's moment. */
static enum status warm_up(struct replay *p, enum world_kind kind, struct err *e)
{
    struct span tick = p->w->tick;
    p->first = p->o->t0 + ticks_of(ORACLE_FIRST, tick);
    p->second = p->first + ticks_of(ORACLE_SECOND, tick);
    p->end = p->o->t0 + ticks_of(ORACLE_HOUR, tick);
    p->p99 = calloc(p->end, sizeof *p->p99);
    if (!p->p99) return err_set(e, STATUS_MEMORY, "out of memory for a replay");
    p->warm = rig_new(p->w->part, kind, RIG_AS_IT_IS, p->w->seed, tick, e);
    if (!p->warm) return e->code;
    run(p, p->warm, 0, p->first);
    p->at_first = p->recent;
    return STATUS_OK;
}

static void replay_end(struct replay *p)
{
    rig_free(p->warm);
    free(p->p99);
}

static enum status replay_all(struct replay *p, struct sequence *all, unsigned n, struct oracle_best *b, struct err *e)
{
    if (!count_restarts(p)) return err_set(e, STATUS_MEMORY, "out of memory for a replay");
    for (unsigned i = 0; i < n; i++) {
        if (!try_sequence(p, &all[i])) return err_set(e, STATUS_MEMORY, "out of memory for a replay");
        if (all[i].possible) b->replays++;
        consider(b, &all[i]);
    }
    return try_scaling(p, b) ? STATUS_OK : err_set(e, STATUS_MEMORY, "out of memory for a replay");
}

static void best_init(struct oracle_best *b)
{
    *b = (struct oracle_best){.late = INFINITY, .degraded_min = INFINITY, .least_single = INFINITY};
}

/* Which to confirm: the best by degraded minutes, and the best by late p99. The order of equals is that of the list. */
static unsigned pick(const struct sequence *all, unsigned n, struct sequence *chosen)
{
    bool taken[SEQUENCES_MAX] = {false};
    unsigned got = 0;
    for (unsigned round = 0; round < 2 * CONFIRM; round++) {
        int best = -1;
        for (unsigned i = 0; i < n; i++) {
            if (!all[i].possible || taken[i]) continue;
            const struct oracle_hour *a = &all[i].hour, *b = best < 0 ? NULL : &all[best].hour;
            bool better = !b || (round % 2 ? a->late < b->late : a->degraded_min < b->degraded_min);
            if (better) best = (int)i;
        }
        if (best < 0) break;
        taken[best] = true;
        chosen[got++] = all[best];
    }
    return got;
}

static unsigned pick_worst(const struct sequence *all, unsigned n, struct sequence *chosen)
{
    int worst = -1;
    for (unsigned i = 0; i < n; i++) {
        bool worse = worst < 0 || all[i].hour.late > all[worst].hour.late;
        if (all[i].possible && all[i].n == 1 && worse) worst = (int)i;
    }
    if (worst >= 0) *chosen = all[worst];
    return worst >= 0;
}

/* The fluid form of a plant's world says which sequences are worth their price. The onset is the plant's own. */
static enum status choose_in_fluid(const struct oracle_world *w, const struct oracle *o, struct sequence *all, unsigned *n,
                                   struct err *e)
{
    struct replay p = {.w = w, .o = o};
    struct oracle_best unused;
    struct sequence chosen[2 * CONFIRM + 1];
    unsigned got = 0;
    best_init(&unused);
    enum status s = warm_up(&p, WORLD_FLUID, e);
    if (s == STATUS_OK) s = replay_all(&p, all, *n, &unused, e);
    replay_end(&p);
    if (s != STATUS_OK) return s;
    got = pick(all, *n, chosen);
    got += pick_worst(all, *n, chosen + got);
    memcpy(all, chosen, got * sizeof *all);
    *n = got;
    return STATUS_OK;
}

enum status oracle_replay(const struct oracle_world *w, const struct oracle *o, struct oracle_best *ret, struct err *e)
{
    struct sequence *all = calloc(SEQUENCES_MAX, sizeof *all);
    struct replay p = {.w = w, .o = o};
    if (!all) return err_set(e, STATUS_MEMORY, "out of memory for a replay");
    unsigned n = sequences_of(w->service, all);
    best_init(ret);
    enum status s = w->part->kind == WORLD_PLANT ? choose_in_fluid(w, o, all, &n, e) : STATUS_OK;
    if (s == STATUS_OK) s = warm_up(&p, w->part->kind, e);
    if (s == STATUS_OK) s = replay_all(&p, all, n, ret, e);
    replay_end(&p);
    free(all);
    return s;
}
