/* Reads a block of keys by the table. */
#include "config/read.h"

#include <stdio.h>
#include <string.h>

static bool is_tree_type(enum config_type t)
{
    return t == CONFIG_BLOCK_TYPE || t == CONFIG_MAP_TYPE || t == CONFIG_LIST_TYPE;
}

static const struct config_key *find_key(const struct config_block *b, const char *name)
{
    for (uint16_t i = 0; i < b->n; i++)
        if (strcmp(b->keys[i].name, name) == 0) return &b->keys[i];
    return NULL;
}

/* The file key beside which this secret belongs, if the block has one. */
static const char *secret_hint(char *out, size_t cap, const struct config_block *b)
{
    static const char *const files[] = {"bearer_file", "secret_file", "url_file"};
    const char *have = NULL;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (find_key(b, files[i])) have = files[i];
    if (!have) return "put it into a file of mode 0600 and name that file where the schema has a key ending in _file";
    snprintf(out, cap, "put it into a file of mode 0600 and write `%s: /path/of/it`", have);
    return out;
}

/* A key that stands in the wrong block: say where it belongs. */
static const char *belongs_to(char *out, size_t cap, const char *key)
{
    for (int i = 1; i < CONFIG_BLOCK_COUNT; i++) {
        if (!find_key(&config_blocks[i], key)) continue;
        snprintf(out, cap, "'%s' belongs to %s", key, config_blocks[i].path[0] ? config_blocks[i].path : "the top of the file");
        return out;
    }
    return NULL;
}

static void unknown_key(struct config_diagnostics *d, const struct config_block *b, const struct config_node *key)
{
    char hint[160];
    const char *where = b->path[0] ? b->path : "the top of the file";
    if (config_diagnostics_full(d)) {
        d->errors++;
        return;
    }
    if (config_secret_word(key->text)) {
        char text[120];
        snprintf(text, sizeof text, "'%.60s' would be a secret in the configuration", key->text);
        config_report_secret(d, key->source, key->offset, key->length, key->offset + key->length + 1,
                             secret_hint(hint, sizeof hint, b), text);
        return;
    }
    const char *words[64];
    for (uint16_t i = 0; i < b->n; i++) words[i] = b->keys[i].name;
    char other[160];
    const char *otherwise = belongs_to(other, sizeof other, key->text);
    config_wrong(d, key, config_nearest(hint, sizeof hint, key->text, words, b->n, otherwise), "unknown key '%.60s' in %s",
                 key->text, where);
}

static bool take_keys(struct config_diagnostics *d, const struct config_block *b, const struct config_node *node,
                      struct config_value *values, bool is_base)
{
    for (uint32_t i = 0; i < node->n; i++) {
        const struct config_node *name = node->pairs[i].key, *value = node->pairs[i].value;
        const struct config_key *key = find_key(b, name->text);
        if (!key) {
            unknown_key(d, b, name);
            continue;
        }
        struct config_value *v = &values[key - b->keys];
        if (value->kind == CONFIG_NULL) {
            if (is_tree_type(key->type)) continue;
            config_wrong(d, name, "write the value, or leave the key out", "'%s' has no value", key->name);
            v->is_wrong = true;
        } else if (!is_base || (!v->at && !v->is_wrong)) {
            v->at = value;
        } else if (is_tree_type(key->type)) {
            v->inherited = value;
        }
    }
    return true;
}

static const char *kind_text(const struct config_node *n)
{
    switch (n->kind) {
    case CONFIG_MAP: return "a block of keys";
    case CONFIG_LIST: return "a list";
    default: return "a plain value";
    }
}

static bool has_kind(enum config_type type, const struct config_node *n)
{
    switch (type) {
    case CONFIG_BLOCK_TYPE:
    case CONFIG_MAP_TYPE:
    case CONFIG_WORDS_TYPE: return n->kind == CONFIG_MAP;
    case CONFIG_LIST_TYPE: return n->kind == CONFIG_LIST;
    case CONFIG_PAIRS_TYPE: return n->kind == CONFIG_MAP || n->kind == CONFIG_SCALAR;
    case CONFIG_NAMES_TYPE:
    case CONFIG_TEXTS_TYPE:
    case CONFIG_DAYS_TYPE:
    case CONFIG_DIRECTIONS_TYPE:
    case CONFIG_LADDER_TYPE: return n->kind == CONFIG_LIST || n->kind == CONFIG_SCALAR;
    default: return n->kind == CONFIG_SCALAR;
    }
}

static const char *wanted_text(const struct config_key *key)
{
    static const char *const placeholders[] = {
#define X(id, placeholder, ...) placeholder,
        CONFIG_TYPE_TABLE(X)
#undef X
    };
    switch (key->type) {
    case CONFIG_BLOCK_TYPE: return "a block of keys";
    case CONFIG_MAP_TYPE: return "a block of names, each with its own keys";
    case CONFIG_LIST_TYPE: return "a list (lines that begin with `- `)";
    default: return placeholders[key->type];
    }
}

/* One item of a list type. */
static bool read_item(struct config_diagnostics *d, const struct config_key *key, const struct config_node *item,
                      struct config_value *v)
{
    struct config_key one = *key;
    one.type = key->type == CONFIG_NAMES_TYPE ? CONFIG_NAME_TYPE : CONFIG_TEXT_TYPE;
    struct config_value unused = {0};
    if (item->kind != CONFIG_SCALAR) {
        const char *hint =
            config_tree_get(item, "advise") ? "put it into quotes: \"advise: ...\"" : "a text with ': ' needs quotes";
        if (item->kind != CONFIG_BROKEN) config_wrong(d, item, hint, "each item of '%s' must be a text", key->name);
        return false;
    }
    if (!config_read_scalar(d, &one, item, item->text, item->len, &unused)) return false;
    char hint[160];
    const char *const *words = config_words(key->type);
    if (key->type == CONFIG_DIRECTIONS_TYPE) {
        enum direction dir;
        if (direction_parse(item->text, &dir)) v->word |= 1 << dir;
        else
            config_wrong(d, item, config_nearest(hint, sizeof hint, item->text, words, 2, NULL),
                         "'%s' takes up and down, not '%.60s'", key->name, item->text);
    } else if (key->type == CONFIG_DAYS_TYPE) {
        int bits = config_parse_days(item->text);
        if (!bits)
            config_wrong(d, item, "write mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri",
                         "'%.60s' is no day of the week", item->text);
        v->word |= bits;
    }
    return true;
}

static bool check_count(struct config_diagnostics *d, const struct config_key *key, const struct config_node *node)
{
    uint32_t n = config_items(node);
    if (key->most > 0 && n > key->most) {
        config_wrong(d, node, NULL, "too many: '%s' may have %u entries, these are %u", key->name, (unsigned)key->most, n);
        return false;
    }
    if (n < key->least) {
        config_wrong(d, node, NULL, "'%s' is empty; it needs at least %u", key->name, (unsigned)key->least);
        return false;
    }
    return true;
}

static bool is_list_type(enum config_type t)
{
    return t == CONFIG_NAMES_TYPE || t == CONFIG_TEXTS_TYPE || t == CONFIG_DAYS_TYPE || t == CONFIG_DIRECTIONS_TYPE;
}

static void read_value(struct config_diagnostics *d, const struct config_key *key, struct config_value *v)
{
    if (v->at->kind == CONFIG_BROKEN) {
        v->is_wrong = true;
        return;
    }
    if (!has_kind(key->type, v->at)) {
        config_wrong(d, v->at, NULL, "'%s' takes %s, not %s", key->name, wanted_text(key), kind_text(v->at));
        v->is_wrong = true;
        return;
    }
    bool ok = true;
    if (is_list_type(key->type)) {
        ok = check_count(d, key, v->at);
        for (uint32_t i = 0; i < config_items(v->at) && i <= key->most; i++)
            ok = read_item(d, key, config_item(v->at, i), v) && ok;
    } else if (key->type == CONFIG_LIST_TYPE) {   /* a map is counted together with its profile's: config_entries */
        ok = check_count(d, key, v->at);
    } else if (key->type != CONFIG_LADDER_TYPE && key->type != CONFIG_WORDS_TYPE &&
               key->type != CONFIG_PAIRS_TYPE) {
        ok = config_read_scalar(d, key, v->at, v->at->text, v->at->len, v);
    }
    v->is_set = ok;
    v->is_wrong = !ok;
}

static void read_default(struct config_diagnostics *d, const struct config_key *key, struct config_value *v)
{
    if (!key->fallback[0]) return;
    if (key->type == CONFIG_DIRECTIONS_TYPE) v->word = 1 << DIR_UP | 1 << DIR_DOWN;
    else if (key->type == CONFIG_DAYS_TYPE) v->word = 127;
    else CHECK(config_read_scalar(d, key, NULL, key->fallback, strlen(key->fallback), v));
    v->is_set = true;
}

bool config_read_block(struct config_diagnostics *d, enum config_block_id id, const struct config_node *node,
                       const struct config_node *base, void *out)
{
    const struct config_block *b = &config_blocks[id];
    struct config_value *values = out;
    for (uint16_t i = 0; i < b->n; i++) values[i] = (struct config_value){0};
    if (node->kind != CONFIG_MAP) {
        if (node->kind != CONFIG_BROKEN)
            config_wrong(d, node, NULL, "%s must be a block of keys, not %s", b->path[0] ? b->path : "the file",
                         node->kind == CONFIG_NULL ? "empty" : kind_text(node));
        return false;
    }
    take_keys(d, b, node, values, false);
    if (base && base->kind == CONFIG_MAP) take_keys(d, b, base, values, true);
    for (uint16_t i = 0; i < b->n; i++) {
        const struct config_key *key = &b->keys[i];
        if (values[i].at) read_value(d, key, &values[i]);
        else if (!values[i].is_wrong) read_default(d, key, &values[i]);
        if (key->required && !values[i].at && !values[i].is_wrong && !node->source->cut)
            config_wrong(d, node, key->example[0] ? key->example : NULL, "'%s' is missing in %s", key->name,
                         b->path[0] ? b->path : "the file");
    }
    return true;
}
