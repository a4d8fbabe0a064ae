/* What decide is told about the service now: control's facts, the last reads, the evidence, the fleet. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "loop/service.h"

#define EVIDENCE_PATIENCE SPAN_MIN(20) /* longer than this no climb is waited out: it may have no end */
#define EVIDENCE_SPAN SPAN_MIN(5)     /* loop.md section 2, evidence-before: 30 known points (5 min at 10 s) and 8 blocks */
#define EVIDENCE_BLOCKS 8
#define AUTO_WARM SPAN_HOUR(24)

/* loop.md section 2, LAST: in mode alert each WOULD counts as if it had been done and kept, so that the log claims no act that
 * interval or protection would forbid. */
static void fill_shadow(const struct knob_def *d, const struct control_knob *c, struct knob_standing *out)
{
    if (!instant_is_set(c->would_until)) return;
    out->interval_until = instant_max(out->interval_until, c->would_until);
    struct instant would = instant_sub(c->would_until, d->interval);
    out->protect_until = instant_max(out->protect_until, instant_add(would, d->protect));
}

/* Changes that were only imagined hold back imagined ones, never one of a class that acts. */
static bool all_shadow(const struct service_loop *s)
{
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        if (s->def->class_mode[s->def->knobs[k].class] != MODE_ALERT) return false;
    }
    return true;
}

static void fill_knob(const struct loop *l, const struct service_loop *s, unsigned k, struct knob_standing *out)
{
    const struct control_knob *c = &s->control.knobs[k];
    const struct knob_state *r = &s->knobs[k];
    bool fresh = r->last.present && span_less(instant_since(l->now, r->last_at), (struct span){2 * s->policy->tick.us});
    out->readable = fresh && r->last.readable;
    out->uniform = r->last.readable && r->last.n == 1 && !r->last.more;
    out->believed_same = out->uniform && r->last.values[0] == c->believed;
    out->owned_by_other = c->slot.unacknowledged || c->slot.story == STORY_YIELDED || !instant_reached(l->now, c->frozen_until);
    out->frozen_until = c->slot.unacknowledged ? INSTANT_NEVER : c->frozen_until;
    out->cool_until = c->cool_until;
    out->protect_until = c->protect_until;
    out->interval_until = c->interval_until;
    if (s->def->class_mode[s->def->knobs[k].class] == MODE_ALERT) fill_shadow(&s->def->knobs[k], c, out);
    out->skip_until = c->skip_until;
    out->skip_cause = r->skip_cause;
    out->skip_direction = (enum direction)r->skip_direction;
    out->class_suspended_until = s->control.suspended[s->def->knobs[k].class];
    (void)intern_get(&s->intern, c->believed, &out->value);
}

static void fill_evidence(const struct loop *l, const struct service_loop *s, struct standing *st)
{
    uint16_t judge = s->def->judge.latency;
    st->blocks_needed = EVIDENCE_BLOCKS;
    if (judge == NO_INDEX) {
        st->points_needed = 1;                 /* report only: stale-judge stays shut */
        st->judge_stale = true;
        return;
    }
    const struct signal_def *sig = &s->def->signals[judge];
    struct span interval = span_max(sig->interval, SPAN_S(1));
    interval = span_max(interval, s->round);   /* points come once a round */
    uint32_t known = 0, all = 0;
    st->points_needed = (uint32_t)(EVIDENCE_SPAN.us / interval.us);
    struct instant from = instant_is_set(s->control.onset) ? s->control.onset : l->now;
    detect_count(s->detect, judge, from, instant_add(l->now, SPAN_MS(1)), &known, &all);
    st->points_since_onset = known;
    double values[256];
    struct blocks blocks;
    detect_blocks(s->detect, judge, from, instant_add(l->now, SPAN_MS(1)), values, 256, &blocks);
    st->blocks_since_onset = blocks.known;
    st->before_width = verify_best_width(blocks);
    st->before_patience_over = instant_reached(l->now, instant_add(from, EVIDENCE_PATIENCE));
    const struct point *p = &s->points[judge];
    struct span limit = {3 * interval.us};
    st->judge_stale = p->why != WHY_KNOWN || span_less(limit, instant_since(l->now, p->at));
}

static double margin(const struct service_loop *s)
{
    uint16_t i = s->control.symptom;
    if (i >= s->def->symptom_count) return NAN;
    const struct symptom_def *d = &s->def->symptoms[i];
    double value, reference;
    if (d->judge_signal == NO_INDEX) return NAN;
    bool told = expr_reference(d->when, &s->evidence, d->judge_signal, &value, &reference);
    if (!told || reference == 0) return NAN;
    double m = (value - reference) / fabs(reference);
    return s->def->signals[d->judge_signal].bad == BAD_DOWN ? -m : m;
}

static bool warm_for_auto(const struct loop *l, const struct service_loop *s, struct span *ret_left)
{
    struct detect_warm w;
    detect_warm(s->detect, l->now, &w);
    *ret_left = (struct span){0};
    if (w.imported || !span_less(w.history, AUTO_WARM)) return true;
    *ret_left = (struct span){AUTO_WARM.us - w.history.us};
    return false;
}

static void fill_frozen(const struct loop *l, const struct service_loop *s, struct standing *st)
{
    struct buf why = BUF_INIT;
    windows_frozen_words(&why, l, s);
    (void)text_copy(st->frozen_why, sizeof st->frozen_why, buf_text(&why));
    buf_free(&why);
}

void standing_fill(struct loop *l, struct service_loop *s, struct standing *st)
{
    const struct control *c = &s->control;
    memset(st, 0, sizeof *st);
    st->now = l->now;
    st->wall = l->wall;
    st->incident = c->incidents;
    st->halted = c->halted;
    st->leader = !c->follower;
    st->frozen = c->frozen != 0;
    st->wall_before = windows_other_wall(l);
    if (st->frozen) fill_frozen(l, s, st);
    st->recovering = c->state == STATE_RECOVERING;
    st->outage = s->outage;
    st->warm = warm_for_auto(l, s, &st->warm_left);
    /* An incident of resources or data only reports; one that users feel takes its place on the second true tick. */
    bool felt = c->symptom < s->def->symptom_count && s->def->symptoms[c->symptom].request_layer;
    if (felt) (void)symptoms_request_layer_true(s, &st->request_symptom);
    else st->request_symptom = TRI_FALSE;
    st->release_until = c->release_until;
    st->in_flight = control_in_flight(c) && c->state != STATE_INTENT;
    st->late_watch = control_late_watch(c);
    st->unacknowledged = control_unacknowledged(c);
    st->group_in_flight = fleet_group_in_flight(l, s);
    st->gap_until = all_shadow(s) ? instant_max(c->gap_until, c->would_gap_until) : c->gap_until;
    fill_evidence(l, s, st);
    st->storm = fleet_storm(l);
    st->fleet_in_flight = fleet_in_flight(l, s);
    st->fleet_in_flight_max = fleet_in_flight_max(l);
    st->fleet_last_hour = fleet_last_hour(l);
    st->fleet_per_hour_max = l->policy->fleet_per_hour;
    st->n_auto = c->n_auto;
    st->breaker = control_breaker(c) || l->fleet_breaker;
    st->cause_age = c->incident_open ? instant_since(l->now, instant_max(c->opened, s->plan_at)) : (struct span){0};
    st->symptom = c->symptom;
    st->slo_symptom = c->symptom < s->def->symptom_count && s->def->symptoms[c->symptom].slo;
    st->reference_margin = margin(s);
    st->excluded = &c->excluded;
    for (unsigned k = 0; k < s->def->knob_count; k++) fill_knob(l, s, k, &st->knobs[k]);
}
