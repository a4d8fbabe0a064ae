/* People's commands. Those that depend on what the target holds now wait for a fresh read of every knob. */
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/text.h"
#include "loop/service.h"

void command_reply(struct loop *l, uint64_t id, enum status status, const char *text, const char *detail)
{
    if (id == 0) return;
    struct effect *e = loop_effect(l, EFFECT_REPLY, ALL_SERVICES);
    e->u.reply.id = id;
    e->u.reply.status = status;
    e->u.reply.text = arena_strdup(&l->arena, text);
    e->u.reply.detail = arena_strdup(&l->arena, detail ? detail : "");
}

static enum role role_needed(enum command_verb v) { return v == COMMAND_RESUME ? ROLE_ADMIN : ROLE_OPERATOR; }

/* Knob of an action id "service/7"; NO_KNOB when no newest action has that number. */
static uint8_t knob_of_action(const struct service_loop *s, const char *action)
{
    const char *slash = strrchr(action, '/');
    const char *digits = slash ? slash + 1 : action;
    uint64_t number;
    if (!num_parse_u64(digits, strlen(digits), &number)) {
        uint16_t knob = service_knob(s->def, action);
        return knob == NO_INDEX ? NO_KNOB : (uint8_t)knob;
    }
    for (uint8_t k = 0; k < s->def->knob_count; k++) {
        const struct control_slot *a = &s->control.knobs[k].slot;
        if (a->story != STORY_NONE && a->action == number) return k;
    }
    return NO_KNOB;
}

static struct control_event event_of(const struct loop *l, enum control_event_kind kind)
{
    return (struct control_event){.kind = kind, .now = l->now, .knob = NO_KNOB};
}

static bool names_running(const struct service_loop *s, const struct command *c)
{
    if (!control_in_flight(&s->control)) return false;
    return !c->action || c->action[0] == '\0' || knob_of_action(s, c->action) == s->control.active;
}

/* Commands that need no read run at once: above all halt. */
static bool run_at_once(struct loop *l, struct service_loop *s, const struct command *c)
{
    struct control_event e = event_of(l, CE_HALT);
    switch (c->verb) {
    case COMMAND_HALT: break;
    case COMMAND_HALT_UNDO: e.kind = CE_HALT_UNDO; break;
    case COMMAND_RESUME: e.kind = CE_RESUME; break;
    case COMMAND_REJECT:
        e.kind = CE_REJECT;
        e.plan = s->control.request.plan;
        break;
    case COMMAND_CANCEL:
        if (!names_running(s, c)) return false;
        e.kind = CE_CANCEL;
        break;
    default: return false;
    }
    if (c->verb == COMMAND_HALT || c->verb == COMMAND_HALT_UNDO) {
        (void)text_copy(s->halted_by, sizeof s->halted_by, c->by ? c->by : "");
        (void)text_copy(s->halted_why, sizeof s->halted_why, c->reason ? c->reason : "");
        s->halted_at = l->wall;
        s->last_seen = INSTANT_NONE;
    }
    drive(l, s, &e, c);
    return true;
}

static void keep(struct service_loop *s, const struct command *c, struct instant now)
{
    struct waiting_command *w = &s->waiting[s->waiting_n++];
    *w = (struct waiting_command){.command = *c, .since = now};
    (void)text_copy(w->by, sizeof w->by, c->by ? c->by : "");
    (void)text_copy(w->via, sizeof w->via, c->via ? c->via : "");
    (void)text_copy(w->reason, sizeof w->reason, c->reason ? c->reason : "");
    (void)text_copy(w->action, sizeof w->action, c->action ? c->action : "");
    (void)text_copy(w->request, sizeof w->request, c->request ? c->request : "");
}

static bool request_matches(const struct service_loop *s, const struct command *c)
{
    if (!s->control.request.present) return false;
    if (!c->request || c->request[0] == '\0') return true;
    size_t n = strlen(c->request);
    if (n >= 8 && n <= 64 && strncmp(s->request_hash, c->request, n) == 0) return true;
    return text_eq(c->request, s->def->name);
}

static const char *refused_early(const struct loop *l, const struct service_loop *s, const struct command *c)
{
    (void)l;
    if (!s->folded) return "the daemon is still reading its log; try again in a moment";
    if ((c->verb == COMMAND_APPROVE || c->verb == COMMAND_REJECT) && !request_matches(s, c)) {
        return s->control.request.present ? "the request that waits is another one; look at it again"
                                          : "no request waits for a person";
    }
    return NULL;
}

void command_take(struct loop *l, struct service_loop *s, const struct command *c)
{
    if (c->role < role_needed(c->verb)) {
        command_reply(l, c->id, STATUS_DENIED,
                      c->verb == COMMAND_RESUME ? "only an admin lifts a halt" : "the role operator is needed", "role");
        return;
    }
    const char *why = refused_early(l, s, c);
    bool halt = c->verb == COMMAND_HALT || c->verb == COMMAND_HALT_UNDO;
    if (why && !halt) {
        command_reply(l, c->id, STATUS_STATE, why, "");
        return;
    }
    if (run_at_once(l, s, c)) return;
    if (s->waiting_n == COMMANDS_WAITING_MAX) {
        command_reply(l, c->id, STATUS_BUSY, "too many commands wait for this service's target; try again", "");
        return;
    }
    keep(s, c, l->now);
    round_ask_reads(l, s, s->def->knob_count ? (UINT32_C(1) << s->def->knob_count) - 1 : 0, false);
    if (s->reads_out == 0) command_run_waiting(l, s);
}

/* loop.md section 2: an approval overrides PERSON gates, and cooling, protected, interval, change-window only if the request
 * names them. No request does: one is made only when these gates are open, and if one has shut since, the facts have changed. */
static void remeasure(struct loop *l, struct service_loop *s, struct control_event *e)
{
    windows_update(l, s);
    tick_evidence(l, s);
    struct symptom_summary sum;
    symptoms_drive(l, s, &sum);
    struct control_decision d = tick_decide(l, s, 0);
    bool same_plan = d.plan == s->control.request.plan && (d.kind == CD_ASK || d.kind == CD_TUNE);
    e->remeasure_ok = same_plan && sum.now == TRI_TRUE;
    e->remeasure_reason = sum.now != TRI_TRUE ? REASON_SYMPTOM_GONE : d.kind == CD_SHUT ? d.reason : REASON_FACTS_CHANGED;
    e->decision = d;
    e->plan = s->control.request.plan;
    e->service_gates_open = d.kind != CD_SHUT;
    e->symptom = sum.now;
    e->symptom_index = sum.index;
}

static void run_one(struct loop *l, struct service_loop *s, const struct command *c)
{
    static const enum control_event_kind kinds[] = {
        [COMMAND_APPROVE] = CE_APPROVE, [COMMAND_REJECT] = CE_REJECT, [COMMAND_HALT] = CE_HALT,
        [COMMAND_HALT_UNDO] = CE_HALT_UNDO, [COMMAND_RESUME] = CE_RESUME, [COMMAND_CANCEL] = CE_CANCEL,
        [COMMAND_ROLLBACK] = CE_ROLLBACK, [COMMAND_RETRY] = CE_RETRY, [COMMAND_NORMAL_NOW] = CE_NORMAL_NOW,
    };
    struct control_event e = event_of(l, kinds[c->verb]);
    tick_fill_reads(l, s, &e, SPAN_S(30));
    e.clear_excluded = c->clear;
    if (c->action && c->action[0]) {
        e.knob = knob_of_action(s, c->action);
        if (e.knob == NO_KNOB) {
            command_reply(l, c->id, STATUS_NOT_FOUND, "that is not the newest action on any knob of this service", c->action);
            return;
        }
    } else if (c->verb == COMMAND_ROLLBACK && control_in_flight(&s->control)) {
        e.knob = s->control.active;
    }
    if (c->verb == COMMAND_APPROVE) remeasure(l, s, &e);
    drive(l, s, &e, c);
}

void command_run_waiting(struct loop *l, struct service_loop *s)
{
    unsigned n = s->waiting_n;
    s->waiting_n = 0;
    for (unsigned i = 0; i < n; i++) {
        struct waiting_command w = s->waiting[i];
        w.command.by = w.by;
        w.command.via = w.via;
        w.command.reason = w.reason;
        w.command.action = w.action;
        w.command.request = w.request;
        run_one(l, s, &w.command);
    }
}
