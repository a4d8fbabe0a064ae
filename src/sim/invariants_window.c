/* Freeze and maintenance windows by the checker's own arithmetic: no forward write in one, no incident and no clear verdict in
 * maintenance. loop.md section 2 and row 51; a window is over, for a day after a clock step, only if it is so by both times. */
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sim/invariants_inside.h"

#define SLACK SPAN_S(60)              /* from an event of the loop to its durable record, on a slow disk */

static bool by_day(const struct swarm_window *x, int64_t wall_us)
{
    int64_t minute = (wall_us / US_PER_MIN + swarm_zones[x->zone].offset_min) % 1440;
    int64_t into = (minute - x->from + 1440) % 1440;
    return into < x->minutes;
}

/* Both times, where the present process has seen the clock being set, and nothing else that looks like it. */
static unsigned walls(const struct swarm *w, struct instant t, int64_t ret[2])
{
    const struct swarm_process *p = w->p;
    int64_t at = swarm_wall(w).us - instant_since(w->now, t).us;
    ret[0] = at;
    ret[1] = at - w->wall_step + p->step_before;
    bool doubted = instant_is_set(p->doubt_until) && instant_before(w->now, p->doubt_until) && !p->slept;
    return doubted ? 2 : 1;
}

static bool configured(const struct swarm_service *s, enum freeze_kind kind, struct instant t)
{
    const struct swarm *w = s->w;
    int64_t at[2];
    unsigned n = walls(w, t, at);
    for (unsigned i = 0; i < w->window_n; i++) {
        const struct swarm_window *x = &w->windows[i];
        if (x->kind != kind || (x->first_only && s->index != 0)) continue;
        for (unsigned k = 0; k < n; k++) {
            if (by_day(x, at[k])) return true;
        }
    }
    return false;
}

static bool opened(const struct swarm_service *s, enum freeze_kind kind, struct instant t)
{
    const struct inv_windows *v = inv_windows(s->w);
    int64_t at[2];
    unsigned n = walls(s->w, t, at);
    for (unsigned i = 0; i < v->n; i++) {
        const struct inv_window *x = &v->items[i];
        bool meant = x->kind == kind && !x->ending && (x->service[0] == '\0' || text_eq(x->service, s->def->name));
        if (!meant || instant_before(t, x->durable)) continue;
        for (unsigned k = 0; k < n; k++) {
            if (at[k] < x->until_us) return true;
        }
    }
    return false;
}

static bool is_in(const struct swarm_service *s, enum freeze_kind kind, struct instant t)
{
    return configured(s, kind, t) || opened(s, kind, t);
}

void window_send(struct swarm_service *s, struct instant planned)
{
    for (unsigned k = 0; k < FREEZE_KIND_COUNT; k++) {
        if (!is_in(s, (enum freeze_kind)k, planned)) continue;
        violated(s->w, "I6 a forward write in a window: %s", freeze_kind_name((enum freeze_kind)k));
    }
}

/* In maintenance from when the record was made until it was durable: on both sides of whatever the disk took. */
static bool surely_in_maintenance(const struct swarm_service *s)
{
    struct instant before = instant_sub(s->w->now, SLACK);
    return is_in(s, FREEZE_KIND_MAINTENANCE, s->w->now) && before.us > 0 && is_in(s, FREEZE_KIND_MAINTENANCE, before);
}

static void on_verdict(struct swarm_service *s, const struct record *r)
{
    const char *verdict = record_get_text(r, RF_VERDICT);
    if (text_eq(verdict, "inconclusive") || !surely_in_maintenance(s)) return;
    violated(s->w, "I7 a verdict '%s' in a maintenance window", verdict);
}

static void open_one(struct swarm *w, const struct record *r)
{
    struct inv_windows *v = inv_windows(w);
    if (v->n == INV_WINDOWS) {
        memmove(&v->items[0], &v->items[1], (INV_WINDOWS - 1) * sizeof v->items[0]);
        v->n--;
    }
    struct inv_window *x = &v->items[v->n++];
    *x = (struct inv_window){.kind = r->kind == RECORD_FREEZE ? FREEZE_KIND_FREEZE : FREEZE_KIND_MAINTENANCE, .durable = w->now,
                             .until_us = record_get_i64(r, RF_EXPIRY, 0)};
    (void)text_copy(x->service, sizeof x->service, record_get_text(r, RF_SERVICE));
    (void)text_copy(x->id, sizeof x->id, record_get_text(r, RF_WINDOW_ID));
}

static void end_one(struct swarm *w, const char *id)
{
    struct inv_windows *v = inv_windows(w);
    for (unsigned i = 0; i < v->n; i++) {
        if (text_eq(v->items[i].id, id)) v->items[i] = v->items[--v->n];
    }
}

void window_record(struct swarm *w, const struct record *r)
{
    if (r->kind == RECORD_FREEZE || r->kind == RECORD_MAINTENANCE) open_one(w, r);
    if (r->kind == RECORD_WINDOW_END) end_one(w, record_get_text(r, RF_WINDOW_ID));
}

void window_service_record(struct swarm_service *s, const struct record *r)
{
    bool known = record_get_u64(r, RF_INCIDENT, 0) <= s->inv->incidents;
    if (r->kind == RECORD_INCIDENT && !known) {
        if (surely_in_maintenance(s)) violated(s->w, "I6 an incident is opened in a maintenance window");
        s->inv->incidents = record_get_u64(r, RF_INCIDENT, 0);
    }
    if (r->kind == RECORD_VERDICT) on_verdict(s, r);
}

/* Ended at once for those who lead now, and for later ones when it is durable. */
void window_command(struct swarm *w, const struct command *c)
{
    struct inv_windows *v = inv_windows(w);
    for (unsigned i = 0; i < v->n && c->verb == COMMAND_WINDOW_END && c->action; i++) {
        if (text_eq(v->items[i].id, c->action)) v->items[i].ending = true;
    }
}

void window_killed(struct swarm *w)
{
    struct inv_windows *v = inv_windows(w);
    for (unsigned i = 0; i < v->n; i++) v->items[i].ending = false;
}
