/* One evaluation: points, evidence, symptoms, causes, decision, verdict, and then one event for the control step. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

#define SAVE_EVERY SPAN_MIN(15)
#define UNMEASURED SPAN_S(1)
#define UNSEEN_DEPLOY SPAN_MIN(30)    /* a deploy before we looked may be as recent as the look is short */

/* A distribution becomes a number that rules can look at. */
static void take_shape(struct loop *l, struct service_loop *s, uint16_t i)
{
    struct histogram h;
    struct point *p = &s->points[i];
    if (p->why != WHY_KNOWN) return;
    if (collect_shape(s->collect, i, l->now, &h)) *p = detect_shape(s->detect, i, &h, p->at, l->wall);
    else *p = (struct point){p->at, NAN, 0, WHY_MISSING};
    collect_value(s->collect, i, *p);                  /* what it is until it is due again */
}

void tick_points(struct loop *l, struct service_loop *s)
{
    uint16_t n = s->def->signal_count, kept = 0;
    memset(s->due, 0, n * sizeof *s->due);
    collect_tick(s->collect, l->now, l->wall, s->points, s->due);
    loop_beat(l, MODULE_COLLECT);
    uint16_t *signals = ARENA_NEW_N(&l->arena, n ? n : 1u, uint16_t);
    struct point *points = ARENA_NEW_N(&l->arena, n ? n : 1u, struct point);
    CHECK_MEMORY(signals && points);
    for (uint16_t i = 0; i < n; i++) {
        if (!s->due[i]) continue;
        if (s->def->signals[i].shape != SHAPE_NONE) take_shape(l, s, i);
        detect_feed(s->detect, i, s->points[i]);
        if (s->points[i].why != WHY_KNOWN) continue;
        signals[kept] = i;
        points[kept++] = s->points[i];
    }
    if (kept == 0) return;
    struct effect *e = loop_effect(l, EFFECT_POINTS, service_index(l, s));
    e->u.points.signals = signals;
    e->u.points.points = points;
    e->u.points.n = kept;
}

static void put(struct datum *d, double value, bool known)
{
    *d = (struct datum){known ? value : NAN, 1, known ? WHY_KNOWN : WHY_NO_HISTORY};
}

/* No deploy ever seen: it is at least as old as what we have observed. loop.md section 1, "Causes". */
static double deploy_age_s(const struct loop *l, const struct service_loop *s)
{
    struct instant from = instant_is_set(s->deployed) ? s->deployed : s->observed_since;
    struct detect_warm w;
    detect_warm(s->detect, l->now, &w);
    double seen = span_seconds(instant_since(l->now, from));
    if (!instant_is_set(s->deployed) && span_seconds(w.history) > seen) seen = span_seconds(w.history);
    return seen;
}

/* age(deploy) in a cause is evaluated at the onset and sticks to the incident. */
static double deploy_age_at_onset_s(const struct loop *l, const struct service_loop *s)
{
    double age = deploy_age_s(l, s);
    bool stuck = s->control.incident_open && instant_is_set(s->control.onset);
    if (!stuck) return age;
    double since_onset = span_seconds(instant_since(l->now, s->control.onset));
    bool after = instant_is_set(s->deployed) && instant_before(s->control.onset, s->deployed);
    return after ? age : age - since_onset;
}

static void put_knob_need(const struct loop *l, const struct service_loop *s, const struct need *need, struct datum *d)
{
    const struct knob_state *k = &s->knobs[need->subject];
    if (need->fn == FN_KNOB) {
        struct knob_value v = {0};
        bool known = intern_get(&s->intern, s->control.knobs[need->subject].believed, &v) && v.is_number;
        put(d, v.decimal, known);
        return;
    }
    bool changed = instant_is_set(k->changed) && !span_less(need->window, instant_since(l->now, k->changed));
    put(d, changed ? 1 : 0, k->last.present);
}

/* Since any knob was changed, by whomever; none ever seen: at least as long as we have looked, as for deploys. */
static double config_age_s(const struct loop *l, const struct service_loop *s)
{
    struct instant last = INSTANT_NONE;
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        struct instant at = s->knobs[k].changed;
        if (instant_is_set(at) && (!instant_is_set(last) || instant_before(last, at))) last = at;
    }
    return span_seconds(instant_since(l->now, instant_is_set(last) ? last : s->observed_since));
}

static void put_age(const struct loop *l, const struct service_loop *s, uint16_t subject, struct datum *d)
{
    if (subject == AGE_DEPLOY) {
        double age = deploy_age_at_onset_s(l, s);
        put(d, age, instant_is_set(s->deployed) || age >= span_seconds(UNSEEN_DEPLOY));
    } else if (subject == AGE_CONFIG) {
        put(d, config_age_s(l, s), true);
    } else {
        struct wall began = collect_youngest(s->collect);
        bool known = began.us != WALL_NONE.us && began.us <= l->wall.us;
        put(d, known ? (double)(l->wall.us - began.us) / 1e6 : NAN, known);
    }
}

static void context_needs(struct loop *l, struct service_loop *s)
{
    const struct needs *needs = &s->def->needs;
    for (unsigned i = 0; i < needs->n; i++) {
        const struct need *need = &needs->items[i];
        struct datum *d = &s->evidence.items[i];
        if (need->fn == FN_KNOB || need->fn == FN_CHANGED) put_knob_need(l, s, need, d);
        else if (need->fn == FN_AGE) put_age(l, s, need->subject, d);
    }
}

bool tick_idle(const struct service_loop *s)
{
    uint16_t t = s->def->judge.throughput;
    return t != NO_INDEX && s->points[t].why == WHY_KNOWN && s->points[t].value <= 0;
}

static bool settling_down(const struct loop *l, const struct service_loop *s)
{
    return control_in_flight(&s->control) || !instant_reached(l->now, s->control.gap_until);
}

void tick_evidence(struct loop *l, struct service_loop *s)
{
    const struct control *c = &s->control;
    struct detect_context ctx = {
        .symptom_active = c->incident_open || c->state == STATE_SUSPECT || (c->state != STATE_LEARNING && symptoms_any(s)),
        .action_active = settling_down(l, s),
        .release_watch = !instant_reached(l->now, c->release_until),
        .maintenance = (c->frozen & FREEZE_CLOCK) != 0 || s->maintenance,
        .idle = tick_idle(s),
    };
    s->evidence.at = l->now;
    s->evidence.wall = l->wall;
    detect_tick(s->detect, l->now, l->wall, &ctx, &s->evidence);
    context_needs(l, s);
    loop_beat(l, MODULE_DETECT);
}

static void locate(struct loop *l, struct service_loop *s, uint16_t symptom)
{
    struct locate_context ctx = {
        .symptom = symptom,
        .excluded = &s->control.excluded,
        .release_incident = s->control.release_incident ||
                            (!s->control.incident_open && instant_before(s->control.onset, s->control.release_until)),
        .incident_age = s->control.incident_open ? instant_since(l->now, s->control.opened) : (struct span){0},
        .outage = s->outage,
    };
    locate_rank(s->def, &s->evidence, &ctx, &s->causes);
    loop_beat(l, MODULE_LOCATE);
}

static struct span settle_of(const struct service_loop *s, const struct plan *p)
{
    uint16_t t = s->def->judge.throughput, hit = service_signal(s->def, "cache_hit");
    double misses = 0;
    if (t != NO_INDEX && hit != NO_INDEX && s->points[t].why == WHY_KNOWN && s->points[hit].why == WHY_KNOWN) {
        misses = s->points[t].value * (1 - s->points[hit].value);
    }
    return execute_settle(s->def, &s->def->knobs[p->knob], &p->from, &p->to, misses, 0);
}

static uint64_t plan_id(const uint8_t hash[32])
{
    uint64_t id;
    memcpy(&id, hash, sizeof id);
    return id ? id : 1;
}

static enum control_decision_kind kind_of(const struct decision *d)
{
    bool handover = d->reason == REASON_ADVICE_ONLY || d->reason == REASON_NO_CAUSE || d->reason == REASON_NO_CANDIDATE ||
                    d->reason == REASON_CANNOT_RULE_OUT;
    switch (d->kind) {
    case DECISION_TUNE: return CD_TUNE;
    case DECISION_ASK: return CD_ASK;
    case DECISION_ALERT: return handover ? CD_HANDOVER : d->has_plan ? CD_WOULD : CD_SHUT;
    default: return handover ? CD_HANDOVER : CD_SHUT;
    }
}

struct control_decision tick_decide(struct loop *l, struct service_loop *s, uint32_t overridden)
{
    struct standing st;
    locate(l, s, s->control.symptom);
    standing_fill(l, s, &st);
    st.overridden = overridden;
    decide_pass(s->policy, s->def, &s->causes, &s->evidence, &st, &s->decision);
    loop_beat(l, MODULE_DECIDE);
    if (s->decision.has_plan) s->plan_at = l->now;
    const struct decision *d = &s->decision;
    struct control_decision c = {.kind = (uint8_t)kind_of(d), .knob = NO_KNOB, .cause = d->advice_cause, .reason = d->reason};
    if (!d->has_plan) return c;
    memcpy(s->plan_hash, d->plan.hash, sizeof s->plan_hash);
    c.knob = (uint8_t)d->plan.knob;
    c.direction = (uint8_t)d->plan.direction;
    c.cause = d->plan.cause;
    c.from = intern_value(&s->intern, &d->plan.from);
    c.to = intern_value(&s->intern, &d->plan.to);
    c.plan = plan_id(d->plan.hash);
    c.settle = settle_of(s, &d->plan);
    c.window = s->def->timing.window;
    return c;
}

void tick_fill_reads(const struct loop *l, const struct service_loop *s, struct control_event *e, struct span max_age)
{
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        const struct knob_state *r = &s->knobs[k];
        if (r->last.present && !span_less(max_age, instant_since(l->now, r->last_at))) e->reads[k] = r->last;
    }
}

static void only_decision(struct service_loop *s, enum decision_kind kind, enum reason reason)
{
    struct decision *d = &s->decision;       /* 11 KB, nearly all of it gates: those beyond the count are not cleared */
    d->kind = kind;
    d->reason = reason;
    d->has_plan = false;
    d->plan = (struct plan){0};
    d->advice_cause = NO_INDEX;
    d->person_gates = 0;
    d->gate_count = d->gates_left_out = 0;
}

/* Every tick yields exactly one decision with a reason, also when there is nothing to decide. */
static void decision_of_state(struct service_loop *s, const struct symptom_summary *sum)
{
    static const enum reason by_state[STATE_COUNT] = {
        [STATE_LEARNING] = REASON_LEARNING, [STATE_WATCHING] = REASON_HEALTHY, [STATE_SUSPECT] = REASON_SUSPECTED,
        [STATE_PERSON] = REASON_WITH_PERSON, [STATE_INTENT] = REASON_ACTING, [STATE_WRITING] = REASON_ACTING,
        [STATE_READBACK] = REASON_ACTING, [STATE_SETTLING] = REASON_OBSERVING, [STATE_OBSERVING] = REASON_OBSERVING,
        [STATE_UNDO_INTENT] = REASON_UNDOING, [STATE_UNDO_WRITING] = REASON_UNDOING,
        [STATE_UNDO_READBACK] = REASON_UNDOING, [STATE_HALTED] = REASON_HALTED, [STATE_RECOVERING] = REASON_RECOVERING,
    };
    enum reason r = by_state[s->control.state];
    bool idle = r == REASON_HEALTHY || r == REASON_LEARNING || r == REASON_SUSPECTED;
    if (idle && s->maintenance) r = REASON_MAINTENANCE;
    if (r == REASON_HEALTHY && sum->now == TRI_UNKNOWN) r = sum->blind ? REASON_BLIND : REASON_SYMPTOM_UNKNOWN;
    only_decision(s, s->control.state == STATE_PERSON ? DECISION_ALERT : DECISION_NOOP, r);
}

/* The reason stands in the VERDICT. */
static void judge_harm(struct loop *l, struct service_loop *s, struct control_event *e)
{
    char *why = s->action.harm;
    e->early_harm = judge_early(l, s, why);
    e->neighbour = s->neighbour_harm;
    if (e->early_harm) return;
    struct buf b = BUF_INIT;
    if (e->outage) buf_puts(&b, "the service went down after the change");
    else if (e->neighbour) buf_printf(&b, "%s, of the same group, got worse after the change", s->neighbour);
    (void)text_copy(why, sizeof s->action.harm, buf_text(&b));
    buf_free(&b);
}

static void judge_action(struct loop *l, struct service_loop *s, struct control_event *e)
{
    const struct control *c = &s->control;
    bool watched = c->state == STATE_READBACK || c->state == STATE_SETTLING || c->state == STATE_OBSERVING;
    e->old_known_good = judge_old_known_good(l, s);
    e->policy_allows_new = judge_policy_allows(s);
    if (!watched) return;
    if (!s->maintenance) judge_harm(l, s, e);          /* people at work look like harm */
    e->settle_over = c->state == STATE_SETTLING && judge_settled(l, s);
    e->window_over = c->state == STATE_OBSERVING && instant_reached(l->now, c->phase_until);
    if (e->window_over) e->verdict = judge_window(l, s);
    loop_beat(l, MODULE_VERIFY);
}

static bool deciding(const struct service_loop *s)
{
    return s->control.state == STATE_OPEN || s->control.state == STATE_AWAITING;
}

/* loop.md: only an incident that is open is decided about. */
static void decide_or_clear(struct loop *l, struct service_loop *s, const struct symptom_summary *sum, struct control_event *e)
{
    if (s->maintenance) {
        only_decision(s, DECISION_NOOP, REASON_MAINTENANCE);
        return;
    }
    if (sum->now != TRI_TRUE) {
        locate(l, s, s->control.symptom);
        bool waits = s->control.state == STATE_AWAITING && sum->now == TRI_FALSE;
        if (waits) only_decision(s, DECISION_NOOP, REASON_AWAITING_APPROVAL);
        else only_decision(s, DECISION_NOOP, sum->now == TRI_UNKNOWN ? REASON_SYMPTOM_UNKNOWN : REASON_SYMPTOM_CLEARING);
        return;
    }
    e->decision = tick_decide(l, s, 0);
}

/* Services take turns over the interval: a fleet that saves in one tick would make that tick many times as long. */
static struct instant first_save(const struct loop *l, const struct service_loop *s, struct span every)
{
    int64_t turn = every.us / l->service_count * service_index(l, s);
    return instant_sub(l->now, (struct span){every.us - turn});
}

static void keep_state(struct loop *l, struct service_loop *s)
{
    struct span every = l->options.save_every.us > 0 ? l->options.save_every : SAVE_EVERY;
    if (!instant_is_set(s->saved_at)) s->saved_at = first_save(l, s, every);
    if (span_less(instant_since(l->now, s->saved_at), every)) return;
    struct buf b = BUF_INIT;
    detect_save(s->detect, &b);
    void *copy = buf_ok(&b) ? arena_alloc(&l->arena, b.len) : NULL;
    if (copy) {
        memcpy(copy, b.data, b.len);
        struct effect *e = loop_effect(l, EFFECT_SAVE_STATE, service_index(l, s));
        e->u.save_state.bytes = copy;
        e->u.save_state.len = b.len;
        s->saved_at = l->now;
    }
    buf_free(&b);
}

static void sweep_values(struct service_loop *s)
{
    if (!intern_full(&s->intern)) return;
    const struct control_request *q = &s->control.request;
    intern_mark(&s->intern, q->from);
    intern_mark(&s->intern, q->to);
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        const struct control_knob *c = &s->control.knobs[k];
        const uint16_t ids[] = {c->believed, c->believed_version, c->slot.old, c->slot.new_, c->slot.version,
                                s->knobs[k].last.version};
        for (unsigned i = 0; i < ARRAY_LEN(ids); i++) intern_mark(&s->intern, ids[i]);
        for (unsigned i = 0; i < s->knobs[k].last.n; i++) intern_mark(&s->intern, s->knobs[k].last.values[i]);
    }
    intern_sweep(&s->intern);
}

static void see_release(struct loop *l, struct service_loop *s)
{
    struct release_seen seen;
    collect_release(s->collect, &seen);
    if (!seen.seen) return;
    struct control_event e = {.kind = CE_RELEASE, .now = l->now, .knob = NO_KNOB};
    if (seen.version[0]) (void)text_copy(s->model_version, sizeof s->model_version, seen.version);
    s->deployed = seen.at;
    detect_release(s->detect, seen.at);
    drive(l, s, &e, NULL);
}

/* A stage with nothing to do is not silent: only one that should have run and did not is. */
static void rest(struct loop *l, const struct service_loop *s)
{
    static const enum module when_needed[] = {MODULE_LOCATE, MODULE_DECIDE, MODULE_VERIFY};
    for (unsigned i = 0; i < ARRAY_LEN(when_needed); i++) l->modules[when_needed[i]].last = l->now;
    if (s->def->knob_count == 0) l->modules[MODULE_EXECUTE].last = l->now;
}

/* Where the table opens no incident (halted, or with a person over a knob) a symptom freezes the baselines all the same. */
static void hold_without_incident(struct loop *l, struct service_loop *s)
{
    const struct control *c = &s->control;
    bool follows = c->incident_open || c->state == STATE_SUSPECT || c->state == STATE_LEARNING || c->state == STATE_RECOVERING;
    if (follows) return;
    if (symptoms_any(s)) detect_freeze(s->detect, l->now);
    else detect_unfreeze(s->detect, l->now, false);
}

/* loop.md section 1: a release judged good is an anchor event: its watch has ended, and no symptom was seen. */
static void accept_release(struct loop *l, struct service_loop *s, const struct symptom_summary *sum)
{
    const struct control *c = &s->control;
    if (!instant_is_set(c->release_until) || !instant_reached(l->now, c->release_until)) return;
    bool ends = span_less(instant_since(l->now, c->release_until), s->policy->tick);
    bool good = c->state == STATE_WATCHING && sum->now == TRI_FALSE && !symptoms_any(s);
    if (ends && good) detect_anchor(s->detect, instant_sub(l->now, s->def->timing.window), l->now, ANCHOR_BOTH);
}

void tick_full(struct loop *l, struct service_loop *s)
{
    struct symptom_summary sum;
    struct detect_warm warm;
    struct control_event e = {.kind = CE_TICK, .now = l->now, .knob = NO_KNOB};
    if (!instant_is_set(s->first_tick)) s->first_tick = l->now;
    sweep_values(s);
    windows_update(l, s);
    see_release(l, s);
    tick_evidence(l, s);
    symptoms_eval(l, s);
    symptoms_drive(l, s, &sum);
    detect_warm(s->detect, l->now, &warm);
    /* loop.md section 4: once it was warm, a view that warms again after a restart is unknown by itself; the rest watches on,
     * or what went bad meanwhile would be learned as normal. */
    s->warm = warm.shift && (warm.spike || s->was_warm);
    s->outage = judge_outage(l, s);
    if (sum.now != TRI_UNKNOWN) s->blind_told = false;
    e.symptom = sum.now;
    e.symptom_index = sum.index;
    /* What users feel goes on since its first onset; a resource incident before it is no evidence about it. */
    e.symptom_since = s->control.symptom < s->def->symptom_count && !s->def->symptoms[s->control.symptom].request_layer
                          ? sum.since : INSTANT_NONE;
    e.opens = sum.opens;
    e.hopeless = sum.hopeless;
    e.clears = sum.clears;
    e.blind = sum.blind;
    e.slo = sum.slo;
    e.warm = s->warm;
    e.outage = s->outage && control_in_flight(&s->control) && !s->maintenance;
    judge_action(l, s, &e);
    bool moved = s->control.incident_open && sum.index != s->control.symptom;
    bool decided = deciding(s) && !moved;
    if (decided) decide_or_clear(l, s, &sum, &e);
    else if (sum.opens && (moved || !s->control.incident_open)) locate(l, s, sum.index);   /* its record names causes */
    s->decided = true;
    tick_fill_reads(l, s, &e, (struct span){s->policy->tick.us - UNMEASURED.us});
    e.person_may_have_repaired = may_be_repaired(l, s, &sum);
    l->counters.ticks++;
    drive(l, s, &e, NULL);
    /* What people see of a tick with nothing to decide is where it led to; a fresh incident shows its plan at once. */
    if (!decided && deciding(s)) decide_or_clear(l, s, &sum, &e);
    else if (!decided) decision_of_state(s, &sum);
    hold_without_incident(l, s);
    accept_release(l, s, &sum);
    l->counters.decisions[s->decision.kind]++;
    if (!s->control.halted) s->last_seen = l->now;
    rest(l, s);
    keep_state(l, s);
}
