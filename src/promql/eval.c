/* Walks the tree once per step. Samples are fetched once per selector for all steps. */
#include "promql/eval.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define LOOKBACK_MS (PQ_LOOKBACK.us / US_PER_MS)
#define DEFAULT_STEP_MS 60000
#define STEPS_MAX 200000

bool pq_eval_fail(struct eval *ev, enum status code, const char *fmt, ...)
{
    if (ev->status != STATUS_OK) return false;
    ev->status = code;
    struct buf b = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    err_set(ev->err, code, "%s", buf_text(&b));
    buf_free(&b);
    return false;
}

void pq_eval_warn(struct eval *ev, const char *note)
{
    if (!ev->ret->note) ev->ret->note = note;
    ev->ret->warnings++;
}

void pq_eval_info(struct eval *ev, const char *note)
{
    if (!ev->ret->note) ev->ret->note = note;
    ev->ret->infos++;
}

bool pq_is_stale(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits == PQ_STALE_BITS;
}

/* Subqueries multiply: a short text can ask for years of work. */
static bool spend(struct eval *ev, uint64_t work)
{
    ev->work += work;
    return ev->work <= PQ_LIMIT_WORK ||
           pq_eval_fail(ev, STATUS_LIMIT, "the query is too much work: narrow its selectors, ranges or steps");
}

static bool out_of_memory(struct eval *ev)
{
    return pq_eval_fail(ev, STATUS_LIMIT, "the query needs more memory than it may use: narrow its selectors or ranges");
}

bool pq_vector_room(struct eval *ev, uint32_t n, struct value *ret)
{
    *ret = (struct value){.type = PQ_VECTOR};
    if (n == 0) return true;
    ret->items = ARENA_NEW_N(ev->arena, n, struct pq_element);
    return ret->items || out_of_memory(ev);
}

/* ---- grouping ---- */

bool pq_group_by_labels(struct eval *ev, const struct pq_labels *keys, uint32_t n, uint32_t *ret_group, uint32_t *ret_count)
{
    *ret_count = 0;
    if (n == 0) return true;
    uint32_t size = 4;
    while (size < n * 2) size *= 2;
    uint32_t *slots = ARENA_NEW_N(ev->arena, size, uint32_t);      /* element + 1 */
    if (!slots) return out_of_memory(ev);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)pq_labels_hash(keys[i]) & (size - 1);
        while (slots[at] && pq_labels_compare(keys[slots[at] - 1], keys[i]) != 0) at = (at + 1) & (size - 1);
        if (slots[at]) {
            ret_group[i] = ret_group[slots[at] - 1];
        } else {
            slots[at] = i + 1;
            ret_group[i] = (*ret_count)++;
        }
    }
    return true;
}

bool pq_vector_check_unique(struct eval *ev, const struct value *v)
{
    if (v->n < 2) return true;
    struct pq_labels *keys = ARENA_NEW_N(ev->arena, v->n, struct pq_labels);
    uint32_t *group = ARENA_NEW_N(ev->arena, v->n, uint32_t), count;
    if (!keys || !group) return out_of_memory(ev);
    for (uint32_t i = 0; i < v->n; i++) keys[i] = v->items[i].labels;
    if (!pq_group_by_labels(ev, keys, v->n, group, &count)) return false;
    if (count == v->n) return true;
    return pq_eval_fail(ev, STATUS_INVALID, "vector cannot contain metrics with the same labelset: two series differ in "
                                         "their metric name only; aggregate or select one name");
}

/* ---- fetching ---- */

struct sink { struct eval *ev; struct fetched *to; };

static bool sink_series(void *ctx, const struct pq_series *s)
{
    struct sink *k = ctx;
    struct fetched *f = k->to;
    if (f->n == PQ_LIMIT_SERIES) {
        pq_eval_fail(k->ev, STATUS_LIMIT, "a selector finds more than %d series", PQ_LIMIT_SERIES);
        return false;
    }
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 16;
        struct pq_series *items = ARENA_NEW_N(k->ev->keep, cap, struct pq_series);
        if (!items) return out_of_memory(k->ev);
        if (f->n) memcpy(items, f->items, f->n * sizeof *items);
        f->items = items;
        f->cap = cap;
    }
    f->items[f->n++] = *s;
    return true;
}

struct window { int64_t from, to; };

static struct window node_window(const struct eval *ev, const struct pq_node *n, struct window w)
{
    if (n->at_kind == AT_TIME) w.from = w.to = n->at_ms;
    if (n->at_kind == AT_START) w.from = w.to = ev->start_ms;
    if (n->at_kind == AT_END) w.from = w.to = ev->end_ms;
    return (struct window){w.from - n->offset_ms, w.to - n->offset_ms};
}

static bool fetch_selector(struct eval *ev, const struct pq_node *n, struct window w)
{
    w = node_window(ev, n, w);
    w.from -= n->range_ms ? n->range_ms : LOOKBACK_MS;
    struct sink sink = {ev, &ev->fetched[n->index]};
    *ev->q->match_failed = false;
    bool done = ev->source->select(ev->source->ctx, (const struct pq_matcher *const *)n->matchers, n->matcher_count,
                                   w.from + 1, w.to, sink_series, &sink);
    if (*ev->q->match_failed) return pq_eval_fail(ev, STATUS_LIMIT, "a regular expression is too costly: simplify it");
    return done || ev->status != STATUS_OK ? ev->status == STATUS_OK
                                           : pq_eval_fail(ev, STATUS_LIMIT, "the samples could not be read");
}

static bool fetch(struct eval *ev, const struct pq_node *n, struct window w)
{
    if (!n) return true;
    if (n->kind == NODE_SELECTOR) return fetch_selector(ev, n, w);
    if (n->kind == NODE_SUBQUERY) {
        w = node_window(ev, n, w);
        w.from -= n->range_ms;
    }
    for (uint32_t i = 0; i < n->arg_count; i++)
        if (!fetch(ev, n->args[i], w)) return false;
    return fetch(ev, n->a, w) && fetch(ev, n->b, w);
}

/* ---- selectors ---- */

int64_t pq_node_end_time(const struct eval *ev, const struct pq_node *n, int64_t t)
{
    return node_window(ev, n, (struct window){t, t}).to;
}

/* Number of samples at or before t. */
static uint32_t samples_until(const struct pq_series *s, int64_t t)
{
    if (s->n == 0 || s->samples[s->n - 1].t_ms <= t) return s->n;
    uint32_t lo = 0, hi = s->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (s->samples[mid].t_ms <= t) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static void saw(struct eval *ev, int64_t t_ms)
{
    if (t_ms > ev->ret->newest_ms) ev->ret->newest_ms = t_ms;
}

static bool eval_instant(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    const struct fetched *f = &ev->fetched[n->index];
    int64_t at = pq_node_end_time(ev, n, t);
    if (!spend(ev, f->n) || !pq_vector_room(ev, f->n, ret)) return false;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct pq_series *s = &f->items[i];
        uint32_t k = samples_until(s, at);
        if (k == 0) continue;
        const struct pq_sample *p = &s->samples[k - 1];
        if (p->t_ms <= at - LOOKBACK_MS || pq_is_stale(p->v)) continue;
        ret->items[ret->n++] = (struct pq_element){s->labels, p->v, p->t_ms};
        saw(ev, p->t_ms);
    }
    return true;
}

/* A copy without stale markers, which are no samples of a range. */
static bool without_markers(struct eval *ev, struct pq_series *s)
{
    uint32_t markers = 0;
    for (uint32_t i = 0; i < s->n; i++) markers += pq_is_stale(s->samples[i].v);
    if (markers == 0) return true;
    struct pq_sample *copy = ARENA_NEW_N(ev->arena, s->n, struct pq_sample);
    if (!copy) return out_of_memory(ev);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (!pq_is_stale(s->samples[i].v)) copy[n++] = s->samples[i];
    s->samples = copy;
    s->n = n;
    return true;
}

static bool eval_range_selector(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    const struct fetched *f = &ev->fetched[n->index];
    int64_t to = pq_node_end_time(ev, n, t), from = to - n->range_ms;
    *ret = (struct value){.type = PQ_MATRIX};
    if (f->n == 0) return true;
    ret->series = ARENA_NEW_N(ev->arena, f->n, struct pq_series);
    if (!ret->series) return out_of_memory(ev);
    for (uint32_t i = 0; i < f->n; i++) {
        struct pq_series s = f->items[i];
        uint32_t end = samples_until(&s, to), begin = samples_until(&s, from);
        s.samples += begin;
        s.n = end - begin;
        if (!spend(ev, s.n) || !without_markers(ev, &s)) return false;
        if (s.n == 0) continue;
        saw(ev, s.samples[s.n - 1].t_ms);
        ret->series[ret->series_n++] = s;
    }
    return true;
}

/* ---- collecting steps into series ---- */

struct growing { struct pq_labels labels; struct pq_sample *samples; uint32_t n, cap; };
struct collector { struct growing *items; uint32_t n, cap, *slots, slot_count; };

static bool collector_rehash(struct arena *a, struct collector *c)
{
    uint32_t size = c->slot_count ? c->slot_count * 2 : 16;
    c->slots = ARENA_NEW_N(a, size, uint32_t);
    if (!c->slots) return false;
    c->slot_count = size;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t at = (uint32_t)pq_labels_hash(c->items[i].labels) & (size - 1);
        while (c->slots[at]) at = (at + 1) & (size - 1);
        c->slots[at] = i + 1;
    }
    return true;
}

/* Labels of a step live in the step's arena: what is kept is copied. */
static struct pq_labels labels_copy(struct arena *a, struct pq_labels l)
{
    struct pq_label *items = ARENA_NEW_N(a, (size_t)l.n + 1, struct pq_label);
    if (!items) return (struct pq_labels){NULL, 0};
    for (uint32_t i = 0; i < l.n; i++) {
        items[i].name = arena_strdup(a, l.items[i].name);
        items[i].value = arena_strdup(a, l.items[i].value);
        if (!items[i].name || !items[i].value) return (struct pq_labels){NULL, 0};
    }
    return (struct pq_labels){items, l.n};
}

static struct growing *collector_find(struct arena *a, struct collector *c, struct pq_labels labels)
{
    if (c->n * 2 >= c->slot_count && !collector_rehash(a, c)) return NULL;
    uint32_t at = (uint32_t)pq_labels_hash(labels) & (c->slot_count - 1);
    for (; c->slots[at]; at = (at + 1) & (c->slot_count - 1))
        if (pq_labels_compare(c->items[c->slots[at] - 1].labels, labels) == 0) return &c->items[c->slots[at] - 1];
    if (c->n == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 16;
        struct growing *items = ARENA_NEW_N(a, cap, struct growing);
        if (!items) return NULL;
        if (c->n) memcpy(items, c->items, c->n * sizeof *items);
        c->items = items;
        c->cap = cap;
    }
    struct growing *g = &c->items[c->n++];
    c->slots[at] = c->n;
    *g = (struct growing){.labels = labels_copy(a, labels)};
    return g;
}

static bool collector_add(struct arena *a, struct collector *c, const struct pq_element *e, int64_t t)
{
    struct growing *g = collector_find(a, c, e->labels);
    if (!g) return false;
    if (g->n == g->cap) {
        uint32_t cap = g->cap ? g->cap * 2 : 8;
        struct pq_sample *samples = ARENA_NEW_N(a, cap, struct pq_sample);
        if (!samples) return false;
        if (g->n) memcpy(samples, g->samples, g->n * sizeof *samples);
        g->samples = samples;
        g->cap = cap;
    }
    g->samples[g->n++] = (struct pq_sample){t, e->v};
    return true;
}

static bool collector_series(struct arena *a, const struct collector *c, struct pq_series **ret, uint32_t *ret_n)
{
    *ret_n = 0;
    *ret = NULL;
    if (c->n == 0) return true;
    *ret = ARENA_NEW_N(a, c->n, struct pq_series);
    if (!*ret) return false;
    for (uint32_t i = 0; i < c->n; i++)
        (*ret)[(*ret_n)++] = (struct pq_series){c->items[i].labels, c->items[i].samples, c->items[i].n};
    return true;
}

static bool add_step(struct eval *ev, struct arena *to, struct collector *c, const struct value *v, int64_t t)
{
    struct pq_element single = {{NULL, 0}, v->scalar, t};
    if (v->type == PQ_SCALAR) return collector_add(to, c, &single, t) || out_of_memory(ev);
    for (uint32_t i = 0; i < v->n; i++)
        if (!collector_add(to, c, &v->items[i], t)) return out_of_memory(ev);
    return true;
}

/* Each step's memory is given back after it: only what the collector keeps stays. */
static bool inner_steps(struct eval *ev, const struct pq_node *n, int64_t first, int64_t end, int64_t step, struct collector *c)
{
    struct arena *outer = ev->arena, inner = {.limit = outer->limit};
    bool ok = true;
    ev->arena = &inner;
    for (int64_t at = first; ok && at <= end; at += step) {
        struct value v;
        ok = pq_eval_node(ev, n, at, &v) && add_step(ev, outer, c, &v, at);
        arena_reset(&inner);
    }
    ev->arena = outer;
    arena_free(&inner);
    return ok;
}

/* Steps are multiples of the step width, inside (end - range, end]. */
static bool eval_subquery(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    int64_t step = n->step_ms ? n->step_ms : DEFAULT_STEP_MS;
    int64_t end = pq_node_end_time(ev, n, t), begin = end - n->range_ms;
    int64_t first = begin / step * step;
    if (first > begin) first -= step;
    if (first <= begin) first += step;
    if ((end - first) / step > STEPS_MAX)
        return pq_eval_fail(ev, STATUS_LIMIT, "the subquery has more than %d steps: widen its step", STEPS_MAX);
    struct collector c = {0};
    if (!inner_steps(ev, n->a, first, end, step, &c)) return false;
    *ret = (struct value){.type = PQ_MATRIX};
    return collector_series(ev->arena, &c, &ret->series, &ret->series_n) || out_of_memory(ev);
}

/* ---- the rest of the tree ---- */

static bool eval_minus(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    if (!pq_eval_node(ev, n->a, t, ret)) return false;
    if (ret->type == PQ_SCALAR) {
        ret->scalar = -ret->scalar;
        return true;
    }
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->items[i].v = -ret->items[i].v;
        ret->items[i].labels = pq_labels_without_name(ev, ret->items[i].labels);
    }
    return pq_vector_check_unique(ev, ret);
}

bool pq_eval_node(struct eval *ev, const struct pq_node *n, int64_t t, struct value *ret)
{
    if (ev->status != STATUS_OK || !spend(ev, 1)) return false;
    switch (n->kind) {
    case NODE_NUMBER: *ret = (struct value){.type = PQ_SCALAR, .scalar = n->number}; return true;
    case NODE_STRING: *ret = (struct value){.type = PQ_STRING, .string = n->string}; return true;
    case NODE_SELECTOR: return n->range_ms ? eval_range_selector(ev, n, t, ret) : eval_instant(ev, n, t, ret);
    case NODE_SUBQUERY: return eval_subquery(ev, n, t, ret);
    case NODE_CALL: return n->function->body(ev, n, t, ret);
    case NODE_AGGREGATE: return pq_eval_aggregate(ev, n, t, ret);
    case NODE_BINARY: return pq_eval_binary(ev, n, t, ret);
    case NODE_MINUS: return eval_minus(ev, n, t, ret);
    case NODE_PAREN: return pq_eval_node(ev, n->a, t, ret);
    }
    return pq_eval_fail(ev, STATUS_INVALID, "an unknown part in the query");
}

/* ---- entry ---- */

static bool eval_begin(struct eval *ev, struct pq_result *r)
{
    memset(r, 0, sizeof *r);
    r->newest_ms = INT64_MIN;
    r->type = ev->q->root->type;
    ev->fetched = ARENA_NEW_N(ev->keep, (size_t)ev->q->selector_count + 1, struct fetched);
    if (!ev->fetched) return out_of_memory(ev);
    return fetch(ev, ev->q->root, (struct window){ev->start_ms, ev->end_ms});
}

enum status pq_eval(const struct pq *q, const struct pq_source *source, int64_t at_ms, struct arena *scratch,
                    struct pq_result *ret, struct err *err)
{
    struct pq_result r;
    struct eval ev = {.q = q, .source = source, .arena = scratch, .keep = scratch, .err = err, .start_ms = at_ms,
                      .end_ms = at_ms, .ret = &r};
    struct value v;
    if (!eval_begin(&ev, &r) || !pq_eval_node(&ev, q->root, at_ms, &v) || ev.status != STATUS_OK) return ev.status;
    if (v.type == PQ_VECTOR && !pq_vector_check_unique(&ev, &v)) return ev.status;
    r.type = v.type;
    r.scalar = v.scalar;
    r.string = v.string;
    r.items = v.items;
    r.n = v.n;
    r.series = v.series;
    r.series_n = v.series_n;
    *ret = r;
    return STATUS_OK;
}

static bool run_steps(struct eval *ev, int64_t step_ms, struct collector *c)
{
    for (int64_t t = ev->start_ms; t <= ev->end_ms; t += step_ms) {
        struct value v;
        bool ok = pq_eval_node(ev, ev->q->root, t, &v);
        if (ok && v.type == PQ_VECTOR) ok = pq_vector_check_unique(ev, &v);
        if (ok) ok = ev->status == STATUS_OK && add_step(ev, ev->keep, c, &v, t);
        arena_reset(ev->arena);
        if (!ok) return false;
    }
    return true;
}

enum status pq_eval_range(const struct pq *q, const struct pq_source *source, int64_t from_ms, int64_t to_ms,
                          int64_t step_ms, struct arena *scratch, struct pq_result *ret, struct err *err)
{
    struct pq_result r;
    struct arena step = ARENA_INIT;
    step.limit = scratch->limit;
    struct eval ev = {.q = q, .source = source, .arena = &step, .keep = scratch, .err = err, .start_ms = from_ms,
                      .end_ms = to_ms, .ret = &r};
    if (step_ms <= 0 || to_ms < from_ms) return err_set(err, STATUS_INVALID, "the range needs from <= to and a step > 0");
    if ((to_ms - from_ms) / step_ms > STEPS_MAX)
        return err_set(err, STATUS_LIMIT, "the range has more than %d steps: widen the step", STEPS_MAX);
    if (q->root->type == PQ_MATRIX || q->root->type == PQ_STRING)
        return err_set(err, STATUS_INVALID, "a range query needs a scalar or a vector, not a %s", pq_type_text(q->root->type));
    struct collector c = {0};
    bool ok = eval_begin(&ev, &r) && run_steps(&ev, step_ms, &c);
    arena_free(&step);
    if (!ok) return ev.status;
    r.type = PQ_MATRIX;
    if (!collector_series(scratch, &c, &r.series, &r.series_n)) return err_set(err, STATUS_MEMORY, "out of memory");
    *ret = r;
    return STATUS_OK;
}
