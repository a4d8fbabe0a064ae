/* Fills what verify needs from the detector's blocks: before, after, load, errors, the queue's limits. loop.md section 3. */
#include <math.h>
#include <string.h>

#include "loop/service.h"
#include "verify/part.h"

#define BEFORE_MAX SPAN_MIN(60)
#define BEFORE_LEAST SPAN_MIN(5)      /* of the present regime: 10 blocks */
#define HEALTHY_GAP SPAN_S(60)        /* healthy evidence ends at onset - 60 s */
#define ERRORS_OUTAGE 0.5
#define ERRORS_OUTAGE_FOR SPAN_MIN(1)
#define KNOWN_GOOD_FOR SPAN_HOUR(24)

struct slices { double before[VERIFY_BLOCKS_MAX], after[VERIFY_BLOCKS_MAX]; };

/* The running action is judged as it began, whatever is loaded meanwhile. */
static const struct judge_def *judge_of(const struct service_loop *s)
{
    return s->action.policy.revision[0] ? &s->action.policy.judge : &s->def->judge;
}

/* [start, end) of the samples before the change. What was measured under another value of a knob is no "before": an action that
 * was taken back would lend its better half, or its worse one, to the next. Where too little would be left, it counts all the
 * same. */
static struct instant before_start(const struct service_loop *s)
{
    const struct action_state *a = &s->action;
    struct instant earliest = instant_max(instant_sub(a->intent_at, BEFORE_MAX), a->onset);
    bool enough = !span_less(instant_since(a->intent_at, a->regime_from), BEFORE_LEAST);
    return instant_sub(enough ? instant_max(earliest, a->regime_from) : earliest, a->behind);
}

static struct instant before_end(const struct service_loop *s) { return instant_sub(s->action.intent_at, s->action.behind); }

struct instant judge_regime(const struct service_loop *s)
{
    struct instant last = INSTANT_NONE;
    for (unsigned k = 0; k < s->def->knob_count; k++) last = instant_max(last, s->knobs[k].changed);
    return instant_is_set(last) ? instant_add(last, s->def->timing.settle) : INSTANT_NONE;
}

static void part(const struct loop *l, const struct service_loop *s, uint16_t signal, struct slices *mem, struct verify_part *out)
{
    const struct action_state *a = &s->action;
    memset(out, 0, sizeof *out);
    if (signal == NO_INDEX) return;
    struct instant end = instant_add(l->now, SPAN_MS(1));
    detect_blocks(s->detect, signal, before_start(s), before_end(s), mem->before, VERIFY_BLOCKS_MAX, &out->before);
    detect_blocks(s->detect, signal, a->window_start, end, mem->after, VERIFY_BLOCKS_MAX, &out->after);
}

static double slice_mean(const struct service_loop *s, uint16_t signal, struct instant from, struct instant to)
{
    double mem[VERIFY_BLOCKS_MAX];
    struct blocks b;
    if (signal == NO_INDEX) return NAN;
    detect_blocks(s->detect, signal, from, to, mem, VERIFY_BLOCKS_MAX, &b);
    return verify_mean(&b);
}

static double slice_quantile(const struct service_loop *s, uint16_t signal, struct instant from, struct instant to, double q)
{
    double mem[VERIFY_BLOCKS_MAX];
    struct blocks b;
    if (signal == NO_INDEX) return NAN;
    detect_blocks(s->detect, signal, from, to, mem, VERIFY_BLOCKS_MAX, &b);
    return verify_quantile(&b, q);
}

static double queue_limit_in(const struct service_loop *s, uint16_t symptom)
{
    double value, limit;
    uint16_t queue = judge_of(s)->queue;
    if (symptom >= s->def->symptom_count || queue == NO_INDEX) return NAN;
    return expr_margin(s->def->symptoms[symptom].when, &s->evidence, queue, &value, &limit) ? limit : NAN;
}

/* "The symptom's threshold" of loop.md section 3: of all symptoms that make the incident, since an objective that drives it
 * names no queue, while another one that fired with it does. */
static double queue_threshold(const struct service_loop *s)
{
    double widest = queue_limit_in(s, s->control.symptom);
    for (uint16_t i = 0; i < s->def->symptom_count; i++) {
        double limit = s->symptoms[i].firing ? queue_limit_in(s, i) : NAN;
        if (!(limit <= widest) && !isnan(limit)) widest = limit;
    }
    return widest;
}

void judge_begin(struct loop *l, struct service_loop *s)
{
    const struct judge_def *j = &s->def->judge;
    struct action_state *a = &s->action;
    const struct control_knob *knob = &s->control.knobs[s->control.active];
    s->neighbour_harm = false;
    *a = (struct action_state){.knob = s->control.active, .onset = s->control.onset, .intent_at = l->now,
                               .window_start = INSTANT_NEVER, .errors_from = l->now, .regime_from = judge_regime(s)};
    service_keep_policy(s);
    a->old_since = instant_is_set(knob->believed_since) ? knob->believed_since : s->knobs[a->knob].first_seen;
    a->peak_before = slice_quantile(s, j->latency, before_start(s), a->intent_at, 0.9);
    a->errors_before_ratio = slice_mean(s, j->errors, before_start(s), a->intent_at);
    a->queue_threshold = queue_threshold(s);
    uint16_t up, all;
    collect_instances(s->collect, l->now, &up, &all);
    a->instances_before = up;
    a->objective_broken_before = j->objective > 0 && a->peak_before > j->objective;
}

static void fill_errors(const struct loop *l, const struct service_loop *s, struct verify_input *in)
{
    const struct judge_def *j = judge_of(s);
    const struct action_state *a = &s->action;
    struct instant from = before_start(s), to = before_end(s), end = instant_add(l->now, SPAN_MS(1));
    in->errors_configured = j->errors != NO_INDEX;
    if (!in->errors_configured) return;
    double rate_before = slice_mean(s, j->throughput, from, to);
    double rate_after = slice_mean(s, j->throughput, a->window_start, end);
    in->requests_before = rate_before * span_seconds(instant_since(to, from));
    in->requests_after = rate_after * span_seconds(instant_since(end, a->window_start));
    in->errors_before = slice_mean(s, j->errors, from, to) * in->requests_before;
    in->errors_after = slice_mean(s, j->errors, a->window_start, end) * in->requests_after;
}

static void fill_normals(const struct service_loop *s, struct verify_input *in)
{
    const struct judge_def *j = judge_of(s);
    struct instant onset = instant_sub(s->action.onset, s->action.behind);
    struct instant end = instant_sub(onset, HEALTHY_GAP), from = instant_sub(end, SPAN_HOUR(1));
    double mem[VERIFY_BLOCKS_MAX];
    struct blocks b;
    in->queue_hour_p90 = slice_quantile(s, j->queue, from, end, 0.9);
    in->queue_threshold = isnan(s->action.queue_threshold) ? queue_threshold(s) : s->action.queue_threshold;
    detect_blocks(s->detect, j->latency, from, end, mem, VERIFY_BLOCKS_MAX, &b);
    in->jitter_normal = verify_jitter(&b);
    const struct signal_def *sig = &s->def->signals[j->latency];
    double level = verify_mean(&b);
    double relative = isnan(level) ? 0 : fabs(level) * sig->rel_floor;
    in->jitter_floor = relative > sig->resolution ? relative : sig->resolution;
}

/* A drift symptom is judged by the ratio to the anchor over the window: ten minutes cannot move a 24 h median. */
static void fill_drift(const struct service_loop *s, struct verify_input *in)
{
    uint16_t i = s->control.symptom;
    struct detect_status st;
    if (i >= s->def->symptom_count) return;
    in->drift_symptom = symptom_is_drift(&s->def->symptoms[i]);
    if (!in->drift_symptom) return;
    uint16_t judge = judge_of(s)->latency;
    detect_status(s->detect, judge, &st);
    in->drift_anchor = isnan(st.profile) ? st.anchor : st.profile;   /* the same time of day, not the mean day */
    double value, limit;
    bool told = expr_margin(s->def->symptoms[i].when, &s->evidence, judge, &value, &limit);
    in->drift_limit = told ? limit : NAN;
}

#define FILL_LEVEL 0.01               /* of the hit ratio, from one half of the look-back to the other */
#define FILL_LOOK SPAN_MIN(6)

/* Has the hit ratio stopped climbing? A cache without one that is measured only has its time. */
static bool levelled_off(const struct loop *l, const struct service_loop *s)
{
    uint16_t hit = service_signal(s->def, "cache_hit");
    if (hit == NO_INDEX) return true;
    struct instant end = instant_add(l->now, SPAN_MS(1)), from = instant_sub(l->now, FILL_LOOK);
    struct instant middle = instant_sub(l->now, (struct span){FILL_LOOK.us / 2});
    double first = slice_mean(s, hit, from, middle), second = slice_mean(s, hit, middle, end);
    double level = FILL_LEVEL / unit_factor(s->def->signals[hit].unit);
    return isnan(first) || isnan(second) || fabs(second - first) <= level;
}

/* loop.md section 1, "Settle by class": a larger cache is judged once it has filled, at most 30 min after the change. */
bool judge_settled(const struct loop *l, struct service_loop *s)
{
    const struct control *c = &s->control;
    const struct control_slot *a = &c->knobs[c->active].slot;
    if (!instant_reached(l->now, c->phase_until)) return false;
    if (s->def->knobs[c->active].class != CLASS_CACHE || a->direction != DIR_UP || levelled_off(l, s)) return true;
    s->action.filling = instant_reached(l->now, instant_add(a->applied_at, EXECUTE_SETTLE_MAX));
    return s->action.filling;
}

#define SHIFT_FLOOR 0.1               /* of PSI: less than this matters to nobody, however sure it is */

static bool inputs_shifted(const struct service_loop *s)
{
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        const struct point *p = &s->points[i];
        if (s->def->signals[i].shape == SHAPE_PSI && p->why == WHY_KNOWN && p->value > SHIFT_FLOOR) return true;
    }
    return false;
}

enum verdict judge_window(struct loop *l, struct service_loop *s)
{
    const struct judge_def *j = judge_of(s);
    static const uint16_t none = NO_INDEX;
    struct slices mem[5];
    struct verify_input in = {.bad = BAD_UP};
    if (j->latency == none) return VERDICT_INCONCLUSIVE;
    if (s->action.maintained) {                         /* what people did and what the change did cannot be told apart */
        s->action.judged = false;
        return VERDICT_INCONCLUSIVE;
    }
    in.input_shifted = inputs_shifted(s);
    in.still_filling = s->action.filling && !levelled_off(l, s);
    const struct signal_def *sig = &s->def->signals[j->latency];
    part(l, s, j->latency, &mem[0], &in.latency);
    part(l, s, j->queue, &mem[1], &in.queue);
    part(l, s, j->throughput, &mem[2], &in.throughput);
    part(l, s, j->arrivals != none ? j->arrivals : j->throughput, &mem[3], &in.load);
    if (j->arrivals == none && j->throughput != none && j->queue != none) {
        verify_add_queue_change(mem[3].before, &in.load.before, &in.queue.before);
        verify_add_queue_change(mem[3].after, &in.load.after, &in.queue.after);
    }
    part(l, s, j->latency_mean, &mem[4], &in.mean);
    fill_errors(l, s, &in);
    fill_normals(s, &in);
    fill_drift(s, &in);
    struct instant end = instant_add(l->now, SPAN_MS(1));
    detect_count(s->detect, j->latency, s->action.window_start, end, &in.after_known, &in.after_expected);
    struct symptom_summary sum;
    symptoms_drive(l, s, &sum);
    in.symptom_known = sum.now != TRI_UNKNOWN;
    in.symptom_true = sum.now == TRI_TRUE;
    in.bad = sig->bad;
    in.unit = unit_name(sig->unit);
    verify_judge(&in, &s->action.result);
    s->action.judged = true;
    return s->action.result.verdict;
}

static double now_of(const struct service_loop *s, uint16_t signal)
{
    return signal != NO_INDEX && s->points[signal].why == WHY_KNOWN ? s->points[signal].value : NAN;
}

bool judge_early(struct loop *l, struct service_loop *s, char why[120])
{
    const struct judge_def *j = judge_of(s);
    struct action_state *a = &s->action;
    uint16_t up, all;
    collect_instances(s->collect, l->now, &up, &all);
    double errors = now_of(s, j->errors), rate = now_of(s, j->throughput);
    struct verify_early_input in = {
        .p99 = now_of(s, j->latency),
        .peak_before = a->peak_before,
        .errors_ratio = errors,
        .errors_before_ratio = a->errors_before_ratio,
        .error_count = errors * rate * span_seconds(instant_since(l->now, a->errors_from)),
        .objective = j->objective,
        .objective_broken_before = a->objective_broken_before,
        .instances_lost = s->def->target_count > 0 ? (int)a->instances_before - (int)up : 0,
        .gpu_memory_ratio = now_of(s, j->gpu_memory),
        .bad = j->latency == NO_INDEX ? BAD_UP : s->def->signals[j->latency].bad,
    };
    return verify_early(&a->early, &in, why);
}

/* loop.md: read back, in force at least 24 h before the onset or last kept by an effective verdict, no release since. */
bool judge_old_known_good(const struct loop *l, const struct service_loop *s)
{
    if (!control_in_flight(&s->control) && s->control.state != STATE_RECOVERING) return false;
    const struct action_state *a = &s->action;
    if (a->knob >= s->def->knob_count) return false;
    const struct control_slot *slot = &s->control.knobs[a->knob].slot;
    if (slot->released) return false;
    (void)l;
    if (slot->kept_once) return true;
    bool long_enough = instant_is_set(a->old_since) &&
                       !span_less(instant_since(a->onset, a->old_since), KNOWN_GOOD_FOR);
    struct detect_warm w;
    detect_warm(s->detect, s->evidence.at, &w);
    bool released = instant_is_set(s->deployed) && instant_is_set(a->old_since) && instant_before(a->old_since, s->deployed);
    bool since_start = w.imported && instant_is_set(s->knobs[a->knob].first_seen) &&
                       a->old_since.us == s->knobs[a->knob].first_seen.us;
    return (long_enough || since_start) && !released;
}

static bool half_down(const struct loop *l, const struct service_loop *s)
{
    uint16_t up, all;
    collect_instances(s->collect, l->now, &up, &all);
    return all > 1 && up * 2 <= all;
}

/* A service with one target that has not answered for a minute is down as a whole, or cannot be seen at all: both are no case
 * for tuning. One page that was lost is none. */
static bool alone_and_down(const struct loop *l, struct service_loop *s)
{
    uint16_t up, all;
    collect_instances(s->collect, l->now, &up, &all);
    bool down = all == 1 && up == 0;
    if (!down) s->down_since = INSTANT_NONE;
    else if (!instant_is_set(s->down_since)) s->down_since = l->now;
    return down && !span_less(instant_since(l->now, s->down_since), ERRORS_OUTAGE_FOR);
}

/* Half the instances down, errors over half for a minute, or arrivals without completions: another disease. */
bool judge_outage(struct loop *l, struct service_loop *s)
{
    const struct judge_def *j = &s->def->judge;
    double errors = now_of(s, j->errors), rate = now_of(s, j->throughput), arrivals = now_of(s, j->arrivals);
    bool failing = !isnan(errors) && errors > ERRORS_OUTAGE;
    if (!failing) s->error_since = INSTANT_NONE;
    else if (!instant_is_set(s->error_since)) s->error_since = l->now;
    bool long_failing = failing && !span_less(instant_since(l->now, s->error_since), ERRORS_OUTAGE_FOR);
    bool stuck = !isnan(arrivals) && !isnan(rate) && arrivals > 1 && rate < 0.01;
    bool outage = alone_and_down(l, s) || half_down(l, s) || long_failing || stuck || collect_restart_loop(s->collect, l->now);
    if (outage && !s->outage_told && !s->maintenance) {
        notice(l, s, NOTICE_PAGE, "service-down",
               "the service is down or cannot be reached, which is worse than slow: trimtab tunes nothing until it answers again");
    }
    s->outage_told = outage;
    return outage;
}

bool judge_policy_allows(const struct service_loop *s)
{
    const struct control *c = &s->control;
    if (!control_in_flight(c) || c->active >= s->def->knob_count) return true;
    const struct knob_def *k = &s->def->knobs[c->active];
    struct knob_value v = {0};
    if (!intern_get(&s->intern, c->knobs[c->active].slot.new_, &v) || !v.is_number) return false;
    bool allowed = k->tier < 3 && v.decimal >= k->min && v.decimal <= k->max;
    /* What trimtab did by itself must still be something that it may do by itself. */
    return allowed && !(c->knobs[c->active].slot.automatic && decide_tier(s->def, k) > 1);
}
