/* Targets and signals. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"


/* host:port of an address that config_check_url passed. */
static const char *host_of(struct config_work *w, const char *url)
{
    const char *host = strstr(url, "://") + 3;
    char *copy = arena_strndup(w->arena, host, strcspn(host, "/?#"));
    if (!copy) w->b->no_memory = true;
    return copy;
}

static bool read_target(struct config_work *w, const struct config_node *node, struct target_def *t, bool *ret_exporter)
{
    struct config_target raw;
    struct config_pair short_form[1];
    struct config_node key = *node, map = *node;
    if (node->kind == CONFIG_SCALAR) {
        key.text = "url";
        short_form[0] = (struct config_pair){&key, node};
        map.kind = CONFIG_MAP;
        map.pairs = short_form;
        map.n = 1;
    }
    if (!config_read_block(w->d, CONFIG_BLOCK_TARGET, &map, NULL, &raw) || !raw.url.is_set) return false;
    t->url = config_copy(w, raw.url.text);
    t->instance = raw.instance.is_set ? config_copy(w, raw.instance.text) : host_of(w, raw.url.text);
    t->interval = raw.interval.span;   /* 0: set when the signals are known */
    t->timeout = raw.timeout.span;
    t->bearer_file = raw.bearer_file.is_set ? config_copy(w, raw.bearer_file.text) : NULL;
    *ret_exporter = raw.exporter.flag;
    return t->url && t->instance;
}

void config_build_targets(struct config_work *w)
{
    const struct config_value *v = &w->raw.targets;
    struct service_def *s = w->s;
    if (!v->is_set) {
        if (!v->is_wrong && !w->cut && !w->b->o.points_from_outside && !s->prometheus)
            config_wrong(w->d, w->node, "targets: [http://127.0.0.1:9400/metrics]",
                         "this service has no `targets`: nothing to measure");
        return;
    }
    s->targets = config_alloc(w, v->at->n, sizeof *s->targets);
    for (uint32_t i = 0; s->targets && i < v->at->n; i++) {
        struct target_def t = {0};
        bool exporter;
        if (!read_target(w, v->at->items[i], &t, &exporter)) continue;
        for (uint16_t k = 0; k < s->target_count; k++)
            if (strcmp(s->targets[k].instance, t.instance) == 0)
                config_wrong(w->d, v->at->items[i], "give one of them another `instance`",
                             "two targets are called '%.100s'", t.instance);
        uint16_t place = exporter ? s->target_count : service_instances(s);   /* instances first */
        memmove(&s->targets[place + 1], &s->targets[place], (size_t)(s->target_count - place) * sizeof t);
        s->targets[place] = t;
        s->target_count++;
        s->exporter_count = (uint16_t)(s->exporter_count + exporter);
    }
    if (s->target_count && service_instances(s) == 0)
        config_wrong(w->d, v->at, "leave `exporter` out where the target is all there is to look at", "all targets are exporters");
}

/* The slot of a query by its place in the file and its words there: services that say the same share what it compiles to.
 * NULL: no room. */
static struct config_query *query_slot(struct config_build *b, const struct config_node *at, const char *text)
{
    if (!b->queries) b->queries = arena_array(&b->trees, CONFIG_QUERIES, sizeof *b->queries);
    size_t hash = at->offset * 2654435761u;
    for (const char *t = text; *t; t++) hash = (hash ^ (unsigned char)*t) * 1099511628211u;
    size_t slot = hash % CONFIG_QUERIES;
    for (int tries = 0; b->queries && tries < 8; tries++, slot = (slot + 1) % CONFIG_QUERIES) {
        struct config_query *q = &b->queries[slot];
        if (!q->at || (q->at == at && strcmp(q->text, text) == 0)) return q;
    }
    return NULL;
}

static const struct pq *compile_query(struct config_work *w, const struct config_node *at, const char *text, bool is_worded)
{
    struct pq_error error;
    const struct pq *query = pq_compile(w->arena, text, strlen(text), &error);
    if (!query && w->s->prometheus)      /* the server may know more than we do */
        config_warn(w->d, at, "only the server can evaluate it: give `quantile` where it is one, and no replay of pages",
                    "query: outside of the subset that is known here: %s", error.text);
    else if (!query && is_worded) config_wrong(w->d, at, error.hint, "query: in this service, %s: %.120s", error.text, text);
    else if (!query) config_wrong_in(w->d, at, error.offset, error.length, error.hint, "query: %s", error.text);
    return query;
}

static void find_query(struct config_work *w, const struct config_node *at, struct signal_def *s)
{
    struct buf worded = BUF_INIT;
    bool is_worded = config_worded(w, at, &worded);
    const char *text = is_worded ? buf_text(&worded) : at->text;
    struct config_query *slot = query_slot(w->b, at, text);
    if (slot && slot->query) {
        s->query_text = slot->text;
        s->query = slot->query;
    } else {
        s->query_text = config_copy(w, text);
        s->query = s->query_text ? compile_query(w, at, s->query_text, is_worded) : NULL;
        if (slot && s->query) *slot = (struct config_query){at, s->query_text, s->query};
    }
    buf_free(&worded);
}

static void take_query(struct config_work *w, const struct config_signal *raw, struct signal_def *s)
{
    const struct config_value *v = &raw->query;
    if (!v->is_set) return;
    find_query(w, v->at, s);
    if (w->s->prometheus) config_build_companions(w, s);
    if (!s->query) return;
    enum pq_type type = pq_type(s->query);
    if (type != PQ_VECTOR && type != PQ_SCALAR)
        config_wrong(w->d, v->at, "wrap it: rate(...[30s]) or avg_over_time(...[30s])",
                     "query: it gives a range or a text, not one value");
    s->range = pq_range(s->query);
    s->is_quantile = pq_quantile(s->query, &s->quantile);
}

static void take_quantile(struct config_work *w, const struct config_signal *raw, struct signal_def *s)
{
    if (raw->quantile.is_set) {
        if (s->is_quantile && s->quantile != raw->quantile.number)
            config_wrong(w->d, raw->quantile.at, "leave `quantile` out: the query shows it", "the query gives another quantile");
        s->is_quantile = raw->quantile.number > 0;
        s->quantile = raw->quantile.number;
    }
    if (s->is_quantile && raw->resolution.at == NULL && s->query && s->layer == LAYER_REQUEST)
        config_warn(w->d, w->signal_nodes[s - w->s->signals],
                    "resolution: the width of the bucket that its usual level falls into",
                    "'%s' is a quantile without `resolution`: rules finer than its buckets go unnoticed", s->name);
}

/* A unit without its query, or a query without its unit: the two belong together, and half of them is a preset's. */
static void check_borrowed(struct config_work *w, const struct config_signal *raw, const struct signal_def *s)
{
    if (!raw->query.is_set || !raw->unit.is_set || !raw->query.at || !raw->unit.at) return;
    const struct config_preset *query = config_preset_of(w->b, raw->query.at->source);
    const struct config_preset *unit = config_preset_of(w->b, raw->unit.at->source);
    const struct config_node *other = query && !unit ? raw->query.at : unit && !query ? raw->unit.at : NULL;
    if (!other) return;
    struct text_pos pos = config_pos(other);
    if (!query) {
        config_report(w->d, CONFIG_NOTE, raw->query.at->source, raw->query.at->offset, raw->query.at->length,
                      "write `unit` beside it", "'%s' has its unit '%s' from %s:%u:%u: does this query give it?", s->name,
                      unit_name(s->unit), other->source->path, pos.line, pos.col);
        return;
    }
    const struct config_node *theirs =
        config_tree_get(config_tree_get(config_tree_get(query->root, "signals"), s->name), "unit");
    if (theirs && strcmp(theirs->text, raw->unit.at->text) != 0)
        config_wrong(w->d, raw->unit.at, "leave `unit` out, or write a `query` that gives it",
                     "'%s' is in '%s' here, but its query at %s:%u:%u gives '%s'", s->name, unit_name(s->unit),
                     other->source->path, pos.line, pos.col, theirs->text);
}

#define SHAPE_QUERY "sum by (le) (increase(input_tokens_bucket[30m]))"

static void check_shape(struct config_work *w, const struct config_signal *raw, const struct signal_def *s)
{
    if (s->shape == SHAPE_NONE) return;
    if (w->s->prometheus)
        config_wrong(w->d, raw->shape.at, "let trimtab scrape the targets of this service itself",
                     "shape: with `source: prometheus` no buckets come in");
    else if (!s->query)
        config_wrong(w->d, raw->shape.at, "query: " SHAPE_QUERY, "shape: '%s' has no query that gives buckets", s->name);
    else if (s->range.us < SPAN_MIN(5).us)
        config_wrong(w->d, raw->query.at, "query: " SHAPE_QUERY, "shape: buckets of less than 5 min are too few to compare");
}

static bool build_signal(struct config_work *w, const struct config_entry *e, struct signal_def *s)
{
    struct config_signal raw;
    size_t before = w->d->errors;
    s->name = config_copy(w, e->name->text);
    s->pos = config_pos(e->name);
    if (!s->name || !config_read_block(w->d, CONFIG_BLOCK_SIGNAL, e->value, e->base, &raw)) return false;
    s->layer = (enum layer)raw.layer.word;
    s->unit = (enum unit)raw.unit.word;
    s->bad = (enum bad)raw.bad.word;
    s->rel_floor = raw.relative_floor.number;
    s->interval = raw.interval.is_set ? raw.interval.span : SPAN_S(layer_interval_s(s->layer));
    s->has_sentinel = raw.sentinel.is_set;
    s->sentinel = raw.sentinel.number;
    if (raw.unit.is_set) config_in_unit(w, &raw.resolution, "resolution", s->unit, &s->resolution);
    s->shape = (enum shape)raw.shape.word;
    take_query(w, &raw, s);
    check_shape(w, &raw, s);
    check_borrowed(w, &raw, s);
    take_quantile(w, &raw, s);
    if (!raw.query.is_set && !raw.query.is_wrong && !w->cut && !w->b->o.points_from_outside)
        config_wrong(w->d, e->name, NULL, "signal '%s' has no `query`", s->name);
    return w->d->errors == before;
}

/* A scrape interval unless set: the shortest of the signals. */
static struct span shortest_interval(const struct service_def *s)
{
    struct span least = SPAN_S(layer_interval_s(LAYER_DATA));
    for (uint16_t i = 0; i < s->signal_count; i++) least = span_min(least, s->signals[i].interval);
    return least;
}

/* A range that holds fewer than two scrapes gives no rate, ever. */
static void check_ranges(struct config_work *w)
{
    const struct service_def *s = w->s;
    struct span longest = {0};
    for (uint16_t i = 0; i < s->target_count; i++) longest = span_max(longest, s->targets[i].interval);
    for (uint16_t i = 0; i < s->signal_count; i++) {
        const struct signal_def *g = &s->signals[i];
        if (g->range.us == 0 || longest.us == 0 || g->range.us >= 2 * longest.us) continue;
        const struct config_node *at = config_tree_get(w->signal_blocks[i], "query");
        struct buf text = BUF_INIT;
        span_print_config(&text, g->range);
        buf_puts(&text, " holds fewer than two scrapes of ");
        span_print_config(&text, longest);
        config_wrong(w->d, at ? at : w->signal_nodes[i], "make the range at least three scrapes long",
                     "query: a range of %s, so it has never a value", buf_text(&text));
        buf_free(&text);
    }
}

void config_build_signals(struct config_work *w)
{
    struct config_entry entries[POLICY_SIGNALS_MAX];
    struct service_def *s = w->s;
    uint32_t n = config_entries(w, &w->raw.signals, "signal", entries, POLICY_SIGNALS_MAX);
    if (!w->raw.signals.at && !w->cut) config_wrong(w->d, w->node, NULL, "this service has no `signals`");
    s->signals = config_alloc(w, n, sizeof *s->signals);
    for (uint32_t i = 0; s->signals && i < n; i++) {
        w->signal_nodes[i] = entries[i].name;
        w->signal_blocks[i] = entries[i].value;
        w->signal_wrong[i] = !build_signal(w, &entries[i], &s->signals[s->signal_count++]);
    }
    struct span least = shortest_interval(s);
    for (uint16_t i = 0; i < s->target_count; i++)
        if (s->targets[i].interval.us == 0) s->targets[i].interval = least;
    check_ranges(w);
    for (uint16_t i = 0; s->prometheus && i < s->signal_count; i++) s->signals[i].query = NULL;
}
