/* Which metrics the signals of a service select: only those are stored. */
#include <string.h>

#include "collect/inside.h"

#define START_TIME "process_start_time_seconds"

static uint32_t hash_name(const char *s, uint32_t len)
{
    uint32_t h = len;
    for (uint32_t i = 0; i < len; i++) h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

uint32_t collect_name_find(const struct collect *c, const char *text, uint32_t len)
{
    uint32_t mask = c->name_slot_count - 1;
    if (!c->name_slot_count) return NO_SERIES;
    for (uint32_t at = hash_name(text, len) & mask; c->name_slots[at]; at = (at + 1) & mask) {
        const struct name *n = &c->names[c->name_slots[at] - 1];
        if (n->len == len && memcmp(n->text, text, len) == 0) return c->name_slots[at] - 1;
    }
    return NO_SERIES;
}

static bool names_grow(struct collect *c)
{
    uint32_t size = c->name_slot_count ? c->name_slot_count * 2 : 64;
    struct name *names = ARENA_NEW_N(&c->arena, size / 2, struct name);
    uint32_t *slots = ARENA_NEW_N(&c->arena, size, uint32_t);
    if (!names || !slots) return false;
    if (c->name_count) memcpy(names, c->names, c->name_count * sizeof *names);
    for (uint32_t i = 0; i < c->name_count; i++) {
        uint32_t at = hash_name(names[i].text, names[i].len) & (size - 1);
        while (slots[at]) at = (at + 1) & (size - 1);
        slots[at] = i + 1;
    }
    c->names = names;
    c->name_slots = slots;
    c->name_slot_count = size;
    return true;
}

uint32_t collect_name_add(struct collect *c, const char *text, uint32_t len, int64_t keep_ms)
{
    uint32_t known = collect_name_find(c, text, len);
    if (known == NO_SERIES) {
        if ((c->name_count + 1) * 2 > c->name_slot_count && !names_grow(c)) return NO_SERIES;
        const char *copy = arena_strndup(&c->arena, text, len);
        if (!copy) return NO_SERIES;
        known = c->name_count++;
        c->names[known] = (struct name){.text = copy, .len = len};
        uint32_t at = hash_name(text, len) & (c->name_slot_count - 1);
        while (c->name_slots[at]) at = (at + 1) & (c->name_slot_count - 1);
        c->name_slots[at] = known + 1;
    }
    if (c->names[known].keep_ms < keep_ms) c->names[known].keep_ms = keep_ms;
    return known;
}

/* Queries look back from now only, so a range needs little more than itself; histograms are most of the memory. An
 * instant selector's reach holds the 5 min of lookback already. */
static int64_t keep_ms(const struct pq_selector *s)
{
    return (s->reach.us + (s->range.us ? SPAN_MIN(1).us : 0)) / US_PER_MS;
}

static uint32_t count_selectors(const struct service_def *s)
{
    uint32_t n = 0;
    for (uint16_t i = 0; i < s->signal_count; i++)
        if (s->signals[i].query) n += pq_selector_count(s->signals[i].query);
    return n;
}

bool collect_names_build(struct collect *c)
{
    uint32_t total = count_selectors(c->s);
    c->selectors = ARENA_NEW_N(&c->arena, (size_t)total + 1, struct pq_selector);
    if (!c->selectors) return false;
    for (uint16_t i = 0; i < c->s->signal_count; i++) {
        const struct pq *q = c->s->signals[i].query;
        for (uint32_t k = 0; q && k < pq_selector_count(q); k++) {
            struct pq_selector *s = &c->selectors[c->selector_count++];
            pq_selector(q, k, s);
            if (!s->name) { c->takes_all = true; continue; }
            uint32_t name = collect_name_add(c, s->name, (uint32_t)strlen(s->name), keep_ms(s));
            if (name == NO_SERIES) return false;
        }
    }
    uint32_t watched = collect_name_add(c, START_TIME, sizeof START_TIME - 1, 60 * 1000);
    if (watched == NO_SERIES) return false;
    c->names[watched].any = true;
    return true;
}

static const char *label_of(struct pq_labels l, const char *name)
{
    for (uint32_t i = 0; i < l.n; i++)
        if (strcmp(l.items[i].name, name) == 0) return l.items[i].value;
    return "";
}

bool collect_name_wants(const struct collect *c, struct pq_labels labels)
{
    const char *name = label_of(labels, "__name__");
    uint32_t known = collect_name_find(c, name, (uint32_t)strlen(name));
    if (known != NO_SERIES && c->names[known].any) return true;
    for (uint32_t i = 0; i < c->selector_count; i++) {
        const struct pq_selector *s = &c->selectors[i];
        if (s->name && strcmp(s->name, name) != 0) continue;
        bool all = true;
        for (uint32_t k = 0; all && k < s->n; k++)
            all = pq_matches(s->matchers[k], label_of(labels, pq_matcher_name(s->matchers[k])));
        if (all) return true;
    }
    return false;
}
