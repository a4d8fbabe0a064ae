/* What each view says about a signal now, over its own limit, and the state that follows from it. */
#include "detect/series.h"

#include "base/check.h"

#define SHIFT_LIMIT 0.15       /* of the reference, and never inside 3 scales */
#define SCALES_LIMIT 3.0
#define QUIET_TICKS 10
#define BLIND_TICKS 20

static double limit_of(const struct series *s, double reference)
{
    double rel = SHIFT_LIMIT * fabs(reference), abs3 = isnan(s->scale) ? 0 : SCALES_LIMIT * s->scale;
    return rel > abs3 ? rel : abs3;
}

static double over(double excess, double limit)
{
    if (isnan(excess)) return NAN;
    if (limit > 0) return excess / limit;
    return excess == 0 ? 0 : NAN;
}

static double directed(enum bad bad, double d)
{
    return bad == BAD_UP ? d : bad == BAD_DOWN ? -d : fabs(d);
}

double series_view(const struct series *s, const struct track *t, enum fn fn, struct finding *f)
{
    struct finding v = {.fn = fn, .value = s->x, .why = WHY_KNOWN};
    double d = NAN;
    switch (fn) {
    case FN_BASELINE:
        v.view = VIEW_BASELINE, v.reference = s->base, v.n = (uint32_t)s->learned;
        if (s->learned >= SERIES_WARM) d = directed(t->bad, over(s->x - s->base, limit_of(s, s->base)));
        break;
    case FN_ZSCORE:
        v.view = VIEW_ZSCORE, v.value = s->r_mean, v.reference = s->b_median, v.n = s->b_known;
        d = directed(t->bad, s->z / SCALES_LIMIT);
        break;
    case FN_PROFILE:
        v.view = VIEW_DRIFT, v.reference = s->profile, v.n = s->profile_n;
        d = directed(t->bad, over(s->x - s->profile, limit_of(s, s->profile)));
        break;
    case FN_DRIFT:
        v.view = VIEW_DRIFT, v.value = s->drift_day, v.reference = s->drift_anchor, v.n = s->drift_n;
        d = directed(t->bad, s->drift / SHIFT_LIMIT);
        break;
    case FN_WEEK_AGO:
        v.view = VIEW_WEEK_AGO, v.reference = s->week_ago, v.n = 1;
        d = directed(t->bad, over(s->x - s->week_ago, limit_of(s, s->week_ago)));
        break;
    case FN_SCORE:
        v.view = VIEW_SCORE, v.value = s->score_raw, v.reference = s->score_limit;
        v.n = s->hist.now_n + s->hist.before_n;
        d = s->score;
        break;
    default:
        CHECK(!"a function without a view");
    }
    v.deviation = d;
    if (f) {
        v.signal = f->signal;
        *f = v;
    }
    return d;
}

/* Whether series_view of a view that compares x with `reference` is at least 1; a quotient is so exactly when its parts are
 * in that order, and so nothing is divided. */
static bool at_limit(const struct series *s, const struct track *t, double reference)
{
    double limit = limit_of(s, reference);
    return limit > 0 && directed(t->bad, s->x - reference) >= limit;
}

/* Independent views at their limit; profile and drift are one. */
static uint32_t views_at_limit(const struct series *s, const struct track *t)
{
    uint32_t n = s->learned >= SERIES_WARM && at_limit(s, t, s->base);
    n += directed(t->bad, s->z) >= SCALES_LIMIT;
    n += at_limit(s, t, s->week_ago);
    n += s->score >= 1;
    return n + (directed(t->bad, s->drift) >= SHIFT_LIMIT || at_limit(s, t, s->profile));
}

/* One view at its limit: suspect. Two (`lit`) on 2 of 3 known ticks: firing. 10 known ticks without end it. */
enum series_state series_next_state(uint8_t *history, uint32_t *quiet, enum series_state was, bool any, bool lit)
{
    *history = (uint8_t)((*history << 1 | lit) & 7);
    if (*history == 3 || *history >= 5) {                 /* two of the three bits */
        *quiet = 0;
        return SERIES_FIRING;
    }
    if (was == SERIES_FIRING || was == SERIES_RECOVERING) {
        *quiet = lit ? 0 : *quiet + 1;
        if (*quiet < QUIET_TICKS) return lit ? SERIES_FIRING : SERIES_RECOVERING;
    }
    return any ? SERIES_SUSPECT : SERIES_NORMAL;
}

void series_state_tick(struct series *s, const struct track *t)
{
    if (s->idle) {
        s->state = SERIES_IDLE;
    } else if (isnan(s->x)) {
        if (s->learned == 0) s->state = SERIES_WARMING;
        else if (++s->n_unknown >= BLIND_TICKS || s->state != SERIES_FIRING) s->state = SERIES_UNKNOWN;
    } else if (s->learned < SERIES_WARM) {
        s->state = SERIES_WARMING;
    } else {
        uint32_t views = views_at_limit(s, t);
        s->state = series_next_state(&s->history, &s->quiet, (enum series_state)s->state, views > 0, views > 1);
    }
    if (!isnan(s->x)) s->n_unknown = 0;
}
