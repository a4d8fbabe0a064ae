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
    v->gap_until = v->release_until = v->release_at = INSTANT_NONE;
    for (unsigned i = 0; i < POLICY_SIGNALS_MAX; i++) v->known_at[i] = INSTANT_NONE;
    v->unrest_since = INSTANT_NEVER;
    for (unsigned c = 0; c < CLASS_COUNT; c++) v->suspended[c] = INSTANT_NONE;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        struct inv_knob *k = &v->knobs[i];
        k->applied_at = k->interval_until = k->protect_until = k->cool_until = k->frozen_until = k->sent_at = INSTANT_NONE;
        k->read_at = k->sampled_at = k->wrong_since = INSTANT_NONE;
    }
    return v;
}

void invariants_free(struct invariants *v) { free(v); }

void invariants_record(struct swarm *w, const struct record *r)
{
    struct swarm_service *was = w->about;
    window_record(w, r);
    if (!swarm_leads(w)) violated(w, "I14 a record of a process that leads no longer is durable");
    for (unsigned i = 0; i < w->n; i++) {
        w->about = &w->services[i];
        if (!text_eq(w->about->def->name, record_get_text(r, RF_SERVICE))) continue;
        fleet_record(w->about, r);
        story_record(w->about, r);
        window_service_record(w->about, r);
        fleet_busy(w->about);
    }
    w->about = was;
}

/* Knobs keep their order in all configurations of the swarm; only the last may be gone. */
static struct inv_knob *knob_of(struct swarm_service *s, uint16_t knob)
{
    struct invariants *v = s->inv;
    const char *name = s->def->knobs[knob].name;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (v->names[i][0] == '\0') (void)text_copy(v->names[i], sizeof v->names[i], name);
        if (strcmp(v->names[i], name) == 0) return &v->knobs[i];
    }
    CHECK(!"more knobs than a policy may have");
}

void invariants_read(struct swarm_service *s, uint16_t knob, const struct read_vector *v, struct instant sampled)
{
    struct inv_knob *k = knob_of(s, knob);
    char text[64];
    (void)text_copy(k->read_before, sizeof k->read_before, k->read);
    k->read_ok_before = k->read_ok;
    k->read_at = s->w->now;
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

/* I7: what a decision stands on has been known within three of its intervals. */
void inv_known(struct swarm_service *s, const char *name, struct instant decided)
{
    uint16_t i = service_signal(s->def, name);
    if (i == NO_INDEX) return;
    struct span age = instant_since(decided, s->inv->known_at[i]), limit = {3 * s->def->signals[i].interval.us + 40 * US_PER_S};
    if (!instant_is_set(s->inv->known_at[i]) || span_less(limit, age)) violated(s->w, "I7 %s has not been known of late", name);
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

static void check_notch(struct swarm_service *s, const struct knob_def *k, const struct inv_knob *a)
{
    double from, to;
    if (!num_parse_all(a->from, strlen(a->from), &from) || !num_parse_all(a->to, strlen(a->to), &to)) {
        violated(s->w, "I3 '%s' -> '%s': not numbers", a->from, a->to);
        return;
    }
    if (to < k->min || to > k->max) violated(s->w, "I3 %s -> %s is outside the limits", a->from, a->to);
    if (!is_rung(k, to)) violated(s->w, "I3 %s -> %s is off the ladder", a->from, a->to);
    double most = k->ladder == LADDER_FACTOR ? 2 * k->ladder_by : 2;
    double more = to > from ? to : from, less = to > from ? from : to;
    double moved = k->ladder == LADDER_FACTOR ? more / less : (more - less) / k->ladder_by;
    bool on = is_rung(k, from);
    if (moved > (on ? most / 2 : most)) violated(s->w, "I3 %s -> %s is more than a notch", a->from, a->to);
}

/* ---- what goes out ---- */

static void check_waits(struct swarm_service *s, const struct knob_def *def, const struct inv_knob *k, struct instant planned)
{
    const struct invariants *v = s->inv;
    struct instant now = instant_add(s->w->now, SLACK);
    bool sure = !v->clock_moved;
    if (v->halted) violated(s->w, "I6 a forward write while halted");
    if (s->w->p->store_frozen) violated(s->w, "I6 a forward write while the store fails");
    /* A cancel that comes while the bytes leave is answered by the undo. */
    struct instant cancelled = v->suspended[def->class];
    bool before = instant_is_set(cancelled) && instant_before(instant_sub(cancelled, SPAN_HOUR(24)), planned);
    if (!instant_reached(now, cancelled) && before && sure) violated(s->w, "I6 a forward write of a cancelled class");
    if (!instant_reached(now, v->gap_until) && sure) violated(s->w, "I6 a forward write inside the gap");
    if (!instant_reached(now, v->release_until) && instant_before(v->release_at, planned)) {
        violated(s->w, "I6 a forward write in a release watch");
    }
    if (!instant_reached(now, k->frozen_until) && sure) violated(s->w, "I6 a forward write of a knob that somebody else changed");
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        if (v->knobs[i].unacknowledged) violated(s->w, "I1 a forward write before a person has acknowledged the last one");
        bool other = &v->knobs[i] != k && !inv_ended(v->knobs[i].phase);
        if (other) violated(s->w, "I1 a forward write while another action is not ended");
    }
    if (!k->automatic || !sure) return;
    if (!instant_reached(now, k->interval_until)) violated(s->w, "I6 a forward write inside the interval");
    if (!instant_reached(now, k->protect_until)) violated(s->w, "I6 a forward write while protected");
    if (!instant_reached(now, k->cool_until)) violated(s->w, "I6 a forward write while cooling");
}

static void check_forward(struct swarm_service *s, struct inv_knob *k, struct instant planned)
{
    const struct knob_def *def = k->def;
    if (!def) return;
    if (k->phase != INV_INTENT) violated(s->w, "I2 a write without a durable intent (%s)", inv_phase_name(k->phase));
    if (k->sends++ > 0) violated(s->w, "I9 a write is sent twice");
    check_notch(s, def, k);
    fleet_send(s, planned);
    window_send(s, planned);
    check_waits(s, def, k, planned);
    if (def->tier >= 3) violated(s->w, "I4 a write to a knob of tier 3");
    if (def->tier == 2 && !k->approved) violated(s->w, "I4 tier 2 without an approval");
    if (k->mode != MODE_AUTO && !k->approved) violated(s->w, "I4 mode is not auto, and nobody has approved");
    if (k->automatic && s->inv->autos > 3) violated(s->w, "I5 a fourth automatic change in a row");
    /* An answer that came after the write was planned is too late for it: compare-and-set, or yielding, is the guard then. */
    const char *seen = instant_before(planned, k->read_at) ? k->read_before : k->read;
    if (strcmp(seen, k->from) != 0) violated(s->w, "I12 the newest answer is '%s', the write starts from '%s'", seen, k->from);
    if (s->w->cas == CAS_NONE && span_less(SPAN_S(1), instant_since(planned, k->sampled_at))) {
        violated(s->w, "I12 the value was looked at too long ago");
    }
    inv_known(s, s->def->signals[s->def->judge.latency].name, planned);
}

static void check_undo(struct swarm_service *s, struct inv_knob *k, struct instant planned)
{
    if (k->phase != INV_UNDO && k->phase != INV_UNDO_RETRY) {
        violated(s->w, "I2 an undo without a record (%s)", inv_phase_name(k->phase));
    }
    if (s->inv->halted && !k->by_person) violated(s->w, "I6 an automatic undo while halted");
    if (s->w->p->store_frozen) violated(s->w, "I6 an undo while the store fails");
    if (++k->undo_sends > k->undo_records) violated(s->w, "I9 an undo is sent twice for one record");
    bool ok = instant_before(planned, k->read_at) ? k->read_ok_before : k->read_ok;
    if (!ok) violated(s->w, "I12 an undo over somebody else's value ('%s')", k->read);
}

void invariants_send(struct swarm_service *s, uint16_t knob, const struct knob_value *value, uint32_t action, bool is_undo,
                     struct instant planned)
{
    struct inv_knob *k = knob_of(s, knob);
    const char *want = is_undo ? k->from : k->to;
    if (!swarm_leads(s->w)) violated(s->w, "I14 a write of a process that leads no longer");
    if (action != k->action) violated(s->w, "I2 a write of action %u, the durable one is %u", action, k->action);
    if (strlen(want) != value->len || memcmp(want, value->bytes, value->len) != 0) {
        violated(s->w, "I3 '%.*s' is sent, the record says '%s'", (int)value->len, value->bytes, want);
    }
    if (is_undo) check_undo(s, k, planned);
    else check_forward(s, k, planned);
    k->sent_at = s->w->now;
    struct instant until = instant_add(instant_add(s->w->now, k->settle), k->window);
    s->inv->gap_until = instant_max(s->inv->gap_until, until);
}

/* ---- what is asked ---- */

void invariants_command(struct swarm *w, uint16_t service, const struct command *c)
{
    fleet_command(w, service, c);
    window_command(w, c);
    if (c->verb != COMMAND_HALT && c->verb != COMMAND_HALT_UNDO) return;
    for (uint16_t i = 0; i < w->n; i++) {
        if (service == i || service == ALL_SERVICES) w->services[i].inv->halted = true;
    }
}

void invariants_known(struct swarm_service *s, uint16_t signal, const struct point *p)
{
    struct instant *at = &s->inv->known_at[signal];
    if (p->why == WHY_KNOWN) *at = instant_max(*at, (struct instant){p->at.us - s->w->p->mono_offset});
}

void invariants_release(struct swarm_service *s)
{
    s->inv->release_at = s->w->now;
    s->inv->release_until = instant_add(s->w->now, s->def->timing.release_watch);
}

/* A running action keeps its revision; one whose write is not planned yet must fit the new one. */
static void reload_of(struct swarm_service *s)
{
    if (loop_control(s->w->p->loop, s->index)->state != STATE_INTENT) return;
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        struct inv_knob *k = knob_of(s, i);
        if (k->phase != INV_INTENT) continue;
        k->def = &s->def->knobs[i];
        k->mode = s->def->class_mode[k->def->class];
    }
}

void invariants_reload(struct swarm *w)
{
    for (unsigned i = 0; i < w->n && w->p->loop; i++) reload_of(&w->services[i]);
}

/* A halt or a release that the failing store could not take dies with the process; a later start knows only the log. */
void invariants_killed(struct swarm *w)
{
    window_killed(w);
    for (unsigned n = 0; n < w->n; n++) {
        struct invariants *v = w->services[n].inv;
        v->halted = v->halt_durable;
        v->release_until = INSTANT_NONE;
        if (w->wall_step != v->wall_step) v->clock_moved = true;
        v->wall_step = w->wall_step;
        for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) v->knobs[i].wrong_since = INSTANT_NONE;
    }
}

/* ---- after every event ---- */

static void check_watched(struct swarm_service *s, const struct control *c)
{
    bool watching = c->state == STATE_SETTLING || c->state == STATE_OBSERVING;
    if (!watching || c->active >= s->def->knob_count) return;
    struct inv_knob *k = knob_of(s, c->active);
    if (k->phase != INV_APPLIED) {
        violated(s->w, "I15 an action is watched that no durable APPLIED stands for (%s)", inv_phase_name(k->phase));
    }
    bool right = text_eq(k->read, k->to) || text_eq(k->read, "?");
    if (right) k->wrong_since = INSTANT_NONE;
    else if (!instant_is_set(k->wrong_since)) k->wrong_since = s->w->now;
    else if (span_less(WATCHED_WRONG, instant_since(s->w->now, k->wrong_since))) {
        violated(s->w, "I15 %s is watched for, the target says '%s' since minutes", k->to, k->read);
    }
}

static bool rests(const struct control *c)
{
    return c->state == STATE_WATCHING || c->state == STATE_PERSON || c->state == STATE_AWAITING || c->halted ||
           c->state == STATE_HALTED || c->frozen & FREEZE_WINDOW;
}

/* How long after the last fault it takes until the service is watched in peace, or a person has it. */
static void see_rest(struct swarm_service *s, const struct control *c)
{
    struct invariants *v = s->inv;
    if (!s->w->calm) return;
    if (rests(c)) {
        v->unrest_since = INSTANT_NEVER;
        return;
    }
    if (v->unrest_since.us == INSTANT_NEVER.us) v->unrest_since = s->w->now;
    struct span unrest = instant_since(s->w->now, v->unrest_since);
    s->w->result->unrest = span_max(s->w->result->unrest, unrest);
    if (!span_less(SWARM_REST, unrest)) return;
    violated(s->w, "liveness: %s for %lld min after the last fault, neither watching nor with a person (%s)",
             state_name((enum state)c->state), (long long)(unrest.us / US_PER_MIN),
             reason_code(loop_decision(s->w->p->loop, s->index)->reason));
}

static void check_service(struct swarm_service *s)
{
    struct invariants *v = s->inv;
    const struct swarm_process *p = s->w->p;
    const struct control *c = loop_control(p->loop, s->index);
    if (p->acks > 0 || c->waiting_ack || c->store_failed || p->store_frozen || p->queue || p->giving_log || p->fold_wanted) return;
    check_watched(s, c);
    if (v->halted && !c->halted) violated(s->w, "I6 a halt is lost without a resume");
    if (c->n_auto != v->autos && s->w->policy_n == 1) violated(s->w, "I9 n_auto is %u, the log says %u", c->n_auto, v->autos);
    if (c->actions != v->actions) violated(s->w, "I9 the loop counts %u actions, the log %u", c->actions, v->actions);
    see_rest(s, c);
}

void invariants_event(struct swarm *w)
{
    struct swarm_service *was = w->about;
    struct loop_counters n;
    if (!swarm_leads(w)) return;
    loop_counters(w->p->loop, &n);
    if (n.unexpected_events > 0) {
        violated(w, "row 55: an event that no row of the table takes, in %s",
                 state_name((enum state)loop_control(w->p->loop, was ? was->index : 0)->state));
    }
    for (unsigned i = 0; i < w->n; i++) {
        w->about = &w->services[i];
        check_service(w->about);
    }
    w->about = was;
}

/* ---- liveness ---- */

static void check_believed(struct swarm_service *s, const struct control *c)
{
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        const struct inv_knob *k = knob_of(s, i);
        if (c->knobs[i].slot.unacknowledged || c->state == STATE_HALTED) continue;
        struct swarm_value real;
        if (!swarm_uniform(s, i, &real)) real.text[0] = '\0';
        if (strcmp(real.text, k->read) != 0) {
            violated(s->w, "I15 in calm %s is %s, the newest answer was '%s'", s->def->knobs[i].name, real.text, k->read);
        }
    }
}

static void check_end(struct swarm_service *s)
{
    struct invariants *v = s->inv;
    const struct control *c = loop_control(s->w->p->loop, s->index);
    s->w->about = s;
    if (c->halted || c->state == STATE_HALTED) return;
    for (unsigned i = 0; i < POLICY_KNOBS_MAX; i++) {
        struct span since = instant_since(s->w->now, v->knobs[i].sent_at);
        if (!inv_ended(v->knobs[i].phase) && span_less(SPAN_HOUR(1), since)) {
            violated(s->w, "liveness: the story of action %u never ends (%s)", v->knobs[i].action,
                     inv_phase_name(v->knobs[i].phase));
        }
    }
    check_believed(s, c);
}

void invariants_end(struct swarm *w)
{
    if (w->result->violated) return;
    swarm_leader(w);
    w->about = NULL;
    if (!w->p->loop) {
        violated(w, "liveness: the process did not come back");
        return;
    }
    for (unsigned i = 0; i < w->n; i++) check_end(&w->services[i]);
}
