#include "config/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "config/tree_inside.h"

/* A map or list that is still open. Maps hold keys and values alternating in `nodes`. */
struct frame {
    struct config_node *node;
    const struct config_node **nodes;
    size_t n, cap;
};

struct build {
    struct arena *arena;
    struct config_diagnostics *d;
    struct config_source *source;
    const char *bytes;                           /* the source's, or a copy with lines blanked out */
    struct frame frames[CONFIG_DEPTH_MAX + 1];   /* [0] holds the document's root as a list of one */
    unsigned depth;
    size_t nodes;
    size_t begin;                                /* behind a byte order mark */
    size_t index, offset;                        /* libyaml counts characters; this pair follows in bytes */
    bool stop;
    struct config_fault fault;
};

static void report(struct build *b, size_t offset, size_t length, const char *hint, const char *text)
{
    config_report(b->d, CONFIG_ERROR, b->source, offset, length, hint, "%s", text);
}

static void stop(struct build *b, size_t offset, const char *hint, const char *text)
{
    report(b, offset, 1, hint, text);
    b->source->cut_line = config_source_pos(b->source, offset).line;
    b->source->cut = true;
    b->stop = true;
}

/* Byte offset of a mark. Marks come in ascending order but for a few, which start again from the beginning. */
static size_t byte_of(struct build *b, const yaml_mark_t *mark)
{
    if (mark->index < b->index) {
        b->index = 0;
        b->offset = b->begin;
    }
    while (b->index < mark->index && b->offset < b->source->len) {
        unsigned n = utf8_next(b->bytes + b->offset, b->source->len - b->offset, NULL);
        b->offset += n ? n : 1;
        b->index++;
    }
    return b->offset;
}

static struct config_node *new_node(struct build *b, enum config_kind kind, size_t offset, size_t length)
{
    if (++b->nodes > CONFIG_NODES_MAX) {
        stop(b, offset, "split the services over several daemons, or share settings by `profiles`",
             "more than 250,000 values in one file");
        return NULL;
    }
    struct config_node *n = ARENA_NEW(b->arena, struct config_node);
    if (!n) {
        stop(b, offset, NULL, "out of memory");
        return NULL;
    }
    *n = (struct config_node){.kind = kind, .source = b->source, .offset = offset, .length = length ? length : 1};
    return n;
}

static void push(struct build *b, struct frame *f, const struct config_node *node)
{
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 8;
        const struct config_node **grown = realloc(f->nodes, cap * sizeof *grown);
        if (!grown) {
            stop(b, node->offset, NULL, "out of memory");
            return;
        }
        f->nodes = grown;
        f->cap = cap;
    }
    f->nodes[f->n++] = node;
}

static void add(struct build *b, const struct config_node *node)
{
    if (node) push(b, &b->frames[b->depth], node);
}

/* Anchors and tags are refused; the value under them is read all the same. */
static void refuse_marks(struct build *b, size_t offset, const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        report(b, offset, 1, "write the value again where it is needed, or share settings by `profiles`",
               "anchors (&name) are not allowed: they let a small file grow without bound");
    if (tag) report(b, offset, 1, "leave the tag out; the key says what type its value has", "tags (!type) are not allowed");
}

static bool is_null(const struct config_node *n)
{
    if (n->style != CONFIG_PLAIN) return false;
    return n->len == 0 || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0;
}

static enum config_style style_of(yaml_scalar_style_t style)
{
    switch (style) {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE: return CONFIG_SINGLE_QUOTED;
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE: return CONFIG_DOUBLE_QUOTED;
    case YAML_LITERAL_SCALAR_STYLE: return CONFIG_LITERAL;
    case YAML_FOLDED_SCALAR_STYLE: return CONFIG_FOLDED;
    default: return CONFIG_PLAIN;
    }
}

/* Blanks and line ends behind a value do not belong to what is underlined. */
static size_t trimmed(const struct build *b, size_t from, size_t to)
{
    while (to > from && strchr(" \t\r\n", b->bytes[to - 1])) to--;
    return to - from;
}

static void on_scalar(struct build *b, const yaml_event_t *e)
{
    size_t from = byte_of(b, &e->start_mark), to = byte_of(b, &e->end_mark);
    struct config_node *n = new_node(b, CONFIG_SCALAR, from, trimmed(b, from, to));
    if (!n) return;
    refuse_marks(b, from, e->data.scalar.anchor, e->data.scalar.tag);
    n->style = style_of(e->data.scalar.style);
    n->len = e->data.scalar.length;
    n->text = arena_strndup(b->arena, (const char *)e->data.scalar.value, n->len);
    if (!n->text) {
        stop(b, from, NULL, "out of memory");
        return;
    }
    if (memchr(n->text, '\0', n->len)) {
        report(b, from, n->length, NULL, "a NUL byte inside a text");
        n->kind = CONFIG_BROKEN;
    } else if (is_null(n)) {
        n->kind = CONFIG_NULL;
    }
    add(b, n);
}

static void on_alias(struct build *b, const yaml_event_t *e)
{
    size_t from = byte_of(b, &e->start_mark);
    report(b, from, 1, "write the value again, or share settings by `profiles`",
           "aliases (*name) are not allowed: they let a small file grow without bound");
    add(b, new_node(b, CONFIG_BROKEN, from, 1));
}

static void on_open(struct build *b, const yaml_event_t *e, enum config_kind kind)
{
    size_t from = byte_of(b, &e->start_mark);
    bool map = kind == CONFIG_MAP;
    if (b->depth >= CONFIG_DEPTH_MAX) {
        stop(b, from, NULL, "nested deeper than 32 levels");
        return;
    }
    refuse_marks(b, from, map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor,
                 map ? e->data.mapping_start.tag : e->data.sequence_start.tag);
    struct config_node *n = new_node(b, kind, from, 1);
    if (!n) return;
    add(b, n);
    b->frames[++b->depth] = (struct frame){.node = n};
}

static int by_text(const void *left, const void *right)
{
    const struct config_pair *const *a = left, *const *b = right;
    int c = strcmp((*a)->key->text, (*b)->key->text);
    if (c != 0) return c;
    return (*a)->key->offset < (*b)->key->offset ? -1 : 1;
}

/* A sort, not a hash: no input can make it slow. */
static void drop_duplicates(struct build *b, struct config_pair *pairs, uint32_t *n)
{
    struct config_pair **sorted = malloc((*n ? *n : 1) * sizeof *sorted);
    if (!sorted) {
        stop(b, pairs->key->offset, NULL, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < *n; i++) sorted[i] = &pairs[i];
    qsort(sorted, *n, sizeof *sorted, by_text);
    struct config_pair *first = *n ? sorted[0] : NULL;
    for (uint32_t i = 1; i < *n; i++) {
        const struct config_node *key = sorted[i]->key;
        if (strcmp(first->key->text, key->text) != 0) {
            first = sorted[i];
            continue;
        }
        config_report(b->d, CONFIG_ERROR, b->source, key->offset, key->length, "keep one of the two",
                      "duplicate key '%.60s': it stands on line %u already", key->text,
                      config_source_pos(b->source, first->key->offset).line);
        sorted[i]->key = NULL;
    }
    free(sorted);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n; i++)
        if (pairs[i].key) pairs[kept++] = pairs[i];
    *n = kept;
}

static void close_map(struct build *b, struct frame *f)
{
    struct config_pair *pairs = ARENA_NEW_N(b->arena, f->n / 2 + 1, struct config_pair);
    if (!pairs) {
        stop(b, f->node->offset, NULL, "out of memory");
        return;
    }
    uint32_t n = 0;
    for (size_t i = 0; i + 1 < f->n; i += 2) {
        const struct config_node *key = f->nodes[i];
        if (key->kind == CONFIG_SCALAR) pairs[n++] = (struct config_pair){key, f->nodes[i + 1]};
        else if (key->kind != CONFIG_BROKEN) report(b, key->offset, key->length, NULL, "a key must be a plain text");
    }
    drop_duplicates(b, pairs, &n);
    f->node->pairs = pairs;
    f->node->n = n;
}

static void close_list(struct build *b, struct frame *f)
{
    const struct config_node **items = ARENA_NEW_N(b->arena, f->n + 1, const struct config_node *);
    if (!items) {
        stop(b, f->node->offset, NULL, "out of memory");
        return;
    }
    if (f->n) memcpy(items, f->nodes, f->n * sizeof *items);
    f->node->items = items;
    f->node->n = (uint32_t)f->n;
}

static void on_close(struct build *b)
{
    struct frame *f = &b->frames[b->depth];
    if (f->node->kind == CONFIG_MAP) close_map(b, f);
    else close_list(b, f);
    free(f->nodes);
    f->nodes = NULL;
    b->depth--;
}

static void on_event(struct build *b, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT: on_scalar(b, e); break;
    case YAML_ALIAS_EVENT: on_alias(b, e); break;
    case YAML_MAPPING_START_EVENT: on_open(b, e, CONFIG_MAP); break;
    case YAML_SEQUENCE_START_EVENT: on_open(b, e, CONFIG_LIST); break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: on_close(b); break;
    case YAML_DOCUMENT_START_EVENT:
        if (b->frames[0].n)
            stop(b, byte_of(b, &e->start_mark), "keep one document a file", "a second YAML document begins here");
        break;
    default: break;
    }
}

/* A tab in the indentation is the one fault that the message of the parser hides best. */
static const char *syntax_hint(const struct build *b, size_t at)
{
    size_t line = at;
    while (line > 0 && b->bytes[line - 1] != '\n') line--;
    for (; line < b->source->len && strchr(" \t", b->bytes[line]); line++)
        if (b->bytes[line] == '\t') return "YAML allows no tab in the indentation; use spaces";
    if (at < b->source->len && strchr("`@%", b->bytes[at])) return "put the text into quotes";
    return "look at indentation, quotes and colons here and on the line before; a text with ': ' or ' #' needs quotes";
}

static void on_syntax(struct build *b, const yaml_parser_t *p)
{
    if (p->error == YAML_MEMORY_ERROR) {
        stop(b, 0, NULL, "out of memory");
        return;
    }
    bool reader = p->error == YAML_READER_ERROR;
    size_t at = reader ? b->begin + p->problem_offset : byte_of(b, &p->problem_mark);
    if (at > b->source->len) at = b->source->len;
    struct config_fault *f = &b->fault;
    const char *problem = p->problem ? p->problem : "cannot be read";
    f->at = at;
    f->may_mend = !reader;
    f->hint = reader ? "save the file as UTF-8 without control characters" : syntax_hint(b, at);
    if (reader || !p->context) snprintf(f->text, sizeof f->text, "not YAML: %s", problem);
    else snprintf(f->text, sizeof f->text, "not YAML: %s (%s from line %zu)", problem, p->context, p->context_mark.line + 1);
    stop(b, at, f->hint, f->text);
}

static void run(struct build *b)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        stop(b, 0, NULL, "out of memory");
        return;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    if (b->source->len >= 3 && memcmp(b->bytes, "\xef\xbb\xbf", 3) == 0) b->begin = b->offset = 3;
    yaml_parser_set_input_string(&parser, (const unsigned char *)b->bytes + b->begin, b->source->len - b->begin);
    for (bool end = false; !end && !b->stop;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            on_syntax(b, &parser);
            break;
        }
        end = event.type == YAML_STREAM_END_EVENT;
        on_event(b, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

const struct config_node *config_tree_once(struct arena *a, struct config_source *source, const char *bytes,
                                            struct config_diagnostics *d, struct config_fault *ret)
{
    struct build b = {.arena = a, .d = d, .source = source, .bytes = bytes};
    run(&b);
    while (b.depth > 0) on_close(&b);
    const struct config_node *root = b.frames[0].n ? b.frames[0].nodes[0] : NULL;
    free(b.frames[0].nodes);
    *ret = b.fault;
    return root;
}

const struct config_node *config_tree_key(const struct config_node *map, const char *key)
{
    for (uint32_t i = 0; map && map->kind == CONFIG_MAP && i < map->n; i++)
        if (strcmp(map->pairs[i].key->text, key) == 0) return map->pairs[i].key;
    return NULL;
}

const struct config_node *config_tree_get(const struct config_node *map, const char *key)
{
    for (uint32_t i = 0; map && map->kind == CONFIG_MAP && i < map->n; i++)
        if (strcmp(map->pairs[i].key->text, key) == 0) return map->pairs[i].value;
    return NULL;
}
