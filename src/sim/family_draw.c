/* The families of ills: tunable by intent, incurable by intent, self-healing. Ranges are those of loop.md section 8. */
#include <math.h>

#include "sim/family_inside.h"

/* A healthy service, no two alike: somewhat more or less load, users who wait, noise. */
void draft_service(struct draft *d)
{
    draft_param(d, "rate", draft_uniform(d, "rate", 19500, 21200));
    draft_param(d, "load_sigma", draft_log(d, "load_sigma", .003, .01));
    draft_param(d, "closed_share", draft_uniform(d, "closed_share", .05, .3));
    draft_param(d, "kernel_noise", draft_log(d, "kernel_noise", .03, .08));
    draft_param(d, "schedulable", draft_coin(d, "schedulable", .3) ? 13 : 20);
}

/* A service that has no room left: batches at their limit, no place for a replica, slots in plenty. What comes over it cannot be
 * tuned away, or hardly. */
static void service_at_its_limits(struct draft *d)
{
    draft_service(d);
    draft_param(d, "batch_max", 128);
    draft_param(d, "schedulable", 13);
    draft_param(d, "rate", draft_uniform(d, "rate", 24000, 30000));
    draft_param(d, "concurrency", 56);
}

static void load(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_LOAD, draft_log(d, "size", 1.05, 1.6), draft_minutes(d, "ramp", 1, 240));
}

static void heavier_items(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_WORK, draft_log(d, "size", 1.05, 1.6), draft_minutes(d, "ramp", 1, 120));
}

/* Mostly the cache has been made as large as it may be long ago, and its hit ratio is the usual one: a slow upstream cannot be
 * hidden behind a larger cache. */
static void cache_mostly_at_its_limit(struct draft *d)
{
    if (!draft_coin(d, "cache", .7)) return;
    draft_param(d, "feature_cache_mb", 8192);
    draft_param(d, "cache_scale_mb", 1446);
}

/* Slots were set for an upstream that was faster: slots / fetch time falls below the load. */
static void low_concurrency(struct draft *d)
{
    draft_service(d);
    cache_mostly_at_its_limit(d);
    draft_param(d, "concurrency", rint(draft_log(d, "concurrency", 11, 14)));
    draft_fault(d, FAULT_UPSTREAM, draft_log(d, "size", 1.2, 1.8), draft_minutes(d, "ramp", 1, 60));
}

static void cache_working_set(struct draft *d)
{
    draft_service(d);
    draft_param(d, "feature_cache_mb", draft_coin(d, "cache", .5) ? 1024 : 2048);
    draft_param(d, "concurrency", draft_coin(d, "slots", .5) ? 28 : 56);
    draft_fault(d, FAULT_WORKING_SET, draft_log(d, "size", 1.2, 4), draft_minutes(d, "ramp", 1, 120));
}

static void fragmentation(struct draft *d)
{
    int64_t ramp = draft_minutes(d, "ramp", 120, 20 * 1440);
    draft_service(d);
    draft_fault(d, FAULT_FRAGMENTATION, .5, ramp);
    if (ramp > 86400) d->history_s = 15 * 86400;
}

static void replicas_lost(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_REPLICAS_LOST, rint(draft_uniform(d, "size", 2.6, 5.4)), 0);
}

static void upstream(struct draft *d)
{
    draft_service(d);
    cache_mostly_at_its_limit(d);
    draft_param(d, "concurrency", draft_coin(d, "slots", .3) ? 28 : 60);
    draft_fault(d, FAULT_UPSTREAM, draft_log(d, "size", 1.5, 10), draft_minutes(d, "ramp", .5, 60));
}

static void release(struct draft *d)
{
    service_at_its_limits(d);
    draft_fault(d, FAULT_RELEASE, draft_log(d, "size", 1.1, 2), 0);
    draft_line(d, "releases", "{at: %llds, version: v2}", (long long)d->onset_s);
}

static void bad_instance(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_BAD_INSTANCE, draft_log(d, "size", 2, 8), draft_minutes(d, "ramp", .5, 30));
    d->faults[0].instance = (unsigned)draft_uniform(d, "instance", 0, 13);
}

static void neighbour(struct draft *d)
{
    service_at_its_limits(d);
    draft_fault(d, FAULT_HOST, draft_log(d, "size", 1.5, 8), draft_minutes(d, "ramp", .5, 60));
}

/* A lost packet costs 200 ms: more than one request in a hundred, and p99 is that. */
static void network_loss(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_LOSS, draft_log(d, "size", .005, .1), draft_minutes(d, "ramp", .5, 30));
}

/* Most of the memory is the model: smaller batches or a smaller cache give back little. From 56 % used to the host's trouble above
 * 92 %: 7 hours at 5 % an hour, two weeks at 0.1 %. */
static void leak(struct draft *d)
{
    double size = draft_log(d, "size", .1, 5);
    service_at_its_limits(d);
    draft_param(d, "mem_mb", 64000);
    draft_param(d, "mem_model_mb", 33000);
    draft_param(d, "mem_item_mb", 1);
    draft_param(d, "mem_work_mb", 4);
    draft_fault(d, FAULT_LEAK, size, 0);
    d->duration_s = d->onset_s + (int64_t)(50.0 / size * 3600.0);
    if (d->duration_s > 2 * 86400) d->history_s = 15 * 86400;
}

static void input_shift(struct draft *d)
{
    service_at_its_limits(d);
    draft_fault(d, FAULT_WORK, draft_log(d, "size", 1.3, 3), draft_minutes(d, "ramp", .5, 30));
}

/* Bursts that end by themselves after 5 to 30 minutes. */
static void bursts(struct draft *d)
{
    static const char *const streams[] = {"first", "second", "third"};
    int64_t at = d->onset_s;
    draft_service(d);
    for (unsigned i = 0; i < 3; i++) {
        int64_t len = draft_minutes(d, streams[i], 5, 30);
        draft_fault_between(d, FAULT_LOAD, draft_log(d, "size", 1.06, 1.4), at, at + len);
        at += len + 2 * 3600;
    }
    d->duration_s = at;
}

const struct family family_ills[] = {
    {"load", INTENT_TUNABLE, "More load comes, within minutes or hours, and stays.", load},
    {"heavier-items", INTENT_TUNABLE, "Each item takes more work than before.", heavier_items},
    {"low-concurrency", INTENT_TUNABLE, "The upstream got slower, and too few fetches run at a time for that.", low_concurrency},
    {"cache-working-set", INTENT_TUNABLE, "The working set outgrows the feature cache.", cache_working_set},
    {"fragmentation", INTENT_TUNABLE, "Memory falls into fragments over hours to weeks, and batches shrink.", fragmentation},
    {"replicas-lost", INTENT_TUNABLE, "About a third of the replicas is gone.", replicas_lost},
    {"upstream", INTENT_INCURABLE, "The feature service answers late.", upstream},
    {"release", INTENT_INCURABLE, "A new model version computes longer, on a service that has no room left.", release},
    {"bad-instance", INTENT_INCURABLE, "One replica computes several times as long as the others.", bad_instance},
    {"network-loss", INTENT_INCURABLE, "Packets are lost on the way to the feature service.", network_loss},
    {"neighbour", INTENT_INCURABLE, "A neighbour takes the cores of a service that has no room left.", neighbour},
    {"leak", INTENT_INCURABLE, "Memory leaks until the host suffers, on a service that has no room left.", leak},
    {"input-shift", INTENT_INCURABLE, "Inputs get much longer, on a service that has no room left.", input_shift},
    {"bursts", INTENT_SELF_HEALING, "Bursts of load that go by themselves within half an hour.", bursts},
};
const unsigned family_ill_count = sizeof family_ills / sizeof family_ills[0];

void draft_curable(struct draft *d)
{
    draft_service(d);
    draft_fault(d, FAULT_LOAD, draft_log(d, "load", 1.03, 1.15), draft_minutes(d, "ramp", 1, 20));
    draft_fault(d, FAULT_KERNEL, draft_log(d, "kernel", 1.03, 1.12), 0);
}
