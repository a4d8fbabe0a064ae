#include <math.h>

#include "expr/expr.h"
#include "locate/row.h"

static void print_candidate(struct buf *out, const struct service_def *s, const struct candidate_def *t)
{
    if (t->knob < s->knob_count)
        buf_printf(out, "%s %s", s->knobs[t->knob].name, direction_name(t->direction));
    else
        buf_printf(out, "advice: %s", t->advice ? t->advice : "none");
}

static void print_tries(struct buf *out, const struct service_def *s, const struct cause_def *c)
{
    buf_puts(out, "; candidates: ");
    for (uint16_t i = 0; i < c->try_count; i++) {
        if (i) buf_puts(out, ", ");
        print_candidate(out, s, &c->tries[i]);
    }
}

void locate_explain(struct buf *out, const struct service_def *s, const struct evidence *e, const struct cause_result *r)
{
    const struct cause_def *c = &s->causes[r->cause];
    buf_printf(out, "%s: %s; ", c->name, cause_verdict_name(r->verdict));
    expr_explain(out, c->when, e, s);
    if (expr_eval(c->when, e) != r->when) buf_printf(out, " now, %s at the onset", tri_name(r->when));
    if (!isnan(r->share)) {
        buf_puts(out, "; explains ");
        buf_sig3(out, r->share * 100);
        buf_puts(out, " % of the growth");
    }
    if (r->when == TRI_TRUE && r->all_tried)
        buf_puts(out, "; nothing of it is left to try here");
    else if (r->when == TRI_TRUE && c->try_count)
        print_tries(out, s, c);
}
