/* Names and function calls: the places where a rule meets the service's signals and knobs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/fault.h"
#include "expr/parse.h"
#include "expr/unit.h"

enum subject { SUBJECT_SIGNAL, SUBJECT_KNOB, SUBJECT_AGE };
struct function { const char *name; enum subject subject; bool window; };

#define X(id, word, subject, window) {word, SUBJECT_##subject, window},
static const struct function functions[] = {FN_TABLE(X)};
#undef X

#define NAMES_MAX (POLICY_SIGNALS_MAX + POLICY_KNOBS_MAX + FN_COUNT)

/* A name as C string, cut where it is too long to be any of ours. */
static const char *name_of(char out[POLICY_NAME_MAX + 1], const struct expr_parser *p, uint32_t length)
{
    size_t n = length < POLICY_NAME_MAX + 1 ? length : 0;
    memcpy(out, p->text + p->token.offset, n);
    out[n] = '\0';
    return out;
}

static bool known(const struct service_def *s, const char *name)
{
    return service_signal(s, name) != NO_INDEX || service_knob(s, name) != NO_INDEX;
}

/* "a-b" is a name where the service has it, else "a" minus "b": the longest prefix that is a name wins. */
static void settle_dashes(struct expr_parser *p)
{
    char name[POLICY_NAME_MAX + 1];
    const char *word = p->text + p->token.offset;
    for (uint32_t n = p->token.length; n > 0; n--) {
        if (n < p->token.length && word[n] != '-') continue;
        if (!known(p->service, name_of(name, p, n))) continue;
        p->token.length = n;
        p->at = p->token.offset + n;
        return;
    }
}

static size_t candidates(const struct service_def *s, bool signals, bool knobs, const char *out[NAMES_MAX])
{
    size_t n = 0;
    for (uint16_t i = 0; signals && i < s->signal_count && n < POLICY_SIGNALS_MAX; i++) out[n++] = s->signals[i].name;
    for (uint16_t i = 0; knobs && i < s->knob_count && n < NAMES_MAX; i++) out[n++] = s->knobs[i].name;
    return n;
}

/* "did you mean 'x'?", else the names there are, as many as fit. */
static void name_hint(char *hint, size_t cap, const char *word, const char *const *names, size_t n, const char *what)
{
    const char *near = text_nearest(word, names, n);
    if (near) {
        snprintf(hint, cap, "did you mean '%s'?", near);
        return;
    }
    size_t at = (size_t)snprintf(hint, cap, n ? "%s: " : "the service has no %s", what);
    for (size_t i = 0; i < n; i++) {
        bool fits = at + strlen(names[i]) + 8 < cap;
        at += (size_t)snprintf(hint + at, cap - at, "%s%s", i ? ", " : "", fits ? names[i] : "...");
        if (!fits) return;
    }
}

static bool no_such_name(struct expr_parser *p, bool signals, bool knobs)
{
    const char *names[NAMES_MAX];
    char q[EXPR_QUOTE], hint[sizeof p->error->hint];
    const char *what = signals ? "signal" : "knob";
    size_t n = candidates(p->service, signals, knobs, names);
    expr_quote(q, p->text, p->token.offset, p->token.length);
    name_hint(hint, sizeof hint, q, names, n, signals ? "signals" : "knobs");
    expr_fault(p->error, p->text, p->token.offset, p->token.length, hint, "unknown %s '%s'", what, q);
    p->error->missing = true;
    return false;
}

static bool function_of(const char *name, enum fn *ret)
{
    for (int i = 0; i < FN_COUNT; i++) {
        if (!functions[i].name[0] || strcmp(functions[i].name, name) != 0) continue;
        *ret = (enum fn)i;
        return true;
    }
    return false;
}

static uint16_t no_such_function(struct expr_parser *p)
{
    const char *names[FN_COUNT];
    char q[EXPR_QUOTE], hint[sizeof p->error->hint];
    size_t n = 0;
    for (int i = 0; i < FN_COUNT; i++)
        if (functions[i].name[0]) names[n++] = functions[i].name;
    expr_quote(q, p->text, p->token.offset, p->token.length);
    name_hint(hint, sizeof hint, q, names, n, "functions");
    expr_fault(p->error, p->text, p->token.offset, p->token.length, hint, "unknown function '%s'", q);
    return NO_NODE;
}

static const char *usage(enum fn fn)
{
    switch (functions[fn].subject) {
    case SUBJECT_KNOB: return "write it like changed(batch_max, 1h)";
    case SUBJECT_AGE: return "write it like age(deploy)";
    case SUBJECT_SIGNAL: break;
    }
    return functions[fn].window ? "write it like slope(latency_p99, 10m)" : "write it like baseline(latency_p99)";
}

static bool wrong_call(struct expr_parser *p, enum fn fn, const char *text)
{
    return expr_fault(p->error, p->text, p->token.offset, p->token.length, usage(fn), "%s %s", functions[fn].name,
                      text);
}

static bool age_subject(const char *name, uint16_t *ret)
{
    for (int i = 0; i < AGE_COUNT; i++) {
        if (strcmp(age_subject_name((enum age_subject)i), name) != 0) continue;
        *ret = (uint16_t)i;
        return true;
    }
    return false;
}

/* The name between the parentheses. */
static bool parse_subject(struct expr_parser *p, struct expr_node *node)
{
    static const char *const wants[] = {"takes the name of a signal", "takes the name of a knob",
                                        "takes deploy, config or replica"};
    enum subject kind = functions[node->fn].subject;
    if (p->token.kind != TOKEN_NAME) return wrong_call(p, node->fn, wants[kind]);
    char name[POLICY_NAME_MAX + 1];
    settle_dashes(p);
    name_of(name, p, p->token.length);
    uint16_t signal = service_signal(p->service, name), knob = service_knob(p->service, name);
    if (kind == SUBJECT_AGE) {
        if (!age_subject(name, &node->subject)) return wrong_call(p, node->fn, wants[kind]);
    } else {
        uint16_t wanted = kind == SUBJECT_SIGNAL ? signal : knob, other = kind == SUBJECT_SIGNAL ? knob : signal;
        if (wanted == NO_INDEX && other != NO_INDEX)
            return wrong_call(p, node->fn, kind == SUBJECT_SIGNAL ? "takes a signal, this is a knob"
                                                                  : "takes a knob, this is a signal");
        node->subject = wanted;
        if (node->subject == NO_INDEX) return no_such_name(p, kind == SUBJECT_SIGNAL, kind == SUBJECT_KNOB);
    }
    return expr_advance(p);
}

/* How long a window may be: as long as signals of that layer are kept (spec section 2); changes stand in the audit. */
static struct span widest(const struct expr_parser *p, const struct expr_node *node)
{
#define X(id, word, interval, days) days,
    static const int kept[] = {LAYER_TABLE(X)};
#undef X
    if (functions[node->fn].subject != SUBJECT_SIGNAL) return SPAN_DAY(60);
    return SPAN_DAY(kept[p->service->signals[node->subject].layer]);
}

static bool parse_window(struct expr_parser *p, struct expr_node *node)
{
    if (p->token.kind != TOKEN_COMMA) return wrong_call(p, node->fn, "needs a window");
    if (!expr_advance(p)) return false;
    const struct expr_token *t = &p->token;
    if (t->kind != TOKEN_NUMBER || !t->has_unit || unit_dimension(t->unit) != DIM_TIME)
        return wrong_call(p, node->fn, "needs a window such as 10m or 1h");
    struct span max = widest(p, node), min = SPAN_MIN(1);
    double us = t->number * rint(unit_factor(t->unit) * 1e6);
    if (!(us >= (double)min.us && us <= (double)max.us)) {
        char text[80];
        snprintf(text, sizeof text, "takes a window from 1m to %dd here", (int)(max.us / US_PER_DAY));
        return wrong_call(p, node->fn, text);
    }
    node->window = (struct span){(int64_t)rint(us)};
    return expr_advance(p);
}

static enum unit unit_of(const struct service_def *s, const struct expr_node *n)
{
    switch (n->fn) {
    case FN_DRIFT: return UNIT_RATIO;
    case FN_ZSCORE:
    case FN_SCORE:
    case FN_CHANGED: return UNIT_ONE;
    case FN_AGE: return UNIT_S;
    case FN_KNOB: return s->knobs[n->subject].unit;
    default: return s->signals[n->subject].unit;
    }
}

static bool parse_arguments(struct expr_parser *p, struct expr_node *node)
{
    enum fn fn = node->fn;
    if (p->token.kind != TOKEN_OPEN) return wrong_call(p, fn, "is a function and needs an argument");
    if (!expr_advance(p) || !parse_subject(p, node)) return false;
    if (functions[fn].window && !parse_window(p, node)) return false;
    if (p->token.kind == TOKEN_COMMA)
        return wrong_call(p, fn, functions[fn].window ? "takes two arguments" : "takes one argument");
    if (p->token.kind != TOKEN_CLOSE) return wrong_call(p, fn, "takes a name, not an expression");
    return true;
}

static uint16_t parse_call(struct expr_parser *p, enum fn fn)
{
    struct expr_node node = {.op = OP_LEAF, .fn = fn, .left = NO_NODE, .right = NO_NODE, .offset = p->token.offset,
                             .boolean = fn == FN_CHANGED};
    if (!expr_advance(p)) return NO_NODE;
    if (!parse_arguments(p, &node)) return NO_NODE;
    node.length = p->token.offset + 1 - node.offset;
    node.unit = unit_of(p->service, &node);
    return expr_advance(p) ? expr_build_node(&p->build, node) : NO_NODE;
}

static bool followed_by_open(const struct expr_parser *p)
{
    const char *after = p->text + p->at;
    while (*after == ' ') after++;
    return *after == '(';
}

uint16_t expr_parse_name(struct expr_parser *p)
{
    settle_dashes(p);
    char name[POLICY_NAME_MAX + 1];
    name_of(name, p, p->token.length);
    uint16_t signal = service_signal(p->service, name), knob = service_knob(p->service, name);
    enum fn fn;
    bool is_known = signal != NO_INDEX || knob != NO_INDEX;
    if (function_of(name, &fn) && (!is_known || followed_by_open(p))) return parse_call(p, fn);
    if (!is_known) {
        if (followed_by_open(p)) return no_such_function(p);
        no_such_name(p, true, true);
        return NO_NODE;
    }
    struct expr_node node = {.op = OP_LEAF, .fn = signal != NO_INDEX ? FN_VALUE : FN_KNOB, .left = NO_NODE,
                             .right = NO_NODE, .subject = signal != NO_INDEX ? signal : knob,
                             .offset = p->token.offset, .length = p->token.length};
    node.unit = unit_of(p->service, &node);
    return expr_advance(p) ? expr_build_node(&p->build, node) : NO_NODE;
}
