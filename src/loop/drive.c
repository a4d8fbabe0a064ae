/* Runs the control step and turns what it says into effects. */
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

#define REPAIR_TIME SPAN_MIN(1)

static void send_effect(struct loop *l, struct service_loop *s, const struct control_output *o)
{
    struct knob_value *value = ARENA_NEW(&l->arena, struct knob_value);
    struct knob_value *expect = ARENA_NEW(&l->arena, struct knob_value);
    CHECK_MEMORY(value && expect);
    CHECK(intern_get(&s->intern, o->value, value));
    (void)intern_get(&s->intern, o->expect, expect);
    intern_get_version(&s->intern, o->expect_version, expect);
    struct effect *e = loop_effect(l, EFFECT_WRITE, service_index(l, s));
    e->u.write.knob = o->knob;
    e->u.write.value = value;
    e->u.write.expect = expect;
    e->u.write.action = s->control.knobs[o->knob].slot.action;
    e->u.write.epoch = o->epoch;
    e->u.write.is_undo = o->is_undo;
    e->u.write.dry = l->options.dry_run;
    loop_beat(l, MODULE_EXECUTE);
    if (o->is_undo) {
        l->counters.rollbacks++;
        return;
    }
    l->counters.actions++;
    fleet_sent(l, s, s->control.knobs[o->knob].slot.action, l->now);
}

static void note_regime(struct loop *l, struct service_loop *s, const struct control_output *o)
{
    detect_regime(s->detect, l->now);
    for (unsigned i = 0; i < o->record_count; i++) {
        uint8_t knob = o->records[i].knob;
        if (knob >= s->def->knob_count) continue;
        s->knobs[knob].changed = l->now;
        bool ours = o->records[i].kind == RECORD_APPLIED || o->records[i].kind == RECORD_UNDONE;
        if (ours && s->def->knobs[knob].apply != APPLY_HOT) collect_own_reload(s->collect, l->now);
    }
}

/* An incident about a drift that is over: the median of 24 h goes on being about it for half a day. */
static bool drift_ends(const struct service_loop *s, const struct control_output *o)
{
    for (unsigned i = 0; i < o->record_count; i++) {
        const struct control_record *r = &o->records[i];
        bool end = r->kind == RECORD_CLOSED && r->symptom < s->def->symptom_count;
        if (end && symptom_is_drift(&s->def->symptoms[r->symptom])) return true;
    }
    return false;
}

static void note_baselines(struct loop *l, struct service_loop *s, const struct control_output *o)
{
    const struct action_state *a = &s->action;
    if (drift_ends(s, o)) {
        detect_drift_restart(s->detect, instant_sub(l->now, s->def->timing.window));
        s->saved_at = INSTANT_NONE;   /* a crash must not bring the closed incident back */
    }
    if (o->notes & CN_FREEZE_BASELINE) detect_freeze(s->detect, s->control.onset);
    if (o->notes & CN_REBASE_KEPT) detect_rebase(s->detect, l->now, a->window_start, l->now, ANCHOR_DOWNWARD);
    if (o->notes & CN_REBASE_ACCEPTED) {
        detect_rebase(s->detect, l->now, instant_sub(l->now, s->def->timing.window), l->now, ANCHOR_BOTH);
    }
    if (o->notes & CN_UNFREEZE) detect_unfreeze(s->detect, l->now, !(o->notes & CN_DROP_SUSPECT));
    if (o->notes & CN_WINDOW_START) {
        const struct control_slot *slot = &s->control.knobs[s->control.active].slot;
        s->action.window_start = instant_max(l->now, instant_add(slot->applied_at, slot->settle));
    }
}

static void note_words(struct loop *l, struct service_loop *s, const struct control_output *o)
{
    if (o->notes & CN_BLIND && !s->blind_told) {
        s->blind_told = true;
        notice(l, s, NOTICE_WARN, "blind",
               "the symptom has been unknown for more than 10 minutes: check the scrape of this service");
    }
    if (o->notes & CN_RENOTIFY) {
        notice(l, s, NOTICE_PAGE, "still waiting for a person",
               "the incident is still with a person: trimtab explain shows what was ruled out");
    }
}

void skip_note(struct service_loop *s, const struct control_record *r)
{
    struct knob_state *k = &s->knobs[r->knob];
    bool running = instant_is_set(k->expired_at) && span_less(instant_since(r->at, k->expired_at), SPAN_HOUR(1));
    bool other = running && (k->skip_cause != r->cause || k->skip_direction != r->direction);
    k->skip_cause = other ? NO_INDEX : r->cause;
    k->skip_direction = r->direction;
    k->expired_at = r->at;
}

static void count_records(struct loop *l, struct service_loop *s, const struct control_output *o)
{
    for (unsigned i = 0; i < o->record_count; i++) {
        const struct control_record *r = &o->records[i];
        if (r->kind == RECORD_VERDICT) l->counters.verdicts[r->verdict]++;
        if (r->kind == RECORD_INCIDENT) {
            bool fresh = r->incident != s->incident_last;
            l->counters.incidents += fresh;
            if (fresh) s->opened_at = l->now;
            s->incident_last = r->incident;
            fleet_incident(l, s);
            fleet_watch_storm(l, s);
        }
        if (r->kind == RECORD_VERDICT && r->verdict == VERDICT_HARMFUL && r->fail) fleet_harm(l, s, r->action, r->at);
        if (r->kind == RECORD_INTENT) judge_begin(l, s);
        if (r->kind == RECORD_WARM) s->was_warm = true;
        if (r->kind == RECORD_EXPIRED && r->knob < s->def->knob_count) skip_note(s, r);
        if (r->kind == RECORD_CLOSED || r->kind == RECORD_ACCEPTED) fleet_watch_storm(l, s);
        if (r->kind == RECORD_CLOSED || r->kind == RECORD_ACCEPTED) symptoms_closed(s);
    }
}

static void tell_command(struct loop *l, const struct control_output *o, const struct command *by)
{
    if (!by || by->id == 0) return;
    if (o->reply == REPLY_REFUSED) {
        command_reply(l, by->id, STATUS_STATE, o->refused ? o->refused : reason_sentence(o->why_refused),
                      reason_code(o->why_refused));
    } else if (o->reply == REPLY_DONE) {
        command_reply(l, by->id, STATUS_OK, "done", "");
    }
}

void drive(struct loop *l, struct service_loop *s, struct control_event *e, const struct command *by)
{
    struct control_output o;
    service_drop_policy(l, s);
    (void)control_step(&s->control_policy, &s->control, e, &o);
    if (o.unexpected) l->counters.unexpected_events++;
    if (o.record_count > 0) {
        count_records(l, s, &o);
        story_append(l, s, &o, by);
    }
    note_baselines(l, s, &o);
    if (o.notes & CN_REGIME) note_regime(l, s, &o);
    note_words(l, s, &o);
    if (o.send) send_effect(l, s, &o);
    if (o.notes & CN_REFOLD) service_refold(l, s);
    if (o.notes & CN_READ_SOON && !s->control.waiting_ack) {
        struct span every;
        s->next_read = l->now;
        uint32_t wanted = control_reads_wanted(&s->control_policy, &s->control, &every);
        if (every.us > 0) {
            s->next_read = instant_add(l->now, every);
            round_ask_reads(l, s, wanted, s->control.state == STATE_INTENT);
        }
    }
    tell_command(l, &o, by);
}

/* loop.md row 53: a window goes on when at most a fifth of it was not watched. */
static bool short_gap(const struct loop *l, const struct service_loop *s)
{
    int64_t unseen = instant_since(l->now, s->last_seen).us;
    const struct control_slot *a = &s->control.knobs[s->action.knob].slot;
    struct span window = service_running(s) && a->window.us > 0 ? a->window : s->def->timing.window;
    return instant_is_set(s->last_seen) && unseen <= window.us / 5;
}

/* Whoever was called may have set the knob by hand: a value of ours that shows up now can be his. Nobody does that within a
 * minute of the page, unless what was wrong is over. */
bool may_be_repaired(const struct loop *l, const struct service_loop *s, const struct symptom_summary *sum)
{
    bool time_to_act = !span_less(instant_since(l->now, s->control.state_since), REPAIR_TIME);
    return s->control.state == STATE_PERSON && (time_to_act || sum->now == TRI_FALSE);
}

/* Reads came in, or time passed, between ticks: what a tick knows about the symptom is still what is known. */
void drive_poll(struct loop *l, struct service_loop *s, uint32_t knobs_read)
{
    struct symptom_summary sum;
    if (s->control.state == STATE_INTENT) windows_update(l, s);   /* one may have opened since the tick */
    struct control_event e = {.kind = CE_POLL, .now = l->now, .knob = NO_KNOB};
    symptoms_drive(l, s, &sum);
    e.symptom = sum.now;
    e.symptom_index = sum.index;
    e.outage = s->outage && !s->maintenance;
    e.warm = s->warm;
    e.old_known_good = judge_old_known_good(l, s);
    e.policy_allows_new = judge_policy_allows(s);
    for (unsigned k = 0; k < s->def->knob_count; k++) {
        if (knobs_read >> k & 1) e.reads[k] = s->knobs[k].last;
    }
    if (s->control.state == STATE_INTENT) {
        struct standing st;
        standing_fill(l, s, &st);
        e.service_gates_open = decide_service_gates_open(s->policy, s->def, &st);
    }
    e.short_gap = short_gap(l, s);
    e.person_may_have_repaired = may_be_repaired(l, s, &sum);
    drive(l, s, &e, NULL);
}
