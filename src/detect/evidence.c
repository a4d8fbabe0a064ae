/* The needs of a service's rules that are about signals, filled once per tick. */
#include "base/check.h"
#include "detect/detect_private.h"
#include "stats/order.h"
#include "stats/slope.h"

#define WINDOW_MAX 512           /* values one window function looks at */

struct window { double t[WINDOW_MAX], x[WINDOW_MAX]; uint32_t n, all; };

/* Points of the last `span`, while the ring reaches that far. */
static void from_points(const struct series *s, const struct track *tr, int64_t now, int64_t span, struct window *w)
{
    w->all = (uint32_t)(span / tr->interval_us);
    if (s->last_at == INT64_MIN || now - s->last_at >= span) return;
    uint32_t now_ms = (uint32_t)(uint64_t)(now / 1000), span_ms = (uint32_t)(span / 1000);
    for (uint64_t i = s->points; i-- > 0 && s->points - i <= SERIES_POINTS;) {
        uint32_t at = (uint32_t)(i % SERIES_POINTS), age = now_ms - *point_ms(tr, at);
        if (age >= span_ms) break;
        if (isnan(*point_value(tr, at))) continue;
        w->t[w->n] = -(double)age / 1000;
        w->x[w->n++] = *point_value(tr, at);
    }
}

static void from_blocks(const struct series *s, const struct track *tr, int64_t now, int64_t span, struct window *w)
{
    w->all = (uint32_t)(span / tr->step_us);
    for (uint64_t q = s->blocks; q-- > block_oldest(s);) {
        int64_t end = block_time(s, tr, q);
        if (now - end >= span) break;
        if (!(*block_known(tr, block_at(q)) & BLOCK_COUNT)) continue;
        w->t[w->n] = -(double)(now - end) / 1e6;
        w->x[w->n++] = *block_mean(tr, block_at(q));
    }
}

static void from_slots(const struct series *s, const struct track *tr, int64_t span, struct window *w)
{
    int64_t slots = span / tr->slot_us, stride = (slots + WINDOW_MAX - 1) / WINDOW_MAX;
    w->all = (uint32_t)(slots / stride);
    if (s->slot_now == INT64_MIN) return;
    for (int64_t no = s->slot_now - 1; no >= s->slot_now - slots && w->n < WINDOW_MAX; no -= stride) {
        uint16_t code = slot_get(s, tr, no, true);
        if (!code) continue;
        w->t[w->n] = -(double)(s->slot_now - no) * (double)tr->slot_us / 1e6;
        w->x[w->n++] = slot_value(code);
    }
}

struct datum detect_window(const struct series *s, const struct track *t, enum fn fn, int64_t now, struct span span)
{
    struct window w;
    struct datum out = {.value = NAN, .why = WHY_GAPS};
    w.n = w.all = 0;
    if (span.us / t->interval_us <= SERIES_POINTS - 8) from_points(s, t, now, span.us, &w);
    else if (span.us <= (SERIES_BLOCKS - 1) * t->step_us) from_blocks(s, t, now, span.us, &w);
    else from_slots(s, t, span.us, &w);
    out.n = w.n;
    if (w.all == 0) w.all = 1;
    if (3 * w.n < 2 * w.all) {
        if (s->first_at == INT64_MIN || now - s->first_at < span.us) out.why = WHY_WARMING;
        return out;
    }
    out.value = fn == FN_SLOPE ? stats_slope(w.t, w.x, w.n, span_seconds(span))
                : fn == FN_MEAN ? stats_mean(w.x, w.n)
                                : stats_sd(w.x, w.n);
    if (isfinite(out.value)) out.why = WHY_KNOWN;
    else out.value = NAN;
    return out;
}

static struct datum known(double value, uint32_t n, enum unknown_why otherwise)
{
    struct datum d = {.value = value, .n = n, .why = isfinite(value) ? WHY_KNOWN : otherwise};
    if (d.why != WHY_KNOWN) d.value = NAN;
    return d;
}

/* Why a view that needs `days` of history says nothing. */
static enum unknown_why history_why(const struct series *s, const struct track *t, int days)
{
    if (s->slot_now == INT64_MIN || s->slot_now - s->slot_first < days * (int64_t)t->slots_day) return WHY_WARMING;
    return WHY_NO_HISTORY;
}

static struct datum signal_datum(const struct series *s, const struct track *t, const struct need *need, int64_t now)
{
    uint32_t learned = s->learned > UINT32_MAX ? UINT32_MAX : (uint32_t)s->learned;
    switch (need->fn) {
    case FN_VALUE:
        return known(s->x, 1, s->why_x);
    case FN_BASELINE:
        return known(s->learned < SERIES_WARM ? NAN : s->base, learned, WHY_WARMING);
    case FN_PROFILE:
        return known(s->profile, s->profile_n, history_why(s, t, DRIFT_DAYS));
    case FN_DRIFT:
        return known(s->drift, s->drift_n, history_why(s, t, DRIFT_DAYS));
    case FN_WEEK_AGO:
        return known(s->week_ago, 1, history_why(s, t, WEEK_DAYS));
    case FN_ZSCORE:
        return known(s->z, s->b_known, s->why_z);
    case FN_SCORE:
        return known(s->score, s->hist.now_n + s->hist.before_n,
                     s->why_x == WHY_KNOWN ? WHY_WARMING : (enum unknown_why)s->why_x);
    default:
        return detect_window(s, t, need->fn, now, need->window);
    }
}

struct datum detect_window_drift(const struct detect *d, uint16_t signal, struct instant from, struct instant to)
{
    CHECK(signal < d->n);
    const struct series *s = &d->series[signal];
    const struct track *t = &d->tracks[signal];
    double x[SERIES_BLOCKS];
    uint32_t n = 0, all = (uint32_t)((to.us - from.us) / t->step_us);
    for (uint64_t q = block_oldest(s); q < s->blocks; q++) {
        int64_t end = block_time(s, t, q);
        bool inside = end > from.us && end <= to.us && *block_known(t, block_at(q)) & BLOCK_COUNT;
        if (inside) x[n++] = *block_median(t, block_at(q));
    }
    if (n == 0 || 3 * n < 2 * all) return known(NAN, n, WHY_GAPS);
    if (isnan(s->profile) || fabs(s->profile) <= 0) return known(NAN, n, history_why(s, t, DRIFT_DAYS));
    return known(stats_median(x, n) / s->profile - 1, n, WHY_NO_HISTORY);
}

void detect_evidence(const struct detect *d, struct instant now, struct wall wall, struct evidence *out)
{
    out->at = now;
    out->wall = wall;
    for (uint16_t i = 0; i < out->needs->n; i++) {
        const struct need *need = &out->needs->items[i];
        if (need->fn > FN_STDDEV) continue;
        if (need->subject >= d->n) out->items[i] = (struct datum){.value = NAN, .why = WHY_NOT_CONFIGURED};
        else out->items[i] = signal_datum(&d->series[need->subject], &d->tracks[need->subject], need, now.us);
    }
}

void detect_blocks(const struct detect *d, uint16_t signal, struct instant from, struct instant to, double *out, uint32_t cap,
                   struct blocks *ret)
{
    CHECK(signal < d->n);
    const struct series *s = &d->series[signal];
    const struct track *t = &d->tracks[signal];
    /* A block is not shorter than the range of the signal's query: then several of ours make one. */
    int64_t range = d->def->signals[signal].range.us;
    uint32_t merge = range > t->step_us ? (uint32_t)((range + t->step_us - 1) / t->step_us) : 1;
    *ret = (struct blocks){.values = out, .step = {t->step_us * merge}, .first = from};
    double x[SERIES_BLOCKS];
    uint32_t in_block = 0, n = 0;
    for (uint64_t q = block_oldest(s); q < s->blocks && ret->n < cap; q++) {
        int64_t end = block_time(s, t, q);
        if (end < from.us) continue;
        if (end >= to.us) break;
        if (ret->n == 0 && in_block == 0) ret->first = (struct instant){end - t->step_us};
        if (*block_known(t, block_at(q)) & BLOCK_COUNT && n < SERIES_BLOCKS) x[n++] = *block_median(t, block_at(q));
        if (++in_block < merge) continue;
        bool enough = 3 * n >= 2 * merge;
        out[ret->n++] = enough ? stats_median(x, n) : NAN;
        ret->known += enough;
        in_block = n = 0;
    }
}

void detect_count(const struct detect *d, uint16_t signal, struct instant from, struct instant to, uint32_t *ret_known,
                  uint32_t *ret_all)
{
    CHECK(signal < d->n);
    const struct series *s = &d->series[signal];
    const struct track *t = &d->tracks[signal];
    uint32_t found = 0;
    *ret_known = *ret_all = 0;
    if (to.us <= from.us) return;
    *ret_all = (uint32_t)((to.us - from.us) / t->interval_us);
    if (s->last_at == INT64_MIN) return;
    /* The ring of points reaches back an hour at 10 s; what is older is counted by its blocks. */
    int64_t ring_from = s->last_at;
    for (uint64_t i = s->points; i-- > 0 && s->points - i <= SERIES_POINTS;) {
        uint32_t at = (uint32_t)(i % SERIES_POINTS);
        uint32_t back = (uint32_t)(uint64_t)(s->last_at / 1000) - *point_ms(t, at);
        ring_from = s->last_at - (int64_t)back * 1000;
        if (ring_from < from.us) break;
        if (ring_from < to.us && !isnan(*point_value(t, at))) found++;
    }
    for (uint64_t q = block_oldest(s); q < s->blocks && ring_from > from.us; q++) {
        int64_t end = block_time(s, t, q);
        if (end >= ring_from) break;
        if (end >= from.us && end < to.us) found += *block_known(t, block_at(q)) & BLOCK_COUNT;
    }
    *ret_known = found < *ret_all ? found : *ret_all;
}
