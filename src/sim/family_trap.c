/* The families of traps, clean months, and the placebo. */
#include <math.h>

#include "base/check.h"
#include "base/time.h"
#include "sim/family_inside.h"

static const char *choice(const struct draft *d, const char *what, const char *const *all, unsigned n)
{
    return all[(unsigned)draft_uniform(d, what, 0, (double)n)];
}

/* Something that trimtab would act on, and then somebody writes while its action runs: right after the intent, while it settles,
 * while it is watched, or after it was kept. */
static void writes_after(struct draft *d, const char *knob, const char *value)
{
    static const char *const records[] = {"INTENT", "APPLIED", "APPLIED", "VERDICT"};
    draft_line(d, "by_hand", "{after: %s, at: %llds, knob: %s, value: \"%s\"}",
               choice(d, "record", records, ARRAY_LEN(records)), (long long)draft_log(d, "delay", 1, 600), knob, value);
}

static void person_writes(struct draft *d)
{
    static const char *const values[] = {"16", "32", "48", "64", "128"};
    draft_curable(d);
    writes_after(d, "batch_max", choice(d, "value", values, ARRAY_LEN(values)));
}

/* An autoscaler sees the same load and brings replicas in the middle of an action; later it takes them away. */
static void hpa_writes(struct draft *d)
{
    static const char *const values[] = {"14", "15", "16"};
    draft_curable(d);
    draft_param(d, "schedulable", 20);
    writes_after(d, "replicas", choice(d, "value", values, ARRAY_LEN(values)));
    int64_t down = d->onset_s + draft_minutes(d, "down", 60, 180);
    draft_line(d, "by_hand", "{at: %llds, knob: replicas, value: \"13\"}", (long long)down);
}

static void gitops_writes(struct draft *d)
{
    draft_curable(d);
    draft_line(d, "reconcile", "{at: %llds, every: %llds, knob: batch_max, value: \"32\"}",
               (long long)draft_log(d, "first", 10, 600), (long long)draft_minutes(d, "every", .5, 15));
}

/* The measuring goes wrong while there is an incident, or none; a few times. */
static void measuring_fails(struct draft *d, const char *kind, double least_min, double most_min)
{
    static const char *const streams[] = {"one", "two", "three", "four"};
    if (draft_coin(d, "ill", .7)) draft_curable(d);
    else draft_service(d);
    int64_t at = d->onset_s - 600;
    for (unsigned i = 0; i < ARRAY_LEN(streams); i++) {
        int64_t len = draft_minutes(d, streams[i], least_min, most_min);
        draft_line(d, "faults", "{kind: %s, at: %llds, until: %llds, size: 0.%02d}", kind, (long long)at, (long long)(at + len),
                   (int)draft_uniform(d, streams[i], 0, 100));
        at += len + draft_minutes(d, streams[i], 2, 60);
    }
}

static void scrape_loss(struct draft *d) { measuring_fails(d, "metrics-missing", .5, 20); }
static void metric_nan(struct draft *d) { measuring_fails(d, "metrics-nan", 2, 60); }
static void counter_reset(struct draft *d) { measuring_fails(d, "metrics-reset", .5, 5); }
static void metric_stuck(struct draft *d) { measuring_fails(d, "metrics-frozen", 1, 20); }
static void metric_late(struct draft *d) { measuring_fails(d, "metrics-late", 2, 60); }

/* The target's clock is off by seconds, or the daemon's is set. */
static void clock_skew(struct draft *d)
{
    measuring_fails(d, "metrics-skew", 5, 120);
    if (!draft_coin(d, "step", .5)) return;
    draft_line(d, "clock", "{at: %llds, by: %d}", (long long)(d->onset_s + draft_minutes(d, "at", 1, 60)),
               draft_coin(d, "back", .5) ? -3600 : (int)draft_log(d, "forward", 5, 7200));
}

/* The process restarts, alone or with an illness: seconds without service, cold cache. */
static void restart(struct draft *d)
{
    if (draft_coin(d, "ill", .5)) draft_curable(d);
    else draft_service(d);
    draft_param(d, "restart_s", draft_log(d, "gap", 5, 120));
    draft_fault_between(d, FAULT_RESTART, 1, d->onset_s + draft_minutes(d, "at", 5, 60), 0);
}

/* A symptom that stays, and settings that are taken and read back but connected to nothing: whatever is kept is kept by mistake. */
static void placebo(struct draft *d)
{
    draft_service(d);
    draft_param(d, "knobs_dead", 1);
    draft_fault(d, FAULT_LOAD, draft_log(d, "load", 1.02, 1.2), draft_minutes(d, "ramp", 1, 60));
    draft_fault(d, FAULT_KERNEL, draft_log(d, "kernel", 1.03, 1.15), 0);
    draft_param(d, "load_sigma", draft_log(d, "noise", .004, .03));
    draft_param(d, "load_tau_s", draft_log(d, "noise_tau", 5, 120));
}

/* Healthy all the time: a day, a weekend, Mondays, a nightly job, holidays. The peak stays below what the service carries. */
static void clean_month(struct draft *d)
{
    static const double every[] = {60, 360, 1440};
    double amp = draft_uniform(d, "day_amp", .1, .45), monday = draft_uniform(d, "monday", 1, 1.1);
    double job = draft_coin(d, "job", .7) ? draft_uniform(d, "cron_load", 1.02, 1.15) : 1;
    draft_param(d, "day_amp", amp);
    draft_param(d, "monday", monday);
    draft_param(d, "weekend", draft_uniform(d, "weekend", .5, 1.05));
    draft_param(d, "holiday", draft_uniform(d, "holiday", .4, 1.05));
    draft_param(d, "holiday_every", rint(draft_log(d, "holiday_every", 8, 60)));
    draft_param(d, "holiday_first", rint(draft_uniform(d, "holiday_first", 0, 20)));
    draft_param(d, "cron_every", every[(unsigned)draft_uniform(d, "cron_every", 0, 3)]);
    draft_param(d, "cron_minutes", rint(draft_log(d, "cron_minutes", 3, 40)));
    draft_param(d, "cron_load", job);
    draft_param(d, "rate", draft_uniform(d, "peak", 17500, 20500) / ((1 + .75 * amp) * monday * job));
    draft_param(d, "load_sigma", draft_log(d, "load_sigma", .003, .01));
    draft_param(d, "load_tau_s", draft_log(d, "load_tau", 5, 300));
    draft_param(d, "closed_share", draft_uniform(d, "closed_share", .05, .3));
    d->history_s = 14 * 86400;
    d->duration_s = 30 * 86400;
}

/* A clean month in which the users' clocks are changed. */
static void dst(struct draft *d)
{
    clean_month(d);
    int64_t day = (int64_t)draft_uniform(d, "day", 3, 20);
    draft_fault_between(d, FAULT_SEASON_SHIFT, draft_coin(d, "spring", .5) ? 1 : -1, day * 86400, 0);
}

const struct family family_traps[] = {
    {"person-writes", INTENT_TRAP, "A person changes the batch limit while an action runs.", person_writes},
    {"hpa-writes", INTENT_TRAP, "An autoscaler adds replicas while an action runs.", hpa_writes},
    {"gitops-writes", INTENT_TRAP, "A reconciler puts the batch limit back to what the repository says.", gitops_writes},
    {"scrape-loss", INTENT_TRAP, "Scrapes fail, with or without an illness.", scrape_loss},
    {"metric-nan", INTENT_TRAP, "A signal is NaN, with or without an illness.", metric_nan},
    {"metric-stuck", INTENT_TRAP, "The exporter repeats old numbers, with or without an illness.", metric_stuck},
    {"metric-late", INTENT_TRAP, "Points come late, with or without an illness.", metric_late},
    {"counter-reset", INTENT_TRAP, "Counters start again, with or without an illness.", counter_reset},
    {"restart", INTENT_TRAP, "The process restarts, with or without an illness.", restart},
    {"clock-skew", INTENT_TRAP, "The target's clock is off, or the daemon's is set.", clock_skew},
    {"dst", INTENT_CLEAN, "A healthy month in which the users' clocks are changed.", dst},
    {"clean-month", INTENT_CLEAN, "A healthy month with days, weekends, Mondays, jobs and holidays.", clean_month},
    {"placebo", INTENT_PLACEBO, "Settings are taken and read back, but nothing follows.", placebo},
};
const unsigned family_trap_count = sizeof family_traps / sizeof family_traps[0];
