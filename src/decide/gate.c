#include "decide/pass.h"

#include <math.h>

#include "base/buf.h"
#include "base/text.h"

void gate_note(struct gate_result *g, struct buf *text)
{
    (void)text_copy(g->note, sizeof g->note, buf_text(text));
    buf_free(text);
}

void gate_say(struct gate_result *g, const char *text)
{
    (void)text_copy(g->note, sizeof g->note, text);
}

void gate_numbers(struct gate_result *g, double lhs, double rhs, enum unit unit)
{
    g->lhs = lhs;
    g->rhs = rhs;
    g->unit = unit;
}

static void two_digits(struct buf *out, int v)
{
    if (v < 10) buf_putc(out, '0');
    buf_i64(out, v);
}

/* "until 04:10 UTC", with the date when that is not today. */
void until_text(struct buf *out, struct wall now, struct wall until)
{
    struct civil c = wall_civil(until, 0), today = wall_civil(now, 0);
    buf_puts(out, "until ");
    if (c.day != today.day || c.month != today.month || c.year != today.year) {
        buf_printf(out, "%d-", c.year);
        two_digits(out, c.month);
        buf_putc(out, '-');
        two_digits(out, c.day);
        buf_putc(out, ' ');
    }
    two_digits(out, c.hour);
    buf_putc(out, ':');
    two_digits(out, c.minute);
    buf_puts(out, " UTC");
}

enum hold gate_until(const struct pass *p, struct instant until, struct gate_result *g)
{
    if (!instant_before(p->st->now, until)) return HOLD_OPEN;
    if (!instant_is_set(until)) {
        gate_say(g, "until a person acknowledges it");
        return HOLD_FINAL;
    }
    struct span left = instant_since(until, p->st->now);
    gate_numbers(g, span_seconds(left), 0, UNIT_S);
    struct buf b = BUF_INIT;
    until_text(&b, p->st->wall, (struct wall){p->st->wall.us + left.us});
    gate_note(g, &b);
    return HOLD_WAIT;
}

bool gate_overridden(const struct pass *p, enum reason r)
{
    return (p->st->overridden & DECIDE_OVERRIDABLE & DECIDE_OVERRIDE(r)) != 0;
}
