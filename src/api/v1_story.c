/* An incident as a story: what was noticed, located, decided, done, watched, judged, taken back. Made from its records; every
 * part names the record it comes from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/v1_changed.h"
#include "api/view_json.h"
#include "base/arena.h"
#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define RECORDS_MAX 1000
#define ATTEMPTS_MAX 32

struct entry { uint64_t seq; const struct record *r; };
struct story { struct arena arena; struct entry *items; unsigned n; bool failed; };

static bool keep(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct story *s = arg;
    (void)bytes, (void)len;
    struct record *copy = record_copy(&s->arena, r);
    s->failed = !copy;
    if (!copy) return false;
    s->items[s->n++] = (struct entry){seq, copy};
    return s->n < RECORDS_MAX;
}

/* ---- small parts ---- */

static void at_json(struct emit *e, const char *key, const struct record *r, enum record_field f)
{
    emit_wall(e, key, record_has(r, f) ? (struct wall){record_get_i64(r, f, INT64_MIN)} : WALL_NONE);
}

static void place(struct emit *e, const struct entry *x)
{
    at_json(e, "at", x->r, RF_AT);
    emit_int(e, "seq", (int64_t)x->seq);
}

static void text(struct emit *e, const char *key, const struct record *r, enum record_field f)
{
    emit_text_or_null(e, key, record_get_text(r, f));
}

static const struct entry *first(const struct story *s, enum record_kind k)
{
    for (unsigned i = 0; i < s->n; i++) {
        if (s->items[i].r->kind == k) return &s->items[i];
    }
    return NULL;
}

static const struct entry *last(const struct story *s, enum record_kind k)
{
    for (unsigned i = s->n; i-- > 0;) {
        if (s->items[i].r->kind == k) return &s->items[i];
    }
    return NULL;
}

/* The first record of this kind about the action. */
static const struct entry *of(const struct story *s, const char *action, enum record_kind k)
{
    for (unsigned i = 0; i < s->n; i++) {
        if (s->items[i].r->kind == k && text_eq(record_get_text(s->items[i].r, RF_ACTION), action)) return &s->items[i];
    }
    return NULL;
}

/* ---- noticed, located ---- */

static void noticed(struct emit *e, const struct entry *x)
{
    emit_open(e, "noticed", '{');
    place(e, x);
    text(e, "symptom", x->r, RF_SYMPTOM);
    text(e, "rule", x->r, RF_RULE);
    text(e, "values", x->r, RF_VALUES);
    text(e, "reason", x->r, RF_REASON);
    text(e, "note", x->r, RF_NOTE);
    emit_close(e, '}');
}

/* "compute-bound chosen; upstream-data unknown" as rows. */
static void causes_json(struct emit *e, const char *list)
{
    emit_open(e, "causes", '[');
    while (*list) {
        size_t len = strcspn(list, ";"), name = 0;
        for (size_t i = 0; i < len; i++) {
            if (list[i] == ' ' && i + 1 < len) name = i;
        }
        char word[2][100];
        snprintf(word[0], sizeof word[0], "%.*s", (int)(name < 99 ? name : 99), list);
        size_t rest = name ? len - name - 1 : len;
        snprintf(word[1], sizeof word[1], "%.*s", (int)(rest < 99 ? rest : 99), list + (name ? name + 1 : 0));
        emit_open(e, NULL, '{');
        emit_text(e, "name", word[0]);
        emit_text(e, "verdict", word[1]);
        emit_close(e, '}');
        list += len;
        while (*list == ';' || *list == ' ') list++;
    }
    emit_close(e, ']');
}

/* The newest look at the causes. */
static void located(struct emit *e, const struct story *s)
{
    for (unsigned i = s->n; i-- > 0;) {
        const struct record *r = s->items[i].r;
        if (!record_has(r, RF_CAUSES)) continue;
        emit_open(e, "located", '{');
        place(e, &s->items[i]);
        causes_json(e, record_get_text(r, RF_CAUSES));
        text(e, "chosen", r, RF_CAUSE);
        text(e, "text", r, RF_CAUSES);
        emit_close(e, '}');
        return;
    }
    emit_null(e, "located");
}

/* ---- one attempt ---- */

/* The request that led to an intent: the last one before it for the same knob. */
static const struct entry *before_intent(const struct story *s, const struct entry *intent, enum record_kind k)
{
    for (const struct entry *x = intent; x-- > s->items;) {
        if (x->r->kind == RECORD_INTENT || x->r->kind == RECORD_VOID || x->r->kind == RECORD_EXPIRED) return NULL;
        if (x->r->kind == k) return x;
    }
    return NULL;
}

static void asked(struct emit *e, const struct entry *x)
{
    if (!x) {
        emit_null(e, "asked");
        return;
    }
    emit_open(e, "asked", '{');
    place(e, x);
    at_json(e, "expires", x->r, RF_EXPIRY);
    emit_close(e, '}');
}

static void approved(struct emit *e, const struct entry *x)
{
    if (!x) {
        emit_null(e, "approved");
        return;
    }
    emit_open(e, "approved", '{');
    place(e, x);
    text(e, "by", x->r, RF_BY);
    text(e, "reason", x->r, RF_NOTE);
    emit_close(e, '}');
}

static void decided(struct emit *e, const struct entry *x)
{
    emit_open(e, "decided", '{');
    place(e, x);
    text(e, "values", x->r, RF_VALUES);
    text(e, "rule", x->r, RF_RULE);
    text(e, "gates", x->r, RF_GATES);
    text(e, "mode", x->r, RF_MODE);
    text(e, "policy", x->r, RF_POLICY);
    text(e, "note", x->r, RF_NOTE);
    emit_close(e, '}');
}

static const struct entry *outcome_of(const struct story *s, const char *action, const char **ret)
{
    static const struct { enum record_kind kind; const char *word; } table[] = {
        {RECORD_APPLIED, "applied"}, {RECORD_FAILED, "failed"}, {RECORD_ABORTED, "aborted"}, {RECORD_YIELDED, "yielded"},
        {RECORD_HELD, "held"},
    };
    for (unsigned i = 0; i < ARRAY_LEN(table); i++) {
        const struct entry *x = of(s, action, table[i].kind);
        *ret = table[i].word;
        if (x) return x;
    }
    *ret = "pending";
    return NULL;
}

static void did(struct emit *e, const struct story *s, const struct entry *intent, const char *action)
{
    const char *word;
    const struct entry *x = outcome_of(s, action, &word);
    const struct record *r = intent->r;
    emit_open(e, "did", '{');
    at_json(e, "intent_at", r, RF_AT);
    emit_int(e, "intent_seq", (int64_t)intent->seq);
    at_json(e, "deadline", r, RF_DEADLINE);
    at_json(e, "since", r, RF_SINCE);
    text(e, "version", r, RF_VERSION);
    text(e, "by_hand", r, RF_BY_HAND);
    emit_text(e, "outcome", word);
    emit_wall(e, "at", x ? (struct wall){record_get_i64(x->r, RF_AT, INT64_MIN)} : WALL_NONE);
    if (x) emit_int(e, "seq", (int64_t)x->seq);
    else emit_null(e, "seq");
    emit_text_or_null(e, "read", x ? record_get_text(x->r, RF_READ) : NULL);
    emit_text_or_null(e, "read_class", x ? record_get_text(x->r, RF_READ_CLASS) : NULL);
    emit_text_or_null(e, "reason", x ? record_get_text(x->r, RF_REASON) : NULL);
    emit_bool(e, "late", x && text_eq(record_get_text(x->r, RF_OUTCOME), "late"));
    emit_close(e, '}');
}

static void watched(struct emit *e, const struct story *s, const struct entry *intent, const char *action)
{
    const struct entry *applied = of(s, action, RECORD_APPLIED);
    struct span settle = {record_get_i64(intent->r, RF_SETTLE, 0)}, window = {record_get_i64(intent->r, RF_WINDOW, 0)};
    bool extended = of(s, action, RECORD_EXTENDED) != NULL;
    struct wall began = WALL_NONE, until = WALL_NONE;
    if (applied) began.us = record_get_i64(applied->r, RF_AT, 0) + settle.us;
    if (applied) until.us = began.us + window.us * (extended ? 2 : 1);
    emit_open(e, "watched", '{');
    emit_seconds(e, "settle_seconds", settle);
    emit_seconds(e, "window_seconds", window);
    emit_wall(e, "began", began);
    emit_wall(e, "until", until);
    emit_bool(e, "extended", extended);
    emit_close(e, '}');
}

/* "median 46.8, jitter 3.1, queue 320": the number behind `name`; NaN when it is not there. */
static double number_in(const char *list, const char *name)
{
    size_t n = strlen(name);
    double v = NAN;
    char plain[64];
    for (const char *at = list; *at; at += strcspn(at, ","), at += strspn(at, ", ")) {
        if (strncmp(at, name, n) != 0 || at[n] != ' ') continue;
        size_t len = 0;
        for (const char *c = at + n + 1; *c && *c != ' ' && len < sizeof plain - 1; c++) {
            if (*c == ',' && (c[1] < '0' || c[1] > '9')) break;
            if (*c != ',') plain[len++] = *c;      /* 1,240 */
        }
        return num_parse_all(plain, len, &v) ? v : NAN;
    }
    return v;
}

static void verdict(struct emit *e, const struct entry *x)
{
    static const char *const names[] = {"median", "jitter", "queue"};
    if (!x) {
        emit_null(e, "verdict");
        return;
    }
    emit_open(e, "verdict", '{');
    place(e, x);
    text(e, "verdict", x->r, RF_VERDICT);
    text(e, "outcome", x->r, RF_OUTCOME);
    text(e, "reason", x->r, RF_REASON);
    emit_open(e, "numbers", '[');
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        double b = number_in(record_get_text(x->r, RF_BEFORE), names[i]), a = number_in(record_get_text(x->r, RF_AFTER), names[i]);
        if (isnan(a) && isnan(b)) continue;
        emit_open(e, NULL, '{');
        emit_text(e, "name", names[i]);
        emit_number(e, "before", b);
        emit_number(e, "after", a);
        emit_close(e, '}');
    }
    emit_close(e, ']');
    text(e, "before", x->r, RF_BEFORE);
    text(e, "after", x->r, RF_AFTER);
    text(e, "note", x->r, RF_NOTE);
    emit_close(e, '}');
}

static void undo(struct emit *e, const struct story *s, const char *action)
{
    const struct entry *begin = of(s, action, RECORD_UNDO), *done = of(s, action, RECORD_UNDONE);
    const struct entry *failed = of(s, action, RECORD_UNDO_FAILED), *retry = of(s, action, RECORD_UNDO_RETRY);
    const struct entry *end = done ? done : failed ? failed : retry;
    const struct entry *any = begin ? begin : end;
    if (!any) {
        emit_null(e, "undo");
        return;
    }
    emit_open(e, "undo", '{');
    place(e, any);
    text(e, "by", any->r, RF_BY);
    emit_text(e, "outcome", done ? "undone" : failed ? "failed" : retry ? "retry" : "pending");
    emit_wall(e, "done_at", done ? (struct wall){record_get_i64(done->r, RF_AT, INT64_MIN)} : WALL_NONE);
    emit_text_or_null(e, "read", end ? record_get_text(end->r, RF_READ) : NULL);
    emit_text_or_null(e, "by_hand", failed ? record_get_text(failed->r, RF_BY_HAND) : NULL);
    emit_close(e, '}');
}

static void attempt(struct emit *e, const struct story *s, const struct entry *intent)
{
    const struct record *r = intent->r;
    const char *action = record_get_text(r, RF_ACTION);
    emit_open(e, NULL, '{');
    emit_text(e, "action", action);
    text(e, "knob", r, RF_KNOB);
    text(e, "class", r, RF_CLASS);
    text(e, "cause", r, RF_CAUSE);
    text(e, "direction", r, RF_DIRECTION);
    text(e, "from", r, RF_FROM);
    text(e, "to", r, RF_TO);
    emit_bool(e, "automatic", record_get_u64(r, RF_AUTOMATIC, 0) != 0);
    text(e, "by", r, RF_BY);
    text(e, "via", r, RF_VIA);
    asked(e, before_intent(s, intent, RECORD_REQUEST));
    approved(e, before_intent(s, intent, RECORD_APPROVAL));
    decided(e, intent);
    did(e, s, intent, action);
    watched(e, s, intent, action);
    verdict(e, of(s, action, RECORD_VERDICT));
    undo(e, s, action);
    emit_close(e, '}');
}

/* ---- requests that led to nothing ---- */

static void request_json(struct emit *e, const struct entry *asked_for, const struct entry *end, const struct record *external)
{
    struct v1_changes c = {0};
    const struct record *r = asked_for->r;
    emit_open(e, NULL, '{');
    place(e, asked_for);
    at_json(e, "expires", r, RF_EXPIRY);
    text(e, "knob", r, RF_KNOB);
    text(e, "from", r, RF_FROM);
    text(e, "to", r, RF_TO);
    text(e, "cause", r, RF_CAUSE);
    emit_text(e, "end", v1_request_end(end->r->kind));
    at_json(e, "end_at", end->r, RF_AT);
    emit_int(e, "end_seq", (int64_t)end->seq);
    text(e, "by", end->r, RF_BY);
    text(e, "reason", end->r, RF_REASON);
    text(e, "note", end->r, RF_NOTE);
    if (end->r->kind == RECORD_VOID) v1_changed_between(r, end->r, external, &c);
    v1_changes_json(e, "changes", &c);
    emit_close(e, '}');
}

static void requests(struct emit *e, const struct story *s)
{
    const struct entry *open = NULL;
    const struct record *external = NULL;
    emit_open(e, "requests", '[');
    for (unsigned i = 0; i < s->n; i++) {
        const struct entry *x = &s->items[i];
        bool end = !text_eq(v1_request_end(x->r->kind), "waiting");
        if (x->r->kind == RECORD_REQUEST) open = x, external = NULL;
        else if (!open) continue;
        else if (x->r->kind == RECORD_EXTERNAL && text_eq(record_get_text(x->r, RF_KNOB), record_get_text(open->r, RF_KNOB))) {
            external = x->r;
        }
        if (!end || !open) continue;
        /* EXTERNAL and VOID come together, in this order or the other. */
        const struct record *next = i + 1 < s->n ? x[1].r : NULL;
        bool behind = next && next->kind == RECORD_EXTERNAL && text_eq(record_get_text(next, RF_KNOB),
                                                                       record_get_text(open->r, RF_KNOB));
        if (x->r->kind != RECORD_APPROVAL) request_json(e, open, x, behind ? next : external);
        open = NULL;
    }
    emit_close(e, ']');
}

/* ---- the whole ---- */

static void wishes(struct emit *e, const struct story *s)
{
    emit_open(e, "would", '[');
    for (unsigned i = 0; i < s->n; i++) {
        const struct record *r = s->items[i].r;
        if (r->kind != RECORD_WOULD) continue;
        emit_open(e, NULL, '{');
        place(e, &s->items[i]);
        text(e, "knob", r, RF_KNOB);
        text(e, "from", r, RF_FROM);
        text(e, "to", r, RF_TO);
        text(e, "cause", r, RF_CAUSE);
        text(e, "note", r, RF_NOTE);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void ended(struct emit *e, const struct entry *x)
{
    if (!x) {
        emit_null(e, "ended");
        return;
    }
    emit_open(e, "ended", '{');
    place(e, x);
    emit_text(e, "kind", record_kind_name(x->r->kind));
    text(e, "outcome", x->r, RF_OUTCOME);
    text(e, "reason", x->r, RF_REASON);
    text(e, "causes", x->r, RF_CAUSES);
    text(e, "note", x->r, RF_NOTE);
    emit_close(e, '}');
}

static void live(struct api *api, struct emit *e, const char *service, uint64_t n)
{
    uint16_t i = policy_service(api->control.policy(api->control.ctx), service);
    struct arena arena = ARENA_INIT;
    struct service_view v;
    if (i != NO_INDEX) api->control.view(api->control.ctx, i, &arena, &v);
    if (i != NO_INDEX && v.incident_open && v.incident_id == n) view_json_explain(e, "live", &v);
    else emit_null(e, "live");
    arena_free(&arena);
}

static void head(struct emit *e, const struct story *s, const char *service, uint64_t n)
{
    const struct entry *begin = first(s, RECORD_INCIDENT), *closed = last(s, RECORD_CLOSED);
    const struct record *r = begin ? begin->r : s->items[0].r;
    emit_text(e, "service", service);
    emit_int(e, "incident", (int64_t)n);
    text(e, "symptom", r, RF_SYMPTOM);
    emit_text(e, "state", closed ? "closed" : "open");
    at_json(e, "onset", r, RF_ONSET);
    at_json(e, "opened", r, RF_AT);
    emit_wall(e, "closed", closed ? (struct wall){record_get_i64(closed->r, RF_AT, INT64_MIN)} : WALL_NONE);
    text(e, "model_version", r, RF_MODEL_VERSION);
    at_json(e, "deployed", r, RF_DEPLOYED);
    text(e, "last_change", r, RF_LAST_CHANGE);
    text(e, "policy", r, RF_POLICY);
}

static void story_json(struct api *api, struct emit *e, const struct story *s, const char *service, uint64_t n)
{
    const struct entry *begin = first(s, RECORD_INCIDENT), *closed = last(s, RECORD_CLOSED), *given = last(s, RECORD_HANDOVER);
    unsigned told = 0;
    emit_open(e, "data", '{');
    head(e, s, service, n);
    noticed(e, begin ? begin : &s->items[0]);
    located(e, s);
    emit_open(e, "attempts", '[');
    for (unsigned i = 0; i < s->n && told < ATTEMPTS_MAX; i++) {
        if (s->items[i].r->kind == RECORD_INTENT) attempt(e, s, &s->items[i]), told++;
    }
    emit_close(e, ']');
    requests(e, s);
    wishes(e, s);
    ended(e, closed ? closed : given);
    live(api, e, service, n);
    emit_open(e, "records", '[');
    for (unsigned i = 0; i < s->n; i++) view_json_record(e, NULL, s->items[i].seq, s->items[i].r);
    emit_close(e, ']');
    emit_close(e, '}');
}

void v1_get_story(void *ctx, struct http_request *r)
{
    const struct v1_port *port = v1_port_of(ctx);
    const char *service = http_request_param(r, "service"), *number = http_request_param(r, "incident");
    struct story s = {.arena = ARENA_INIT, .items = calloc(RECORDS_MAX, sizeof *s.items)};
    struct v1_answer a;
    struct err e;
    uint64_t n = 0;
    CHECK_MEMORY(s.items);
    enum status st = STATUS_OK;
    if (!num_parse_u64(number, strlen(number), &n)) st = err_set(&e, STATUS_INVALID,
                                                                 "the incident in the address is a whole number");
    if (st == STATUS_OK) st = port->incident(port->ctx, service, n, &(struct v1_sink){.arg = &s, .record = keep}, &e);
    if (st == STATUS_OK && s.failed) st = err_set(&e, STATUS_MEMORY, "out of memory for the records");
    if (st == STATUS_OK && s.n == 0) st = err_set(&e, STATUS_NOT_FOUND, "no such incident; GET /api/v1/incidents lists them");
    if (st == STATUS_OK) {
        v1_begin(&a);
        story_json(ctx, &a.e, &s, service, n);
        v1_end(&a, r);
    } else {
        v1_refuse(r, st, e.text, "");
    }
    arena_free(&s.arena);
    free(s.items);
}
