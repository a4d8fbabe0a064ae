/* What a service takes besides its own words, as one tree: its profile over its presets. Every leaf keeps its place, so
 * that what is said later names the file, line and column where it stands. */
#include <stdio.h>
#include <string.h>

#include "config/build.h"

#define KEYS_MAX 64
#define ENTRIES_MAX 512

struct layers {
    struct config_work *w;
    const struct config_node *profile;   /* NULL: none */
    const struct config_node *with, *without;
    struct config_pair pairs[KEYS_MAX];  /* of the tree that grows */
    uint32_t n;
};

/* A list that the service gives, else its profile. */
static const struct config_node *said(const struct layers *l, const char *key)
{
    const struct config_node *own = config_tree_get(l->w->node, key);
    return own ? own : config_tree_get(l->profile, key);
}

static bool lists(const struct config_node *list, const char *name)
{
    if (!list || (list->kind != CONFIG_LIST && list->kind != CONFIG_SCALAR)) return false;
    for (uint32_t i = 0; i < config_items(list); i++) {
        const struct config_node *item = config_item(list, i);
        if (item->kind == CONFIG_SCALAR && strcmp(item->text, name) == 0) return true;
    }
    return false;
}

/* The service's own entry of this name, else its profile's; its key, for the place. */
static const struct config_node *written(const struct layers *l, const char *block, const char *name)
{
    const struct config_node *own = config_tree_key(config_tree_get(l->w->node, block), name);
    return own ? own : config_tree_key(config_tree_get(l->profile, block), name);
}

static bool is_optional(const struct config_node *signal)
{
    const struct config_node *flag = config_tree_get(signal, "optional");
    return flag && flag->kind == CONFIG_SCALAR && strcmp(flag->text, "true") == 0;
}

/* Which entries of a preset's block the service takes. Knobs only those that it names itself: what is not in the user's
 * own file is never touched. */
static bool takes(const struct layers *l, const char *block, const struct config_pair *entry)
{
    const char *name = entry->key->text;
    if (strcmp(block, "knobs") == 0) return written(l, block, name) != NULL;
    if (strcmp(block, "signals") != 0) return true;
    if (lists(l->without, name)) return false;
    return !is_optional(entry->value) || lists(l->with, name) || written(l, block, name);
}

static struct config_node *new_map(struct layers *l, const struct config_node *like, const struct config_pair *pairs,
                                   uint32_t n)
{
    struct config_node *node = ARENA_NEW(&l->w->b->trees, struct config_node);
    struct config_pair *copy = ARENA_NEW_N(&l->w->b->trees, n + 1, struct config_pair);
    if (!node || !copy) {
        l->w->b->no_memory = true;
        return NULL;
    }
    if (n) memcpy(copy, pairs, n * sizeof *copy);
    *node = *like;
    node->pairs = copy;
    node->n = n;
    return node;
}

static void note_clash(struct layers *l, const char *block, const struct config_node *taken, const struct config_node *left)
{
    struct text_pos a = config_pos(taken), b = config_pos(left);
    config_report(l->w->d, CONFIG_NOTE, taken->source, taken->offset, taken->length, "the order of `preset` decides",
                  "%.20s.%.60s of %s:%u:%u is taken, not that of %s:%u:%u", block, taken->text, taken->source->path, a.line,
                  a.col, left->source->path, b.line, b.col);
}

/* The keys of an entry: the upper one's, then what it does not have. */
static const struct config_node *join_entry(struct layers *l, const struct config_node *upper, const struct config_node *lower)
{
    struct config_pair pairs[KEYS_MAX];
    uint32_t n = 0;
    if (upper->kind != CONFIG_MAP || lower->kind != CONFIG_MAP) return upper;
    for (; n < upper->n && n < KEYS_MAX; n++) pairs[n] = upper->pairs[n];
    for (uint32_t i = 0; i < lower->n && n < KEYS_MAX; i++)
        if (!config_tree_get(upper, lower->pairs[i].key->text)) pairs[n++] = lower->pairs[i];
    const struct config_node *joined = new_map(l, upper, pairs, n);
    return joined ? joined : upper;
}

/* Entries of a block: a profile's and a preset's of one name are joined key by key; of two presets the first is taken
 * whole, because half of one and half of another would mean neither. */
static const struct config_node *join_block(struct layers *l, const char *block, const struct config_node *upper,
                                            const struct config_node *lower)
{
    struct config_pair pairs[ENTRIES_MAX];
    uint32_t n = 0;
    for (; upper && n < upper->n && n < ENTRIES_MAX; n++) pairs[n] = upper->pairs[n];
    uint32_t had = n;
    for (uint32_t i = 0; i < lower->n && n < ENTRIES_MAX; i++) {
        const struct config_pair *entry = &lower->pairs[i];
        uint32_t k = 0;
        while (k < had && strcmp(pairs[k].key->text, entry->key->text) != 0) k++;
        if (!takes(l, block, entry)) continue;
        if (k == had) pairs[n++] = *entry;
        else if (config_preset_of(l->w->b, pairs[k].value->source)) note_clash(l, block, pairs[k].key, entry->key);
        else pairs[k].value = join_entry(l, pairs[k].value, entry->value);
    }
    const struct config_node *joined = new_map(l, upper ? upper : lower, pairs, n);
    return joined ? joined : lower;
}

static const struct config_node *join_rows(struct layers *l, const struct config_node *upper, const struct config_node *lower)
{
    const struct config_node **items = ARENA_NEW_N(&l->w->b->trees, upper->n + lower->n + 1, const struct config_node *);
    struct config_node *node = ARENA_NEW(&l->w->b->trees, struct config_node);
    if (!items || !node) {
        l->w->b->no_memory = true;
        return upper;
    }
    for (uint32_t i = 0; i < upper->n; i++) items[i] = upper->items[i];
    for (uint32_t i = 0; i < lower->n; i++) items[upper->n + i] = lower->items[i];
    *node = *upper;
    node->items = items;
    node->n = upper->n + lower->n;
    return node;
}

static bool is_own(const char *key)
{
    return strcmp(key, "about") == 0 || strcmp(key, "range") == 0;   /* about the preset itself */
}

static void add_pair(struct layers *l, const struct config_pair *pair)
{
    const char *key = pair->key->text;
    uint32_t i = 0;
    while (i < l->n && strcmp(l->pairs[i].key->text, key) != 0) i++;
    const struct config_node *have = i < l->n ? l->pairs[i].value : NULL, *value = pair->value;
    if (value->kind == CONFIG_MAP && (!have || have->kind == CONFIG_MAP)) value = join_block(l, key, have, value);
    else if (have && have->kind == CONFIG_LIST && value->kind == CONFIG_LIST && strcmp(key, "playbook") == 0)
        value = join_rows(l, have, value);
    else if (have) return;
    if (i < l->n) l->pairs[i].value = value;
    else if (l->n < KEYS_MAX) l->pairs[l->n++] = (struct config_pair){pair->key, value};
}

static void no_preset(struct layers *l, const struct config_node *at)
{
    const char *names[64];
    size_t n = 0;
    char hint[160];
    for (uint32_t i = 0; n < ARRAY_LEN(names) && config_preset_name(i); i++) names[n++] = config_preset_name(i);
    config_wrong(l->w->d, at,
                 config_nearest(hint, sizeof hint, at->text, names, n, "`trimtab preset list` names those that are known"),
                 "no preset '%.60s'", at->text);
    l->w->cut = true;   /* what is missing now may stand there */
}

static void check_list(struct layers *l, const char *key, const struct config_node *list, const char *const *names, size_t n)
{
    char hint[160];
    if (!list || (list->kind != CONFIG_LIST && list->kind != CONFIG_SCALAR) || l->w->cut) return;
    for (uint32_t i = 0; i < config_items(list); i++) {
        const struct config_node *item = config_item(list, i);
        size_t k = 0;
        if (item->kind != CONFIG_SCALAR) continue;
        while (k < n && strcmp(names[k], item->text) != 0) k++;
        if (k == n)
            config_wrong(l->w->d, item, config_nearest(hint, sizeof hint, item->text, names, n, "`trimtab preset show NAME`"),
                         "%s: no preset of this service has a signal '%.60s'", key, item->text);
    }
}

/* A name that is left out and written all the same. */
static void check_without(struct layers *l)
{
    const struct config_node *list = l->without;
    if (!list || (list->kind != CONFIG_LIST && list->kind != CONFIG_SCALAR)) return;
    for (uint32_t i = 0; i < config_items(list); i++) {
        const struct config_node *item = config_item(list, i), *own;
        if (item->kind != CONFIG_SCALAR) continue;
        own = written(l, "signals", item->text);
        if (own)
            config_wrong(l->w->d, item, "keep one of the two", "without: signal '%.60s' is written at %s:%u:%u all the same",
                         item->text, own->source->path, config_pos(own).line, config_pos(own).col);
        else if (lists(l->with, item->text))
            config_wrong(l->w->d, item, "keep one of the two", "without: '%.60s' stands under `with` too", item->text);
    }
}

static void check_names(struct layers *l, const struct config_node *presets)
{
    const char *names[ENTRIES_MAX];
    size_t n = 0;
    for (uint32_t i = 0; presets && i < config_items(presets); i++) {
        const struct config_node *at = config_item(presets, i);
        const struct config_preset *p = at->kind == CONFIG_SCALAR ? config_preset(l->w->b, at->text) : NULL;
        const struct config_node *signals = p ? config_tree_get(p->root, "signals") : NULL;
        for (uint32_t k = 0; signals && signals->kind == CONFIG_MAP && k < signals->n && n < ENTRIES_MAX; k++)
            names[n++] = signals->pairs[k].key->text;
    }
    check_list(l, "with", l->with, names, n);
    check_list(l, "without", l->without, names, n);
    check_without(l);
}

const struct config_node *config_base(struct config_work *w, const struct config_node *profile)
{
    struct layers l = {.w = w, .profile = profile && profile->kind == CONFIG_MAP ? profile : NULL};
    const struct config_node *presets = said(&l, "preset");
    l.with = said(&l, "with");
    l.without = said(&l, "without");
    if (!presets || (presets->kind != CONFIG_LIST && presets->kind != CONFIG_SCALAR)) {
        const struct config_node *at = l.with ? l.with : l.without;
        if (at) config_wrong(w->d, at, "preset: NAME", "`with` and `without` choose among signals of a preset; there is none here");
        return profile;
    }
    for (uint32_t i = 0; l.profile && i < profile->n && l.n < KEYS_MAX; i++) l.pairs[l.n++] = profile->pairs[i];
    for (uint32_t i = 0; i < config_items(presets) && i < 8; i++) {
        const struct config_node *at = config_item(presets, i);
        if (at->kind != CONFIG_SCALAR) continue;
        const struct config_preset *p = config_preset(w->b, at->text);
        if (!p && !w->b->no_memory) no_preset(&l, at);
        if (p && p->root->kind != CONFIG_MAP) config_wrong(w->d, p->root, "signals: {...}", "a preset must be a block of keys");
        for (uint32_t k = 0; p && p->root->kind == CONFIG_MAP && k < p->root->n; k++)
            if (!is_own(p->root->pairs[k].key->text)) add_pair(&l, &p->root->pairs[k]);
    }
    check_names(&l, presets);
    const struct config_node like = {.kind = CONFIG_MAP, .source = w->node->source, .offset = w->node->offset, .length = 1};
    return new_map(&l, &like, l.pairs, l.n);
}
