/* One cause against the evidence. */
#include <math.h>

#include "expr/expr.h"
#include "locate/row.h"

bool locate_is_advice(const struct cause_def *c)
{
    for (uint16_t i = 0; i < c->try_count; i++)
        if (c->tries[i].knob != NO_INDEX) return false;
    return true;
}

const struct candidate_def *locate_candidate_left(const struct cause_def *c, uint16_t cause, const struct excluded_list *l)
{
    bool words = locate_is_advice(c);
    for (uint16_t i = 0; i < c->try_count; i++) {
        const struct candidate_def *t = &c->tries[i];
        if (!words && t->knob == NO_INDEX) continue;
        if (!l || !excluded_has(l, cause, t->knob, t->direction)) return t;
    }
    return NULL;
}

/* How much a wrong first step could break: words break nothing; then the tier, then the way it is applied. */
static int blast_of(const struct service_def *s, const struct candidate_def *t)
{
    if (!t || t->knob >= s->knob_count) return 0;
    const struct knob_def *k = &s->knobs[t->knob];
    return k->tier * 3 + (int)k->apply + 1;
}

/* loop.md: a release incident is advice-only until it closes; an outage is another disease. */
static bool is_barred(const struct locate_context *ctx, const struct cause_def *c)
{
    if (ctx->outage && c->group != GROUP_OUTAGE) return true;
    return ctx->release_incident && !locate_is_advice(c);
}

void locate_judge(const struct service_def *s, const struct evidence *e, const struct locate_context *ctx, uint16_t cause,
                  struct locate_row *ret)
{
    const struct cause_def *c = &s->causes[cause];
    const struct candidate_def *left = locate_candidate_left(c, cause, ctx->excluded);
    struct cause_result r = {.cause = cause, .when = expr_eval(c->when, e), .share = NAN};
    r.known_signals = expr_known_signals(c->when, e, NULL);
    r.all_tried = !left || is_barred(ctx, c);
    if (c->share_signal != NO_INDEX) r.share = locate_share(s, e, c->share_signal);
    *ret = (struct locate_row){
        .result = r,
        .def = c,
        .live = r.when != TRI_FALSE,
        .first = ctx->release_incident && c->group == GROUP_RECENT_RELEASE && r.when == TRI_TRUE,
        .measured = !isnan(r.share),
        .demoted = r.share < LOCATE_SHARE_DEMOTES,
        .promoted = r.share > LOCATE_SHARE_PROMOTES && r.when == TRI_TRUE,
        .group = (int)c->group,
        .blast = blast_of(s, left),
    };
}
