#include "api/v1_changed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/text.h"

#define SEARCH_RECORDS 2000          /* how far back a request is looked for */
#define SIGNALS_TOLD 4
#define WORTH_TELLING 0.05           /* of a signal: less is its noise */

static struct v1_change *add(struct v1_changes *c, const char *what, const char *name, const char *then, const char *now)
{
    if (c->n == CHANGES_MAX) return NULL;
    struct v1_change *x = &c->items[c->n++];
    *x = (struct v1_change){.what = what, .at = WALL_NONE};
    (void)text_copy(x->name, sizeof x->name, name ? name : "");
    (void)text_copy(x->then, sizeof x->then, then ? then : "");
    (void)text_copy(x->now, sizeof x->now, now ? now : "");
    return x;
}

static void add_if_other(struct v1_changes *c, const char *what, const char *name, const char *then, const char *now)
{
    if (then && then[0] && now && now[0] && !text_eq(then, now)) (void)add(c, what, name, then, now);
}

const char *v1_request_end(enum record_kind k)
{
    switch (k) {
    case RECORD_APPROVAL: return "approved";
    case RECORD_REJECT: return "rejected";
    case RECORD_EXPIRED: return "expired";
    case RECORD_VOID: return "void";
    default: return "waiting";
    }
}

static void add_end(struct v1_changes *c, const struct record *end)
{
    struct v1_change *x = add(c, "ended", "", "waiting", v1_request_end(end->kind));
    if (!x) return;
    const char *by = record_get_text(end, RF_BY);
    if (by && !text_eq(by, "auto")) (void)text_copy(x->by, sizeof x->by, by);
    (void)text_copy(x->reason, sizeof x->reason, record_has(end, RF_REASON) ? record_get_text(end, RF_REASON) : "");
    x->at = (struct wall){record_get_i64(end, RF_AT, INT64_MIN)};
}

/* ---- signals: "latency_p99 46.8 ms, queue_depth 1,040" ---- */

static bool word_letter(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool names_word(const char *text, const char *word, size_t len)
{
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += len) {
        if ((at == text || !word_letter(at[-1])) && !word_letter(at[len])) return true;
    }
    return false;
}

/* The next "name value" of the list; a comma inside a number is no border. false: the end. */
static bool next_value(const char **list, char name[64], char value[96])
{
    const char *at = *list, *end = at;
    size_t len = strcspn(at, " ");
    while (*end && !(end[0] == ',' && end[1] == ' ' && word_letter(end[2]) && !(end[2] >= '0' && end[2] <= '9'))) end++;
    if (len == 0 || len >= 64 || at + len >= end) return false;
    snprintf(name, 64, "%.*s", (int)len, at);
    snprintf(value, 96, "%.*s", (int)(end - at - (ptrdiff_t)len - 1), at + len + 1);
    *list = *end ? end + 2 : end;
    return true;
}

static double number_of(const char *text)
{
    char plain[64];
    size_t n = 0;
    double v;
    for (const char *c = text; *c && n < sizeof plain - 1; c++) {
        if (*c == ',') continue;
        if (!(*c >= '0' && *c <= '9') && *c != '.' && *c != '-' && *c != 'e' && *c != '+') break;
        plain[n++] = *c;
    }
    return n && num_parse_all(plain, n, &v) ? v : NAN;
}

static bool far_apart(const char *then, const char *now)
{
    double a = number_of(then), b = number_of(now);
    if (isnan(a) || isnan(b)) return !text_eq(then, now);
    return fabs(a - b) > WORTH_TELLING * fmax(fabs(a), fabs(b));
}

struct values { const char *list; const struct service_view *view; };   /* one of the two */

static bool value_now(const struct values *s, const char *name, char out[96])
{
    if (!s->view) {
        const char *list = s->list;
        char other[64];
        while (next_value(&list, other, out)) {
            if (text_eq(other, name)) return true;
        }
        return false;
    }
    uint16_t i = service_signal(s->view->def, name);
    if (i == NO_INDEX) return false;
    const struct signal_def *d = &s->view->def->signals[i];
    const struct signal_view *v = &s->view->signals[i];
    struct buf b = BUF_INIT;
    if (v->now.why != WHY_KNOWN) buf_puts(&b, unknown_name(v->now.why));
    else buf_sig3(&b, v->now.value);
    if (v->now.why == WHY_KNOWN && d->unit != UNIT_ONE && d->unit != UNIT_RATIO) {
        buf_printf(&b, "%s%s", d->unit == UNIT_PERCENT ? "" : " ", unit_name(d->unit));
    }
    (void)text_copy(out, 96, buf_text(&b));
    buf_free(&b);
    return true;
}

/* Those that the rule of the symptom names. */
static void add_signals(struct v1_changes *c, const struct record *asked, const struct values *now)
{
    const char *rule = record_get_text(asked, RF_RULE), *list = record_get_text(asked, RF_VALUES);
    char name[64], then[96], value[96];
    unsigned told = 0;
    while (rule && list && told < SIGNALS_TOLD && next_value(&list, name, then)) {
        if (!names_word(rule, name, strlen(name)) || !value_now(now, name, value) || !far_apart(then, value)) continue;
        (void)add(c, "signal", name, then, value);
        told++;
    }
}

/* ---- gates: all but those of a person were open when it asked ---- */

static bool holds_back(enum reason r)
{
    enum reason_kind k = reason_kind(r);
    return k == REASON_KIND_SERVICE || k == REASON_KIND_CANDIDATE;
}

static void add_gate(struct v1_changes *c, enum reason r, const char *note)
{
    for (unsigned i = 0; i < c->n; i++) {
        if (text_eq(c->items[i].what, "gate") && text_eq(c->items[i].name, reason_code(r))) return;
    }
    struct v1_change *x = add(c, "gate", reason_code(r), "open", "shut");
    if (x) (void)text_copy(x->now, sizeof x->now, note && note[0] ? note : "shut");
}

static void add_gates_now(struct v1_changes *c, const struct service_view *v, const char *knob)
{
    for (unsigned i = 0; i < v->decision.gate_count; i++) {
        const struct gate_result *g = &v->decision.gates[i];
        if (!g->shut || !holds_back(g->reason)) continue;
        bool other = g->knob != NO_INDEX && g->knob < v->def->knob_count && !text_eq(v->def->knobs[g->knob].name, knob);
        if (!other) add_gate(c, g->reason, g->note);
    }
}

/* "evidence-before: 8 of 30 points; cooling (batch_max up): until 04:10" */
static void add_gates_of(struct v1_changes *c, const char *list, const char *knob)
{
    while (list && *list) {
        size_t len = strcspn(list, ";"), code = strcspn(list, " :;");
        char word[32], rest[128];
        enum reason r;
        snprintf(word, sizeof word, "%.*s", (int)(code < sizeof word ? code : sizeof word - 1), list);
        snprintf(rest, sizeof rest, "%.*s", (int)(len - code), list + code);
        const char *note = strstr(rest, ": ");
        bool other = rest[0] == ' ' && rest[1] == '(' && !names_word(rest, knob, strlen(knob));
        if (reason_parse(word, &r) && holds_back(r) && !other) add_gate(c, r, note ? note + 2 : "");
        list += len;
        while (*list == ';' || *list == ' ') list++;
    }
}

/* ---- since, between ---- */

void v1_changed_between(const struct record *asked, const struct record *end, const struct record *external,
                        struct v1_changes *ret)
{
    const char *knob = record_get_text(asked, RF_KNOB);
    *ret = (struct v1_changes){0};
    if (!knob) return;
    const struct record *read = external ? external : end;
    add_if_other(ret, "knob", knob, record_get_text(asked, RF_FROM), record_get_text(read, RF_READ));
    if (text_eq(record_get_text(end, RF_REASON), reason_code(REASON_SYMPTOM_GONE))) {
        (void)add(ret, "symptom", record_get_text(asked, RF_SYMPTOM), "true", "false");
    }
    add_if_other(ret, "mode", "", record_get_text(asked, RF_MODE), record_get_text(end, RF_MODE));
    add_if_other(ret, "policy", "", record_get_text(asked, RF_POLICY), record_get_text(end, RF_POLICY));
    if (text_eq(record_get_text(end, RF_REASON), reason_code(REASON_RESTARTED))) return;   /* nothing was measured yet */
    add_gates_of(ret, record_get_text(end, RF_GATES), knob);
    add_signals(ret, asked, &(struct values){.list = record_has(end, RF_VALUES) ? record_get_text(end, RF_VALUES) : ""});
}

static void plan_text(char out[96], const char *knob, const char *from, const char *to)
{
    snprintf(out, 96, "%.30s %.28s -> %.28s", knob, from, to);
}

static void add_plan(struct v1_changes *c, const struct service_view *v, const struct record *asked)
{
    const struct plan *p = &v->decision.plan;
    char then[96], now[96], from[64], to[64];
    if (!v->decision.has_plan || p->knob >= v->def->knob_count) return;
    snprintf(from, sizeof from, "%.*s", (int)p->from.len, p->from.bytes);
    snprintf(to, sizeof to, "%.*s", (int)p->to.len, p->to.bytes);
    plan_text(then, record_get_text(asked, RF_KNOB), record_get_text(asked, RF_FROM), record_get_text(asked, RF_TO));
    plan_text(now, v->def->knobs[p->knob].name, from, to);
    add_if_other(c, "plan", "", then, now);
}

static uint16_t symptom_index(const struct service_def *d, const char *name)
{
    for (uint16_t i = 0; name && i < d->symptom_count; i++) {
        if (text_eq(d->symptoms[i].name, name)) return i;
    }
    return NO_INDEX;
}

static void add_state(struct v1_changes *c, const struct service_view *v, const struct record *asked)
{
    const char *symptom = record_get_text(asked, RF_SYMPTOM), *knob = record_get_text(asked, RF_KNOB);
    bool same = v->incident_open && v->incident_id == record_get_u64(asked, RF_INCIDENT, 0);
    if (!same) (void)add(c, "incident", "", "open", "closed");
    uint16_t i = symptom_index(v->def, symptom);
    if (i != NO_INDEX && v->symptoms[i].now != TRI_TRUE) (void)add(c, "symptom", symptom, "true", tri_name(v->symptoms[i].now));
    uint16_t k = knob ? service_knob(v->def, knob) : NO_INDEX;
    if (k != NO_INDEX) add_if_other(c, "knob", knob, record_get_text(asked, RF_FROM), v->knobs[k].value);
    add_plan(c, v, asked);
    add_if_other(c, "mode", "", record_get_text(asked, RF_MODE), mode_name(v->mode));
}

struct looking { struct arena *arena; const char *want; struct v1_request *ret; unsigned looked; };

static bool wanted(const struct record *r, const char *want)
{
    char hex[65];
    if (!want) return true;
    if (!record_has(r, RF_PLAN)) return false;
    for (unsigned i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", r->v[RF_PLAN].hex32[i]);
    return strlen(want) >= 8 && strncmp(hex, want, strlen(want)) == 0;
}

/* Newest first, so the end that is kept last is the one right behind the request. */
static bool look(void *arg, uint64_t seq, const struct record *r, const char *bytes, size_t len)
{
    struct looking *x = arg;
    (void)bytes, (void)len;
    if (r->kind == RECORD_REQUEST && wanted(r, x->want)) {
        x->ret->asked = record_copy(x->arena, r);
        x->ret->seq = seq;
        return false;
    }
    if (r->kind == RECORD_REQUEST) x->ret->end = NULL;      /* that end was of this other request */
    else if (!text_eq(v1_request_end(r->kind), "waiting")) x->ret->end = record_copy(x->arena, r);
    return ++x->looked < SEARCH_RECORDS;
}

bool v1_request_find(const struct v1_port *port, const char *service, const char *request, struct arena *arena,
                     struct v1_request *ret)
{
    bool any = !request || request[0] == '\0' || text_eq(request, service);
    struct looking x = {.arena = arena, .want = any ? NULL : request, .ret = ret};
    struct err e;
    *ret = (struct v1_request){0};
    (void)port->records_back(port->ctx, service, UINT64_MAX, &(struct v1_sink){.arg = &x, .record = look}, &e);
    return ret->asked != NULL;
}

void v1_changed_since(struct api *api, const struct service_view *v, const struct v1_request *q, struct v1_changes *ret)
{
    *ret = (struct v1_changes){0};
    if (q->end) add_end(ret, q->end);
    add_state(ret, v, q->asked);
    add_if_other(ret, "policy", "", record_get_text(q->asked, RF_POLICY), api->control.policy(api->control.ctx)->revision);
    add_gates_now(ret, v, record_get_text(q->asked, RF_KNOB));
    add_signals(ret, q->asked, &(struct values){.view = v});
}

/* ---- told ---- */

void v1_changes_json(struct emit *e, const char *key, const struct v1_changes *c)
{
    emit_open(e, key, '[');
    for (unsigned i = 0; i < c->n; i++) {
        const struct v1_change *x = &c->items[i];
        emit_open(e, NULL, '{');
        emit_text(e, "what", x->what);
        emit_text_or_null(e, "name", x->name);
        emit_text(e, "then", x->then);
        emit_text(e, "now", x->now);
        emit_text_or_null(e, "by", x->by);
        emit_text_or_null(e, "reason", x->reason);
        emit_wall(e, "at", x->at);
        emit_close(e, '}');
    }
    emit_close(e, ']');
}

static void say_end(struct buf *out, const struct v1_change *x)
{
    enum reason r;
    buf_printf(out, "the request is %s", x->now);
    if (x->by[0]) buf_printf(out, " by %s", x->by);
    if (x->reason[0] && reason_parse(x->reason, &r)) buf_printf(out, " (%s)", reason_sentence(r));
}

void v1_changes_say(struct buf *out, const struct v1_changes *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        const struct v1_change *x = &c->items[i];
        enum reason r;
        if (i) buf_puts(out, "; ");
        if (text_eq(x->what, "ended")) say_end(out, x);
        else if (text_eq(x->what, "incident")) buf_puts(out, "the incident is over");
        else if (text_eq(x->what, "symptom")) buf_printf(out, "the symptom %s is %s now", x->name, x->now);
        else if (text_eq(x->what, "gate") && reason_parse(x->name, &r)) buf_puts(out, reason_sentence(r));
        else if (text_eq(x->what, "policy")) buf_puts(out, "the configuration is another one");
        else if (x->name[0]) buf_printf(out, "%s was %s, is %s", x->name, x->then, x->now);
        else buf_printf(out, "the %s was %s, is %s", x->what, x->then, x->now);
    }
}
