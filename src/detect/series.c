/* The tick of one signal: value, shift (compare first, then learn), and the order in which the other views follow. */
#include "detect/series.h"

#include <string.h>

#define POINTS_SILENCE (30 * US_PER_DAY)
#define CLIP 6.0               /* scales; 1 once the freeze has reached its bound */

void track_init(struct track *t, const struct service_def *s, const struct signal_def *d, double alpha, int64_t tick_us)
{
    memset(t, 0, sizeof *t);
    t->tick_us = tick_us;
    t->interval_us = d->interval.us > 0 ? d->interval.us : (int64_t)layer_interval_s(d->layer) * US_PER_S;
    int64_t ticks = (t->interval_us + tick_us - 1) / tick_us;
    t->block_ticks = ticks < 1 ? 1 : ticks > SPIKE_R / 2 ? SPIKE_R / 2 : (uint32_t)ticks;
    t->step_us = tick_us * t->block_ticks;
    t->r = SPIKE_R / t->block_ticks;
    t->b = SPIKE_B / t->block_ticks;
    t->slot_us = 15 * US_PER_MIN;
    while (t->slot_us < tick_us && t->slot_us < 8 * US_PER_HOUR) t->slot_us *= 2;
    t->slots_day = (uint32_t)(US_PER_DAY / t->slot_us);
    t->slot_ticks = tick_us < t->slot_us ? (uint32_t)(t->slot_us / tick_us) : 1;
    t->offset_us = (int64_t)s->utc_offset_s * US_PER_S;
    t->alpha = alpha;
    bool ratio = unit_dimension(d->unit) == DIM_RATIO;
    t->rel = d->rel_floor > 0 ? d->rel_floor : 0;
    t->resolution = d->resolution > 0 ? d->resolution : 0;
    /* Nothing said: 2 % of the level, and half a point where the level says nothing about the noise (ratios). */
    if (t->rel <= 0 && t->resolution <= 0) {
        if (ratio) t->resolution = 0.005 / unit_factor(d->unit);
        else t->rel = 0.02;
    }
    double minutes = (double)tick_us / (double)US_PER_MIN;
    t->slow = 0.0005 * (minutes < 1 ? minutes : 1);
    t->fast = minutes < 0.75 ? 0.2254 : 0.4;      /* 0.4 a minute = 1 - sqrt(0.6) half a minute */
    t->score_warm = (uint64_t)(US_PER_DAY / tick_us);
    if (t->score_warm < 2 * SERIES_WARM) t->score_warm = 2 * SERIES_WARM;
    t->log_scale = !ratio;
    t->weight = d->range.us > t->interval_us ? (double)t->interval_us / (double)d->range.us : 1;
    t->bad = d->bad;
    t->is_quantile = d->is_quantile;
    t->request_layer = d->layer == LAYER_REQUEST;
}

void series_init(struct series *s)
{
    s->last_at = s->value_at = s->first_at = s->last_tick = INT64_MIN;
    s->slot_now = s->slot_first = s->anchor_at = s->prof_no = s->week_day = s->drift_from = INT64_MIN;
    s->origin_wall = INT64_MIN;
    s->value = s->x = s->base = s->scale = s->scale_before = NAN;
    s->z = s->r_mean = s->b_median = s->b_scale = s->b_rest = s->b_half_sd = NAN;
    s->score = s->score_raw = s->score_limit = NAN;
    s->profile = s->drift = s->week_ago = s->drift_day = s->drift_anchor = s->origin = s->anchor = NAN;
    s->why_point = s->why_x = WHY_MISSING;
    s->why_z = WHY_WARMING;
    s->state = SERIES_WARMING;
}

void series_feed(struct series *s, const struct track *t, struct point p)
{
    if (p.at.us <= s->last_at) {          /* the time stepped back, or the same sample again */
        s->backwards++;
        return;
    }
    /* The ring tells times by 32 bits of milliseconds: after a long silence nothing in it may look recent. */
    if (s->last_at != INT64_MIN && p.at.us - s->last_at > POINTS_SILENCE)
        for (uint32_t i = 0; i < SERIES_POINTS; i++) *point_value(t, i) = NAN;
    s->last_at = p.at.us;
    if (s->first_at == INT64_MIN) s->first_at = p.at.us;
    bool known = p.why == WHY_KNOWN && isfinite(p.value);
    s->why_point = known ? WHY_KNOWN : p.why == WHY_KNOWN ? WHY_NAN : (uint32_t)p.why;
    if (known) {
        s->value = p.value;
        s->value_at = p.at.us;
    }
    uint32_t at = (uint32_t)(s->points++ % SERIES_POINTS);
    *point_value(t, at) = known ? to_float(p.value) : NAN;
    *point_ms(t, at) = (uint32_t)(uint64_t)(p.at.us / 1000);
    blocks_feed(s, t, p.value, p.n, known);
}

static double larger(double a, double b) { return b > a ? b : a; }

static double window_requests(const struct series *s, const struct track *t, uint32_t blocks)
{
    double sum = 0;
    for (uint32_t i = 0; i < blocks && i < s->blocks; i++)
        sum += *block_requests(t, (uint32_t)((s->blocks - 1 - i) % SERIES_WEIGHTS));
    return sum;
}

/* Mean of the last 30 min, each block with its requests: what stands for the value when 5 min hold too few. */
static double widened_value(const struct series *s, const struct track *t, uint32_t blocks)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < blocks && i < s->blocks; i++) {
        uint64_t q = s->blocks - 1 - i;
        if (!(*block_known(t, block_at(q)) & BLOCK_COUNT)) continue;
        double w = *block_requests(t, (uint32_t)(q % SERIES_WEIGHTS));
        sum += w * *block_mean(t, block_at(q));
        n += w;
    }
    return n > 0 ? sum / n : NAN;
}

static void set_unknown(struct series *s, uint32_t why)
{
    s->x = NAN;
    s->why_x = why;
}

/* The value of this tick: the newest known point, unless it is stale or too few requests stand behind it. */
static void settle_value(struct series *s, const struct track *t, int64_t now)
{
    uint32_t lead = t->r;
    s->requests = 0;
    s->x = s->value;
    s->why_x = WHY_KNOWN;
    if (s->value_at == INT64_MIN) {
        set_unknown(s, s->why_point == WHY_KNOWN ? WHY_MISSING : s->why_point);
    } else if (now - s->value_at > 3 * t->interval_us) {
        set_unknown(s, s->why_point == WHY_KNOWN ? WHY_STALE : s->why_point);
    } else if (t->is_quantile && s->has_n) {
        s->requests = window_requests(s, t, t->r) * t->weight;
        if (s->requests < REQUESTS_MIN) {
            lead = t->b;
            s->requests = window_requests(s, t, t->b) * t->weight;
            s->x = widened_value(s, t, t->b);
            if (s->requests < REQUESTS_MIN || isnan(s->x)) set_unknown(s, WHY_LOW_TRAFFIC);
        }
    }
    s->lead = lead;
}

/* While warming the baseline is the median of the newest blocks: no single wild sample can start it off wrong. */
static double warm_level(const struct series *s, const struct track *t)
{
    float x[SPIKE_R];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->r && i < s->blocks; i++) {
        uint64_t q = s->blocks - 1 - i;
        if (!(*block_known(t, block_at(q)) & BLOCK_COUNT)) continue;
        float v = *block_median(t, block_at(q));
        uint32_t k = n++;
        for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
        x[k] = v;
    }
    if (n == 0) return s->x;
    return n % 2 ? x[n / 2] : ((double)x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Learning of the tick before is carried out now, so that a freeze on that tick still finds the values before it. */
static void shift_commit(struct series *s, const struct track *t, enum learn learn)
{
    if (learn == LEARN_NO) {
        s->pending = s->slow_pending = 0;
        return;
    }
    s->base += s->pending;
    s->pending = 0;
    score_commit(s, t);
}

static void shift_tick(struct series *s, const struct track *t, enum learn learn)
{
    s->scale_before = s->scale;
    if (learn == LEARN_NO || isnan(s->x)) return;
    double scale = spike_limited_scale(s);
    if (!isnan(scale)) s->scale = scale;
    if (s->learned < SERIES_WARM) {
        s->learned++;
        s->base = warm_level(s, t);
        if (isnan(s->scale)) s->scale = larger(t->rel * fabs(s->base), t->resolution);
        return;
    }
    s->learned++;
    double limit = (learn == LEARN_SLOWLY ? 1.0 : CLIP) * s->scale, r = s->x - s->base;
    s->pending = t->alpha * (r > limit ? limit : r < -limit ? -limit : r);
}

static void series_block(struct series *s, const struct track *t, bool excluded)
{
    if (++s->block_tick < t->block_ticks) return;
    blocks_close(s, t, excluded);
}

void series_tick(struct series *s, const struct track *t, const struct series_tick *k)
{
    if (s->last_tick != INT64_MIN) {
        if (k->now <= s->last_tick) return;
        int64_t ticks = (k->now - s->last_tick + t->tick_us / 2) / t->tick_us;
        if (ticks > 1) blocks_gap(s, t, (uint64_t)(ticks - 1));
    }
    s->last_tick = k->now;
    s->idle = k->idle && t->request_layer;
    enum learn learn = s->idle ? LEARN_NO : k->learn;
    shift_commit(s, t, learn);
    series_block(s, t, k->excluded);
    settle_value(s, t, k->now);
    if (s->block_tick == 0) spike_closed(s, t);
    spike_eval(s, t);
    shift_tick(s, t, learn);
    slots_tick(s, t, k);
    score_tick(s, t, k);
    series_state_tick(s, t);
}
