/* The inverse of story.c: a record of the log becomes what control folds. A record that names a knob or cause which the
 * configuration no longer has is folded without it. */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "loop/service.h"

static uint16_t value_id(struct service_loop *s, const struct record *r, enum record_field f)
{
    const char *text = record_get_text(r, f);
    return intern_text(&s->intern, text, (uint16_t)strlen(text), f == RF_VERSION);
}

static uint16_t cause_index(const struct service_def *d, const char *id)
{
    for (uint16_t i = 0; i < d->cause_count; i++) {
        if (text_eq(d->causes[i].id, id)) return i;
    }
    return NO_INDEX;
}

static uint16_t symptom_index(const struct service_def *d, const char *name)
{
    for (uint16_t i = 0; i < d->symptom_count; i++) {
        if (text_eq(d->symptoms[i].name, name)) return i;
    }
    return NO_INDEX;
}

static uint32_t action_number(const char *id)
{
    const char *slash = strrchr(id, '/');
    uint64_t n;
    return slash && num_parse_u64(slash + 1, strlen(slash + 1), &n) ? (uint32_t)n : 0;
}

static uint64_t plan_id(const uint8_t *hash)
{
    uint64_t id;
    memcpy(&id, hash, sizeof id);
    return id ? id : 1;
}

static void outcome(const char *word, struct control_record *c)
{
    c->held = text_eq(word, "held") || text_eq(word, "handed");
    c->undo = text_eq(word, "undo");
    c->late = text_eq(word, "late");
    c->part = text_eq(word, "part") || text_eq(word, "part-cancelled");
    c->by_others = text_eq(word, "by-others") || text_eq(word, "part-cancelled");
    c->foreign_version = text_eq(word, "foreign-version");
    c->clear = text_eq(word, "clear");
    c->watch_over = text_eq(word, "watch-over");
}

/* A time later than now belongs to a clock that has been set back: taken as now, so that no window gets shorter. */
static struct instant field_instant(const struct loop *l, const struct record *r, enum record_field f)
{
    if (!record_has(r, f)) return INSTANT_NONE;
    return instant_min((struct instant){record_get_i64(r, f, 0) - l->record_offset_us}, l->now);
}

static void words(const struct record *r, struct control_record *c)
{
    enum direction d;
    if (direction_parse(record_get_text(r, RF_DIRECTION), &d)) c->direction = (uint8_t)d;
    (void)verdict_parse(record_get_text(r, RF_VERDICT), &c->verdict);
    (void)reason_parse(record_get_text(r, RF_REASON), &c->reason);
    outcome(record_get_text(r, RF_OUTCOME), c);
}

bool unstory(struct loop *l, struct service_loop *s, const struct record *r, struct control_record *ret)
{
    const struct service_def *d = s->def;
    if (!text_eq(record_get_text(r, RF_SERVICE), d->name)) return false;
    uint16_t knob = record_has(r, RF_KNOB) ? service_knob(d, record_get_text(r, RF_KNOB)) : NO_INDEX;
    bool lost = record_has(r, RF_KNOB) && knob == NO_INDEX;
    *ret = (struct control_record){.kind = r->kind, .at = field_instant(l, r, RF_AT),
                                   .knob = knob == NO_INDEX ? NO_KNOB : (uint8_t)knob, .expiry = INSTANT_NEVER};
    ret->old = value_id(s, r, RF_FROM);
    ret->new_ = value_id(s, r, RF_TO);
    ret->read = value_id(s, r, RF_READ);
    ret->version = value_id(s, r, RF_VERSION);
    ret->cause = cause_index(d, record_get_text(r, RF_CAUSE));
    ret->action = action_number(record_get_text(r, RF_ACTION));
    ret->epoch = (uint32_t)record_get_u64(r, RF_EPOCH, 0);
    ret->incident = record_get_u64(r, RF_INCIDENT, 0);
    ret->symptom = symptom_index(d, record_get_text(r, RF_SYMPTOM));
    ret->automatic = record_get_u64(r, RF_AUTOMATIC, 0) != 0;
    ret->fail = record_get_u64(r, RF_FAIL, 0) != 0;
    ret->settle.us = record_get_i64(r, RF_SETTLE, 0);
    ret->window.us = record_get_i64(r, RF_WINDOW, 0);
    ret->onset = field_instant(l, r, RF_ONSET);
    if (record_has(r, RF_PLAN)) ret->plan = plan_id(r->v[RF_PLAN].hex32);
    if (record_has(r, RF_EXPIRY)) ret->expiry = (struct instant){record_get_i64(r, RF_EXPIRY, 0) - l->record_offset_us};
    words(r, ret);
    return !(lost && (r->kind == RECORD_REQUEST || r->kind == RECORD_INTENT));
}

/* spec section 5: each decision record names the last change. */
void change_remember(const struct loop *l, struct service_loop *s, const struct record *r)
{
    (void)l;
    bool undone = r->kind == RECORD_UNDONE, external = r->kind == RECORD_EXTERNAL;
    if (r->kind == RECORD_INTENT) (void)text_copy(s->asked_by, sizeof s->asked_by, record_get_text(r, RF_BY));
    if (r->kind != RECORD_APPLIED && !undone && !external) return;
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s ", record_get_text(r, RF_KNOB));
    if (external) buf_printf(&b, "to %s by somebody else", record_get_text(r, RF_READ));
    else buf_printf(&b, "%s -> %s", record_get_text(r, undone ? RF_TO : RF_FROM), record_get_text(r, undone ? RF_FROM : RF_TO));
    if (!external) buf_printf(&b, "%s by %s", undone ? " taken back" : "", s->asked_by[0] ? s->asked_by : "auto");
    buf_puts(&b, " at ");
    wall_print(&b, (struct wall){record_get_i64(r, RF_AT, 0)});
    (void)text_copy(s->last_change, sizeof s->last_change, buf_text(&b));
    buf_free(&b);
}

/* What the loop itself remembers beside control. */
static void fold_context(struct loop *l, struct service_loop *s, const struct record *r, const struct control_record *c)
{
    struct action_state *a = &s->action;
    if (c->knob < s->def->knob_count) {
        bool moved = r->kind == RECORD_APPLIED || r->kind == RECORD_UNDONE || r->kind == RECORD_EXTERNAL;
        if (moved) s->knobs[c->knob].changed = c->at;
    }
    if (r->kind == RECORD_INTENT) {
        *a = (struct action_state){.knob = c->knob, .onset = s->control.onset, .intent_at = c->at, .window_start = INSTANT_NEVER,
                                   .errors_from = c->at, .old_since = field_instant(l, r, RF_SINCE),
                                   .errors_before_ratio = 0, .peak_before = 0, .regime_from = judge_regime(s),
                                    .queue_threshold = __builtin_nan("")};
        a->peak_before = a->errors_before_ratio = __builtin_nan("");
        a->behind = (struct span){c->at.us - (record_get_i64(r, RF_AT, 0) - l->wall_offset_us)};
        service_keep_policy(s);
        (void)text_copy(a->policy.revision, sizeof a->policy.revision, record_get_text(r, RF_POLICY));
    }
    if (r->kind == RECORD_APPLIED) a->window_start = instant_add(c->at, c->settle);
    if (r->kind == RECORD_WARM) s->was_warm = true;
    if (r->kind == RECORD_RELEASE) {
        s->deployed = c->at;
        (void)text_copy(s->model_version, sizeof s->model_version, record_get_text(r, RF_MODEL_VERSION));
    }
    if (r->kind == RECORD_HALT) {
        (void)text_copy(s->halted_by, sizeof s->halted_by, record_get_text(r, RF_BY));
        (void)text_copy(s->halted_why, sizeof s->halted_why, record_get_text(r, RF_NOTE));
        s->halted_at = (struct wall){record_get_i64(r, RF_AT, 0)};
    }
    if (r->kind == RECORD_INTENT) fleet_sent(l, s, c->action, c->at);
    if (r->kind == RECORD_ABORTED) fleet_not_sent(l, s, c->action);
    if (r->kind == RECORD_EXPIRED && c->knob < s->def->knob_count) skip_note(s, c);
    if (r->kind == RECORD_VERDICT && c->verdict == VERDICT_HARMFUL && c->fail) fleet_harm(l, s, c->action, c->at);
    change_remember(l, s, r);
    if (r->kind == RECORD_INCIDENT && c->incident != s->incident_last) s->opened_at = c->at;
    if (r->kind == RECORD_INCIDENT) s->incident_last = c->incident;
}

/* Invariant 13: the wall clock may have been set since, and then it must not make a window shorter. What else a record
 * dates lies as far from its own time as its wall times say. */
static int64_t offset_of(const struct loop *l, const struct event *e)
{
    if (!e->has_age) return l->wall_offset_us;
    return record_get_i64(e->u.record, RF_AT, 0) - (l->now.us - e->age.us);
}

void story_fold(struct loop *l, struct service_loop *s, const struct event *e)
{
    const struct record *r = e->u.record;
    struct control_record c;
    l->record_offset_us = offset_of(l, e);
    if (!unstory(l, s, r, &c)) return;
    fold_context(l, s, r, &c);
    control_fold(&s->control_policy, &s->control, &c);
    if (r->kind == RECORD_REQUEST && record_has(r, RF_PLAN)) memcpy(s->plan_hash, r->v[RF_PLAN].hex32, 32);
}
