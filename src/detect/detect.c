#include "detect/detect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "detect/detect_private.h"
#include "stats/order.h"

#define FREEZE_BOUND_TICKS 240   /* 2 h */
#define QUIET_TICKS 10           /* false for so many ticks: an incident closes */
#define RELEASE_KEPT_TICKS 60    /* 30 min */

bool detect_memory(struct detect *d)
{
    size_t cap = d->n ? d->n : 1u;
    struct series *series = calloc(cap, sizeof *series);
    char *past = memory_take(d->cold, archive_size(d->n));
    if (!series || !past) {
        free(series);
        memory_give(d->cold, past, archive_size(d->n));
        return false;
    }
    for (uint16_t i = 0; i < d->n; i++) series_init(&series[i]);
    d->series = series;
    archive_place(&d->archive, past, d->n);
    return true;
}

void detect_forget_memory(struct detect *d)
{
    free(d->series);
    memory_give(d->cold, d->archive.memory, d->archive.size);
    d->series = NULL;
    d->archive = (struct archive){0};
}

void detect_point_tracks(struct detect *d, const struct archive *a)
{
    for (uint16_t i = 0; i < d->n; i++) {
        d->tracks[i].archive = a;
        d->tracks[i].at = i;
    }
}

struct detect *detect_new(const struct service_def *s, double ewma_alpha, struct span tick)
{
    return detect_new_in(s, ewma_alpha, tick, NULL);
}

struct detect *detect_new_in(const struct service_def *s, double ewma_alpha, struct span tick, const struct memory *cold)
{
    CHECK(tick.us > 0);
    struct detect *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->magic = DETECT_MAGIC;
    d->n = s->signal_count;
    d->cold = cold;
    d->def = s;
    d->alpha = ewma_alpha > 0 ? ewma_alpha : 0.2;
    d->tick = tick;
    d->bound = s->timing.freeze_baseline.us > 0 ? s->timing.freeze_baseline : (struct span){FREEZE_BOUND_TICKS * tick.us};
    d->tracks = calloc(d->n ? d->n : 1u, sizeof *d->tracks);
    if (!d->tracks || !detect_memory(d) || !shapes_new(d)) {
        detect_free(d);
        return NULL;
    }
    for (uint16_t i = 0; i < d->n; i++) track_init(&d->tracks[i], s, &s->signals[i], d->alpha, tick.us);
    detect_point_tracks(d, &d->archive);
    d->st.last_tick = d->st.last_wall = d->st.onset = d->st.release_at = INT64_MIN;
    return d;
}

void detect_free(struct detect *d)
{
    if (!d) return;
    OBJ_VALID(d, DETECT_MAGIC);
    free(d->tracks);
    free(d->shapes);
    detect_forget_memory(d);
    d->magic = 0;
    free(d);
}

void detect_feed(struct detect *d, uint16_t signal, struct point p)
{
    OBJ_VALID(d, DETECT_MAGIC);
    CHECK(signal < d->n);
    series_feed(&d->series[signal], &d->tracks[signal], p);
}

bool detect_aging(const struct detect *d, struct instant now)
{
    return d->st.onset != INT64_MIN && now.us >= d->st.onset + d->bound.us;
}

/* loop.md section 1, "Learning means". Past the bound an open incident no longer holds learning, the rest still does. */
enum learn detect_learning(const struct detect *d, int64_t now, const struct detect_context *ctx)
{
    bool frozen = d->st.onset != INT64_MIN, aging = detect_aging(d, (struct instant){now});
    if (ctx->action_active || ctx->maintenance || ctx->release_watch) return LEARN_NO;
    if (d->st.release_at != INT64_MIN && now < d->st.release_at + RELEASE_KEPT_TICKS * d->tick.us) return LEARN_NO;
    if (frozen) return aging ? LEARN_SLOWLY : LEARN_NO;
    return ctx->symptom_active ? LEARN_NO : LEARN;
}

bool detect_is_excluded(const struct detect *d, int64_t now)
{
    for (uint64_t i = 0; i < d->st.excluded_n; i++)
        if (now > d->st.excluded[i][0] && now <= d->st.excluded[i][1]) return true;
    return false;
}

/* What a tick works on, asked for while the signal before it is worked on: a fleet's state does not fit the caches. */
static inline void fetch_ahead(const struct series *s)
{
    const char *at = (const char *)s;
    for (size_t i = 0; i < offsetof(struct series, hist); i += 64) __builtin_prefetch(at + i, 1);
}

void detect_tick(struct detect *d, struct instant now, struct wall wall, const struct detect_context *ctx,
                 struct evidence *out)
{
    OBJ_VALID(d, DETECT_MAGIC);
    struct series_tick k = {.now = now.us, .wall = wall.us, .learn = detect_learning(d, now.us, ctx), .idle = ctx->idle};
    d->may_learn = k.learn == LEARN;
    k.excluded = d->st.onset != INT64_MIN || ctx->maintenance || ctx->action_active || detect_is_excluded(d, now.us);
    for (uint16_t i = 0; i < d->n; i++) {
        if (i + 1 < d->n) fetch_ahead(&d->series[i + 1]);
        series_tick(&d->series[i], &d->tracks[i], &k);
    }
    d->st.last_tick = now.us;
    d->st.last_wall = wall.us;
    d->st.ticks++;
    if (out) detect_evidence(d, now, wall, out);
}

void detect_freeze(struct detect *d, struct instant onset)
{
    if (d->st.onset != INT64_MIN) return;
    d->st.onset = onset.us;
    for (uint16_t i = 0; i < d->n; i++) {
        struct series *s = &d->series[i];
        const struct track *t = &d->tracks[i];
        s->pending = s->slow_pending = 0;
        if (onset.us >= d->st.last_tick) s->scale = s->scale_before;
        /* B of an incident: [onset - 31 min, onset - 1 min]. */
        uint64_t end = s->blocks;
        while (end > block_oldest(s) && block_time(s, t, end - 1) > onset.us - 2 * d->tick.us) end--;
        spike_rebuild(s, t, end);
        s->b_frozen = 1;
        spike_eval(s, t);
    }
}

void detect_refreeze(struct detect *d, struct instant onset)
{
    if (d->st.onset == INT64_MIN || onset.us < d->st.onset) return;
    d->st.onset = onset.us;
    for (uint16_t i = 0; i < d->n; i++) d->series[i].pending = d->series[i].slow_pending = 0;
}

static void mark(struct detect *d, int64_t from, int64_t to)
{
    for (uint16_t i = 0; i < d->n; i++) {
        struct series *s = &d->series[i];
        const struct track *t = &d->tracks[i];
        blocks_mark(s, t, from, to, BLOCK_EXCLUDED);
        slots_mark(s, t, d->st.last_tick, d->st.last_wall, from, to);
        if (!s->b_frozen) spike_rebuild(s, t, spike_end(s));
    }
}

static void unmark_blocks(struct detect *d, int64_t from, int64_t to)
{
    for (uint16_t i = 0; i < d->n; i++) {
        struct series *s = &d->series[i];
        const struct track *t = &d->tracks[i];
        for (uint64_t q = block_oldest(s); q < s->blocks; q++) {
            int64_t end = block_time(s, t, q);
            if (end > from && end <= to) *block_known(t, block_at(q)) &= (uint8_t)~BLOCK_EXCLUDED;
        }
    }
}

void detect_unfreeze(struct detect *d, struct instant now, bool closed)
{
    if (d->st.onset == INT64_MIN) return;
    int64_t from = d->st.onset - 1;        /* the sample of the onset tick itself belongs to it */
    int64_t quiet = now.us - QUIET_TICKS * d->tick.us;
    d->st.onset = INT64_MIN;
    for (uint16_t i = 0; i < d->n; i++) d->series[i].b_frozen = 0;
    if (d->st.last_tick != INT64_MIN) mark(d, from, now.us);
    if (closed) unmark_blocks(d, quiet > from ? quiet : from, now.us);
    for (uint16_t i = 0; i < d->n; i++) spike_rebuild(&d->series[i], &d->tracks[i], spike_end(&d->series[i]));
}

void detect_exclude(struct detect *d, struct instant from, struct instant to)
{
    if (to.us <= from.us) return;
    if (d->st.last_tick != INT64_MIN) mark(d, from.us, instant_min(to, (struct instant){d->st.last_tick}).us);
    if (d->st.last_tick != INT64_MIN && to.us <= d->st.last_tick) return;
    uint64_t keep = 0;
    for (uint64_t i = 0; i < d->st.excluded_n; i++) {      /* those that have passed make room */
        if (d->st.excluded[i][1] <= d->st.last_tick) continue;
        memmove(d->st.excluded[keep++], d->st.excluded[i], sizeof d->st.excluded[0]);
    }
    if (keep == DETECT_EXCLUDED) keep--;
    d->st.excluded[keep][0] = from.us;
    d->st.excluded[keep][1] = to.us;
    d->st.excluded_n = keep + 1;
}

void detect_regime(struct detect *d, struct instant at)
{
    for (uint16_t i = 0; i < d->n; i++) {
        struct series *s = &d->series[i];
        const struct track *t = &d->tracks[i];
        for (uint64_t q = block_oldest(s); q < s->blocks; q++)
            if (block_time(s, t, q) - t->step_us < at.us) *block_known(t, block_at(q)) |= BLOCK_OLD;
        if (!s->b_frozen) spike_rebuild(s, t, spike_end(s));
    }
}

void detect_drift_restart(struct detect *d, struct instant from)
{
    if (d->st.last_tick == INT64_MIN) return;
    for (uint16_t i = 0; i < d->n; i++) {
        struct series *s = &d->series[i];
        s->drift_from = slot_number(&d->tracks[i], d->st.last_wall - (d->st.last_tick - from.us));
        s->drift = s->drift_day = NAN;
    }
}

void detect_release(struct detect *d, struct instant at) { d->st.release_at = at.us; }

/* Medians of the known blocks that ended in [from, to). */
static uint32_t blocks_between(const struct series *s, const struct track *t, struct instant from, struct instant to,
                               double x[SERIES_BLOCKS])
{
    uint32_t n = 0;
    for (uint64_t q = block_oldest(s); q < s->blocks; q++) {
        int64_t end = block_time(s, t, q);
        if (end < from.us || end >= to.us || !(*block_known(t, block_at(q)) & BLOCK_COUNT)) continue;
        x[n++] = *block_median(t, block_at(q));
    }
    return n;
}

void detect_anchor(struct detect *d, struct instant from, struct instant to, enum anchor_move move)
{
    double x[SERIES_BLOCKS];
    for (uint16_t i = 0; i < d->n; i++) {
        uint32_t n = blocks_between(&d->series[i], &d->tracks[i], from, to, x);
        if (n > 0 && move != ANCHOR_KEEP) anchor_move_to(&d->series[i], &d->tracks[i], stats_median(x, n), move == ANCHOR_DOWNWARD);
    }
}

static void series_rebase(struct detect *d, uint16_t i, struct instant from, struct instant to, enum anchor_move move)
{
    struct series *s = &d->series[i];
    const struct track *t = &d->tracks[i];
    double x[SERIES_BLOCKS], scale;
    uint32_t n = blocks_between(s, t, from, to, x);
    if (n == 0) return;                    /* nothing known: the old baseline stands */
    double half_sd = 0.5 * stats_sd(x, n), level;
    scale = 1.4826 * stats_mad(x, n, &level);
    if (scale < t->rel * fabs(level)) scale = t->rel * fabs(level);
    if (scale < t->resolution) scale = t->resolution;
    if (half_sd > scale) scale = half_sd > 2 * scale ? 2 * scale : half_sd;
    s->base = level;
    s->scale = s->scale_before = scale;
    s->pending = 0;
    if (s->learned < SERIES_WARM) s->learned = SERIES_WARM;
    score_rebase(s, t, level);
    if (move != ANCHOR_KEEP) anchor_move_to(s, t, level, move == ANCHOR_DOWNWARD);
}

void detect_rebase(struct detect *d, struct instant now, struct instant from, struct instant to, enum anchor_move move)
{
    detect_unfreeze(d, now, false);
    for (uint16_t i = 0; i < d->n; i++) series_rebase(d, i, from, to, move);
    if (move == ANCHOR_BOTH) shapes_restart(d);
    detect_regime(d, instant_sub(from, d->tick));
    /* The window it was learned from is the new normal: B may use it. */
    unmark_blocks(d, from.us - 1, now.us);
    for (uint16_t i = 0; i < d->n; i++) spike_rebuild(&d->series[i], &d->tracks[i], spike_end(&d->series[i]));
}
