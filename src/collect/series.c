/* Stored series and their samples. A series keeps its samples in one piece, so that a query reads them in place. */
#include <stdlib.h>
#include <string.h>

#include "collect/inside.h"
#include "promql/sort.h"

double collect_stale_marker(void)
{
    uint64_t bits = PQ_STALE_BITS;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

uint64_t collect_series_hash(struct pq_labels l)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < l.n; i++) {
        for (const char *s = l.items[i].name; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(1099511628211);
        h = (h ^ 0xfe) * UINT64_C(1099511628211);
        for (const char *s = l.items[i].value; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(1099511628211);
        h = (h ^ 0xff) * UINT64_C(1099511628211);
    }
    return h ^ h >> 31;
}

static bool same_labels(struct pq_labels a, struct pq_labels b)
{
    if (a.n != b.n) return false;
    for (uint32_t i = 0; i < a.n; i++)
        if (strcmp(a.items[i].name, b.items[i].name) != 0 || strcmp(a.items[i].value, b.items[i].value) != 0) return false;
    return true;
}

uint32_t collect_series_find(const struct collect *c, struct pq_labels labels, uint64_t hash)
{
    if (!c->slot_count) return NO_SERIES;
    uint32_t mask = c->slot_count - 1;
    for (uint32_t at = (uint32_t)hash & mask; c->slots[at]; at = (at + 1) & mask) {
        const struct series *s = &c->series[c->slots[at] - 1];
        if (s->hash == hash && same_labels(s->labels, labels)) return c->slots[at] - 1;
    }
    return NO_SERIES;
}

/* ---- table ---- */

static void slot_put(struct collect *c, uint32_t series)
{
    uint32_t mask = c->slot_count - 1, at = (uint32_t)c->series[series].hash & mask;
    while (c->slots[at]) at = (at + 1) & mask;
    c->slots[at] = series + 1;
}

static bool slots_rebuild(struct collect *c, uint32_t size)
{
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots) return false;
    c->bytes += (size - c->slot_count) * sizeof *slots;
    free(c->slots);
    c->slots = slots;
    c->slot_count = size;
    for (uint32_t i = 0; i < c->series_n; i++)
        if (c->series[i].labels.items) slot_put(c, i);
    return true;
}

static bool series_room(struct collect *c)
{
    if ((c->series_live + 1) * 2 > c->slot_count && !slots_rebuild(c, c->slot_count ? c->slot_count * 2 : 64)) return false;
    if (c->series_n < c->series_cap) return true;
    uint32_t cap = c->series_cap ? c->series_cap * 2 : 32;
    struct series *more = realloc(c->series, cap * sizeof *more);
    if (!more) return false;
    c->bytes += (cap - c->series_cap) * sizeof *more;
    c->series = more;
    c->series_cap = cap;
    return true;
}

static bool name_link(struct collect *c, uint32_t name, uint32_t series)
{
    struct name *n = &c->names[name];
    if (n->series_n == n->series_cap) {
        uint32_t cap = n->series_cap ? n->series_cap * 2 : 8;
        uint32_t *more = realloc(n->series, cap * sizeof *more);
        if (!more) return false;
        c->bytes += (cap - n->series_cap) * sizeof *more;
        n->series = more;
        n->series_cap = cap;
    }
    n->series[n->series_n++] = series;
    return true;
}

/* Labels, strings and page text in one block. */
static char *copy_labels(struct pq_labels from, const char *text, uint32_t text_len, struct series *to)
{
    size_t size = from.n * sizeof(struct pq_label) + text_len + 1;
    for (uint32_t i = 0; i < from.n; i++) size += strlen(from.items[i].name) + strlen(from.items[i].value) + 2;
    char *block = malloc(size);
    if (!block) return NULL;
    struct pq_label *items = (struct pq_label *)(void *)block;
    char *at = block + from.n * sizeof *items;
    for (uint32_t i = 0; i < from.n; i++) {
        size_t n = strlen(from.items[i].name) + 1, v = strlen(from.items[i].value) + 1;
        items[i].name = memcpy(at, from.items[i].name, n);
        items[i].value = memcpy(at + n, from.items[i].value, v);
        at += n + v;
    }
    if (text_len) memcpy(at, text, text_len);
    at[text_len] = '\0';
    to->labels = (struct pq_labels){items, from.n};
    to->text = at;
    to->text_len = text_len;
    to->block_bytes = size;
    return block;
}

static uint32_t free_slot(struct collect *c)
{
    if (c->series_live == c->series_n) return c->series_n;
    for (; c->free_hint < c->series_n; c->free_hint++)
        if (!c->series[c->free_hint].labels.items) return c->free_hint;
    return c->series_n;
}

uint32_t collect_series_new(struct collect *c, struct pq_labels labels, uint64_t hash, uint32_t name, uint16_t target,
                    const char *text, uint32_t text_len)
{
    if (c->series_live >= PQ_LIMIT_SERIES || !series_room(c)) return NO_SERIES;
    uint32_t at = free_slot(c);
    struct series s = {.hash = hash, .name = name, .target = target, .place = NO_SERIES, .ended = true};
    if (!copy_labels(labels, text, text_len, &s)) return NO_SERIES;
    if (!name_link(c, name, at)) {
        free((void *)(uintptr_t)s.labels.items);
        return NO_SERIES;
    }
    c->series[at] = s;
    if (at == c->series_n) c->series_n++;
    c->series_live++;
    c->bytes += s.block_bytes;
    slot_put(c, at);
    return at;
}

/* ---- from a line of a page ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pq_label *)a)->name, ((const struct pq_label *)b)->name);
}

struct builder { struct buf *text; size_t at[EXPO_LABELS_MAX + 3][2]; uint32_t n; };

static size_t builder_text(struct builder *b, const char *s, uint32_t len, bool escaped)
{
    size_t at = b->text->len;
    if (escaped) expo_unescape(b->text, s, len);
    else buf_add(b->text, s, len);
    buf_putc(b->text, '\0');
    return at;
}

static void builder_label(struct builder *b, const struct expo_label *l)
{
    bool instance = l->name_len == 8 && memcmp(l->name, "instance", 8) == 0;
    if (l->value_len == 0) return;                 /* an empty value is no label */
    size_t name = instance ? builder_text(b, "exported_instance", 17, false)
                           : builder_text(b, l->name, l->name_len, l->name_escaped);
    b->at[b->n][0] = name;
    b->at[b->n++][1] = builder_text(b, l->value, l->value_len, l->value_escaped);
}

/* The labels of the line in x, with our own `instance`, sorted, in `items`. */
static struct pq_labels line_labels(struct collect *c, const struct expo *x, uint16_t target, struct pq_label *items)
{
    struct builder b = {.text = &c->text};
    buf_clear(&c->text);
    b.at[b.n][0] = builder_text(&b, "__name__", 8, false);
    b.at[b.n++][1] = builder_text(&b, x->sample.name, x->sample.name_len, x->sample.name_escaped);
    for (uint32_t i = 0; i < x->sample.label_count; i++) builder_label(&b, &x->labels[i]);
    const char *instance = c->s->targets[target].instance;
    if (instance && *instance) {
        b.at[b.n][0] = builder_text(&b, "instance", 8, false);
        b.at[b.n++][1] = builder_text(&b, instance, (uint32_t)strlen(instance), false);
    }
    if (!buf_ok(&c->text)) return (struct pq_labels){NULL, 0};
    for (uint32_t i = 0; i < b.n; i++)
        items[i] = (struct pq_label){c->text.data + b.at[i][0], c->text.data + b.at[i][1]};
    pq_sort(items, b.n, sizeof *items, by_name);
    return (struct pq_labels){items, b.n};
}

uint32_t collect_series_of_sample(struct collect *c, const struct expo *x, uint32_t name, uint16_t target)
{
    struct pq_label items[EXPO_LABELS_MAX + 3];
    if (!x->sample.clean) return NO_SERIES;
    struct pq_labels labels = line_labels(c, x, target, items);
    if (!labels.items) return NO_ROOM;
    uint64_t hash = collect_series_hash(labels);
    uint32_t found = collect_series_find(c, labels, hash);
    if (found != NO_SERIES || !collect_name_wants(c, labels)) return found;
    if (name == NO_SERIES && c->name_count < NAMES_MAX)
        name = collect_name_add(c, x->sample.name, x->sample.name_len, TAKE_ALL_KEEP_MS);
    if (name == NO_SERIES) return NO_ROOM;
    found = collect_series_new(c, labels, hash, name, target, x->sample.series, x->sample.series_len);
    return found == NO_SERIES ? NO_ROOM : found;
}

/* ---- samples ---- */

/* Room behind the last sample: what is too old goes first. */
static bool samples_room(struct collect *c, struct series *s, int64_t now_ms)
{
    if (s->first + s->n < s->cap) return true;
    int64_t oldest = now_ms - c->names[s->name].keep_ms;
    while (s->n > 1 && s->samples[s->first].t_ms < oldest) { s->first++; s->n--; }
    if (s->first > s->cap / 16) {
        memmove(s->samples, s->samples + s->first, s->n * sizeof *s->samples);
        s->first = 0;
        return true;
    }
    uint32_t cap = s->cap < 8 ? 8 : s->cap + s->cap / 4;
    struct pq_sample *more = realloc(s->samples, cap * sizeof *more);
    if (!more) return false;
    c->bytes += (cap - s->cap) * sizeof *more;
    s->samples = more;
    s->cap = cap;
    return true;
}

void collect_series_append(struct collect *c, struct series *s, int64_t t_ms, double v)
{
    /* Time only goes forward in a series; a sample at a time already known changes nothing. */
    if (s->n && s->samples[s->first + s->n - 1].t_ms >= t_ms) return;
    if (!samples_room(c, s, t_ms)) return;
    s->samples[s->first + s->n++] = (struct pq_sample){t_ms, v};
    s->ended = false;
}

void collect_series_end(struct collect *c, struct series *s, int64_t t_ms)
{
    if (s->ended || s->own_time) return;
    collect_series_append(c, s, t_ms, collect_stale_marker());
    s->ended = true;
}

/* ---- forgetting ---- */

static void series_free(struct collect *c, uint32_t i)
{
    struct series *s = &c->series[i];
    c->targets[s->target].order_n = 0;             /* it may name this one */
    c->bytes -= s->block_bytes + s->cap * sizeof *s->samples;
    free((void *)(uintptr_t)s->labels.items);
    free(s->samples);
    memset(s, 0, sizeof *s);
    c->series_live--;
    if (i < c->free_hint) c->free_hint = i;
}

static void names_drop_freed(struct collect *c)
{
    for (uint32_t i = 0; i < c->name_count; i++) {
        struct name *n = &c->names[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < n->series_n; k++)
            if (c->series[n->series[k]].labels.items) n->series[kept++] = n->series[k];
        n->series_n = kept;
    }
}

void collect_series_forget_old(struct collect *c, int64_t now_ms)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < c->series_n; i++) {
        struct series *s = &c->series[i];
        if (!s->labels.items || s->page == c->page) continue;
        if (s->n && s->samples[s->first + s->n - 1].t_ms > now_ms - c->names[s->name].keep_ms) continue;
        series_free(c, i);
        gone++;
    }
    if (gone == 0) return;
    names_drop_freed(c);
    /* Without memory for a new table the old one stays: the freed slots' hash 0 finds nothing. */
    slots_rebuild(c, c->slot_count);
}

void collect_series_free_all(struct collect *c)
{
    for (uint32_t i = 0; i < c->series_n; i++) {
        free((void *)(uintptr_t)c->series[i].labels.items);
        free(c->series[i].samples);
    }
    for (uint32_t i = 0; i < c->name_count; i++) free(c->names[i].series);
    free(c->series);
    free(c->slots);
}
