/* What control says in ids becomes an audit record with bytes, names, numbers and one sentence for people. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/check.h"
#include "loop/service.h"

struct tell {
    struct loop *l;
    struct service_loop *s;
    const struct control_record *c;
    const struct command *by;
    struct record *r;
    bool after_verdict;              /* a VERDICT goes with it */
};

static void text_field(struct tell *t, enum record_field f, struct buf *b)
{
    if (b->len) record_text(t->r, f, loop_text(t->l, b));
    else buf_free(b);
}

static const char *id_text(struct tell *t, uint16_t id)
{
    struct knob_value v = {0};
    if (!intern_get(&t->s->intern, id, &v)) return NULL;
    char *text = arena_strndup(&t->l->arena, v.bytes, v.len);
    CHECK_MEMORY(text);
    return text;
}

static const char *version_text(struct tell *t, uint16_t id)
{
    struct knob_value v = {0};
    intern_get_version(&t->s->intern, id, &v);
    if (v.version_len == 0) return NULL;
    char *text = arena_strndup(&t->l->arena, v.version, v.version_len);
    CHECK_MEMORY(text);
    return text;
}

static bool about_action(enum record_kind k)
{
    switch (k) {
    case RECORD_INTENT:
    case RECORD_ABORTED:
    case RECORD_APPLIED:
    case RECORD_FAILED:
    case RECORD_PART:
    case RECORD_YIELDED:
    case RECORD_HELD:
    case RECORD_EXTENDED:
    case RECORD_VERDICT:
    case RECORD_CANCEL:
    case RECORD_ROLLBACK:
    case RECORD_UNDO:
    case RECORD_UNDO_RETRY:
    case RECORD_UNDONE:
    case RECORD_UNDO_FAILED: return true;
    default: return false;
    }
}

static bool about_plan(enum record_kind k)
{
    return k == RECORD_WOULD || k == RECORD_REQUEST || k == RECORD_APPROVAL || k == RECORD_REJECT || k == RECORD_EXPIRED ||
           k == RECORD_INTENT;
}

static void who(struct tell *t)
{
    const struct command *c = t->by;
    bool person = c && c->by && c->by[0];
    record_text(t->r, RF_BY, person ? arena_strdup(&t->l->arena, c->by) : "auto");
    record_text(t->r, RF_VIA, person && c->via ? arena_strdup(&t->l->arena, c->via) : "loop");
    if (person && c->reason && c->reason[0]) record_text(t->r, RF_NOTE, arena_strdup(&t->l->arena, c->reason));
}

static void knob_fields(struct tell *t)
{
    const struct control_record *c = t->c;
    const struct service_def *d = t->s->def;
    if (c->knob >= d->knob_count) return;
    const struct knob_def *k = &d->knobs[c->knob];
    record_text(t->r, RF_KNOB, k->name);
    record_text(t->r, RF_CLASS, class_name(k->class));
    if (c->read) record_text(t->r, RF_READ, id_text(t, c->read));
    if (c->version) record_text(t->r, RF_VERSION, version_text(t, c->version));
    if (!about_action(c->kind) && !about_plan(c->kind)) return;
    record_text(t->r, RF_DIRECTION, direction_name((enum direction)c->direction));
    record_text(t->r, RF_FROM, id_text(t, c->old));
    record_text(t->r, RF_TO, id_text(t, c->new_));
    record_i64(t->r, RF_SETTLE, c->settle.us);
    record_i64(t->r, RF_WINDOW, c->window.us);
}

static void action_id(struct tell *t)
{
    if (!about_action(t->c->kind) || t->c->action == 0) return;
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s/", t->s->def->name);
    buf_u64(&b, t->c->action);
    text_field(t, RF_ACTION, &b);
}

static const char *outcome(const struct control_record *c)
{
    if (c->kind == RECORD_VERDICT) return c->held ? "held" : c->undo ? "undo" : "keep";
    if (c->kind == RECORD_APPLIED) return c->late ? "late" : c->part ? (c->by_others ? "part-cancelled" : "part") : NULL;
    if (c->kind == RECORD_UNDONE) return c->by_others ? "by-others" : c->foreign_version ? "foreign-version" : NULL;
    if (c->kind == RECORD_FAILED && c->watch_over) return "watch-over";
    if (c->kind == RECORD_RETRY && c->clear) return "clear";
    if (c->kind == RECORD_INCIDENT && c->held) return "handed";
    return NULL;
}

static void evidence_hash(struct tell *t)
{
    const struct evidence *e = &t->s->evidence;
    struct buf b = BUF_INIT;
    uint8_t *hash = arena_alloc(&t->l->arena, 32);
    CHECK_MEMORY(hash);
    for (unsigned i = 0; i < e->needs->n; i++) {
        buf_le8(&b, (uint8_t)e->items[i].why);
        buf_le_double(&b, e->items[i].why == WHY_KNOWN ? e->items[i].value : 0);
    }
    crypto_hash_sha256(hash, (const unsigned char *)buf_text(&b), b.len);
    buf_free(&b);
    record_hex32(t->r, RF_EVIDENCE, hash);
}

static void plan_fields(struct tell *t)
{
    if (!about_plan(t->c->kind)) return;
    uint8_t *hash = arena_alloc(&t->l->arena, 32);
    CHECK_MEMORY(hash);
    memcpy(hash, t->s->plan_hash, 32);
    record_hex32(t->r, RF_PLAN, hash);
    if (instant_is_set(t->c->expiry)) record_i64(t->r, RF_EXPIRY, wall_at(t->l, t->c->expiry).us);
}

static void intent_fields(struct tell *t)
{
    const struct control_knob *k = &t->s->control.knobs[t->c->knob];
    struct span readback = t->s->control_policy.knobs[t->c->knob].readback;
    record_i64(t->r, RF_DEADLINE, wall_at(t->l, instant_add(t->l->now, readback)).us);
    if (instant_is_set(k->believed_since)) record_i64(t->r, RF_SINCE, wall_at(t->l, k->believed_since).us);
    record_u64(t->r, RF_TOKEN, t->l->options.token);
    record_u64(t->r, RF_N_AUTO, t->s->control.n_auto);
    struct buf b = BUF_INIT;
    struct knob_value old = {0};
    if (intern_get(&t->s->intern, t->c->old, &old)) {
        execute_by_hand(&b, t->s->def, &t->s->def->knobs[t->c->knob], &old);
    }
    text_field(t, RF_BY_HAND, &b);
}

/* Where a person must put it right, the record says how. */
static void by_hand_fields(struct tell *t)
{
    const struct control_record *c = t->c;
    bool asked = c->kind == RECORD_YIELDED || c->kind == RECORD_HELD || c->kind == RECORD_UNDO_FAILED ||
                 (c->kind == RECORD_VERDICT && c->held);
    struct knob_value old = {0};
    if (!asked || c->knob >= t->s->def->knob_count || !intern_get(&t->s->intern, c->old, &old)) return;
    struct buf b = BUF_INIT;
    execute_by_hand(&b, t->s->def, &t->s->def->knobs[c->knob], &old);
    text_field(t, RF_BY_HAND, &b);
}

static void context_fields(struct tell *t)
{
    struct buf values = BUF_INIT, rule = BUF_INIT, causes = BUF_INIT, gates = BUF_INIT;
    words_values(&values, t->s);
    text_field(t, RF_VALUES, &values);
    if (t->c->symptom < t->s->def->symptom_count) {
        expr_explain(&rule, t->s->def->symptoms[t->c->symptom].when, &t->s->evidence, t->s->def);
    }
    text_field(t, RF_RULE, &rule);
    words_causes(&causes, t->s);
    text_field(t, RF_CAUSES, &causes);
    words_gates(&gates, t->s);
    text_field(t, RF_GATES, &gates);
    evidence_hash(t);
    if (t->s->model_version[0]) record_text(t->r, RF_MODEL_VERSION, arena_strdup(&t->l->arena, t->s->model_version));
    if (instant_is_set(t->s->deployed)) record_i64(t->r, RF_DEPLOYED, wall_at(t->l, t->s->deployed).us);
    if (t->s->last_change[0]) record_text(t->r, RF_LAST_CHANGE, arena_strdup(&t->l->arena, t->s->last_change));
}

static void side(struct tell *t, enum record_field f, double median, double jitter, double queue, bool with_queue)
{
    struct buf b = BUF_INIT;
    buf_puts(&b, "median ");
    buf_sig3(&b, median);
    buf_puts(&b, ", jitter ");
    buf_sig3(&b, jitter);
    if (with_queue && !isnan(queue)) {
        buf_puts(&b, ", queue ");
        buf_sig3(&b, queue);
    }
    text_field(t, f, &b);
}

static void verdict_fields(struct tell *t)
{
    const struct verify_result *v = &t->s->action.result;
    record_text(t->r, RF_VERDICT, verdict_name(t->c->verdict));
    record_u64(t->r, RF_FAIL, t->c->fail);
    if (t->c->verdict == VERDICT_HARMFUL && t->s->action.harm[0]) {
        record_text(t->r, RF_NOTE, arena_strdup(&t->l->arena, t->s->action.harm));
        return;
    }
    if (t->s->action.maintained && t->c->verdict == VERDICT_INCONCLUSIVE) {
        record_text(t->r, RF_NOTE, "people were at work on the service while the change was watched, so its effect cannot be told");
        return;
    }
    if (!t->s->action.judged || t->c->reason != REASON_NONE) return;
    record_text(t->r, RF_NOTE, arena_strdup(&t->l->arena, v->sentence));
    side(t, RF_BEFORE, v->median_before, v->jitter_before, 0, false);
    side(t, RF_AFTER, v->median_after, v->jitter_after, v->queue_median, true);
}

static bool has_context(enum record_kind k)
{
    return k == RECORD_INCIDENT || k == RECORD_INTENT || k == RECORD_WOULD || k == RECORD_REQUEST || k == RECORD_HANDOVER ||
           k == RECORD_VERDICT || k == RECORD_CLOSED || k == RECORD_YIELDED || k == RECORD_VOID;
}

static void finding_note(struct tell *t)
{
    struct finding f[3];
    struct buf b = BUF_INIT;
    uint32_t n = detect_findings(t->s->detect, f, 3);
    for (uint32_t i = 0; i < n; i++) {
        if (i) buf_puts(&b, "; ");
        detect_say(&b, t->s->def, &f[i]);
    }
    text_field(t, RF_NOTE, &b);
}

/* loop.md row 25: the second change in 24 h that the target does not take. */
static bool left_alone(const struct tell *t)
{
    const struct control_record *c = t->c;
    return c->kind == RECORD_FAILED && c->knob < t->s->def->knob_count &&
           instant_before(t->l->now, t->s->control.knobs[c->knob].frozen_until);
}

static void by_kind(struct tell *t)
{
    const struct control_record *c = t->c;
    switch (c->kind) {
    case RECORD_INTENT: intent_fields(t); break;
    case RECORD_VERDICT: verdict_fields(t); break;
    case RECORD_INCIDENT: finding_note(t); break;
    /* Past the bound of the freeze the baseline may have come to meet the fault. */
    case RECORD_CLOSED:
        record_text(t->r, RF_OUTCOME, !t->after_verdict && detect_aging(t->s->detect, t->l->now) ? "absorbed" : "recovered");
        break;
    case RECORD_RELEASE:
        if (t->s->model_version[0]) record_text(t->r, RF_MODEL_VERSION, arena_strdup(&t->l->arena, t->s->model_version));
        break;
    case RECORD_FAILED:
        if (left_alone(t))
            record_text(t->r, RF_NOTE, "the second change in 24 h that did not come into force: the knob is left alone for 24 h; "
                                       "look at what the target does with writes");
        break;
    case RECORD_HALT:
        if (c->automatic) record_text(t->r, RF_NOTE, "halted by trimtab itself: it cannot know or restore what is in force");
        break;
    case RECORD_HANDOVER: {
        struct buf b = BUF_INIT;
        if (c->cause < t->s->def->cause_count && t->s->def->causes[c->cause].try_count) {
            const char *advice = t->s->def->causes[c->cause].tries[0].advice;
            if (advice) buf_printf(&b, "%s: %s", t->s->def->causes[c->cause].name, advice);
        }
        text_field(t, RF_NOTE, &b);
        break;
    }
    default: break;
    }
}

/* What is told about a running action was done by the revision that it began under. */
static const char *revision_of(const struct tell *t)
{
    const struct action_state *a = &t->s->action;
    bool of_it = t->c->knob == a->knob && t->c->action && a->policy.revision[0];
    return of_it ? a->policy.revision : t->s->policy->revision;
}

static void tell_record(struct tell *t)
{
    const struct control_record *c = t->c;
    record_init(t->r, c->kind);
    record_i64(t->r, RF_AT, wall_at(t->l, c->at).us);
    record_text(t->r, RF_SERVICE, t->s->def->name);
    if (c->symptom < t->s->def->symptom_count && c->incident) {
        record_text(t->r, RF_SYMPTOM, t->s->def->symptoms[c->symptom].name);
    }
    if (c->incident) record_u64(t->r, RF_INCIDENT, c->incident);
    if (c->kind == RECORD_INCIDENT) record_i64(t->r, RF_ONSET, wall_at(t->l, c->onset).us);
    action_id(t);
    if (c->cause < t->s->def->cause_count) record_text(t->r, RF_CAUSE, t->s->def->causes[c->cause].id);
    knob_fields(t);
    record_u64(t->r, RF_AUTOMATIC, c->automatic);
    who(t);
    if (c->reason != REASON_NONE) record_text(t->r, RF_REASON, reason_code(c->reason));
    record_text(t->r, RF_OUTCOME, outcome(c));
    record_u64(t->r, RF_EPOCH, c->epoch);
    record_text(t->r, RF_POLICY, revision_of(t));
    record_text(t->r, RF_MODE, mode_name(t->s->def->mode));
    plan_fields(t);
    by_kind(t);
    by_hand_fields(t);
    if (has_context(c->kind)) context_fields(t);
}

static void remember_request(struct service_loop *s, const struct control_record *c)
{
    static const char hex[] = "0123456789abcdef";
    if (c->kind != RECORD_REQUEST) return;
    for (unsigned i = 0; i < 32; i++) {
        s->request_hash[2 * i] = hex[s->plan_hash[i] >> 4];
        s->request_hash[2 * i + 1] = hex[s->plan_hash[i] & 15];
    }
    s->request_hash[64] = '\0';
}

void story_append(struct loop *l, struct service_loop *s, const struct control_output *o, const struct command *by)
{
    struct record *records = ARENA_NEW_N(&l->arena, o->record_count, struct record);
    CHECK_MEMORY(records);
    bool intent = false;
    for (unsigned i = 0; i < o->record_count; i++) {
        struct tell t = {l, s, &o->records[i], by, &records[i], o->records[0].kind == RECORD_VERDICT};
        tell_record(&t);
        change_remember(l, s, &records[i]);
        remember_request(s, &o->records[i]);
        intent = intent || o->records[i].kind == RECORD_INTENT;
        struct buf subject = BUF_INIT, text = BUF_INIT;
        record_say(&subject, &text, &records[i]);
        notice_defer(s, (enum notice)record_severity(&records[i]), buf_text(&subject), buf_text(&text));
        buf_free(&subject);
        buf_free(&text);
    }
    struct effect *e = loop_effect(l, EFFECT_APPEND, service_index(l, s));
    e->u.append.records = records;
    e->u.append.n = o->record_count;
    e->u.append.token = s->control.token;
    e->u.append.checkpoint = intent;
}
