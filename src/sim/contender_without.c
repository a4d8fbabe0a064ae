/* trimtab with one guard taken out of its policy: what does each buy? Guards that are no part of a policy are taken out of the
 * source instead: scripts/evaluate builds those. */
#include "sim/contender_inside.h"

#define NO_SPAN ((struct span){0})

static void dead_band(struct service_def *s)
{
    for (unsigned k = 0; k < s->knob_count; k++) s->knobs[k].dead_band = 0;
}

static void interval(struct service_def *s)
{
    for (unsigned k = 0; k < s->knob_count; k++) s->knobs[k].interval = s->knobs[k].protect = NO_SPAN;
}

static void settle(struct service_def *s)
{
    s->timing.settle = NO_SPAN;
    for (unsigned k = 0; k < s->knob_count; k++) s->knobs[k].settle = NO_SPAN;
}

static void release_watch(struct service_def *s)
{
    s->timing.release_watch = NO_SPAN;
    for (unsigned c = 0; c < s->cause_count; c++) {
        if (s->causes[c].group == GROUP_RECENT_RELEASE) s->causes[c].symptom = s->symptom_count;   /* of no symptom */
    }
}

static void ceiling(struct service_def *s)
{
    for (unsigned k = 0; k < s->knob_count; k++) s->knobs[k].use_signal = NO_INDEX;
}

static void freeze(struct service_def *s) { s->timing.freeze_baseline = NO_SPAN; }

/* Causes in the order of the file, whatever is upstream of what and whatever grew. */
static void rank(struct service_def *s)
{
    for (unsigned c = 0; c < s->cause_count; c++) {
        s->causes[c].group = GROUP_COMPUTE_BOUND;
        s->causes[c].share_signal = NO_INDEX;
        s->causes[c].rank = (int)c;
    }
}

static void queue_condition(struct service_def *s) { s->judge.queue = NO_INDEX; }

/* Fewer blocks than a verdict needs to be sure. */
static void long_window(struct service_def *s) { s->timing.window = SPAN_MIN(5); }

const struct contender contender_ablations[] = {
    {"without_dead_band", "acts on the smallest deviation", CONTENDER_TRIMTAB, dead_band},
    {"without_interval", "no interval and no protection between changes of a knob", CONTENDER_TRIMTAB, interval},
    {"without_settle", "watches at once", CONTENDER_TRIMTAB, settle},
    {"without_release_watch", "releases are no context", CONTENDER_TRIMTAB, release_watch},
    {"without_ceiling", "limits are raised that do not bind", CONTENDER_TRIMTAB, ceiling},
    {"without_freeze", "baselines go on learning in an incident", CONTENDER_TRIMTAB, freeze},
    {"without_rank", "causes in the order of the file", CONTENDER_TRIMTAB, rank},
    {"without_queue_condition", "the queue is no part of the verdict", CONTENDER_TRIMTAB, queue_condition},
    {"without_long_window", "watches for five minutes", CONTENDER_TRIMTAB, long_window},
};
const unsigned contender_ablations_n = sizeof contender_ablations / sizeof contender_ablations[0];
