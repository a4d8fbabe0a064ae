/* The anchor: an accepted state, learned for 14 days after the anchor event and then frozen. profile, drift and
 * week_ago change only when a slot closes, so they are computed there and kept. loop.md section 1. */
#include "detect/series.h"

#include <string.h>

#include "stats/order.h"

static int64_t day(const struct track *t) { return t->slots_day; }

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t m = a % b;
    return m < 0 ? m + b : m;
}

static uint32_t week_index(const struct track *t, int64_t no) { return (uint32_t)floor_mod(no, 7 * day(t)); }

/* Values of the slots no, no +- period, ... inside [lo, hi). */
static uint32_t collect(const struct series *s, const struct track *t, int64_t no, int64_t period, int64_t lo, int64_t hi,
                        uint16_t *out, uint32_t n, uint32_t cap)
{
    for (int64_t i = lo + floor_mod(no - lo, period); i < hi && n < cap; i += period) {
        uint16_t code = slot_get(s, t, i, false);
        if (code) out[n++] = code;
    }
    return n;
}

/* Median over the anchor [lo, hi) of the same slot of the week and its two neighbours; of the same slot of any day
 * while the weeks hold too few. */
static double anchor_profile(const struct series *s, const struct track *t, int64_t no, int64_t lo, int64_t hi,
                             uint32_t *ret_n)
{
    uint16_t x[2 * ANCHOR_DAYS];
    uint32_t n = 0;
    for (int64_t i = no - 1; i <= no + 1; i++) n = collect(s, t, i, 7 * day(t), lo, hi, x, n, ANCHOR_DAYS);
    if (n < 3) n = collect(s, t, no, day(t), lo, hi, x, 0, 2 * ANCHOR_DAYS);
    *ret_n = n;
    return n ? slot_median(x, n) : NAN;
}

static bool better(enum bad bad, double a, double b)
{
    return bad == BAD_UP ? a < b : bad == BAD_DOWN ? a > b : false;
}

/* The anchor's own profile for each slot of the week. An anchor that may only move for the better keeps the old
 * value wherever that was the better one. */
static void freeze_profile(struct series *s, const struct track *t)
{
    int64_t lo = s->anchor_at, hi = lo + ANCHOR_DAYS * day(t);
    if (hi > s->slot_now) hi = s->slot_now;
    bool down = s->anchor_down && s->has_profile;
    for (int64_t i = 0; i < 7 * day(t); i++) {
        uint32_t n;
        uint16_t code = slot_code(anchor_profile(s, t, lo + i, lo, hi, &n));
        uint16_t *at = week_place(t, week_index(t, lo + i));
        if (code == 0 || (down && *at && !better(t->bad, slot_value(code), slot_value(*at)))) continue;
        *at = code;
    }
    s->has_profile = 1;
}

/* Level of the anchor as one number, for people: the median of its slots, once a day while it is learned. */
static void anchor_level(struct series *s, const struct track *t)
{
    uint16_t codes[ANCHOR_DAYS * SLOTS_DAY];
    double x[ANCHOR_DAYS * SLOTS_DAY];
    int64_t end = s->anchor_at + ANCHOR_DAYS * day(t);
    uint32_t n = collect(s, t, s->anchor_at, 1, s->anchor_at, end < s->slot_now ? end : s->slot_now, codes, 0,
                         ANCHOR_DAYS * SLOTS_DAY);
    if (n == 0) return;
    for (uint32_t i = 0; i < n; i++) x[i] = slot_value(codes[i]);
    s->anchor = stats_median(x, n);
    if (s->anchor_at == s->slot_first) {
        s->origin = s->anchor;
        s->origin_wall = s->slot_first * t->slot_us - t->offset_us;
    }
}

static double profile_now(struct series *s, const struct track *t)
{
    if (s->has_profile) {
        s->profile_n = ANCHOR_DAYS;
        return slot_value(*week_place(t, week_index(t, s->slot_now)));
    }
    if (s->slot_now - s->anchor_at < DRIFT_DAYS * day(t)) return NAN;
    return anchor_profile(s, t, s->slot_now, s->anchor_at, s->slot_now, &s->profile_n);
}

static void drift_now(struct series *s, const struct track *t)
{
    uint16_t x[SLOTS_DAY], p[SLOTS_DAY];
    uint32_t n = 0;
    s->drift = s->drift_day = s->drift_anchor = NAN;
    if (isnan(s->profile) && !s->has_profile) return;
    for (int64_t no = s->slot_now - day(t); no < s->slot_now; no++) {
        uint16_t code = slot_get(s, t, no, true), prof = s->prof_day[floor_mod(no, day(t))];
        if (!code || !prof || no < s->drift_from) continue;
        x[n] = code;
        p[n++] = prof;
    }
    s->drift_n = n;
    if (3 * n < 2 * t->slots_day) return;
    s->drift_day = slot_median(x, n);
    s->drift_anchor = slot_median(p, n);
    if (s->drift_anchor != 0) s->drift = s->drift_day / s->drift_anchor - 1;
}

void anchor_closed(struct series *s, const struct track *t)
{
    int64_t age = s->slot_now - s->anchor_at;
    if (!s->anchor_frozen && age > 0 && age % day(t) == 0) anchor_level(s, t);
    if (!s->anchor_frozen && age >= ANCHOR_DAYS * day(t)) {
        freeze_profile(s, t);
        anchor_level(s, t);
        s->anchor_frozen = 1;
    }
    drift_now(s, t);
    s->profile = profile_now(s, t);
    /* A slot that the clock jumped over has no profile of its own: the ring must not show one of an earlier day. */
    if (s->prof_no != INT64_MIN && s->slot_now - s->prof_no > 1) {
        int64_t first = s->slot_now - s->prof_no > day(t) ? s->slot_now - day(t) : s->prof_no + 1;
        for (int64_t no = first; no < s->slot_now; no++) s->prof_day[floor_mod(no, day(t))] = 0;
    }
    s->prof_day[floor_mod(s->slot_now, day(t))] = slot_code(s->profile);
    s->prof_no = s->slot_now;
    bool week = s->slot_now - s->slot_first >= WEEK_DAYS * day(t);
    s->week_ago = week ? slot_value(slot_get(s, t, s->slot_now - 7 * day(t), false)) : NAN;
}

static void restart(struct series *s)
{
    s->anchor_at = s->slot_now;
    s->anchor_frozen = s->has_profile = s->anchor_down = 0;
    s->profile = s->drift = NAN;
    memset(s->prof_day, 0, sizeof s->prof_day);
}

/* An anchor event at the present level. What is known of the shape of the week is kept at the new level until the
 * new anchor has been learned; without any shape yet, learning begins again. */
void anchor_move_to(struct series *s, const struct track *t, double level, bool downward_only)
{
    if (s->slot_now == INT64_MIN || isnan(level)) return;
    if (isnan(s->profile)) {
        if (!downward_only) restart(s);
        return;
    }
    double margin = downward_only && !isnan(s->scale) ? s->scale : 0;
    if (downward_only && !better(t->bad, level + (t->bad == BAD_UP ? margin : -margin), s->profile)) return;
    double ratio = level / s->profile;
    if (!isfinite(ratio) || !(ratio > 0)) {
        restart(s);
        return;
    }
    if (!s->has_profile) freeze_profile(s, t);
    for (uint32_t i = 0; i < SLOTS_WEEK; i++) *week_place(t, i) = slot_code(slot_value(*week_place(t, i)) * ratio);
    for (uint32_t i = 0; i < SLOTS_DAY; i++) s->prof_day[i] = slot_code(slot_value(s->prof_day[i]) * ratio);
    s->profile *= ratio;
    s->anchor *= ratio;
    s->drift_anchor *= ratio;
    s->drift = s->drift_day / s->drift_anchor - 1;
    s->anchor_at = s->slot_now + 1;
    s->anchor_frozen = 0;
    s->anchor_down = downward_only;
}
