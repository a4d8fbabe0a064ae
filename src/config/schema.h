/* The table of keys (schema.def) as C: one struct a block, one value a key, and one reader for all of them. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "base/time.h"
#include "config/tree.h"
#include "model/enums.h"

/* X(ID, placeholder in the documentation, how it is written) */
#define CONFIG_TYPE_TABLE(X)                                                                            \
    X(TEXT, "<string>", "any text")                                                                     \
    X(NAME, "<name>", "a to z, digits, - and _, beginning with a letter; at most 63")                   \
    X(NAMES, "[<name>, ...]", "a list of names, or one")                                                \
    X(TEXTS, "[<string>, ...]", "a list of texts, or one")                                              \
    X(WORDS, "{<class>: <mode>}", "a mode for each class named")                                        \
    X(PAIRS, "{<name>: <string>}", "a text for each name, or one text")                                 \
    X(URL, "<url>", "http or https address without user and password")                                  \
    X(ADDRESS, "<host>:<port>", "address to listen on")                                                 \
    X(FILENAME, "<filename>", "path of a file or folder")                                               \
    X(ORIGIN, "<origin>", "text without blanks and `+`, at most 63 bytes")                              \
    X(DURATION, "<duration>", "as in Prometheus: `30s`, `5m`, `1h30m`, `2d`, `500ms`")                  \
    X(FRACTION, "<fraction>", "a number or a percentage: `0.05` or `5%`")                               \
    X(COUNT, "<int>", "a whole number")                                                                 \
    X(NUMBER, "<float>", "a number")                                                                    \
    X(QUANTITY, "<quantity>", "a number, with a unit where the key has one: `80 ms`, `64MB`")           \
    X(BOOL, "<boolean>", "`true` or `false`")                                                           \
    X(LADDER, "<ladder>", "`x2`, `+4`, `+25%`, or a rising list")                                       \
    X(RULE, "<rule>", "a condition of the rule language")                                               \
    X(QUERY, "<promql>", "an expression of the PromQL subset")                                          \
    X(SIGNAL, "<signal>", "name of a signal of the service")                                            \
    X(POINTER, "<json-pointer>", "as in RFC 6901: empty, or beginning with `/`")                        \
    X(METHOD, "<method>", "GET, PUT, POST or PATCH")                                                    \
    X(OFFSET, "<offset>", "`+08:00`, `-05:30`")                                                         \
    X(CLOCK, "<hh:mm>", "00:00 to 24:00, in quotes")                                                    \
    X(DAYS, "[<day>, ...]", "`mon`, or a range `mon-fri`")                                              \
    X(TIME, "<time>", "RFC 3339 time or date")                                                          \
    X(DIRECTIONS, "[<direction>, ...]", "`up`, `down`")                                                 \
    X(LAYER, "<layer>", "") X(UNIT, "<unit>", "") X(BAD, "<bad>", "") X(MODE, "<mode>", "")             \
    X(CLASS, "<class>", "") X(APPLY, "<apply>", "") X(BUDGET, "<budget>", "") X(OWNER, "<owner>", "")   \
    X(SOURCE, "<source>", "") X(SHAPE, "<shape>", "")                                                                           \
    X(RECEIVER, "<receiver>", "") X(LANGUAGE, "<language>", "") X(SEVERITY, "<severity>", "")           \
    X(GROUP, "<group>", "")                                                                             \
    X(BLOCK, "", "") X(MAP, "", "") X(LIST, "", "")

#define X(id, ...) CONFIG_##id##_TYPE,
enum config_type { CONFIG_TYPE_TABLE(X) CONFIG_TYPE_COUNT };
#undef X

enum config_block_id {
    CONFIG_BLOCK_NONE,
#define BLOCK(id, ...) CONFIG_BLOCK_##id,
#define KEY(...)
#define END()
#include "config/schema.def"
#undef BLOCK
#undef KEY
#undef END
    CONFIG_BLOCK_COUNT
};

enum config_source_kind { CONFIG_SOURCE_EMBEDDED, CONFIG_SOURCE_PROMETHEUS, CONFIG_SOURCE_COUNT };
enum config_owner { CONFIG_OWNER_NONE, CONFIG_OWNER_HPA, CONFIG_OWNER_KEDA, CONFIG_OWNER_GITOPS, CONFIG_OWNER_COUNT };

struct config_key {
    const char *name;
    enum config_type type;
    bool required;
    const char *fallback;            /* default as text; "": none */
    double least, most;
    enum config_block_id below;
    const char *doc, *example;
};

struct config_block {
    const char *name, *path, *doc;
    const struct config_key *keys;
    uint16_t n;
};
extern const struct config_block config_blocks[CONFIG_BLOCK_COUNT];

/* One value as read. Which members count depends on the key's type; is_set is false when neither the file nor the table
 * gives one, or when it was wrong (and reported). */
struct config_value {
    const struct config_node *at;        /* NULL: from the table's default */
    const struct config_node *inherited; /* BLOCK, MAP, LIST: the profile's, where the service has its own too */
    bool is_set, is_wrong;
    bool flag;
    bool has_unit;
    enum unit unit;
    int word; /* of the enumeration; COUNT; minutes of CLOCK; seconds of OFFSET; bits of DAYS, DIRECTIONS */
    double number;
    struct span span;
    struct wall wall;
    const char *text;
};

/* struct config_service { struct config_value name, environment, ...; }; and so on for each block. */
#define BLOCK(id, block, ...) struct config_##block {
#define KEY(key, ...) struct config_value key;
#define END() };
#include "config/schema.def"
#undef BLOCK
#undef KEY
#undef END

/* Words of an enumeration type, NULL-terminated; NULL for other types. */
const char *const *config_words(enum config_type type);

/* Reads the keys of `node` (a map) into `out`, which is the struct of `block`; what it does not say comes from `base`
 * (may be NULL), then from the table. All that is wrong goes to `d`: unknown keys, types, ranges, missing keys. False
 * when node is no map (reported). */
bool config_read_block(struct config_diagnostics *d, enum config_block_id block, const struct config_node *node,
                       const struct config_node *base, void *out);

/* Parses one scalar by the key's type. Reports and returns false when wrong. `node` NULL: `text` is the table's default. */
bool config_read_scalar(struct config_diagnostics *d, const struct config_key *key, const struct config_node *node,
                        const char *text, size_t len, struct config_value *ret);

/* The whole reference of keys as Markdown: docs/configuration.md. */
void config_print_docs(struct buf *out);
/* What one key means, by its path without indices ("services.knobs.ladder") or its last part. False: no such key. */
bool config_explain_key(struct buf *out, const char *path);

#endif
