/* Birth, death and change of policy of one service. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "loop/service.h"

static bool lay_out(struct service_loop *s)
{
    const struct service_def *d = s->def;
    free(s->evidence.items);
    free(s->points);
    free(s->due);
    s->evidence.needs = &d->needs;
    s->evidence.items = calloc(d->needs.n ? d->needs.n : 1u, sizeof *s->evidence.items);
    s->points = calloc(d->signal_count ? d->signal_count : 1u, sizeof *s->points);
    s->due = calloc(d->signal_count ? d->signal_count : 1u, sizeof *s->due);
    if (!s->evidence.items || !s->points || !s->due) return false;
    for (unsigned i = 0; i < d->needs.n; i++) s->evidence.items[i] = (struct datum){0, 0, WHY_MISSING};
    for (unsigned i = 0; i < d->signal_count; i++) s->points[i] = (struct point){INSTANT_NONE, 0, 0, WHY_MISSING};
    for (unsigned i = 0; i < POLICY_SYMPTOMS_MAX; i++) {
        s->symptoms[i] = (struct symptom_state){.now = TRI_UNKNOWN, .unknown_since = INSTANT_NONE, .true_since = INSTANT_NONE};
    }
    return true;
}

/* Rounds follow the fastest signal. */
static struct span round_of(const struct policy *p, const struct service_def *d)
{
    struct span round = p->tick;
    for (unsigned i = 0; i < d->signal_count; i++) round = span_min(round, d->signals[i].interval);
    for (unsigned i = 0; i < d->target_count; i++) {
        if (d->targets[i].interval.us > 0) round = span_min(round, d->targets[i].interval);
    }
    return round.us > 0 ? round : p->tick;
}

static const struct knob_state no_read = {.first_seen = INSTANT_NONE, .last_at = INSTANT_NONE, .changed = INSTANT_NONE,
                                          .expired_at = INSTANT_NONE, .skip_cause = NO_INDEX};

bool service_init(struct service_loop *s, struct policy *p, uint16_t index, struct instant now, const struct memory *cold)
{
    memset(s, 0, sizeof *s);
    s->policy = p;
    p->references++;
    s->def = &p->services[index];
    /* What ranking and gates read from the evidence beside the rules; the table is complete before it is laid out. */
    if (!locate_needs(s->def, &p->services[index].needs) || !decide_needs(s->def, &p->services[index].needs)) return false;
    s->control_policy = control_policy_of(s->def);
    control_init(&s->control, &s->control_policy, now);
    s->collect = collect_new(s->def, collect_limits_default());
    s->detect = detect_new_in(s->def, p->ewma_alpha, p->tick, cold);
    s->round = round_of(p, s->def);
    s->next_round = s->next_tick = s->next_read = INSTANT_NEVER;
    s->timed_at = s->last_seen = s->saved_at = s->first_tick = s->error_since = INSTANT_NONE;
    s->down_since = s->deployed = s->opened_at = INSTANT_NONE;
    s->observed_since = now;
    s->halted_at = WALL_NONE;
    for (unsigned k = 0; k < CONTROL_KNOBS; k++) s->knobs[k] = no_read;
    return s->collect && s->detect && lay_out(s);
}

/* loop.md section 6: on a fast clock the disk is as slow as ever. */
void service_options(const struct loop *l, struct service_loop *s)
{
    if (l->options.speed > 1) s->control_policy.append_timeout.us *= (int64_t)l->options.speed;
}

bool service_running(const struct service_loop *s)
{
    const struct action_state *a = &s->action;
    return a->policy.revision[0] && a->knob < s->def->knob_count &&
           !story_ended((enum story)s->control.knobs[a->knob].slot.story);
}

void service_keep_policy(struct service_loop *s)
{
    struct action_policy *p = &s->action.policy;
    const struct control_knob_policy *knob = &s->control_policy.knobs[s->action.knob];
    *p = (struct action_policy){.judge = s->def->judge, .readback = knob->readback, .interval = knob->interval,
                                .protect = knob->protect, .late_watch = s->control_policy.late_watch};
    (void)text_copy(p->revision, sizeof p->revision, s->policy->revision);
}

void service_hold_policy(struct service_loop *s)
{
    const struct action_policy *p = &s->action.policy;
    struct control_knob_policy *knob = &s->control_policy.knobs[s->action.knob];
    if (!p->replaced) return;
    knob->readback = p->readback;
    knob->interval = p->interval;
    knob->protect = p->protect;
    s->control_policy.late_watch = p->late_watch;
}

void service_drop_policy(const struct loop *l, struct service_loop *s)
{
    if (!s->action.policy.revision[0] || service_running(s)) return;
    if (s->action.policy.replaced) {
        s->control_policy = control_policy_of(s->def);
        service_options(l, s);
    }
    s->action.policy = (struct action_policy){0};
}

static void rename_signal(uint16_t *signal, const struct service_def *from, const struct service_def *to)
{
    if (*signal != NO_INDEX) *signal = service_signal(to, from->signals[*signal].name);
}

/* A signal that the new policy does not have any more is unknown to the judgement, too. */
static void carry_judge(struct judge_def *j, const struct service_def *from, const struct service_def *to)
{
    uint16_t *const all[] = {&j->latency, &j->latency_mean, &j->queue, &j->throughput, &j->arrivals, &j->errors, &j->gpu_memory};
    for (unsigned i = 0; i < ARRAY_LEN(all); i++) rename_signal(all[i], from, to);
}

void service_free(struct service_loop *s)
{
    if (!s || !s->policy) return;
    for (unsigned i = 0; i < s->deferred_n; i++) {
        free(s->deferred[i].subject);
        free(s->deferred[i].text);
    }
    free(s->deferred);
    collect_free(s->collect);
    detect_free(s->detect);
    intern_free(&s->intern);
    free(s->evidence.items);
    free(s->points);
    free(s->due);
    s->policy->references--;
    memset(s, 0, sizeof *s);
}

static bool same_shape(const struct service_def *a, const struct service_def *b)
{
    if (a->knob_count != b->knob_count) return false;
    for (unsigned k = 0; k < a->knob_count; k++) {
        if (strcmp(a->knobs[k].name, b->knobs[k].name) != 0) return false;
    }
    return true;
}

/* Detector state goes by signal name through its own saved form, so any change of the list is possible. */
static bool carry_detect(struct service_loop *s, struct detect *fresh, struct instant now)
{
    struct buf bytes = BUF_INIT;
    detect_save(s->detect, &bytes);
    CHECK_MEMORY(buf_ok(&bytes));            /* a reload must not cost what was learned */
    bool ok = detect_load(fresh, bytes.data, bytes.len, now);
    buf_free(&bytes);
    return ok;
}

static void tell_mode(struct loop *l, struct service_loop *s, const char *class, enum mode from, enum mode to, const char *by)
{
    if (from == to || s->control.follower) return;      /* the replica that leads writes it */
    struct record *r = ARENA_NEW(&l->arena, struct record);
    CHECK_MEMORY(r);
    struct buf note = BUF_INIT;
    buf_printf(&note, "mode%s%s changed from %s to %s by a reload", class ? " of class " : "", class ? class : "", mode_name(from),
               mode_name(to));
    record_init(r, RECORD_MODE);
    record_i64(r, RF_AT, l->wall.us);
    record_text(r, RF_SERVICE, s->def->name);
    record_text(r, RF_CLASS, class);
    record_text(r, RF_MODE, mode_name(to));
    record_text(r, RF_FROM, mode_name(from));
    record_text(r, RF_TO, mode_name(to));
    record_text(r, RF_BY, by ? by : "file");
    record_text(r, RF_POLICY, s->policy->revision);
    record_text(r, RF_NOTE, loop_text(l, &note));
    struct effect *e = loop_effect(l, EFFECT_APPEND, service_index(l, s));
    e->u.append.records = r;
    e->u.append.n = 1;
}

/* The service's own mode, and each class that does not simply follow it. */
static void tell_modes(struct loop *l, struct service_loop *s, enum mode was, const enum mode was_class[CLASS_COUNT],
                       const char *by)
{
    tell_mode(l, s, NULL, was, s->def->mode, by);
    for (int c = 0; c < CLASS_COUNT; c++) {
        bool follows = was_class[c] == was && s->def->class_mode[c] == s->def->mode;
        if (!follows) tell_mode(l, s, class_name((enum action_class)c), was_class[c], s->def->class_mode[c], by);
    }
}

/* The log is read anew. The shell may do that later than now, so until EVENT_FOLDED the empty state counts as one whose store
 * fails: else it would pass for a service without a past, take actions and give them numbers that are taken already. */
void service_refold(struct loop *l, struct service_loop *s)
{
    bool follower = s->control.follower;
    control_restart(&s->control, &s->control_policy, l->now);
    s->control.follower = follower;
    s->control.store_failed = true;
    s->control.frozen |= FREEZE_STORE;
    s->incident_last = 0;             /* one whose record never became durable gives its number to the next */
    if (!follower) loop_effect(l, EFFECT_FOLD, service_index(l, s));   /* a follower gets the log with the lease */
}

/* Swapped between ticks. A running action finishes: with the same knobs it only learns whether its value is still allowed;
 * with other knobs the durable facts are folded again from the log by name, and RECOVERING resolves what is open. */
bool service_adopt(struct loop *l, struct service_loop *s, struct policy *p, uint16_t index, const char *by)
{
    const struct service_def *was = s->def;
    enum mode old_mode = was->mode, old_class[CLASS_COUNT];
    memcpy(old_class, was->class_mode, sizeof old_class);
    struct policy *old_policy = s->policy;
    bool same = same_shape(was, &p->services[index]);
    struct needs *needs = &p->services[index].needs;
    if (!locate_needs(&p->services[index], needs) || !decide_needs(&p->services[index], needs)) return false;
    struct collect *collect = collect_new(&p->services[index], collect_limits_default());
    struct detect *detect = detect_new_in(&p->services[index], p->ewma_alpha, p->tick, l->options.cold);
    if (!collect || !detect) return false;
    collect_adopt(collect, s->collect);
    (void)carry_detect(s, detect, l->now);
    collect_free(s->collect);
    detect_free(s->detect);
    s->collect = collect;
    s->detect = detect;
    s->policy = p;
    p->references++;
    s->def = &p->services[index];
    s->control_policy = control_policy_of(s->def);
    service_options(l, s);
    if (same && service_running(s)) {
        carry_judge(&s->action.policy.judge, was, s->def);
        s->action.policy.replaced = true;
        service_hold_policy(s);
    }
    s->round = round_of(p, s->def);
    s->decided = false;
    s->causes.n = 0;
    if (!lay_out(s)) return false;
    if (!same) {
        s->reads_out = 0;
        service_refold(l, s);
        for (unsigned k = 0; k < CONTROL_KNOBS; k++)
            s->knobs[k] = no_read;
    } else {
        struct control_event e = {.kind = CE_POLICY, .now = l->now, .knob = NO_KNOB};
        drive(l, s, &e, NULL);
    }
    tell_modes(l, s, old_mode, old_class, by);
    old_policy->references--;
    return true;
}
