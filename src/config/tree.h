/* YAML bytes as a tree in which every key and value knows its place. libyaml's events, none of its types: a scalar is
 * text until the schema says what it means, so `no` and `1e3` keep their letters.
 * Limits before allocation (facts: aliases multiply, deep nesting kills parsers): no anchor, alias, tag, merge, second
 * document or key that is not text; 4 MiB; 32 levels; 250,000 values. */
#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H

#include "config/diag.h"

#define CONFIG_BYTES_MAX (4u << 20)   /* of 20,000 services, the most there may be, with profiles */
#define CONFIG_DEPTH_MAX 32
#define CONFIG_NODES_MAX 250000

enum config_kind {
    CONFIG_NULL,     /* nothing stands there, or ~ or null */
    CONFIG_SCALAR,
    CONFIG_MAP,
    CONFIG_LIST,
    CONFIG_BROKEN,   /* was reported already; say nothing more about it */
};
enum config_style { CONFIG_PLAIN, CONFIG_SINGLE_QUOTED, CONFIG_DOUBLE_QUOTED, CONFIG_LITERAL, CONFIG_FOLDED };

struct config_pair;
struct config_node {
    enum config_kind kind;
    enum config_style style;         /* of a scalar */
    const struct config_source *source;
    size_t offset, length;           /* bytes in the source; a map's or list's length is 1 */
    const char *text;                /* scalar, after quotes, escapes and folding; NUL behind it */
    size_t len;
    const struct config_pair *pairs; /* map, in the file's order, each key once */
    const struct config_node *const *items;
    uint32_t n;                      /* pairs or items */
};
struct config_pair { const struct config_node *key, *value; };

/* The root, or NULL when there is nothing to look at (too large, empty, out of memory). What is wrong stands in `d`.
 * Where a line is not YAML the tree is there without it and what belongs to it; if that leads nowhere, up to it. Then
 * source->cut is set: a name that is missing may have stood there. Nodes live in `a`. */
const struct config_node *config_tree_parse(struct arena *a, struct config_source *source, struct config_diagnostics *d);
/* The value of `key`, NULL when absent or `map` is not a map (or NULL). */
const struct config_node *config_tree_get(const struct config_node *map, const char *key);
/* The key itself, for its place. */
const struct config_node *config_tree_key(const struct config_node *map, const char *key);
/* Source offset of byte `at` of a scalar's text: through quotes, escapes, folding and block indentation. */
size_t config_tree_place(const struct config_node *scalar, size_t at);

#endif
