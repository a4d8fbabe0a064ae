/* The rule language of spec section 4: symptoms, causes, preconditions, clear rules. Small, typed, unit-aware,
 * three-valued. Compiled once against a service's names; evaluated against an evidence table.
 *
 *   expr    := or ; or := and ("or" and)* ; and := not ("and" not)* ; not := "not" not | cmp
 *   cmp     := sum [(> | >= | < | <= | == | !=) sum] ; sum := mul ((+|-) mul)* ; mul := unary ((*|/) unary)*
 *   unary   := "-" unary | primary
 *   primary := NUMBER [UNIT] | NAME | FN "(" args ")" | "(" expr ")" | "true" | "false"
 * A name is a signal or a knob of the service. Durations after numbers (30m, 2h, 1h30m) are times.
 * Units: see unit.h. A dash belongs to a name only where the service has that name; else it is a minus. */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "base/tri.h"
#include "model/evidence.h"
#include "model/policy.h"

#define EXPR_LIMIT_NODES 256     /* cost limit: a larger rule is refused */
#define EXPR_LIMIT_DEPTH 32      /* nesting of parentheses, "not" and unary minus */
#define EXPR_LIMIT_BYTES 4096

struct expr;                     /* immutable, lives in the arena it was compiled in */

struct expr_scope {
    const struct service_def *service;   /* its signals and knobs give names and units */
    struct needs *needs;                 /* grows on success only; evaluation reads evidence by these indices */
};

struct expr_error {
    struct text_pos pos;         /* in the rule's text */
    size_t offset, length;       /* bytes to underline */
    char text[200];              /* "unknown signal 'latncy_p99'" */
    char hint[160];              /* "did you mean 'latency_p99'?"; "" none */
    bool missing;                /* the only fault so far: the service has no such signal or knob. A cause of a
                                  * default playbook drops out then (loop.md section 1 "Causes"); anywhere else
                                  * it is an error like any other */
};

/* Result must be boolean. NULL: *error says why (first error). */
const struct expr *expr_compile(struct arena *a, const char *text, size_t len, struct expr_scope *scope,
                                struct expr_error *error);
/* Kleene: unknown where a needed value is unknown. Division by zero and any non-finite result are unknown. */
enum tri expr_eval(const struct expr *e, const struct evidence *evidence);
/* "latency_p99 46.8 ms > 1.15 * baseline 38.1 ms = 43.8 ms: true". Every leaf shows its value or why it is unknown. */
void expr_explain(struct buf *out, const struct expr *e, const struct evidence *evidence, const struct service_def *s);
const char *expr_text(const struct expr *e);    /* the source */

/* Which signals it names (bit set of POLICY_SIGNALS_MAX bits) and by which views: for `check`, independence, layers. */
struct expr_use {
    unsigned char signals[POLICY_SIGNALS_MAX / 8];
    uint16_t signal_count;
    uint32_t views;              /* bit per enum view, of the comparisons made */
    uint16_t view_count;         /* the fewest independent pieces of evidence (signal and view, loop.md section 1)
                                  * that can make the rule true: all of an `and`, the weakest branch of an `or`.
                                  * Under 2, and no SLO: `check` refuses the symptom */
    uint16_t knobs;              /* bit per knob named */
    bool uses_age_deploy;
    bool constant;               /* true or false whatever the evidence says: unreachable or always on */
    enum tri constant_value;     /* TRI_UNKNOWN when not constant */
};
void expr_describe(const struct expr *e, struct expr_use *ret);
static inline bool expr_use_has(const struct expr_use *u, uint16_t signal)
{
    return u->signals[signal / 8] >> (signal % 8) & 1;
}
/* Is `b` true whenever `a` is (of one service)? Says yes only where it is plain: each condition that b joins with `and` stands
 * in a as well, or a asks for more of the same value (x > 0.9 implies x > 0.7). false: not seen to be so. A row of a playbook
 * that implies an advice-only row ranked before it can never be chosen. */
bool expr_implies(const struct expr *a, const struct expr *b);
/* How many of its signals are known now, by all functions it takes of them; the rest are unknown. For cause-pending. */
uint16_t expr_known_signals(const struct expr *e, const struct evidence *evidence, uint16_t *ret_unknown);
/* The first signal in it that is unknown now, and why; NO_INDEX: none. "cannot rule out upstream-data: ...". */
uint16_t expr_first_unknown(const struct expr *e, const struct evidence *evidence, enum unknown_why *ret_why);
/* For a comparison `x > limit` at the top, in a conjunction, or in a branch of an `or` that is true now, that names
 * `signal` on its left: value of the left side and the limit, in the unit of the left side. The excess is
 * (value - limit) / |limit| in the bad direction. false: none such, or unknown. */
bool expr_margin(const struct expr *e, const struct evidence *evidence, uint16_t signal, double *value, double *limit);
/* The same comparison seen against what it refers to: baseline(x), profile(x) or week_ago(x) without its factor;
 * for drift(x) value = 1 + drift and reference = 1; without any of these the limit itself.
 * (value - reference) / |reference| is what the dead band looks at, loop.md section 2. */
bool expr_reference(const struct expr *e, const struct evidence *evidence, uint16_t signal, double *value,
                    double *reference);

#endif
