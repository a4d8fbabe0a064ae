/* What people see: how warm the views are, one signal's numbers, findings as sentences. */
#include <math.h>

#include "base/check.h"
#include "detect/detect_private.h"

static const struct series *judge_of(const struct detect *d)
{
    uint16_t i = d->def->judge.latency;
    if (i < d->n) return &d->series[i];
    const struct series *best = NULL;         /* no judge configured: the least learned request signal that has points */
    for (uint16_t k = 0; k < d->n; k++) {
        const struct series *s = &d->series[k];
        if ((s->first_at == INT64_MIN && s->learned == 0) || (best && s->learned >= best->learned)) continue;
        best = s;
    }
    return best;
}

void detect_warm(const struct detect *d, struct instant now, struct detect_warm *ret)
{
    *ret = (struct detect_warm){.imported = d->st.imported != 0};
    const struct series *s = judge_of(d);
    if (!s) return;
    const struct track *t = &d->tracks[s - d->series];
    ret->learned_ticks = s->learned > UINT32_MAX ? UINT32_MAX : (uint32_t)s->learned;
    /* Slots survive a restart and a clock that begins anew; points do not. The first slot may have been a part. */
    int64_t slots = s->slot_now > s->slot_first ? (s->slot_now - s->slot_first - 1) * t->slot_us : 0;
    int64_t points = s->first_at == INT64_MIN ? 0 : now.us - s->first_at;
    ret->history.us = points > slots ? points : slots;
    ret->shift = s->learned >= SERIES_WARM;
    ret->spike = s->why_z == WHY_KNOWN;
    ret->day = ret->shift && ret->history.us >= US_PER_DAY;
    ret->drift = ret->shift && ret->history.us >= DRIFT_DAYS * US_PER_DAY;
    ret->week = ret->shift && ret->history.us >= WEEK_DAYS * US_PER_DAY;
}

void detect_status(const struct detect *d, uint16_t signal, struct detect_status *ret)
{
    CHECK(signal < d->n);
    const struct series *s = &d->series[signal];
    bool warm = s->learned >= SERIES_WARM;
    *ret = (struct detect_status){
        .value = s->x, .baseline = warm ? s->base : NAN, .scale = warm ? s->scale : NAN, .profile = s->profile,
        .drift = s->drift, .zscore = s->z, .score = s->score, .anchor = s->anchor, .origin = s->origin,
        .origin_at = s->origin_wall == INT64_MIN ? WALL_NONE : (struct wall){s->origin_wall},
        .state = (enum series_state)s->state, .why = (enum unknown_why)s->why_x,
        .baseline_why = warm ? WHY_KNOWN : WHY_WARMING,
        .at = s->value_at == INT64_MIN ? INSTANT_NONE : (struct instant){s->value_at},
        .n = s->learned > UINT32_MAX ? UINT32_MAX : (uint32_t)s->learned,
    };
}

uint32_t detect_findings(const struct detect *d, struct finding *out, uint32_t cap)
{
    static const enum fn views[] = {FN_BASELINE, FN_ZSCORE, FN_PROFILE, FN_DRIFT, FN_WEEK_AGO, FN_SCORE};
    uint32_t n = 0;
    for (uint16_t i = 0; i < d->n; i++) {
        for (unsigned v = 0; v < ARRAY_LEN(views); v++) {
            struct finding f = {.signal = i};
            if (!(series_view(&d->series[i], &d->tracks[i], views[v], &f) >= 1)) continue;
            uint32_t at = n < cap ? n++ : cap;
            while (at > 0 && out[at - 1].deviation < f.deviation) {
                if (at < cap) out[at] = out[at - 1];
                at--;
            }
            if (at < cap) out[at] = f;
        }
    }
    return n;
}

static void say_value(struct buf *out, double v, enum unit u)
{
    bool percent = u == UNIT_RATIO;
    buf_sig3(out, percent ? 100 * v : v);
    if (percent || u == UNIT_PERCENT) buf_puts(out, " %");
    else if (unit_name(u)[0]) buf_printf(out, " %s", unit_name(u));
}

/* "23 % above", or the plain difference where the reference is zero. */
static void say_apart(struct buf *out, const struct finding *f, enum unit u)
{
    double diff = f->value - f->reference;
    if (fabs(f->reference) > 0 && unit_dimension(u) != DIM_RATIO) {
        buf_fixed(out, 100 * fabs(diff / f->reference), 0);
        buf_puts(out, " %");
    } else if (unit_dimension(u) == DIM_RATIO) {
        buf_sig3(out, fabs(diff) * unit_factor(u) * 100);
        buf_puts(out, " points");
    } else {
        say_value(out, fabs(diff), u);
    }
    buf_puts(out, diff < 0 ? " below" : " above");
}

void detect_say(struct buf *out, const struct service_def *s, const struct finding *f)
{
    CHECK(f->signal < s->signal_count);
    const struct signal_def *d = &s->signals[f->signal];
    buf_puts(out, d->name);
    buf_putc(out, ' ');
    if (f->fn == FN_ZSCORE) {
        buf_printf(out, "last 5 min are ");
        buf_sig3(out, fabs(f->deviation) * 3);
        buf_printf(out, " scales %s the 30 min before: ", f->value < f->reference ? "below" : "above");
        say_value(out, f->value, d->unit);
        buf_puts(out, " against ");
        say_value(out, f->reference, d->unit);
        buf_printf(out, " (%u blocks)", (unsigned)f->n);
        return;
    }
    if (f->fn == FN_SCORE) {
        buf_puts(out, "departs from level and time of day ");
        buf_sig3(out, f->deviation);
        buf_printf(out, " times as far as its own 99.5 %% quantile allows (%u scores)", (unsigned)f->n);
        return;
    }
    if (f->fn == FN_DRIFT) buf_puts(out, "median of 24 h ");
    say_value(out, f->value, d->unit);
    buf_puts(out, " is ");
    say_apart(out, f, d->unit);
    buf_puts(out, f->fn == FN_BASELINE ? " its own normal "
                  : f->fn == FN_PROFILE ? " what its anchor shows for this time "
                  : f->fn == FN_DRIFT ? " its anchor's "
                                      : " the same time last week ");
    say_value(out, f->reference, d->unit);
    if (f->fn == FN_BASELINE) buf_printf(out, " (%u ticks)", (unsigned)f->n);
    else if (f->fn == FN_DRIFT) buf_printf(out, " (%u slots of 15 min)", (unsigned)f->n);
    else if (f->fn == FN_PROFILE) buf_printf(out, " (%u days)", (unsigned)f->n);
}
