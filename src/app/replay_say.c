/* A replay for people: each incident with what led to it, what would have been done, and what came next. */
#include <math.h>
#include <string.h>

#include "app/replay.h"
#include "base/text.h"

static void clock_of(struct buf *b, struct wall t)
{
    struct civil c = wall_civil(t, 0);
    buf_printf(b, "%04d-%02d-%02d %02d:%02d:%02d", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

static void value(struct buf *b, double v)
{
    if (isnan(v)) buf_puts(b, "-");
    else buf_sig3(b, v);
}

static void line(struct buf *b, const char *heading, const char *text)
{
    if (text[0]) buf_printf(b, "  %-11s %s\n", heading, text);
}

static void say_after(struct buf *b, const struct replay_service *s, const struct replay_after *after, uint16_t n,
                      const char *since)
{
    for (uint16_t i = 0; i < n; i++) {
        const struct signal_def *d = &s->def->signals[after[i].signal];
        buf_printf(b, "  %-11s %s ", i ? "" : since, d->name);
        value(b, after[i].before);
        buf_puts(b, " before; then ");
        for (int k = 0; k < REPLAY_AFTER_PARTS; k++) {
            if (k) buf_puts(b, ", ");
            value(b, after[i].after[k]);
        }
        if (d->unit != UNIT_ONE && d->unit != UNIT_RATIO) buf_printf(b, " %s", unit_name(d->unit));
        buf_puts(b, " (medians of 10 min)\n");
    }
}

static void say_counts(struct buf *b, const uint64_t counts[REASON_COUNT], bool only_held)
{
    bool some = false;
    for (unsigned i = REASON_NONE + 1; i < REASON_COUNT; i++) {
        if (counts[i] == 0 || (only_held && !replay_holds((enum reason)i))) continue;
        if (some) buf_puts(b, ", ");
        buf_printf(b, "%s ", reason_code((enum reason)i));
        buf_u64(b, counts[i]);
        some = true;
    }
    if (!some) buf_puts(b, "none");
}

static void say_plan(struct buf *b, const struct replay_service *s, const struct replay_plan *p)
{
    const struct record *r = p->record;
    buf_puts(b, "  would-be    ");
    clock_of(b, p->at);
    buf_printf(b, "  %s %s -> %s, because of %s: ", record_get_text(r, RF_KNOB), record_get_text(r, RF_FROM),
               record_get_text(r, RF_TO), record_get_text(r, RF_CAUSE));
    if (p->would == REPLAY_WOULD_ACT) buf_puts(b, "the mode of the file would have done it");
    else if (p->would == REPLAY_WOULD_REPORT) buf_puts(b, "the mode of the file only reports it");
    else buf_printf(b, "a person would have been asked (%s)", reason_code(p->asks));
    buf_puts(b, p->counterfactual ? " [counterfactual]\n" : "\n");
    line(b, "  values", record_get_text(r, RF_VALUES));
    line(b, "  causes", record_get_text(r, RF_CAUSES));
    line(b, "  gates", record_get_text(r, RF_GATES));
    say_after(b, s, p->after, p->after_n, "  without it");
}

static void say_incident(struct buf *b, const struct replay_service *s, size_t n)
{
    const struct replay_incident *i = &s->incidents[n];
    buf_printf(b, "\nincident %s/", s->def->name);
    buf_u64(b, i->number);
    for (uint16_t k = 0; k < i->symptom_n; k++) buf_printf(b, "%s %s", k ? "," : "", i->symptoms[k]);
    buf_puts(b, ", ");
    clock_of(b, i->onset);
    buf_puts(b, " to ");
    if (i->closed.us == WALL_NONE.us) buf_puts(b, "the end of the history");
    else clock_of(b, i->closed);
    if (i->last_closed) buf_printf(b, ", %s", record_get_text(i->last_closed, RF_OUTCOME));
    buf_puts(b, i->counterfactual ? " [counterfactual]\n" : "\n");
    line(b, "noticed", record_get_text(i->first, RF_RULE));
    line(b, "", record_get_text(i->first, RF_NOTE));
    line(b, "values", record_get_text(i->first, RF_VALUES));
    line(b, "causes", record_get_text(i->first, RF_CAUSES));
    for (size_t k = 0; k < s->plan_n; k++) {
        if (s->plans[k].incident == n) say_plan(b, s, &s->plans[k]);
    }
    if (i->handover) {
        buf_puts(b, "  person      ");
        clock_of(b, (struct wall){record_get_i64(i->handover, RF_AT, 0)});
        buf_printf(b, "  handed over: %s", record_get_text(i->handover, RF_REASON));
        if (record_has(i->handover, RF_NOTE)) buf_printf(b, "; %s", record_get_text(i->handover, RF_NOTE));
        buf_putc(b, '\n');
        line(b, "causes", record_get_text(i->handover, RF_CAUSES));
    }
    buf_puts(b, "  held back   ");
    say_counts(b, i->reasons, true);
    buf_puts(b, " (ticks)\n");
    say_after(b, s, i->after, i->after_n, "next 30 min");
}

static void say_knobs(struct buf *b, const struct replay_service *s)
{
    for (uint16_t i = 0; i < s->def->knob_count; i++) {
        const struct replay_knob *k = &s->knobs[i];
        buf_printf(b, "  knob        %s ", s->def->knobs[i].name);
        buf_double(b, k->start);
        buf_printf(b, ": %s", replay_origin_sentence(k->origin));
        if (k->origin >= REPLAY_USE) buf_printf(b, " (give it: --knob %s=VALUE)", s->def->knobs[i].name);
        if (k->n > 1) {
            buf_puts(b, "; changed ");
            buf_u64(b, k->n - 1);
            buf_puts(b, " times");
        }
        buf_putc(b, '\n');
    }
}

static void say_missing(struct buf *b, const struct replay_service *s)
{
    bool some = false;
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        if (s->series[i].n) continue;
        buf_printf(b, "%s%s", some ? ", " : "  no points   ", s->def->signals[i].name);
        some = true;
    }
    if (some) buf_puts(b, ": unknown to every rule\n");
}

static void say_others(struct buf *b, const struct replay_service *s)
{
    for (size_t i = 0; i < s->other_n; i++) {
        const struct record *r = s->others[i];
        if (r->kind != RECORD_RELEASE && r->kind != RECORD_EXTERNAL) continue;
        buf_puts(b, "  context     ");
        clock_of(b, (struct wall){record_get_i64(r, RF_AT, 0)});
        buf_printf(b, "  %s", record_kind_meaning(r->kind));
        if (record_has(r, RF_KNOB)) buf_printf(b, ": %s is %s", record_get_text(r, RF_KNOB), record_get_text(r, RF_READ));
        if (record_has(r, RF_MODEL_VERSION)) buf_printf(b, ": %s", record_get_text(r, RF_MODEL_VERSION));
        buf_putc(b, '\n');
    }
}

static bool has_data(const struct replay_service *s)
{
    for (uint16_t i = 0; i < s->def->signal_count; i++) {
        if (s->series[i].n) return true;
    }
    return false;
}

static void say_service(struct buf *b, const struct replay_service *s)
{
    buf_printf(b, "\n%s, mode %s in the file; replayed in shadow, nothing is written\n", s->def->name, mode_name(s->mode));
    if (!has_data(s)) {
        buf_puts(b, "  nothing is recorded of it\n");
        return;
    }
    say_knobs(b, s);
    say_missing(b, s);
    say_others(b, s);
    for (size_t i = 0; i < s->incident_n; i++) say_incident(b, s, i);
    if (s->counterfactual_from.us == WALL_NONE.us) return;
    buf_puts(b, "\n  From ");
    clock_of(b, s->counterfactual_from);
    buf_puts(b, " on all of this is counterfactual: the history does not answer to what was not done.\n");
}

static void hex64(struct buf *b, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 60; i >= 0; i -= 4) buf_putc(b, digits[v >> i & 15]);
}

void replay_say(struct buf *b, const struct replay_input *in)
{
    const struct replay *r = in->replay;
    uint64_t held[REASON_COUNT] = {0}, ticks = 0, incidents = 0, plans = 0, after = 0;
    buf_printf(b, "replay of %s under %s (revision %.12s)\n", in->from, r->policy->path, r->policy->revision);
    clock_of(b, r->from);
    buf_puts(b, " to ");
    clock_of(b, r->until);
    buf_puts(b, " UTC\n");
    for (uint16_t i = 0; i < r->policy->service_count; i++) {
        const struct replay_service *s = &r->services[i];
        say_service(b, s);
        for (unsigned k = 0; k < REASON_COUNT; k++) held[k] += s->held[k];
        ticks += s->ticks;
        incidents += s->incident_n;
        plans += s->plan_n;
        for (size_t k = 0; k < s->plan_n; k++) after += s->plans[k].counterfactual;
    }
    buf_puts(b, "\nsummary\n  incidents   ");
    buf_u64(b, incidents);
    buf_puts(b, "\n  would-be    ");
    buf_u64(b, plans);
    buf_puts(b, " actions, ");
    buf_u64(b, after);
    buf_puts(b, " of them counterfactual\n  held back   ");
    say_counts(b, held, false);
    buf_puts(b, " (ticks of open incidents)\n  ticks       ");
    buf_u64(b, ticks);
    buf_puts(b, "\n  digest      ");
    hex64(b, r->digest);
    buf_putc(b, '\n');
}
