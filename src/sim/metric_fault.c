#include "sim/metric_fault.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/faults.h"

bool metric_fault_kind(const char *word, uint32_t *ret)
{
    for (uint32_t k = 0; k < FAULTS_KINDS; k++) {
        if (faults_group((enum faults_kind)k) != FAULTS_METRICS || !text_eq(word, faults_word((enum faults_kind)k))) continue;
        *ret = k;
        return true;
    }
    return false;
}

const char *metric_fault_words(void)
{
    return "metrics-missing, one-signal-missing, metrics-nan, metrics-stale, metrics-late, metrics-twice, metrics-skew, "
           "metrics-frozen, metrics-one-instance, metrics-reset";
}

enum status metric_fault_check(const struct metric_fault *f, struct err *e)
{
    const char *word = faults_word((enum faults_kind)f->kind);
    if (!(f->size >= 0 && f->size <= 1)) return err_set(e, STATUS_INVALID, "fault %s: size is 0 to 1", word);
    if (f->at.us < 0 || f->until.us <= f->at.us)
        return err_set(e, STATUS_INVALID, "fault %s: it needs an end (until) that is later than its start (at)", word);
    return STATUS_OK;
}

const struct metric_fault *spoiler_now(const struct spoiler *s, uint32_t kind, struct instant now)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct metric_fault *f = &s->items[i];
        if (f->kind == kind && instant_reached(now, f->at) && instant_before(now, f->until)) return f;
    }
    return NULL;
}

static bool is_chosen(const struct metric_fault *f, const struct service_def *service, uint16_t signal)
{
    return f && signal == (uint16_t)(fmin(f->size, 0.999) * service->signal_count);
}

static void spoil_value(struct spoiler *s, struct instant now, const struct service_def *service, uint16_t signal, struct point *x)
{
    bool frozen = spoiler_now(s, FAULTS_METRICS_FROZEN, now) != NULL;
    if (frozen && s->have_frozen) x->value = s->frozen[signal];
    if (frozen) s->frozen[signal] = x->value;
    if (spoiler_now(s, FAULTS_METRICS_ONE_INSTANCE, now)) {
        x->value *= prng_between(&s->chance, 0.7, 1.5);
        x->n = x->n > 60 ? 60 : x->n;
    }
    if (spoiler_now(s, FAULTS_METRICS_RESET, now) && service->signals[signal].unit == UNIT_PER_S) x->value = 0;
    if (is_chosen(spoiler_now(s, FAULTS_METRICS_NAN, now), service, signal)) {
        x->value = NAN;
        x->why = WHY_NAN;
    }
}

/* A stale point is one to ten minutes old; a skewed clock is ahead or behind by up to half a minute. */
static void spoil_time(const struct spoiler *s, struct instant now, struct point *x)
{
    const struct metric_fault *stale = spoiler_now(s, FAULTS_METRICS_STALE, now);
    const struct metric_fault *skew = spoiler_now(s, FAULTS_METRICS_SKEW, now);
    if (stale) x->at.us -= US_PER_MIN + (int64_t)(stale->size * 9 * (double)US_PER_MIN);
    if (skew) x->at.us += (int64_t)((skew->size - 0.5) * (double)US_PER_MIN);
}

struct span spoil_points(struct spoiler *s, struct instant now, const struct service_def *service, uint16_t *signals,
                         struct point *points, uint32_t *n)
{
    uint32_t kept = 0;
    const struct metric_fault *one = spoiler_now(s, FAULTS_METRICS_ONE_MISSING, now);
    if (s->n == 0) return (struct span){0};
    if (spoiler_now(s, FAULTS_METRICS_MISSING, now)) *n = 0;
    for (uint32_t i = 0; i < *n; i++) {
        if (is_chosen(one, service, signals[i])) continue;
        spoil_value(s, now, service, signals[i], &points[i]);
        spoil_time(s, now, &points[i]);
        signals[kept] = signals[i];
        points[kept++] = points[i];
    }
    s->have_frozen = spoiler_now(s, FAULTS_METRICS_FROZEN, now) != NULL;
    if (spoiler_now(s, FAULTS_METRICS_TWICE, now)) {
        memcpy(signals + kept, signals, kept * sizeof *signals);
        memcpy(points + kept, points, kept * sizeof *points);
        kept *= 2;
    }
    *n = kept;
    if (!spoiler_now(s, FAULTS_METRICS_LATE, now)) return (struct span){0};
    return SPAN_MS(1 + (int64_t)prng_below(&s->chance, 75000));
}
