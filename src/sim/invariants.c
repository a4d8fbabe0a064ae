/* Invariants 1, 3, 4, 6, 7, 9, 12, 13, 15: what goes out, and whether the loop's picture and the truth are the same. */
#include "sim/invariants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "model/ladder.h"
#include "sim/invariants_inside.h"

#define SLACK SPAN_S(10)              /* a record is made, then it is durable, then the write goes out */
#define WATCHED_WRONG SPAN_MIN(6)     /* a value that is not the one watched is noticed within this (MIX: a deadline) */

struct invariants *invariants_new(void)
{
    struct invariants *v = calloc(1, sizeof *v);
    CHECK(v != NULL);
    v->gap_until = v->release_until = v->release_at = v->judge_at = v->rested_at = v->halted_at = INSTANT_NONE;
    for (unsigned c = 0; c < CLASS_COUNT; c++) v->suspended[c] = INSTANT_NONE;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        struct inv_knob *k = &v->knobs[i];
        k->applied_at = k->interval_until = k->protect_until = k->cool_until = k->frozen_until = k->sent_at = INSTANT_NONE;
        k->read_at = k->sampled_at = k->wrong_since = INSTANT_NONE;
    }
    return v;
}

void invariants_free(struct invariants *v) { free(v); }

void invariants_record(struct swarm *w, const struct record *r) { story_record(w, r); }

/* Knobs keep their order in all configurations of the swarm; only the last may be gone. */
static struct inv_knob *knob_of(struct swarm *w, uint16_t knob)
{
    struct invariants *v = w->inv;
    const char *name = w->service->knobs[knob].name;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (v->names[i][0] == '\0') (void)text_copy(v->names[i], sizeof v->names[i], name);
        if (strcmp(v->names[i], name) == 0) return &v->knobs[i];
    }
    CHECK(!"more knobs than a policy may have");
}

void invariants_read(struct swarm *w, uint16_t knob, const struct read_vector *v, struct instant sampled)
{
    struct inv_knob *k = knob_of(w, knob);
    char text[64];
    k->read_at = w->now;
    k->sampled_at = sampled;
    k->read_ok = v->failed == 0;
    (void)text_copy(k->read, sizeof k->read, v->failed ? "?" : "");
    for (unsigned i = 0; i < v->n && !v->failed; i++) {
        snprintf(text, sizeof text, "%.*s", (int)v->values[i].len, v->values[i].bytes);
        if (i == 0) (void)text_copy(k->read, sizeof k->read, text);
        else if (strcmp(text, k->read) != 0) k->read[0] = '\0';
        if (strcmp(text, k->from) != 0 && strcmp(text, k->to) != 0) k->read_ok = false;
    }
}

/* ---- I3: one notch, by the checker's own arithmetic ---- */

static bool is_rung(const struct knob_def *k, double v)
{
    if (k->ladder == LADDER_FACTOR) {
        double r = k->min;
        while (r < v) r *= k->ladder_by;
        return r <= v && v <= k->max;
    }
    double steps = (v - k->min) / k->ladder_by;
    return steps >= 0 && v <= k->max && steps <= (double)(int64_t)steps;
}

static void check_notch(struct swarm *w, const struct knob_def *k, const struct inv_knob *a)
{
    double from, to;
    if (!num_parse_all(a->from, strlen(a->from), &from) || !num_parse_all(a->to, strlen(a->to), &to)) {
        violated(w, "I3 '%s' -> '%s': not numbers", a->from, a->to);
        return;
    }
    if (to < k->min || to > k->max) violated(w, "I3 %s -> %s is outside the limits", a->from, a->to);
    if (!is_rung(k, to)) violated(w, "I3 %s -> %s is off the ladder", a->from, a->to);
    double most = k->ladder == LADDER_FACTOR ? 2 * k->ladder_by : 2;
    double more = to > from ? to : from, less = to > from ? from : to;
    double moved = k->ladder == LADDER_FACTOR ? more / less : (more - less) / k->ladder_by;
    bool on = is_rung(k, from);
    if (moved > (on ? most / 2 : most)) violated(w, "I3 %s -> %s is more than a notch", a->from, a->to);
}

/* ---- what goes out ---- */

static void check_waits(struct swarm *w, const struct knob_def *def, const struct inv_knob *k, struct instant planned)
{
    const struct invariants *v = w->inv;
    struct instant now = instant_add(w->now, SLACK);
    bool sure = !v->clock_moved;
    if (v->halted) violated(w, "I6 a forward write while halted");
    if (w->store_frozen) violated(w, "I6 a forward write while the store fails");
    if (!instant_reached(now, v->suspended[def->class]) && sure) violated(w, "I6 a forward write of a cancelled class");
    if (!instant_reached(now, v->gap_until) && sure) violated(w, "I6 a forward write inside the gap");
    if (!instant_reached(now, v->release_until) && instant_before(v->release_at, planned)) {
        violated(w, "I6 a forward write in a release watch");
    }
    if (!instant_reached(now, k->frozen_until) && sure) violated(w, "I6 a forward write of a knob that somebody else changed");
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (v->knobs[i].unacknowledged) violated(w, "I1 a forward write before a person has acknowledged the last one");
        if (&v->knobs[i] != k && !inv_ended(v->knobs[i].phase)) violated(w, "I1 a forward write while another action is not ended");
    }
    if (!k->automatic || !sure) return;
    if (!instant_reached(now, k->interval_until)) violated(w, "I6 a forward write inside the interval");
    if (!instant_reached(now, k->protect_until)) violated(w, "I6 a forward write while protected");
    if (!instant_reached(now, k->cool_until)) violated(w, "I6 a forward write while cooling");
}

static void check_forward(struct swarm *w, struct inv_knob *k, struct instant planned)
{
    const struct knob_def *def = k->def;
    if (!def) return;
    if (k->phase != INV_INTENT) violated(w, "I2 a write without a durable intent (%s)", inv_phase_name(k->phase));
    if (k->sends++ > 0) violated(w, "I9 a write is sent twice");
    check_notch(w, def, k);
    check_waits(w, def, k, planned);
    if (def->tier >= 3) violated(w, "I4 a write to a knob of tier 3");
    if (def->tier == 2 && !k->approved) violated(w, "I4 tier 2 without an approval");
    if (k->mode != MODE_AUTO && !k->approved) violated(w, "I4 mode is not auto, and nobody has approved");
    if (k->automatic && w->inv->autos > 3) violated(w, "I5 a fourth automatic change in a row");
    if (strcmp(k->read, k->from) != 0) violated(w, "I12 the newest answer is '%s', the write starts from '%s'", k->read, k->from);
    if (w->cas == CAS_NONE && span_less(SPAN_S(1), instant_since(planned, k->sampled_at))) {
        violated(w, "I12 the value was looked at too long ago");
    }
    if (span_less(SPAN_S(130), instant_since(planned, w->inv->judge_at))) {
        violated(w, "I7 the judged signal has not been known of late");
    }
}

static void check_undo(struct swarm *w, struct inv_knob *k)
{
    if (k->phase != INV_UNDO && k->phase != INV_UNDO_RETRY) {
        violated(w, "I2 an undo without a record (%s)", inv_phase_name(k->phase));
    }
    if (w->inv->halted && !k->by_person) violated(w, "I6 an automatic undo while halted");
    if (w->store_frozen) violated(w, "I6 an undo while the store fails");
    if (++k->undo_sends > k->undo_records) violated(w, "I9 an undo is sent twice for one record");
    if (!k->read_ok) violated(w, "I12 an undo over somebody else's value ('%s')", k->read);
}

void invariants_send(struct swarm *w, uint16_t knob, const struct knob_value *value, uint32_t action, bool is_undo,
                     struct instant planned)
{
    struct inv_knob *k = knob_of(w, knob);
    const char *want = is_undo ? k->from : k->to;
    if (action != k->action) violated(w, "I2 a write of action %u, the durable one is %u", action, k->action);
    if (strlen(want) != value->len || memcmp(want, value->bytes, value->len) != 0) {
        violated(w, "I3 '%.*s' is sent, the record says '%s'", (int)value->len, value->bytes, want);
    }
    if (is_undo) check_undo(w, k);
    else check_forward(w, k, planned);
    k->sent_at = w->now;
    struct instant until = instant_add(instant_add(w->now, k->settle), k->window);
    w->inv->gap_until = instant_max(w->inv->gap_until, until);
}

/* ---- what is asked ---- */

void invariants_command(struct swarm *w, const struct command *c)
{
    if (c->verb == COMMAND_HALT || c->verb == COMMAND_HALT_UNDO) {
        w->inv->halted = true;
        w->inv->halted_at = w->now;
    }
}

void invariants_known_judge(struct swarm *w, const struct point *p)
{
    struct instant at = {p->at.us - w->mono_offset};
    if (p->why == WHY_KNOWN) w->inv->judge_at = instant_max(w->inv->judge_at, at);
}

void invariants_release(struct swarm *w)
{
    w->inv->release_at = w->now;
    w->inv->release_until = instant_add(w->now, w->service->timing.release_watch);
}

/* A running action keeps its revision; one whose write is not planned yet must fit the new one. */
void invariants_reload(struct swarm *w)
{
    if (!w->loop || loop_control(w->loop, 0)->state != STATE_INTENT) return;
    for (uint16_t i = 0; i < w->service->knob_count; i++) {
        struct inv_knob *k = knob_of(w, i);
        if (k->phase != INV_INTENT) continue;
        k->def = &w->service->knobs[i];
        k->mode = w->service->class_mode[k->def->class];
    }
}

/* A halt or a release that the failing store could not take dies with the process; a later start knows only the log. */
void invariants_killed(struct swarm *w)
{
    struct invariants *v = w->inv;
    v->halted = v->halt_durable;
    v->release_until = INSTANT_NONE;
    if (w->wall_step != v->wall_step) v->clock_moved = true;
    v->wall_step = w->wall_step;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) v->knobs[i].wrong_since = INSTANT_NONE;
}

/* ---- after every event ---- */

static void check_watched(struct swarm *w, const struct control *c)
{
    bool watching = c->state == STATE_SETTLING || c->state == STATE_OBSERVING;
    if (!watching || c->active >= w->service->knob_count) return;
    struct inv_knob *k = knob_of(w, c->active);
    if (k->phase != INV_APPLIED) {
        violated(w, "I15 an action is watched that no durable APPLIED stands for (%s)", inv_phase_name(k->phase));
    }
    bool right = text_eq(k->read, k->to) || text_eq(k->read, "?");
    if (right) k->wrong_since = INSTANT_NONE;
    else if (!instant_is_set(k->wrong_since)) k->wrong_since = w->now;
    else if (span_less(WATCHED_WRONG, instant_since(w->now, k->wrong_since))) {
        violated(w, "I15 %s is watched for, the target says '%s' since minutes", k->to, k->read);
    }
}

void invariants_event(struct swarm *w)
{
    struct invariants *v = w->inv;
    const struct control *c = loop_control(w->loop, 0);
    struct loop_counters n;
    loop_counters(w->loop, &n);
    if (n.unexpected_events > 0) {
        violated(w, "row 55: an event that no row of the table takes, in %s", state_name((enum state)c->state));
    }
    if (w->acks > 0 || c->waiting_ack || c->store_failed || w->store_frozen || w->queue_n > 0 || w->giving_log || w->fold_wanted) {
        return;
    }
    check_watched(w, c);
    if (v->halted && !c->halted) violated(w, "I6 a halt is lost without a resume");
    if (c->n_auto != v->autos && w->policy_n == 1) violated(w, "I9 n_auto is %u, the log says %u", c->n_auto, v->autos);
    if (c->actions != v->actions) violated(w, "I9 the loop counts %u actions, the log %u", c->actions, v->actions);
    bool rests = c->state == STATE_WATCHING || c->state == STATE_PERSON || c->halted || c->state == STATE_HALTED;
    if (w->calm && rests) v->rested_at = w->now;
}

/* ---- liveness ---- */

static void check_believed(struct swarm *w, const struct control *c)
{
    for (uint16_t i = 0; i < w->service->knob_count; i++) {
        const struct inv_knob *k = knob_of(w, i);
        if (c->knobs[i].slot.unacknowledged || c->state == STATE_HALTED) continue;
        struct swarm_value real;
        if (!swarm_uniform(w, i, &real)) real.text[0] = '\0';
        if (strcmp(real.text, k->read) != 0) {
            violated(w, "I15 in calm %s is %s, the newest answer was '%s'", w->service->knobs[i].name, real.text, k->read);
        }
    }
}

void invariants_end(struct swarm *w)
{
    struct invariants *v = w->inv;
    if (w->result->violated) return;
    if (!w->loop) {
        violated(w, "liveness: the process did not come back");
        return;
    }
    const struct control *c = loop_control(w->loop, 0);
    if (!instant_is_set(v->rested_at)) {
        violated(w, "liveness: %s since the calm began, neither watching nor with a person (%s)", state_name((enum state)c->state),
                 reason_code(loop_decision(w->loop, 0)->reason));
    }
    if (c->halted || c->state == STATE_HALTED) return;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        struct span since = instant_since(w->now, v->knobs[i].sent_at);
        if (!inv_ended(v->knobs[i].phase) && span_less(SPAN_HOUR(1), since)) {
            violated(w, "liveness: the story of action %u never ends (%s)", v->knobs[i].action, inv_phase_name(v->knobs[i].phase));
        }
    }
    check_believed(w, c);
}
