/* The default playbook, which is part of the binary. */
#include <stdlib.h>
#include <string.h>

#include "config/build.h"

const struct config_node *config_shipped(struct config_build *b)
{
    size_t len;
    const char *bytes = config_default_playbook(&len);
    if (b->shipped) return b->shipped;
    struct config_source *source = config_source_add(b->d, "presets/playbook.yaml", bytes, len);
    if (source) b->shipped = config_tree_parse(&b->trees, source, b->d);
    if (!b->shipped) b->no_memory = true;
    return b->shipped;
}

bool config_includes_default(struct config_work *w)
{
    const struct config_value *v = &w->raw.include;
    if (!v->is_set || config_items(v->at) == 0) return false;
    const struct config_node *at = config_item(v->at, 0);
    if (strcmp(at->text, "default") == 0) return true;
    config_wrong(w->d, at, "include: [default]", "include: there is no '%.60s'", at->text);
    return false;
}

struct names {
    struct config_build *b;
    size_t cap;
};

static bool see_name(void *ctx, const char *word, size_t len, size_t at)
{
    (void)at;
    struct names *names = ctx;
    struct config_build *b = names->b;
    for (size_t i = 0; i < b->known_count; i++)
        if (strlen(b->known[i]) == len && strncmp(b->known[i], word, len) == 0) return false;
    char *copy = arena_strndup(&b->trees, word, len);
    if (copy && b->known_count < names->cap) b->known[b->known_count++] = copy;
    return false;
}

static void collect_names(struct names *names, const struct config_node *rule)
{
    if (rule && rule->kind == CONFIG_SCALAR) config_rule_words(rule->text, rule->len, see_name, names);
}

static void collect_known(struct config_build *b)
{
    struct names names = {.b = b, .cap = 1000};
    const struct config_node *rows = config_tree_get(config_shipped(b), "playbook");
    const struct config_node *symptoms = config_tree_get(config_shipped(b), "symptoms");
    b->known = arena_array(&b->trees, names.cap, sizeof *b->known);
    if (!b->known) return;
    for (uint32_t i = 0; rows && rows->kind == CONFIG_LIST && i < rows->n; i++)
        collect_names(&names, config_tree_get(rows->items[i], "when"));
    for (uint32_t i = 0; symptoms && symptoms->kind == CONFIG_MAP && i < symptoms->n; i++)
        collect_names(&names, symptoms->pairs[i].value);
}

bool config_well_known(struct config_build *b, const char *name)
{
    if (!b->known) collect_known(b);
    for (size_t i = 0; i < b->known_count; i++)
        if (strcmp(b->known[i], name) == 0) return true;
    return false;
}
