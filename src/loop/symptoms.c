/* Symptom states: loop.md section 1, "Symptom state". Unknown counts for neither side. */
#include "loop/service.h"

#define OPEN_OF 3
#define OPEN_NEEDS 2
#define CLOSE_TICKS 10

static unsigned ones(unsigned bits) { return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1); }

static void eval_one(struct loop *l, struct service_loop *s, unsigned i)
{
    const struct symptom_def *d = &s->def->symptoms[i];
    struct symptom_state *st = &s->symptoms[i];
    st->now = expr_eval(d->when, &s->evidence);
    if (st->now == TRI_UNKNOWN) {
        bool learning = s->control.state == STATE_LEARNING || s->control.state == STATE_RECOVERING;   /* nobody is blind yet */
        if (learning) st->unknown_since = INSTANT_NONE;
        else if (!instant_is_set(st->unknown_since)) st->unknown_since = l->now;
        return;
    }
    st->unknown_since = INSTANT_NONE;
    st->history = (uint8_t)((st->history << 1 | (st->now == TRI_TRUE)) & 7);
    if (st->known < OPEN_OF) st->known++;
    bool clear = st->now == TRI_FALSE;
    if (d->clear && expr_eval(d->clear, &s->evidence) == TRI_TRUE) st->false_run = CLOSE_TICKS;
    else if (!clear) st->false_run = 0;
    else if (st->false_run < UINT16_MAX) st->false_run++;
}

void symptoms_eval(struct loop *l, struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) eval_one(l, s, i);
    loop_beat(l, MODULE_DETECT);
}

static bool opens(const struct symptom_state *st) { return ones(st->history) >= OPEN_NEEDS && st->now == TRI_TRUE; }

/* Nearer to an incident first: opens, then true, false, unknown; then the more severe; then the order of the file. Unknown is
 * last because a service is blind only when none of its symptoms is known: a drift that needs weeks to warm blinds nobody. */
static int nearness(const struct symptom_state *st)
{
    static const int order[] = {[TRI_FALSE] = 2, [TRI_TRUE] = 1, [TRI_UNKNOWN] = 3};
    return opens(st) ? 0 : order[st->now];
}

static bool drives_before(const struct service_loop *s, unsigned a, unsigned b)
{
    int na = nearness(&s->symptoms[a]), nb = nearness(&s->symptoms[b]);
    return na != nb ? na < nb : s->def->symptoms[a].severity < s->def->symptoms[b].severity;
}

/* With an incident its own symptom drives, until it closes. */
static uint16_t driving(const struct service_loop *s)
{
    const struct control *c = &s->control;
    if (c->incident_open && c->symptom < s->def->symptom_count) return c->symptom;
    uint16_t best = 0;
    for (uint16_t i = 1; i < s->def->symptom_count; i++) {
        if (drives_before(s, i, best)) best = i;
    }
    return best;
}

/* Two false known ticks in a row: the next one cannot make it 2 of 3. Only when that holds for every symptom. */
static bool all_hopeless(const struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        if ((s->symptoms[i].history & 3) != 0) return false;
    }
    return true;
}

/* A closed symptom does not close the service's incident while another one is still true. */
static bool all_clear(const struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        const struct symptom_state *st = &s->symptoms[i];
        bool suspect = st->now == TRI_TRUE && s->def->symptoms[i].request_layer;
        if (suspect) return false;
    }
    return true;
}

void symptoms_drive(const struct loop *l, const struct service_loop *s, struct symptom_summary *ret)
{
    *ret = (struct symptom_summary){.now = TRI_UNKNOWN, .index = NO_INDEX};
    if (s->def->symptom_count == 0) return;
    uint16_t i = driving(s);
    const struct symptom_state *st = &s->symptoms[i];
    ret->index = i;
    ret->now = st->now;
    ret->slo = s->def->symptoms[i].slo;
    ret->opens = opens(st);
    ret->hopeless = st->now == TRI_FALSE && all_hopeless(s);
    ret->clears = st->false_run >= CLOSE_TICKS && all_clear(s);
    ret->blind = instant_is_set(st->unknown_since) &&
                 !span_less(instant_since(l->now, st->unknown_since), s->def->timing.blind_after);
}

bool symptoms_request_layer_true(const struct service_loop *s, enum tri *ret)
{
    enum tri any = TRI_FALSE;
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        if (s->def->symptoms[i].request_layer) any = tri_or(any, s->symptoms[i].now);
    }
    *ret = any;
    return any == TRI_TRUE;
}
