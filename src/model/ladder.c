#include "model/ladder.h"

#include <math.h>

#include "base/num.h"

/* Walks the rungs upwards. */
struct cursor {
    double at;
    uint64_t i;
    bool ok;
};

/* What lies around a value: the two nearest rungs on each side, and whether it is itself a rung. */
struct bracket {
    double below[2], above[2];
    int n_below, n_above;
    bool on;
};

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

/* Products like 4 * 1.1 * 1.1 are brought to the nearest millionth, so that a rung has a short text. */
static double tidy(double v)
{
    return fabs(v) < 1e9 ? rint(v * 1e6) / 1e6 : v;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double step_of(const struct knob_def *k)
{
    return k->integer ? larger(1, ceil(k->ladder_by - 1e-9)) : k->ladder_by;
}

static double times(const struct knob_def *k, double v)
{
    double next = tidy(v * k->ladder_by);
    return k->integer ? larger(v + 1, ceil(next - 1e-9)) : next;
}

static struct cursor first_rung(const struct knob_def *k)
{
    struct cursor c = {.at = k->min, .ok = k->min <= k->max};
    if (k->ladder == LADDER_FACTOR) c.ok = c.ok && k->min > 0;
    if (k->ladder != LADDER_LIST) return c;
    while (c.i < k->rung_count && k->rungs[c.i] < k->min) c.i++;
    c.ok = c.i < k->rung_count && k->rungs[c.i] <= k->max;
    if (c.ok) c.at = k->rungs[c.i];
    return c;
}

static void next_rung(const struct knob_def *k, struct cursor *c)
{
    double was = c->at;
    if (++c->i >= LADDER_RUNGS_MAX && k->ladder != LADDER_STEP) {
        c->ok = false;
        return;
    }
    switch (k->ladder) {
    case LADDER_FACTOR: c->at = times(k, was); break;
    case LADDER_STEP: c->at = tidy(k->min + (double)c->i * step_of(k)); break;
    default: c->at = c->i < k->rung_count ? k->rungs[c->i] : was; break;
    }
    c->ok = c->at > was && c->at <= k->max;   /* also ends a ladder that does not climb */
}

/* A + ladder may have millions of rungs: begin two below the value. */
static void skip_ahead(const struct knob_def *k, double v, struct cursor *c)
{
    if (k->ladder != LADDER_STEP || !(step_of(k) > 0)) return;
    double i = floor((v - k->min) / step_of(k)) - 2;
    c->ok = i < 9e15;   /* beyond, neighbouring rungs are one double */
    if (!(i > 0) || !c->ok) return;
    c->i = (uint64_t)i;
    c->at = tidy(k->min + i * step_of(k));
}

static struct bracket bracket(const struct knob_def *k, double v)
{
    struct bracket b = {0};
    struct cursor c = first_rung(k);
    if (c.ok) skip_ahead(k, v, &c);
    for (; c.ok && b.n_above < 2; next_rung(k, &c)) {
        if (same(c.at, v)) {
            b.on = true;
        } else if (c.at > v) {
            b.above[b.n_above++] = c.at;
        } else {
            b.below[1] = b.below[0];
            b.below[0] = c.at;
            b.n_below += b.n_below < 2;
        }
    }
    return b;
}

static enum status no_notch(const struct knob_def *k, double v, enum direction dir, bool too_near, struct err *err)
{
    char at[NUM_TEXT_MAX], bound[NUM_TEXT_MAX];
    num_print(at, v);
    num_print(bound, too_near ? k->min_step : dir == DIR_UP ? k->max : k->min);
    if (too_near)
        return err_set(err, STATUS_NOT_FOUND, "%s: from %s the next rung %s is nearer than the min step %s", k->name, at,
                       direction_name(dir), bound);
    return err_set(err, STATUS_NOT_FOUND, "%s: at %s there is no rung further %s within %s %s", k->name, at,
                   direction_name(dir), dir == DIR_UP ? "max" : "min", bound);
}

static void set_value(const struct knob_def *k, double v, struct knob_value *ret)
{
    struct knob_value out = {0};
    knob_value_set_number(&out, k->integer ? rint(v) : v);
    *ret = out;
}

static enum status check_now(const struct knob_def *k, const struct knob_value *now, enum direction dir, struct err *err)
{
    if (!(dir == DIR_UP ? k->allow_up : k->allow_down))
        return err_set(err, STATUS_DENIED, "%s: direction %s is not allowed by the whitelist", k->name, direction_name(dir));
    if (!now->len || !now->is_number || !isfinite(now->decimal))
        return err_set(err, STATUS_INVALID, "%s: the value read is not a number, so it has no next rung", k->name);
    if (now->decimal >= k->min && now->decimal <= k->max) return STATUS_OK;
    char at[NUM_TEXT_MAX], min[NUM_TEXT_MAX], max[NUM_TEXT_MAX];
    num_print(at, now->decimal);
    num_print(min, k->min);
    num_print(max, k->max);
    return err_set(err, STATUS_INVALID, "%s: the value read, %s, is outside [%s, %s]", k->name, at, min, max);
}

enum status ladder_next(const struct knob_def *k, const struct knob_value *now, enum direction dir, struct knob_value *ret,
                        struct err *err)
{
    enum status st = check_now(k, now, dir, err);
    if (st != STATUS_OK) return st;
    double v = now->decimal;
    struct bracket b = bracket(k, v);
    const double *side = dir == DIR_UP ? b.above : b.below;
    int n = dir == DIR_UP ? b.n_above : b.n_below;
    if (n == 0) return no_notch(k, v, dir, false, err);
    double need = k->min_step * (1 - 1e-9);
    int pick = fabs(side[0] - v) < need ? 1 : 0;
    if (pick == 1 && b.on) return no_notch(k, v, dir, true, err);
    if (pick == 1 && n < 2) return no_notch(k, v, dir, false, err);
    if (fabs(side[pick] - v) < need) return no_notch(k, v, dir, true, err);
    set_value(k, side[pick], ret);
    return STATUS_OK;
}

uint32_t ladder_rungs(const struct knob_def *k, double *out, uint32_t cap)
{
    uint32_t n = 0;
    struct cursor c = first_rung(k);
    for (; c.ok && (n < cap || k->ladder != LADDER_STEP); next_rung(k, &c)) {
        if (n < cap) out[n] = c.at;
        n++;
    }
    if (!c.ok || !(step_of(k) > 0)) return n;
    double all = floor((k->max - k->min) / step_of(k) + 1e-9) + 1;   /* a long + ladder is counted, not walked */
    return all >= UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}
