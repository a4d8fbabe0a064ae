/* Symptom states: loop.md section 1, "Symptom state". Unknown counts for neither side. */
#include "base/check.h"
#include "loop/service.h"

#define OPEN_OF 3
#define OPEN_NEEDS 2
#define CLOSE_TICKS 10

bool symptom_is_drift(const struct symptom_def *d)
{
    struct expr_use use;
    expr_describe(d->when, &use);
    return (use.views >> VIEW_DRIFT & 1) && !(use.views >> VIEW_BASELINE & 1);
}

static unsigned ones(unsigned bits) { return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1); }

/* loop.md section 1, "profile, drift": inside its incident a drift is told by the same ratio over the window; the median of 24 h
 * could not see for half a day that a change has helped. */
static enum tri eval_over_window(const struct loop *l, const struct service_loop *s, const struct symptom_def *d)
{
    struct datum items[NEEDS_MAX];
    struct evidence e = s->evidence;
    struct instant from = instant_sub(l->now, s->def->timing.window);
    CHECK(e.needs->n <= NEEDS_MAX);
    for (unsigned i = 0; i < e.needs->n; i++) {
        const struct need *need = &e.needs->items[i];
        bool drift = need->fn == FN_DRIFT && need->subject < s->def->signal_count;
        items[i] = drift ? detect_window_drift(s->detect, need->subject, from, l->now) : e.items[i];
    }
    e.items = items;
    return expr_eval(d->when, &e);
}

static enum tri eval_rule(const struct loop *l, const struct service_loop *s, unsigned i)
{
    const struct symptom_def *d = &s->def->symptoms[i];
    bool inside = s->control.incident_open && (s->symptoms[i].firing || s->control.symptom == i);
    return inside && symptom_is_drift(d) ? eval_over_window(l, s, d) : expr_eval(d->when, &s->evidence);
}

/* A view that only lacks history says nothing yet, and an idle service has no latency: neither is blindness. */
static bool lacks_data(const struct service_loop *s, const struct symptom_def *d)
{
    enum unknown_why why = WHY_KNOWN;
    uint16_t signal = expr_first_unknown(d->when, &s->evidence, &why);
    if (signal == NO_INDEX || why == WHY_WARMING || why == WHY_NO_HISTORY) return false;
    return !(tick_idle(s) && s->def->signals[signal].layer == LAYER_REQUEST);
}

static void eval_unknown(const struct loop *l, const struct service_loop *s, const struct symptom_def *d, struct symptom_state *st)
{
    bool learning = s->control.state == STATE_LEARNING || s->control.state == STATE_RECOVERING;   /* nobody is blind yet */
    st->waits = !lacks_data(s, d);
    if (learning || st->waits) st->unknown_since = INSTANT_NONE;
    else if (!instant_is_set(st->unknown_since)) st->unknown_since = l->now;
}

static bool opens(const struct symptom_state *st) { return ones(st->history) >= OPEN_NEEDS && st->now == TRI_TRUE; }

/* In an incident that has been open for long the baselines learn again, slowly: a new symptom freezes them anew. */
static void begin_spell(const struct loop *l, struct service_loop *s, unsigned i)
{
    struct symptom_state *st = &s->symptoms[i];
    st->true_since = l->now;
    uint16_t open = s->control.incident_open ? s->control.symptom : NO_INDEX;
    bool felt = open < s->def->symptom_count && s->def->symptoms[open].request_layer;
    if (open < s->def->symptom_count && open != i && !felt && !st->firing) detect_refreeze(s->detect, l->now);
}

static void eval_one(struct loop *l, struct service_loop *s, unsigned i)
{
    const struct symptom_def *d = &s->def->symptoms[i];
    struct symptom_state *st = &s->symptoms[i];
    st->now = eval_rule(l, s, i);
    st->waits = false;
    if (st->now == TRI_UNKNOWN) {
        eval_unknown(l, s, d, st);
        return;
    }
    st->unknown_since = INSTANT_NONE;
    st->history = (uint8_t)((st->history << 1 | (st->now == TRI_TRUE)) & 7);
    if (st->now == TRI_TRUE && !instant_is_set(st->true_since)) begin_spell(l, s, i);
    if ((st->history & 3) == 0) st->true_since = INSTANT_NONE;
    if (st->known < OPEN_OF) st->known++;
    bool clear = st->now == TRI_FALSE;
    if (d->clear && expr_eval(d->clear, &s->evidence) == TRI_TRUE) st->false_run = CLOSE_TICKS;
    else if (!clear) st->false_run = 0;
    else if (st->false_run < UINT16_MAX) st->false_run++;
    st->firing = st->false_run < CLOSE_TICKS && (st->firing || opens(st));
}

/* While people work on the service nothing that is measured says anything: an open incident stays as it is, none opens. */
static void pause(struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        struct symptom_state *st = &s->symptoms[i];
        bool firing = st->firing;
        *st = (struct symptom_state){.now = TRI_UNKNOWN, .firing = firing, .waits = true, .true_since = INSTANT_NONE,
                                     .unknown_since = INSTANT_NONE};
    }
}

void symptoms_eval(struct loop *l, struct service_loop *s)
{
    if (s->maintenance) {
        pause(s);
        loop_beat(l, MODULE_DETECT);
        return;
    }
    for (unsigned i = 0; i < s->def->symptom_count; i++) eval_one(l, s, i);
    loop_beat(l, MODULE_DETECT);
}

/* Nearer to an incident first: opens, then true, unknown, false, not warm; then the more severe; then the order of the file.
 * A drift that needs weeks to warm blinds nobody; a latency that is not measured does, whatever the memory says. */
static int nearness(const struct symptom_state *st)
{
    static const int order[] = {[TRI_FALSE] = 3, [TRI_TRUE] = 1, [TRI_UNKNOWN] = 2};
    return opens(st) ? 0 : st->waits ? 4 : order[st->now];
}

static bool drives_before(const struct service_loop *s, unsigned a, unsigned b)
{
    int na = nearness(&s->symptoms[a]), nb = nearness(&s->symptoms[b]);
    return na != nb ? na < nb : s->def->symptoms[a].severity < s->def->symptoms[b].severity;
}

/* loop.md section 1: of several symptoms the most severe drives. While a change is on its way the incident stays what it was
 * opened for; with a person it is only taken back from one that nothing is tuned for. */
static bool may_move(const struct service_loop *s)
{
    const struct control *c = &s->control;
    return c->state == STATE_OPEN || (c->state == STATE_PERSON && !s->def->symptoms[c->symptom].request_layer);
}

static uint16_t driving_incident(const struct service_loop *s)
{
    uint16_t now = s->control.symptom;
    for (uint16_t i = 0; may_move(s) && i < s->def->symptom_count; i++) {
        if (i == now || !opens(&s->symptoms[i])) continue;
        bool before = s->def->symptoms[i].severity < s->def->symptoms[now].severity;
        if (before || !s->symptoms[now].firing) now = i;
    }
    return now;
}

static uint16_t driving(const struct service_loop *s)
{
    const struct control *c = &s->control;
    if (c->incident_open && c->symptom < s->def->symptom_count) return driving_incident(s);
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

/* Something else that users feel now. A median of 24 h tells nothing about ten minutes. */
static bool something_left(const struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        const struct symptom_def *d = &s->def->symptoms[i];
        if (d->request_layer && !symptom_is_drift(d) && s->symptoms[i].now == TRI_TRUE) return true;
    }
    return false;
}

void symptoms_drive(const struct loop *l, const struct service_loop *s, struct symptom_summary *ret)
{
    *ret = (struct symptom_summary){.now = TRI_UNKNOWN, .index = NO_INDEX};
    if (s->def->symptom_count == 0) return;
    uint16_t i = driving(s);
    const struct symptom_state *st = &s->symptoms[i];
    ret->index = i;
    ret->now = st->now;
    ret->since = st->true_since;
    /* A change that ends what it was made for and leaves something else that users feel has helped in part: closed as recovered,
     * what is left would become the new normal. */
    if (s->control.state == STATE_OBSERVING && ret->now == TRI_FALSE && something_left(s)) ret->now = TRI_TRUE;
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

void symptoms_closed(struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) s->symptoms[i].firing = false;
}

bool symptoms_any(const struct service_loop *s)
{
    for (unsigned i = 0; i < s->def->symptom_count; i++) {
        if (s->symptoms[i].now == TRI_TRUE || s->symptoms[i].firing) return true;
    }
    return false;
}
