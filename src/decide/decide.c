#include "decide/decide.h"

#include <math.h>

#include "base/text.h"
#include "decide/pass.h"
#include "model/ladder.h"

/* Room that candidates not taken leave for the one taken: all its CANDIDATE, PERSON and LAST gates. */
#define RESERVED 20
/* What walking the candidates has found so far. */
struct walk {
    bool planned, stopped;
    bool blocked;               /* a true cause stands below one that is unknown: nothing of it is tried */
    enum reason waiting;        /* first shut gate of the first candidate that is left; NONE: nothing is left so far */
    uint16_t advice_cause;      /* first cause on the way with advice beside its knobs */
    uint16_t advice_only;       /* the cause with nothing but advice that ended the walk */
    uint16_t unknown;
};

bool decide_needs(const struct service_def *s, struct needs *needs)
{
    for (uint16_t i = 0; i < s->knob_count; i++) {
        uint16_t use = s->knobs[i].use_signal;
        if (use < s->signal_count && needs_add(needs, (struct need){.fn = FN_VALUE, .subject = use}) < 0) return false;
    }
    return true;
}

int decide_tier(const struct service_def *s, const struct knob_def *k)
{
    int own = class_default_tier(k->class);
    bool own_replicas = k->class == CLASS_REPLICAS && k->budget == BUDGET_OWN && isfinite(k->max) && k->max > k->min;
    if (own_replicas) own = 1;
    int tier = k->tier > own ? k->tier : own;
    if (k->budget == BUDGET_SHARED) tier = 3;
    bool interrupts = k->apply == APPLY_RESTART || (k->apply == APPLY_RELOAD && service_instances(s) < 2);
    return interrupts && tier < 2 ? 2 : tier;
}

/* Looks through one gate and stores what it says, if there is room beside the `reserved`; *ret_kept. */
static enum hold look(const struct pass *p, const struct gate *gate, const struct attempt *a, struct gate_result *g)
{
    *g = (struct gate_result){.reason = gate->reason, .cause = a ? a->cause : NO_INDEX, .knob = a ? a->knob : NO_INDEX,
                              .direction = a ? a->direction : DIR_UP, .lhs = NAN, .rhs = NAN};
    enum hold h = gate->look(p, a, g);
    g->shut = h != HOLD_OPEN;
    return h;
}

static void keep(struct decision *out, const struct gate_result *g, uint16_t reserved)
{
    if (out->gate_count + reserved < PLAN_GATES_MAX) out->gates[out->gate_count++] = *g;
    else if (g->shut) out->gates_left_out++;
}

static void end(struct decision *out, enum decision_kind kind, enum reason reason)
{
    out->kind = kind;
    out->reason = reason;
}

/* true: all open. */
static bool service_gates(const struct pass *p, struct decision *out)
{
    enum reason first = REASON_NONE;
    for (uint16_t i = 0; i < gates_service_count; i++) {
        struct gate_result g;
        bool shut = look(p, &gates_service[i], NULL, &g) != HOLD_OPEN;
        if (shut && first == REASON_NONE) first = g.reason;
        keep(out, &g, RESERVED);
    }
    if (first != REASON_NONE) end(out, DECISION_NOOP, first);
    return first == REASON_NONE;
}

static bool is_true(const struct cause_result *c)
{
    return c->when == TRI_TRUE && c->verdict != CAUSE_FALSE && c->verdict != CAUSE_UNKNOWN;
}

static bool is_spent(const struct cause_result *c)
{
    return c->verdict == CAUSE_EXCLUDED || c->all_tried;
}

static bool is_unknown(const struct cause_result *c)
{
    return (c->when == TRI_UNKNOWN || c->verdict == CAUSE_UNKNOWN) && c->verdict != CAUSE_FALSE && !is_spent(c);
}

/* Is there still time to wait for data? */
static bool early(const struct pass *p)
{
    return span_less(p->st->cause_age, p->service->timing.cause_wait);
}

/* Is there a cause to walk, and none unknown above the best? Otherwise ends the pass: pending, or after cause_wait a handover. */
static bool cause_known(const struct pass *p, const struct cause_list *causes, struct decision *out)
{
    uint16_t unknown = NO_INDEX;
    bool best = false, spent = false;
    for (uint16_t i = 0; i < causes->n && !best; i++) {
        const struct cause_result *c = &causes->items[i];
        if (is_unknown(c) && unknown == NO_INDEX) unknown = c->cause;
        spent = spent || (is_true(c) && is_spent(c));
        best = is_true(c) && !is_spent(c);
    }
    if (unknown == NO_INDEX && (best || spent)) return true;
    if (!best && spent && !early(p)) return true;   /* the walk tells what was ruled out */
    out->advice_cause = unknown;
    if (early(p)) end(out, DECISION_NOOP, REASON_CAUSE_PENDING);
    else end(out, DECISION_ALERT, best ? REASON_CANNOT_RULE_OUT : REASON_NO_CAUSE);
    return false;
}

static struct attempt attempt_of(const struct pass *p, const struct cause_result *c, const struct candidate_def *t)
{
    struct attempt a = {.cause = c->cause, .spent = is_spent(c), .knob = t->knob, .direction = t->direction,
                        .def = &p->service->knobs[t->knob], .standing = &p->st->knobs[t->knob]};
    a.tier = decide_tier(p->service, a.def);
    a.mode = p->service->class_mode[a.def->class];
    struct err err = {0};
    a.has_to = ladder_next(a.def, &a.standing->value, a.direction, &a.to, &err) == STATUS_OK;
    if (!a.has_to) (void)text_copy(a.no_to, sizeof a.no_to, err.text);
    return a;
}

/* CANDIDATE gates of one candidate. true: all open, and all are stored; else its shut ones are. Whether a shut candidate is
 * left (decide.h): nothing FINAL, and either something that ends by itself or still time to wait for data. */
static bool candidate_gates(const struct pass *p, const struct attempt *a, struct decision *out, struct walk *w)
{
    struct gate_result results[16];
    bool held[HOLD_DATA + 1] = {false};
    enum reason first = REASON_NONE;
    CHECK(gates_candidate_count <= ARRAY_LEN(results));
    for (uint16_t i = 0; i < gates_candidate_count; i++) {
        enum hold h = look(p, &gates_candidate[i], a, &results[i]);
        held[h] = true;
        if (h != HOLD_OPEN && first == REASON_NONE) first = results[i].reason;
    }
    bool open = first == REASON_NONE;
    for (uint16_t i = 0; i < gates_candidate_count; i++)
        if (open || results[i].shut) keep(out, &results[i], open ? 0 : RESERVED);
    bool left = !open && !held[HOLD_FINAL] && (held[HOLD_WAIT] || early(p));
    if (left && w->waiting == REASON_NONE) w->waiting = first;
    return open;
}

static enum reason person_gates(const struct pass *p, const struct attempt *a, struct decision *out)
{
    enum reason first = REASON_NONE;
    for (uint16_t i = 0; i < gates_person_count; i++) {
        struct gate_result g;
        if (look(p, &gates_person[i], a, &g) != HOLD_OPEN) {
            out->person_gates |= 1u << i;
            if (first == REASON_NONE) first = g.reason;
        }
        keep(out, &g, 0);
    }
    return first;
}

static bool last_gate_open(const struct pass *p, const struct attempt *a, struct decision *out)
{
    struct gate_result g;
    bool open = look(p, &gates_last[0], a, &g) == HOLD_OPEN;
    keep(out, &g, 0);
    return open;
}

static void take(const struct pass *p, const struct attempt *a, struct decision *out)
{
    out->has_plan = true;
    out->plan = (struct plan){.cause = a->cause, .knob = a->knob, .direction = a->direction, .class = a->def->class,
                              .from = a->standing->value, .to = a->to};
    decide_plan_hash(p->policy, p->service, p->st->incident, &out->plan);
    enum reason ask = person_gates(p, a, out);
    if (!last_gate_open(p, a, out)) end(out, DECISION_ALERT, REASON_MODE_ALERT);   /* in mode alert nobody is asked either */
    else if (ask != REASON_NONE) end(out, DECISION_ASK, ask);
    else end(out, DECISION_TUNE, REASON_PLANNED);
}

static void walk_cause(const struct pass *p, const struct cause_result *r, struct decision *out, struct walk *w)
{
    const struct cause_def *c = &p->service->causes[r->cause];
    bool knobs = false;
    for (uint16_t i = 0; i < c->try_count && !w->planned; i++) {
        const struct candidate_def *t = &c->tries[i];
        if (t->knob >= p->service->knob_count) {
            if (w->advice_cause == NO_INDEX) w->advice_cause = r->cause;
            continue;
        }
        knobs = true;
        struct attempt a = attempt_of(p, r, t);
        if (!candidate_gates(p, &a, out, w)) continue;
        take(p, &a, out);
        w->planned = true;
    }
    if (!knobs) {
        w->advice_only = r->cause;
        w->stopped = true;
    }
}

/* Causes in rank order until one has a plan, one has only advice, or one cannot be ruled out. */
static void walk_causes(const struct pass *p, const struct cause_list *causes, struct decision *out, struct walk *w)
{
    for (uint16_t i = 0; i < causes->n && !w->planned && !w->stopped; i++) {
        const struct cause_result *c = &causes->items[i];
        if (is_unknown(c)) w->unknown = c->cause;
        if (!is_true(c) || c->cause >= p->service->cause_count) continue;
        w->blocked = w->unknown != NO_INDEX && !is_spent(c);
        w->stopped = w->blocked;
        if (!w->blocked) walk_cause(p, c, out, w);
    }
}

/* No plan: is something left to wait for, or is it a person's turn? */
static void without_plan(const struct pass *p, struct decision *out, const struct walk *w)
{
    out->advice_cause = w->advice_only != NO_INDEX ? w->advice_only : w->advice_cause;
    if (w->waiting != REASON_NONE) {
        end(out, DECISION_NOOP, w->waiting);
    } else if (w->advice_only != NO_INDEX) {
        end(out, DECISION_ALERT, REASON_ADVICE_ONLY);
    } else if (w->unknown != NO_INDEX && (w->blocked || early(p))) {
        out->advice_cause = w->unknown;
        end(out, early(p) ? DECISION_NOOP : DECISION_ALERT, early(p) ? REASON_CAUSE_PENDING : REASON_CANNOT_RULE_OUT);
    } else {
        end(out, DECISION_ALERT, REASON_NO_CANDIDATE);
    }
}

static void candidates(const struct pass *p, const struct cause_list *causes, struct decision *out)
{
    if (!cause_known(p, causes, out)) return;
    struct walk w = {.advice_cause = NO_INDEX, .advice_only = NO_INDEX, .unknown = NO_INDEX};
    walk_causes(p, causes, out, &w);
    if (!w.planned) without_plan(p, out, &w);
}

/* Behind a shut SERVICE gate: what would be done once it opens. Only the plan is told, its gates are not stored. */
static void preview(const struct pass *p, const struct cause_list *causes, struct decision *out)
{
    struct decision after = {.kind = DECISION_NOOP, .advice_cause = NO_INDEX};
    candidates(p, causes, &after);
    out->has_plan = after.has_plan;
    out->plan = after.plan;
}

bool decide_service_gates_open(const struct policy *policy, const struct service_def *s, const struct standing *st)
{
    struct pass p = {.policy = policy, .service = s, .st = st};
    for (uint16_t i = 0; i < gates_service_count; i++) {
        struct gate_result g;
        if (look(&p, &gates_service[i], NULL, &g) != HOLD_OPEN) return false;
    }
    return true;
}

void decide_pass(const struct policy *policy, const struct service_def *s, const struct cause_list *causes,
                 const struct evidence *e, const struct standing *st, struct decision *out)
{
    struct pass p = {policy, s, e, st};
    *out = (struct decision){.kind = DECISION_NOOP, .advice_cause = NO_INDEX};
    CHECK(s->knob_count <= POLICY_KNOBS_MAX && causes->n <= CAUSES_MAX);
    if (service_gates(&p, out)) candidates(&p, causes, out);
    else preview(&p, causes, out);
}
