/* Life of a collector, and what others may ask of it. */
#include "collect/collect.h"

#include <stdlib.h>
#include <string.h>

#include "collect/inside.h"

struct collect_limits collect_limits_default(void)
{
    return (struct collect_limits){.page_bytes = 16u << 20, .samples = 200000, .labels = 64, .name_bytes = 128,
                                   .value_bytes = 1024, .line_bytes = 65536, .clock_off = SPAN_MIN(10)};
}

void collect_anchor(struct collect *c, struct instant at, struct wall wall)
{
    if (c->anchored) return;
    c->anchored = true;
    c->offset_ms = wall.us == INT64_MIN ? 0 : wall.us / US_PER_MS - at.us / US_PER_MS;
}

static bool allocate(struct collect *c)
{
    c->targets = calloc((size_t)c->s->target_count + 1, sizeof *c->targets);
    c->signals = calloc((size_t)c->s->signal_count + 1, sizeof *c->signals);
    if (!c->targets || !c->signals) return false;
    c->bytes += c->s->target_count * sizeof *c->targets + c->s->signal_count * sizeof *c->signals;
    for (uint16_t i = 0; i < c->s->target_count; i++) {
        struct target *t = &c->targets[i];
        t->last_good = t->last_try = t->start_changed = t->restarts_since = INSTANT_NONE;
    }
    for (uint16_t i = 0; i < c->s->signal_count; i++) c->signals[i].next = INSTANT_NONE;
    return collect_names_build(c);
}

struct collect *collect_new(const struct service_def *s, struct collect_limits limits)
{
    struct collect *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->magic = COLLECT_MAGIC;
    c->s = s;
    c->limits = limits;
    c->own_reload = INSTANT_NONE;
    c->scratch.limit = SCRATCH_LIMIT;
    c->bytes = sizeof *c;
    if (allocate(c)) return c;
    collect_free(c);
    return NULL;
}

void collect_free(struct collect *c)
{
    if (!c) return;
    OBJ_VALID(c, COLLECT_MAGIC);
    collect_series_free_all(c);
    for (uint16_t i = 0; c->targets && i < c->s->target_count; i++) free(c->targets[i].order);
    free(c->targets);
    free(c->signals);
    free(c->staged);
    buf_free(&c->text);
    arena_free(&c->arena);
    arena_free(&c->scratch);
    c->magic = 0;
    free(c);
}

void collect_own_reload(struct collect *c, struct instant at)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    c->own_reload = at;
}

void collect_target(const struct collect *c, uint16_t target, struct collect_target *ret)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    CHECK(target < c->s->target_count);
    const struct target *t = &c->targets[target];
    *ret = (struct collect_target){.up = t->tried && t->outcome == PAGE_OK, .last_good = t->last_good,
                                   .last_try = t->last_try, .samples = t->samples, .broken_lines = t->broken_lines};
    text_copy(ret->error, sizeof ret->error, t->error);
}

void collect_instances(const struct collect *c, struct instant now, uint16_t *ret_up, uint16_t *ret_all)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    uint16_t up = 0, all = service_instances(c->s);
    for (uint16_t i = 0; i < all; i++) {
        struct span interval = c->s->targets[i].interval;
        if (interval.us <= 0) interval = SPAN_S(layer_interval_s(LAYER_REQUEST));
        const struct target *t = &c->targets[i];
        bool fresh = instant_is_set(t->last_good) &&
                     instant_since(now, t->last_good).us <= interval.us * STALE_INTERVALS;
        if (fresh) up++;
    }
    *ret_up = c->s->prometheus ? 0 : up;
    *ret_all = c->s->prometheus ? 0 : all;
}

size_t collect_bytes(const struct collect *c)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    return c->bytes + c->arena.used + c->scratch.used + c->text.cap;
}

/* ---- a new policy ---- */

static uint16_t same_target(const struct collect *to, const struct target_def *t)
{
    for (uint16_t i = 0; i < to->s->target_count; i++)
        if (text_eq(to->s->targets[i].url, t->url) && text_eq(to->s->targets[i].instance, t->instance)) return i;
    return NO_INDEX;
}

static void adopt_series(struct collect *to, struct series *s, uint16_t target)
{
    const char *name = NULL;
    for (uint32_t i = 0; i < s->labels.n; i++)
        if (strcmp(s->labels.items[i].name, "__name__") == 0) name = s->labels.items[i].value;
    uint32_t known = name ? collect_name_find(to, name, (uint32_t)strlen(name)) : NO_SERIES;
    if (known == NO_SERIES || !collect_name_wants(to, s->labels)) return;
    if (collect_series_find(to, s->labels, s->hash) != NO_SERIES) return;
    uint32_t at = collect_series_new(to, s->labels, s->hash, known, target, s->text, s->text_len);
    if (at == NO_SERIES) return;
    struct series *n = &to->series[at];
    n->why = s->why;
    n->own_time = s->own_time;
    n->ended = s->ended;
    n->samples = s->samples;
    n->first = s->first;
    n->n = s->n;
    n->cap = s->cap;
    to->bytes += s->cap * sizeof *s->samples;
    s->samples = NULL;
    s->first = s->n = s->cap = 0;
}

static void adopt_target(struct collect *to, const struct collect *from, uint16_t i, uint16_t k)
{
    struct target *t = &to->targets[k];
    *t = from->targets[i];
    t->order = NULL;
    t->order_n = t->order_cap = 0;
}

void collect_adopt(struct collect *to, struct collect *from)
{
    OBJ_VALID(to, COLLECT_MAGIC);
    OBJ_VALID(from, COLLECT_MAGIC);
    to->anchored = from->anchored;
    to->offset_ms = from->offset_ms;
    to->own_reload = from->own_reload;
    to->release = from->release;
    for (uint16_t i = 0; i < from->s->target_count; i++) {
        uint16_t k = same_target(to, &from->s->targets[i]);
        if (k != NO_INDEX) adopt_target(to, from, i, k);
    }
    for (uint32_t i = 0; i < from->series_n; i++) {
        struct series *s = &from->series[i];
        if (!s->labels.items) continue;
        uint16_t k = same_target(to, &from->s->targets[s->target]);
        if (k != NO_INDEX) adopt_series(to, s, k);
    }
    for (uint16_t i = 0; i < to->s->signal_count; i++) {
        uint16_t old = service_signal(from->s, to->s->signals[i].name);
        if (old != NO_INDEX && text_eq(from->s->signals[old].query_text, to->s->signals[i].query_text))
            to->signals[i] = from->signals[old];
    }
}

struct wall collect_youngest(const struct collect *c)
{
    OBJ_VALID(c, COLLECT_MAGIC);
    double newest = 0;
    for (uint16_t i = 0; i < c->s->target_count; i++)
        if (c->targets[i].start_time > newest) newest = c->targets[i].start_time;
    bool sane = newest > 0 && newest < 1e11;
    return sane ? (struct wall){(int64_t)(newest * 1e6)} : WALL_NONE;
}
