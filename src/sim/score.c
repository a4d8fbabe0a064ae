#include "sim/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "stats/elem.h"
#include "stats/order.h"
#include "stats/rate.h"

#define QUIET_SD 0.08
#define WEEKS_A_YEAR (365.25 / 7)

struct series { double *x; size_t n; };

static void put(struct series *s, double v)
{
    if (!isnan(v)) s->x[s->n++] = v;
}

static double take(struct series *s, double (*of)(double *, size_t))
{
    double v = s->n ? of(s->x, s->n) : NAN;
    free(s->x);
    return v;
}

static double mean(double *x, size_t n) { return stats_mean(x, n); }

static void rate(struct score_rate *r, bool hit)
{
    r->of++;
    r->n += hit;
}

double score_poisson_high(uint32_t n)
{
    double low = n, high = n + 6 * sqrt(n + 1.0) + 10;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (low + high), term = stats_exp(-mid), sum = term;
        for (uint32_t k = 1; k <= n; k++) sum += term *= mid / k;
        if (sum > 0.05) low = mid;
        else high = mid;
    }
    return high;
}

struct tally {
    struct score *s;
    struct series slo, curable, incurable, detect, recover, undone, harm, regret, replicas;
    double days;
};

static void tally_clean(struct tally *t, const struct evaluate_result *r, const struct conduct *c)
{
    t->s->clean_acts += c->acts;
    t->s->clean_incidents += c->incidents;
    t->s->clean_years += r->years;
}

static void tally_acts(struct tally *t, const struct evaluate_result *r, const struct conduct *c)
{
    struct score *s = t->s;
    bool acted = c->acts > 0;
    switch (r->label) {
    case LABEL_TUNABLE:
        rate(&s->recovered, c->restored);
        rate(&s->normal, c->normal);
        break;
    case LABEL_INCURABLE:
        if (r->inert) {
            rate(&s->placebo_acts, acted);
        } else {
            rate(&s->first_acts_incurable, acted);
            rate(&s->second_acts_incurable, c->acts > 1);
        }
        if (acted && !r->release) rate(r->block_sd <= QUIET_SD ? &s->placebo_kept : &s->placebo_kept_noisy, c->kept);
        break;
    case LABEL_SELF_HEALING:
        rate(&s->self_healing_acts, acted);
        if (acted) rate(&s->self_healing_kept, c->kept);
        break;
    case LABEL_QUIET: rate(&s->quiet_acts, acted); break;
    case LABEL_CLEAN:
    case LABEL_PARTIAL:
    case LABEL_COUNT: break;
    }
}

static void tally_times(struct tally *t, const struct evaluate_result *r, const struct conduct *c)
{
    put(&t->slo, c->slo_min);
    put(&t->harm, c->harm_min);
    if (!r->degraded) return;
    rate(&t->s->detected, !isnan(c->detect_s));
    put(&t->detect, c->detect_s);
    put(&t->undone, c->undone_s);
    put(r->scaling_cures ? &t->curable : &t->incurable, c->slo_min);
    if (r->label != LABEL_TUNABLE) return;
    put(&t->recover, c->restore_s);
    put(&t->regret, c->degraded_min - r->best_degraded_min);
}

static void tally_one(struct tally *t, const struct evaluate_result *r, const struct conduct *c)
{
    t->s->runs++;
    t->s->flips += c->flips;
    t->days += r->years * 365.25;
    put(&t->replicas, c->replica_h);
    if (r->label == LABEL_CLEAN) {
        tally_clean(t, r, c);
        return;
    }
    tally_acts(t, r, c);
    tally_times(t, r, c);
}

static void finish(struct tally *t)
{
    struct score *s = t->s;
    s->recovered_low = s->recovered.of ? stats_wilson(s->recovered.n, s->recovered.of, STATS_Z95).lo : NAN;
    s->wrong = s->wrong_high = s->false_incidents_week = s->false_acts_week = NAN;
    if (s->clean_years > 0) {
        s->wrong = 1000 * s->clean_acts / s->clean_years;
        s->wrong_high = 1000 * score_poisson_high(s->clean_acts) / s->clean_years;
        s->false_incidents_week = s->clean_incidents / (s->clean_years * WEEKS_A_YEAR);
        s->false_acts_week = s->clean_acts / (s->clean_years * WEEKS_A_YEAR);
    }
    s->flips_day = t->days > 0 ? s->flips / t->days : NAN;
    s->slo_minutes = take(&t->slo, mean);
    s->slo_curable = take(&t->curable, mean);
    s->slo_incurable = take(&t->incurable, mean);
    s->detect_delay_s = take(&t->detect, stats_median);
    s->recover_s = take(&t->recover, stats_median);
    s->undone_s = take(&t->undone, stats_median);
    s->harm_minutes = take(&t->harm, mean);
    s->regret = take(&t->regret, mean);
    s->replica_hours = take(&t->replicas, mean);
}

void score_of(const struct evaluate_result *all, size_t n, unsigned who, unsigned beside, const char *family, struct score *ret)
{
    struct score s = {0};
    struct tally t = {.s = &s};
    struct series *each[] = {&t.slo, &t.curable, &t.incurable, &t.detect, &t.recover, &t.undone, &t.harm, &t.regret, &t.replicas};
    for (unsigned i = 0; i < ARRAY_LEN(each); i++) {
        each[i]->x = calloc(n ? n : 1, sizeof *each[i]->x);
        CHECK(each[i]->x != NULL);
    }
    for (size_t i = 0; i < n; i++) {
        const struct evaluate_result *r = &all[i];
        if (r->broken || !r->conduct[who].ran || !r->conduct[beside].ran) continue;
        if (family && strcmp(family, r->family) != 0) continue;
        tally_one(&t, r, &r->conduct[who]);
    }
    finish(&t);
    *ret = s;
}

unsigned score_families(const struct score_list *l, const char **ret, unsigned cap)
{
    unsigned n = 0;
    for (size_t i = 0; i < l->n; i++) {
        bool have = l->all[i].broken;
        for (unsigned k = 0; k < n && k < cap && !have; k++) have = strcmp(ret[k], l->all[i].family) == 0;
        if (have) continue;
        if (n < cap) ret[n] = l->all[i].family;
        n++;
    }
    return n < cap ? n : cap;
}
