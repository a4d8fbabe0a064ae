/* The rule language of spec section 4: symptoms, causes, preconditions, clear rules. Small, typed, unit-aware,
 * three-valued. Compiled once against a service's names; evaluated against an evidence table.
 *
 *   expr    := or ; or := and ("or" and)* ; and := not ("and" not)* ; not := "not" not | cmp
 *   cmp     := sum [(> | >= | < | <= | == | !=) sum] ; sum := mul ((+|-) mul)* ; mul := unary ((*|/) unary)*
 *   unary   := "-" unary | primary ; primary := NUMBER [UNIT] | NAME | FN "(" args ")" | "(" expr ")" | "true" | "false"
 * A name is a signal or a knob of the service. Durations after numbers (30m, 2h) are times. */
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
#define EXPR_LIMIT_DEPTH 32
#define EXPR_LIMIT_BYTES 4096

struct expr;                     /* immutable, lives in the arena it was compiled in */

struct expr_scope {
    const struct service_def *service;   /* its signals and knobs give names and units */
    struct needs *needs;                 /* grows; evaluation reads evidence by these indices */
};

struct expr_error {
    struct text_pos pos;         /* in the rule's text */
    size_t offset, length;       /* bytes to underline */
    char text[200];              /* "unknown signal 'latncy_p99'" */
    char hint[160];              /* "did you mean 'latency_p99'?"; "" none */
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
    uint16_t view_count;         /* independent views, loop.md section 1 */
    bool uses_age_deploy;
    bool constant;               /* true or false whatever the evidence says: unreachable or always on */
};
void expr_describe(const struct expr *e, struct expr_use *ret);
static inline bool expr_use_has(const struct expr_use *u, uint16_t signal)
{
    return u->signals[signal / 8] >> (signal % 8) & 1;
}
/* Signals of it that are unknown now; for cause-pending. */
uint16_t expr_known_signals(const struct expr *e, const struct evidence *evidence, uint16_t *ret_unknown);
/* For a comparison `x > limit` at the top or in a conjunction that names `signal` on its left: value, limit
 * and the ratio of excess (value - limit) / |limit| in the bad direction. false: none such or unknown.
 * Dead band, loop.md section 2. */
bool expr_margin(const struct expr *e, const struct evidence *evidence, uint16_t signal, double *value, double *limit);

#endif
