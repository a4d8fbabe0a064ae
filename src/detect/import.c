/* History before the start, as if lived through: one signal at a time, each with ticks of its own. */
#include "base/check.h"
#include "detect/detect_private.h"

void detect_import_begin(struct detect *d)
{
    OBJ_VALID(d, DETECT_MAGIC);
    d->st.imported = 1;
}

#define GAP_TICKS_MAX (61 * INT64_C(2880))   /* a longer silence is jumped over: nothing is kept for longer than 60 days */

static int64_t run_ticks(struct series *s, const struct track *t, int64_t due, int64_t until, int64_t wall_minus_at)
{
    if ((until - due) / t->tick_us > GAP_TICKS_MAX) due += (until - due) / t->tick_us * t->tick_us;
    for (; due < until; due += t->tick_us) {
        struct series_tick k = {.now = due, .wall = due + wall_minus_at, .learn = LEARN};
        series_tick(s, t, &k);
    }
    return due;
}

/* Ticks fall on the grid that the first point lays; a tick sees the points up to its own time. */
void detect_import(struct detect *d, uint16_t signal, const struct point *points, const struct wall *walls, uint32_t n)
{
    CHECK(signal < d->n);
    struct series *s = &d->series[signal];
    const struct track *t = &d->tracks[signal];
    if (n == 0) return;
    s->imported = 1;
    int64_t due = s->last_tick == INT64_MIN ? points[0].at.us : s->last_tick + t->tick_us, apart = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0) apart = walls[0].us - points[0].at.us;
        due = run_ticks(s, t, due, points[i].at.us, apart);
        series_feed(s, t, points[i]);
        apart = walls[i].us - points[i].at.us;
    }
    run_ticks(s, t, due, s->last_at + 1, apart);
}

/* Nothing is learned, and no block of it counts as healthy: what went on then only the incident's own record knows. */
static int64_t relive(struct series *s, const struct track *t, int64_t due, int64_t until, int64_t wall_minus_at)
{
    for (; due < until; due += t->tick_us) {
        struct series_tick k = {.now = due, .wall = due + wall_minus_at, .learn = LEARN_NO, .excluded = true};
        series_tick(s, t, &k);
    }
    return due;
}

void detect_refill(struct detect *d, uint16_t signal, const struct point *points, uint32_t n)
{
    OBJ_VALID(d, DETECT_MAGIC);
    CHECK(signal < d->n);
    struct series *s = &d->series[signal];
    const struct track *t = &d->tracks[signal];
    if (s->last_tick == INT64_MIN || d->st.last_tick == INT64_MIN) return;
    int64_t apart = d->st.last_wall - d->st.last_tick, due = s->last_tick + t->tick_us;
    for (uint32_t i = 0; i < n; i++) {
        if (points[i].at.us <= s->last_at) continue;
        if ((points[i].at.us - due) / t->tick_us > SERIES_BLOCKS) return;   /* too far from what is saved to go on from there */
        due = relive(s, t, due, points[i].at.us, apart);
        series_feed(s, t, points[i]);
    }
    if (s->last_at != INT64_MIN) (void)relive(s, t, due, s->last_at + 1, apart);
}

void detect_import_end(struct detect *d, struct instant now, struct wall wall)
{
    d->st.last_tick = INT64_MIN;
    for (uint16_t i = 0; i < d->n; i++)
        if (d->series[i].last_tick > d->st.last_tick) d->st.last_tick = d->series[i].last_tick;
    if (d->st.last_tick != INT64_MIN) d->st.last_wall = wall.us - (now.us - d->st.last_tick);
}
