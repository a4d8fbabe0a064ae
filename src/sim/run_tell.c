/* How a run is told: one JSON object, or one line an event for a person. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "sim/run_inside.h"

double run_knob(const struct world *w, const char *knob)
{
    struct buf b = BUF_INIT;
    double v = NAN;
    if (world_knob_get(w, knob, &b, NULL) != STATUS_OK || !num_parse_all(b.data, b.len, &v)) v = NAN;
    buf_free(&b);
    return v;
}

static void key(struct buf *b, const char *name, bool first)
{
    if (!first) buf_putc(b, ',');
    buf_json_string(b, name, strlen(name));
    buf_putc(b, ':');
}

static void text(struct buf *b, const char *name, const char *value)
{
    key(b, name, false);
    if (value && value[0]) buf_json_string(b, value, strlen(value));
    else buf_puts(b, "null");
}

static void hex64(struct buf *b, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 60; i >= 0; i -= 4) buf_putc(b, digits[v >> i & 15]);
}

void run_begins(struct run *r)
{
    r->digest = UINT64_C(0xcbf29ce484222325);
    if (!r->o->json) {
        buf_printf(r->out, "scenario %s, seed ", r->scenario->name);
        buf_u64(r->out, r->seed);
        buf_putc(r->out, '\n');
        if (r->scenario->about[0]) buf_printf(r->out, "%s\n", r->scenario->about);
        return;
    }
    buf_putc(r->out, '{');
    key(r->out, "scenario", true);
    buf_json_string(r->out, r->scenario->name, strlen(r->scenario->name));
    key(r->out, "seed", false);
    buf_u64(r->out, r->seed);
    key(r->out, "timeline", false);
    buf_putc(r->out, '[');
}

void run_part_begins(struct run *r)
{
    if (!r->o->json && r->scenario->part_count > 1) buf_printf(r->out, "\npart %s\n", r->part->name);
}

static void value_text(struct buf *b, const char *name, const struct knob_value *v)
{
    key(b, name, false);
    if (v && v->is_number) buf_double(b, v->decimal);
    else if (v && v->len) buf_json_string(b, v->bytes, v->len);
    else buf_puts(b, "null");
}

static void first_finding(const struct service_view *v, const char **ret)
{
    *ret = "";
    for (uint16_t i = 0; i < v->signal_count; i++) {
        bool request = v->def->signals[i].layer == LAYER_REQUEST;
        if (v->signals[i].finding[0] && (request || !(*ret)[0])) *ret = v->signals[i].finding;
        if (request && (*ret)[0]) return;
    }
}

static const char *shut_gate(const struct decision *d)
{
    for (uint16_t i = 0; i < d->gate_count; i++) {
        if (d->gates[i].shut) return reason_code(d->gates[i].reason);
    }
    return "";
}

static void row_begins(struct run *r, struct instant t)
{
    if (r->rows++) buf_puts(r->out, ",\n");
    buf_puts(r->out, "{\"part\":");
    buf_json_string(r->out, r->part->name, strlen(r->part->name));
    key(r->out, "t", false);
    buf_double(r->out, (double)t.us / 1e6);
}

static void tick_row(struct run *r, const struct service_view *v)
{
    const struct decision *d = &v->decision;
    const char *finding;
    first_finding(v, &finding);
    text(r->out, "state", state_name(v->state));
    text(r->out, "decision", decision_name(d->kind));
    text(r->out, "reason", reason_code(d->reason));
    text(r->out, "gate", shut_gate(d));
    text(r->out, "finding", finding);
    text(r->out, "knob", d->has_plan ? v->def->knobs[d->plan.knob].name : NULL);
    value_text(r->out, "from", d->has_plan ? &d->plan.from : NULL);
    value_text(r->out, "to", d->has_plan ? &d->plan.to : NULL);
    text(r->out, "cause", d->has_plan ? v->def->causes[d->plan.cause].name : NULL);
    text(r->out, "verdict", NULL);
}

static void decimal_or_text(struct buf *b, const char *name, const char *value)
{
    double number;
    key(b, name, false);
    if (!value[0]) buf_puts(b, "null");
    else if (num_parse_all(value, strlen(value), &number)) buf_double(b, number);
    else buf_json_string(b, value, strlen(value));
}

static void record_row(struct run *r, const struct record *rec)
{
    text(r->out, "record", record_kind_name(rec->kind));
    text(r->out, "symptom", record_get_text(rec, RF_SYMPTOM));
    text(r->out, "action", record_get_text(rec, RF_ACTION));
    text(r->out, "reason", record_get_text(rec, RF_REASON));
    text(r->out, "cause", record_get_text(rec, RF_CAUSE));
    text(r->out, "knob", record_get_text(rec, RF_KNOB));
    decimal_or_text(r->out, "from", record_get_text(rec, RF_FROM));
    decimal_or_text(r->out, "to", record_get_text(rec, RF_TO));
    text(r->out, "verdict", record_get_text(rec, RF_VERDICT));
    text(r->out, "outcome", record_get_text(rec, RF_OUTCOME));
    text(r->out, "note", record_get_text(rec, RF_NOTE));
}

void run_json_row(struct run *r, const struct world_row *row)
{
    row_begins(r, row->t);
    if (row->view) tick_row(r, row->view);
    else record_row(r, row->record);
    buf_putc(r->out, '}');
}

static void clock_text(struct buf *b, struct wall t)
{
    struct civil c = wall_civil(t, 0);
    buf_printf(b, "%04d-%02d-%02d %02d:%02d:%02d  ", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

void run_story_row(struct run *r, const struct world_row *row)
{
    clock_text(r->out, (struct wall){r->part->start.us + row->t.us});
    if (row->view) {
        const struct decision *d = &row->view->decision;
        buf_printf(r->out, "%-13s %s", state_name(row->view->state), decision_name(d->kind));
        buf_printf(r->out, " %s: %s", reason_code(d->reason), row->view->sentence);
        if (d->has_plan) {
            buf_printf(r->out, " [plan %s %.*s -> %.*s]", row->view->def->knobs[d->plan.knob].name, (int)d->plan.from.len,
                       d->plan.from.bytes, (int)d->plan.to.len, d->plan.to.bytes);
        }
    } else {
        const struct record *rec = row->record;
        bool back = record_kind_is_undo(rec->kind);
        buf_printf(r->out, "* %s", record_kind_name(rec->kind));
        if (record_has(rec, RF_KNOB)) {
            buf_printf(r->out, " %s %s -> %s", record_get_text(rec, RF_KNOB), record_get_text(rec, back ? RF_TO : RF_FROM),
                       record_get_text(rec, back ? RF_FROM : RF_TO));
        }
        if (record_has(rec, RF_VERDICT) && !record_has(rec, RF_NOTE)) buf_printf(r->out, " %s", record_get_text(rec, RF_VERDICT));
        if (record_has(rec, RF_REASON)) buf_printf(r->out, " (%s)", record_get_text(rec, RF_REASON));
        if (record_has(rec, RF_NOTE)) buf_printf(r->out, ": %s", record_get_text(rec, RF_NOTE));
    }
    buf_putc(r->out, '\n');
}

static void knobs_json(struct run *r, const struct world *w)
{
    const struct service_def *s = &r->policy->services[0];
    struct buf *b = &r->last_knobs;
    bool first = true;
    buf_clear(b);
    buf_putc(b, '{');
    for (uint16_t i = 0; i < s->knob_count; i++) {
        double v = run_knob(w, s->knobs[i].name);
        if (isnan(v)) continue;
        key(b, s->knobs[i].name, first);
        buf_double(b, v);
        first = false;
    }
    buf_putc(b, '}');
    buf_puts(&r->tail, buf_text(b));
}

static void naive_json(struct run *r)
{
    key(&r->tail, "naive", false);
    buf_puts(&r->tail, "{\"ticks\":");
    buf_u64(&r->tail, r->naive_ticks);
    buf_puts(&r->tail, ",\"acts\":");
    buf_u64(&r->tail, r->naive_acts);
    buf_puts(&r->tail, ",\"first_act\":");
    if (instant_is_set(r->naive_first)) buf_double(&r->tail, (double)r->naive_first.us / 1e6);
    else buf_puts(&r->tail, "null");
    buf_putc(&r->tail, '}');
}

void run_part_ends(struct run *r, struct world *w)
{
    uint64_t digest = world_digest(w);
    r->digest = (r->digest ^ digest) * UINT64_C(0x100000001b3);
    if (!r->o->json) {
        const struct service_def *s = &r->policy->services[0];
        buf_puts(r->out, "knobs:");
        for (uint16_t i = 0; i < s->knob_count; i++) {
            double v = run_knob(w, s->knobs[i].name);
            if (isnan(v)) continue;
            buf_printf(r->out, " %s ", s->knobs[i].name);
            buf_double(r->out, v);
        }
        buf_putc(r->out, '\n');
        return;
    }
    buf_puts(&r->tail, r->parts++ ? ",{" : "{");
    key(&r->tail, "name", true);
    buf_json_string(&r->tail, r->part->name, strlen(r->part->name));
    key(&r->tail, "digest", false);
    buf_putc(&r->tail, '"');
    hex64(&r->tail, digest);
    buf_putc(&r->tail, '"');
    key(&r->tail, "writes", false);
    buf_u64(&r->tail, world_writes(w));
    key(&r->tail, "knobs", false);
    knobs_json(r, w);
    if (r->naive_ticks) naive_json(r);
    buf_putc(&r->tail, '}');
}

/* The last part's knobs once more at the top: what the plant holds when all is over. */
void run_ends(struct run *r)
{
    if (!r->o->json) {
        buf_puts(r->out, "digest ");
        hex64(r->out, r->digest);
        buf_putc(r->out, '\n');
        return;
    }
    buf_puts(r->out, "],\n\"parts\":[");
    buf_puts(r->out, buf_text(&r->tail));
    buf_puts(r->out, "],\n\"digest\":\"");
    hex64(r->out, r->digest);
    buf_puts(r->out, "\",\n\"knobs\":");
    buf_puts(r->out, r->last_knobs.len ? buf_text(&r->last_knobs) : "{}");
    buf_puts(r->out, "}\n");
    buf_free(&r->tail);
    buf_free(&r->last_knobs);
}
