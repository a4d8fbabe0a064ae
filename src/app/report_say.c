/* The report for people, from its JSON. */
#include <string.h>

#include "app/output.h"
#include "app/report.h"
#include "base/text.h"

static long long count(const json_t *o, const char *a, const char *b)
{
    const json_t *x = b ? json_object_get(json_object_get(o, a), b) : json_object_get(o, a);
    return (long long)json_integer_value(x);
}

static void percent(struct buf *b, const json_t *rate)
{
    const json_t *value = json_object_get(rate, "value");
    if (!json_is_number(value)) {
        buf_puts(b, "not known: nothing to judge by yet");
        return;
    }
    buf_printf(b, "%lld of %lld, ", count(rate, "n", NULL), count(rate, "of", NULL));
    buf_fixed(b, 100 * json_number_value(value), 0);
    buf_puts(b, " % (95 % interval ");
    buf_fixed(b, 100 * json_number_value(json_object_get(rate, "low")), 0);
    buf_puts(b, " to ");
    buf_fixed(b, 100 * json_number_value(json_object_get(rate, "high")), 0);
    buf_puts(b, " %)");
}

static void counts(struct buf *b, const json_t *object)
{
    const char *key;
    json_t *n;
    bool some = false;
    json_object_foreach((json_t *)object, key, n) {
        if (json_integer_value(n) == 0) continue;
        buf_printf(b, "%s%s %lld", some ? ", " : "", key, (long long)json_integer_value(n));
        some = true;
    }
    if (!some) buf_puts(b, "none");
}

static void line(struct buf *b, const char *heading, const json_t *object)
{
    buf_printf(b, "  %-13s ", heading);
    counts(b, object);
    buf_putc(b, '\n');
}

static void say_promotion(struct buf *b, const json_t *s)
{
    const json_t *p = json_object_get(s, "promotion");
    const char *to = text_of(p, "to"), *advice = text_of(p, "advice");
    json_t *x;
    size_t i;
    if (!to[0]) return;
    buf_printf(b, "  ready for mode %s? %s\n", to,
               text_eq(advice, "ready") ? "The evidence speaks for it; a person decides, in the file." : "Not yet.");
    json_array_foreach(json_object_get(p, "for"), i, x) buf_printf(b, "    for      %s\n", json_string_value(x));
    json_array_foreach(json_object_get(p, "against"), i, x) buf_printf(b, "    against  %s\n", json_string_value(x));
}

static void say_service(struct buf *b, const json_t *s)
{
    json_t *m;
    size_t i;
    buf_printf(b, "\n%s, mode %s, ", text_of(s, "service"), text_of(s, "mode")[0] ? text_of(s, "mode") : "not known");
    number_text(b, json_object_get(s, "observed_days"), "days");
    buf_printf(b, " seen\n  %-13s %lld; ", "incidents", count(s, "incidents", NULL));
    counts(b, json_object_get(s, "fates"));
    buf_putc(b, '\n');
    line(b, "plans", json_object_get(s, "plans"));
    line(b, "came to", json_object_get(s, "came"));
    line(b, "verdicts", json_object_get(s, "verdicts"));
    line(b, "feedback", json_object_get(s, "feedback"));
    buf_printf(b, "  %-13s ", "false alarms");
    percent(b, json_object_get(s, "false_alarm_rate"));
    buf_printf(b, "\n  %-13s ", "false plans");
    percent(b, json_object_get(s, "false_plan_rate"));
    buf_putc(b, '\n');
    json_array_foreach(json_object_get(s, "mode_changes"), i, m) {
        buf_printf(b, "  %-13s %s %s%s%s -> %s, by %s\n", i ? "" : "modes", text_of(m, "at"), text_of(m, "class"),
                   text_of(m, "class")[0] ? " " : "", text_of(m, "from"), text_of(m, "to"), text_of(m, "by"));
    }
    say_promotion(b, s);
}

static void say_after(struct buf *b, const json_t *p)
{
    json_t *s, *v;
    size_t i, k;
    json_array_foreach(json_object_get(p, "next_30m"), i, s) {
        const char *unit = text_of(s, "unit");
        buf_printf(b, "  %-13s %s ", i ? "" : "next 30 min", text_of(s, "signal"));
        number_text(b, json_object_get(s, "before"), unit);
        buf_puts(b, " before; then ");
        json_array_foreach(json_object_get(s, "after"), k, v) {
            if (k) buf_puts(b, ", ");
            number_text(b, v, unit);
        }
        buf_putc(b, '\n');
    }
}

static void say_plan(struct buf *b, const json_t *p)
{
    const char *how = text_of(p, "how"), *verdict = text_of(p, "verdict");
    const char *said = text_of(p, "feedback"), *ended = text_of(p, "ended");
    json_t *g;
    size_t i;
    buf_printf(b, "\n%s  %s/%lld %s: %s %s -> %s, because of %s\n", text_of(p, "at"), text_of(p, "service"),
               count(p, "incident", NULL), text_of(p, "symptom"), text_of(p, "knob"), text_of(p, "from"), text_of(p, "to"),
               text_of(p, "cause"));
    buf_printf(b, "  %-13s %s", "how",
               text_eq(how, "would")   ? "would have been done in another mode"
               : text_eq(how, "asked") ? "a person was asked"
                                       : "done");
    if (text_of(p, "action")[0]) buf_printf(b, " as %s, by %s", text_of(p, "action"), text_of(p, "by"));
    if (ended[0]) buf_printf(b, "; in the end %s", ended);
    if (verdict[0]) buf_printf(b, "; %s", verdict);
    buf_printf(b, "\n  %-13s %s%s%s\n", "came to", text_of(p, "came"), said[0] ? "; a person said: " : "", said);
    json_array_foreach(json_object_get(p, "stopped_by"), i, g) {
        buf_printf(b, "%s%s", i ? ", " : "  stopped by    ", json_string_value(g));
    }
    if (i) buf_putc(b, '\n');
    say_after(b, p);
}

void report_say(struct buf *b, const json_t *data)
{
    json_t *x;
    size_t i, misses = 0;
    buf_printf(b, "report, %s to %s\n", text_of(data, "since"), text_of(data, "until"));
    json_array_foreach(json_object_get(data, "services"), i, x) say_service(b, x);
    json_array_foreach(json_object_get(data, "plans"), i, x) say_plan(b, x);
    json_array_foreach(json_object_get(data, "incidents"), i, x) {
        if (!text_eq(text_of(x, "fate"), "miss")) continue;
        buf_puts(b, misses++ ? "  " : "\nmisses: incidents of half an hour or more without any plan\n  ");
        buf_printf(b, "%s/%lld %s, %s to %s\n", text_of(x, "service"), count(x, "incident", NULL), text_of(x, "symptom"),
                   text_of(x, "opened"), text_of(x, "closed")[0] ? text_of(x, "closed") : "now");
    }
    buf_puts(b, "\nfalse alarms, over all incidents that people judged: ");
    percent(b, json_object_get(data, "false_alarm_rate"));
    buf_putc(b, '\n');
}
