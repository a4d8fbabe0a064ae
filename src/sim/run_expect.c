/* Policy unit tests: what a tick came to, against what the file expects of it. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/run_inside.h"

/* The words of one tick that may be asked for. */
struct got { const char *state, *decision, *reason, *symptom, *cause, *knob; double to; };

static struct got look(const struct service_view *v)
{
    const struct decision *d = &v->decision;
    struct got g = {.state = state_name(v->state), .decision = decision_name(d->kind), .reason = reason_code(d->reason),
                    .symptom = "", .cause = "", .knob = "", .to = NAN};
    if (v->incident_open && v->incident_symptom < v->def->symptom_count) g.symptom = v->def->symptoms[v->incident_symptom].name;
    if (d->has_plan) {
        g.cause = v->def->causes[d->plan.cause].name;
        g.knob = v->def->knobs[d->plan.knob].name;
        g.to = d->plan.to.is_number ? d->plan.to.decimal : NAN;
    } else if (d->advice_cause != NO_INDEX && d->advice_cause < v->def->cause_count) {
        g.cause = v->def->causes[d->advice_cause].name;
    }
    return g;
}

static bool differs(struct buf *out, const char *key, const char *expected, const char *got)
{
    if (!expected || text_eq(expected, got)) return false;
    buf_printf(out, "    %s: expected %s, got %s\n", key, expected, got[0] ? got : "none");
    return true;
}

static bool compare(struct buf *out, const struct scenario_expect *x, const struct got *g)
{
    bool bad = differs(out, "state", x->state, g->state);
    bad = differs(out, "decision", x->decision, g->decision) || bad;
    bad = differs(out, "reason", x->reason, g->reason) || bad;
    bad = differs(out, "symptom", x->symptom, g->symptom) || bad;
    bad = differs(out, "cause", x->cause, g->cause) || bad;
    bad = differs(out, "knob", x->knob, g->knob) || bad;
    if (isnan(x->to) || x->to == g->to) return bad;
    buf_puts(out, "    to: expected ");
    buf_double(out, x->to);
    buf_puts(out, ", got ");
    if (isnan(g->to)) buf_puts(out, "none");
    else buf_double(out, g->to);
    buf_putc(out, '\n');
    return true;
}

/* The first automatic change of the part, undo apart. */
struct first { char knob[POLICY_NAME_MAX + 1], direction[8]; };

static void watch_first(void *ctx, const struct world_row *row)
{
    struct first *f = ctx;
    if (!row->record || row->record->kind != RECORD_INTENT || f->knob[0]) return;
    (void)text_copy(f->knob, sizeof f->knob, record_get_text(row->record, RF_KNOB));
    (void)text_copy(f->direction, sizeof f->direction, record_get_text(row->record, RF_DIRECTION));
}

static void expect_first_write(struct run *r, const struct first *got)
{
    const struct scenario_first *x = &r->part->first_write;
    const char *way = x->knob[0] ? direction_name(x->direction) : "";
    bool same = text_eq(x->knob, got->knob) && (!x->knob[0] || text_eq(way, got->direction));
    if (same) {
        r->result->passed++;
        return;
    }
    r->result->failed++;
    buf_printf(r->out, "%s:%u:%u: %s, first write: expected %s%s%s, got %s%s%s\n", r->path, x->pos.line, x->pos.col, r->part->name,
               x->knob[0] ? x->knob : "none", way[0] ? " " : "", way, got->knob[0] ? got->knob : "none", got->knob[0] ? " " : "",
               got->direction);
}

static void one(struct run *r, struct world *w, const struct scenario_expect *x)
{
    struct arena a = ARENA_INIT;
    struct service_view v;
    struct buf why = BUF_INIT;
    loop_view(world_loop(w), 0, &a, &v);
    struct got g = look(&v);
    if (compare(&why, x, &g)) {
        r->result->failed++;
        buf_printf(r->out, "%s:%u:%u: %s, at ", r->path, x->pos.line, x->pos.col, r->part->name);
        span_print_config(r->out, (struct span){x->at.us});
        buf_printf(r->out, ":\n%s    (%s)\n", buf_text(&why), v.sentence);
    } else {
        r->result->passed++;
    }
    buf_free(&why);
    arena_free(&a);
}

/* In order of time, whatever the order in the file. */
void run_expect(struct run *r, struct world *w)
{
    bool done[SCENARIO_EXPECT_MAX] = {false};
    struct first first = {"", ""};
    world_watch(w, watch_first, &first);
    for (unsigned n = 0; n < r->part->expect_count; n++) {
        unsigned next = SCENARIO_EXPECT_MAX;
        for (unsigned i = 0; i < r->part->expect_count; i++) {
            bool earlier = next == SCENARIO_EXPECT_MAX || instant_before(r->part->expect[i].at, r->part->expect[next].at);
            if (!done[i] && earlier) next = i;
        }
        done[next] = true;
        world_run(w, instant_add(r->part->expect[next].at, SPAN_S(1)));   /* reads of the tick take some milliseconds */
        one(r, w, &r->part->expect[next]);
    }
    if (!r->part->first_write.asked) return;
    world_run(w, instant_add((struct instant){0}, r->part->duration));
    expect_first_write(r, &first);
}
