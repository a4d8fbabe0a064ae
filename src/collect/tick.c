/* Evaluating signals: what is due, whether enough instances report, how fresh it is, why it is unknown. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "collect/inside.h"

/* What a selection met on its way. */
struct looking {
    struct collect *c;
    const struct signal_def *def;
    struct instant now;
    enum unknown_why why;          /* BROKEN, CLOCK or SENTINEL when a series of the answer is */
};

static struct span signal_interval(const struct signal_def *d)
{
    return d->interval.us > 0 ? d->interval : SPAN_S(layer_interval_s(d->layer));
}

static struct span stale_after(const struct signal_def *d)
{
    return (struct span){signal_interval(d).us * STALE_INTERVALS};
}

static bool reports(const struct target *t, struct instant now, struct span within)
{
    return instant_is_set(t->last_good) && !span_less(within, instant_since(now, t->last_good));
}

static struct point unknown_point(struct instant at, enum unknown_why why)
{
    return (struct point){.at = at, .value = NAN, .why = why};
}

/* ---- storage behind the evaluator ---- */

static const char *label_of(struct pq_labels l, const char *name)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, name) == 0) return l.items[i].value;
    return "";
}

static bool selected(const struct series *s, const struct pq_matcher *const *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!pq_matches(m[i], label_of(s->labels, pq_matcher_name(m[i])))) return false;
    return true;
}

static struct pq_series between(const struct series *s, int64_t from_ms, int64_t to_ms)
{
    struct pq_series part = {s->labels, s->samples + s->first, s->n};
    while (part.n && part.samples[part.n - 1].t_ms > to_ms) part.n--;
    uint32_t lo = 0, hi = part.n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (part.samples[mid].t_ms < from_ms) lo = mid + 1;
        else hi = mid;
    }
    part.samples += lo;
    part.n -= lo;
    return part;
}

static bool offer(struct looking *l, const struct series *s, int64_t from_ms, int64_t to_ms,
                  bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx)
{
    const struct target *t = &l->c->targets[s->target];
    /* An instance that has gone quiet takes no part: its last samples are old. Its `up` does. */
    if (!reports(t, l->now, stale_after(l->def)) && strcmp(l->c->names[s->name].text, "up") != 0) return true;
    if (s->why != WHY_KNOWN) l->why = s->why;
    if (s->n == 0) return true;
    struct pq_series part = between(s, from_ms, to_ms);
    if (part.n == 0) return true;
    if (l->def->has_sentinel && part.samples[part.n - 1].v == l->def->sentinel) l->why = WHY_SENTINEL;
    return sink(sink_ctx, &part);
}

static bool offer_name(struct looking *l, const struct name *n, const struct pq_matcher *const *matchers, uint32_t count,
                       int64_t from_ms, int64_t to_ms, bool (*sink)(void *, const struct pq_series *), void *sink_ctx)
{
    if (n->broken) l->why = WHY_BROKEN;
    for (uint32_t i = 0; i < n->series_n; i++) {
        const struct series *s = &l->c->series[n->series[i]];
        if (selected(s, matchers, count) && !offer(l, s, from_ms, to_ms, sink, sink_ctx)) return false;
    }
    return true;
}

static bool select_series(void *ctx, const struct pq_matcher *const *matchers, uint32_t n, int64_t from_ms, int64_t to_ms,
                          bool (*sink)(void *sink_ctx, const struct pq_series *series), void *sink_ctx)
{
    struct looking *l = ctx;
    for (uint32_t i = 0; i < n; i++) {
        if (pq_matcher_kind(matchers[i]) != PQ_EQ || strcmp(pq_matcher_name(matchers[i]), "__name__") != 0) continue;
        const char *text = pq_matcher_value(matchers[i]);
        uint32_t name = collect_name_find(l->c, text, (uint32_t)strlen(text));
        return name == NO_SERIES ||
               offer_name(l, &l->c->names[name], matchers, n, from_ms, to_ms, sink, sink_ctx);
    }
    for (uint32_t i = 0; i < l->c->name_count; i++)
        if (!offer_name(l, &l->c->names[i], matchers, n, from_ms, to_ms, sink, sink_ctx)) return false;
    return true;
}

/* ---- one signal ---- */

/* loop.md "Freshness": a value needs two thirds of the instances. */
static enum unknown_why instances_why(const struct collect *c, const struct signal_def *d, struct instant now)
{
    uint32_t good = 0, all = service_instances(c->s), failed = 0;
    enum unknown_why why = WHY_STALE;
    for (uint32_t i = 0; i < all; i++) {
        const struct target *t = &c->targets[i];
        good += reports(t, now, stale_after(d));
        if (t->tried && t->why != WHY_KNOWN) { failed++; why = t->why; }
    }
    if (all == 0 || good * 3 >= all * 2) return WHY_KNOWN;
    if (good > 0) return WHY_INSTANCES;
    return failed ? why : WHY_STALE;
}

static enum unknown_why missing_why(const struct collect *c)
{
    enum unknown_why why = WHY_MISSING;
    for (uint32_t i = 0; i < c->s->target_count; i++) {
        if (c->targets[i].tried && c->targets[i].why == WHY_KNOWN) return WHY_MISSING;
        if (c->targets[i].tried) why = c->targets[i].why;
    }
    return why;
}

static struct point judge_value(const struct looking *l, double v, struct instant at, double observations)
{
    const struct signal_def *d = l->def;
    /* A quantile of no requests is not a number: that is an idle service, not a broken one. */
    if (isnan(v) && d->is_quantile) return unknown_point(at, WHY_LOW_TRAFFIC);
    if (isnan(v) || isinf(v)) return unknown_point(at, WHY_NAN);
    if (d->has_sentinel && v == d->sentinel) return unknown_point(at, WHY_SENTINEL);
    struct point p = {.at = at, .value = v, .why = WHY_KNOWN};
    if (observations > 0) p.n = observations < 4e9 ? (uint32_t)(observations + 0.5) : UINT32_MAX;
    return p;
}

static struct point judge_result(const struct looking *l, const struct pq_result *r)
{
    const struct collect *c = l->c;
    struct instant at = l->now;
    if (r->newest_ms != INT64_MIN) at = instant_min(l->now, timeline_instant(c, r->newest_ms));
    if (l->why != WHY_KNOWN) return unknown_point(at, l->why);
    if (r->type == PQ_VECTOR && r->n == 0) return unknown_point(l->now, missing_why(c));
    if (r->type == PQ_VECTOR && r->n > 1 && l->def->shape == SHAPE_NONE) return unknown_point(at, WHY_AMBIGUOUS);
    if (r->newest_ms != INT64_MIN && span_less(stale_after(l->def), instant_since(l->now, at)))
        return unknown_point(at, WHY_STALE);
    return judge_value(l, r->type == PQ_VECTOR ? r->items[0].v : r->scalar, at, l->def->is_quantile ? r->observations : 0);
}

/* A rate over a reload of ours says nothing, wherever it was worked out. */
static bool is_reloading(const struct collect *c, const struct signal_def *d, struct instant now)
{
    return instant_is_set(c->own_reload) && d->range.us > 0 && !instant_before(now, c->own_reload) &&
           instant_before(now, instant_add(c->own_reload, d->range));
}

static struct point evaluate(struct collect *c, const struct signal_def *d, struct instant now)
{
    enum unknown_why why = instances_why(c, d, now);
    if (why != WHY_KNOWN) return unknown_point(now, why);
    if (is_reloading(c, d, now)) return unknown_point(now, WHY_RESET);
    struct looking l = {.c = c, .def = d, .now = now, .why = WHY_KNOWN};
    struct pq_source source = {&l, select_series};
    struct pq_result r;
    arena_reset(&c->scratch);
    if (pq_eval(d->query, &source, timeline(c, now), &c->scratch, &r, NULL) != STATUS_OK) return unknown_point(now, WHY_LIMIT);
    return judge_result(&l, &r);
}

/* ---- distributions ---- */

static bool bucket_of(const struct pq_element *e, double *ret_edge)
{
    for (uint32_t i = 0; i < e->labels.n; i++) {
        const char *text = e->labels.items[i].value;
        if (strcmp(e->labels.items[i].name, "le") == 0) return num_parse_all(text, strlen(text), ret_edge) && !isnan(*ret_edge);
    }
    return false;
}

/* Cumulative buckets in any order -> counts by ascending edge. false: no `le`, twice the same, no +Inf, too many, not a number. */
static bool to_histogram(const struct pq_result *r, struct histogram *ret)
{
    if (r->type != PQ_VECTOR || r->n < 2 || r->n > HISTOGRAM_BINS_MAX) return false;
    ret->bins = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        double edge, count = r->items[i].v;
        uint32_t at = ret->bins;
        if (!bucket_of(&r->items[i], &edge) || !isfinite(count) || count < 0) return false;
        for (; at > 0 && ret->edge[at - 1] > edge; at--) {
            ret->edge[at] = ret->edge[at - 1];
            ret->count[at] = ret->count[at - 1];
        }
        if (at > 0 && ret->edge[at - 1] == edge) return false;
        ret->edge[at] = edge;
        ret->count[at] = count;
        ret->bins++;
    }
    if (!isinf(ret->edge[ret->bins - 1])) return false;
    for (uint32_t i = ret->bins - 1; i > 0; i--) {       /* a scrape between two buckets' updates: never less than none */
        double own = ret->count[i] - ret->count[i - 1];
        ret->count[i] = own > 0 ? own : 0;
    }
    return true;
}

bool collect_shape(struct collect *c, uint16_t signal, struct instant now, struct histogram *ret)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    CHECK(signal < c->s->signal_count);
    const struct signal_def *d = &c->s->signals[signal];
    struct looking l = {.c = c, .def = d, .now = now, .why = WHY_KNOWN};
    struct pq_source source = {&l, select_series};
    struct pq_result r;
    if (!d->query) return false;
    arena_reset(&c->scratch);
    bool good = pq_eval(d->query, &source, timeline(c, now), &c->scratch, &r, NULL) == STATUS_OK && l.why == WHY_KNOWN &&
                to_histogram(&r, ret);
    arena_free(&c->scratch);
    c->scratch.limit = SCRATCH_LIMIT;
    return good;
}

/* ---- the tick ---- */

/* A value from outside, or one that was not due: is it still fresh? */
static struct point aged(struct point p, const struct signal_def *d, struct instant now)
{
    if (p.why != WHY_KNOWN || !span_less(stale_after(d), instant_since(now, p.at))) return p;
    return unknown_point(p.at, WHY_STALE);
}

static bool is_due(struct signal_state *s, const struct signal_def *d, struct instant now)
{
    struct span step = signal_interval(d);
    /* A tick that comes a moment early is that tick, not the one before it. */
    if (!instant_reached(instant_add(now, (struct span){step.us / 20}), s->next)) return false;
    struct instant next = instant_is_set(s->next) ? instant_add(s->next, step) : instant_add(now, step);
    s->next = instant_reached(now, next) ? instant_add(now, step) : next;
    return true;
}

void collect_tick(struct collect *c, struct instant now, struct wall wall, struct point *out, bool *due)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    collect_anchor(c, now, wall);
    for (uint16_t i = 0; i < c->s->signal_count; i++) {
        const struct signal_def *d = &c->s->signals[i];
        struct signal_state *s = &c->signals[i];
        due[i] = is_due(s, d, now);
        if (due[i] && d->query) {
            s->last = evaluate(c, d, now);
            s->given = true;
        }
        out[i] = s->given ? aged(s->last, d, now) : unknown_point(now, WHY_MISSING);
        if (!d->query && is_reloading(c, d, now)) out[i] = unknown_point(now, WHY_RESET);
    }
    /* Ten thousand collectors must not each keep the memory of their largest query. */
    arena_free(&c->scratch);
    c->scratch.limit = SCRATCH_LIMIT;
}

void collect_value(struct collect *c, uint16_t signal, struct point p)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    CHECK(signal < c->s->signal_count);
    struct signal_state *s = &c->signals[signal];
    if (s->given && instant_before(p.at, s->last.at)) return;     /* time never goes back */
    const struct signal_def *d = &c->s->signals[signal];
    bool known = p.why == WHY_KNOWN;
    if (known && (isnan(p.value) || isinf(p.value))) p.why = WHY_NAN;
    else if (known && d->has_sentinel && p.value == d->sentinel) p.why = WHY_SENTINEL;
    if (p.why != WHY_KNOWN) p.value = NAN;
    s->last = p;
    s->given = true;
}
