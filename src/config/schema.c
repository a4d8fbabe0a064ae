#include "config/schema.h"

#include "model/policy.h"

#define OPTIONAL false
#define REQUIRED true

#define BLOCK(id, block, ...) static const struct config_key block##_keys[] = {
#define KEY(key, type, need, fallback, least, most, below, doc, example) \
    {#key, CONFIG_##type##_TYPE, need, fallback, least, most, CONFIG_BLOCK_##below, doc, example},
#define END() };
#include "config/schema.def"
#undef BLOCK
#undef KEY
#undef END

const struct config_block config_blocks[CONFIG_BLOCK_COUNT] = {
#define BLOCK(id, block, path, doc) \
    [CONFIG_BLOCK_##id] = {#block, path, doc, block##_keys, (uint16_t)ARRAY_LEN(block##_keys)},
#define KEY(...)
#define END()
#include "config/schema.def"
#undef BLOCK
#undef KEY
#undef END
};

#define WORD(id, word, ...) word,
static const char *const layers[] = {LAYER_TABLE(WORD) NULL};
static const char *const units[] = {UNIT_TABLE(WORD) NULL};
static const char *const bads[] = {BAD_TABLE(WORD) NULL};
static const char *const shapes[] = {SHAPE_TABLE(WORD) NULL};
static const char *const modes[] = {MODE_TABLE(WORD) NULL};
static const char *const classes[] = {CLASS_TABLE(WORD) NULL};
static const char *const applies[] = {APPLY_TABLE(WORD) NULL};
static const char *const budgets[] = {BUDGET_TABLE(WORD) NULL};
static const char *const groups[] = {CAUSE_GROUP_TABLE(WORD) NULL};
static const char *const directions[] = {DIRECTION_TABLE(WORD) NULL};
#undef WORD
static const char *const owners[] = {"none", "hpa", "keda", "gitops", NULL};
static const char *const sources[] = {"embedded", "prometheus", NULL};
static const char *const methods[] = {"GET", "PUT", "POST", "PATCH", NULL};
#define WORD(id, word) word,
static const char *const receivers[] = {RECEIVER_TABLE(WORD) NULL};
#undef WORD
static const char *const languages[] = {"en", "zh", NULL};
static const char *const severities[] = {"info", "warning", "page", NULL};   /* as enum notice */
static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

const char *const *config_words(enum config_type type)
{
    switch (type) {
    case CONFIG_LAYER_TYPE: return layers;
    case CONFIG_UNIT_TYPE: return units;
    case CONFIG_BAD_TYPE: return bads;
    case CONFIG_SHAPE_TYPE: return shapes;
    case CONFIG_MODE_TYPE: return modes;
    case CONFIG_CLASS_TYPE: return classes;
    case CONFIG_APPLY_TYPE: return applies;
    case CONFIG_BUDGET_TYPE: return budgets;
    case CONFIG_OWNER_TYPE: return owners;
    case CONFIG_SOURCE_TYPE: return sources;
    case CONFIG_RECEIVER_TYPE: return receivers;
    case CONFIG_LANGUAGE_TYPE: return languages;
    case CONFIG_SEVERITY_TYPE: return severities;
    case CONFIG_GROUP_TYPE: return groups;
    case CONFIG_METHOD_TYPE: return methods;
    case CONFIG_DAYS_TYPE: return days;
    case CONFIG_DIRECTIONS_TYPE: return directions;
    default: return NULL;
    }
}
