#include "model/enums.h"

#include <string.h>

#include "base/check.h"

#define NAMES(list, table) static const char *const list[] = {table(NAME_OF)};
#define NAME_OF(id, word, ...) word,
NAMES(layer_words, LAYER_TABLE)
NAMES(unit_words, UNIT_TABLE)
NAMES(dimension_words, DIMENSION_TABLE)
NAMES(bad_words, BAD_TABLE)
NAMES(mode_words, MODE_TABLE)
NAMES(direction_words, DIRECTION_TABLE)
NAMES(apply_words, APPLY_TABLE)
NAMES(budget_words, BUDGET_TABLE)
NAMES(class_words, CLASS_TABLE)
NAMES(state_words, STATE_TABLE)
NAMES(read_class_words, READ_CLASS_TABLE)
NAMES(page_words, PAGE_TABLE)
NAMES(answer_words, ANSWER_TABLE)
NAMES(verdict_words, VERDICT_TABLE)
NAMES(decision_words, DECISION_TABLE)
NAMES(cause_verdict_words, CAUSE_VERDICT_TABLE)
NAMES(cause_group_words, CAUSE_GROUP_TABLE)
NAMES(view_words, VIEW_TABLE)
NAMES(series_state_words, SERIES_STATE_TABLE)
NAMES(unknown_words, UNKNOWN_TABLE)
NAMES(module_words, MODULE_TABLE)
#undef NAME_OF

static const char *word_of(const char *const *words, unsigned n, unsigned v)
{
    CHECK(v < n);
    return words[v];
}

static bool find_word(const char *const *words, unsigned n, const char *word, unsigned *ret)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

#define NAME_FUNCTION(fn, type, list) \
    const char *fn(enum type v) { return word_of(list, ARRAY_LEN(list), (unsigned)v); }
NAME_FUNCTION(layer_name, layer, layer_words)
NAME_FUNCTION(unit_name, unit, unit_words)
NAME_FUNCTION(dimension_name, dimension, dimension_words)
NAME_FUNCTION(bad_name, bad, bad_words)
NAME_FUNCTION(mode_name, mode, mode_words)
NAME_FUNCTION(direction_name, direction, direction_words)
NAME_FUNCTION(apply_name, apply, apply_words)
NAME_FUNCTION(budget_name, budget, budget_words)
NAME_FUNCTION(class_name, action_class, class_words)
NAME_FUNCTION(state_name, state, state_words)
NAME_FUNCTION(read_class_name, read_class, read_class_words)
NAME_FUNCTION(page_outcome_name, page_outcome, page_words)
NAME_FUNCTION(answer_kind_name, answer_kind, answer_words)
NAME_FUNCTION(verdict_name, verdict, verdict_words)
NAME_FUNCTION(decision_name, decision_kind, decision_words)
NAME_FUNCTION(cause_verdict_name, cause_verdict, cause_verdict_words)
NAME_FUNCTION(cause_group_name, cause_group, cause_group_words)
NAME_FUNCTION(view_name, view, view_words)
NAME_FUNCTION(series_state_name, series_state, series_state_words)
NAME_FUNCTION(unknown_name, unknown_why, unknown_words)
NAME_FUNCTION(module_name, module, module_words)

#define PARSE_FUNCTION(fn, type, list)                                          \
    bool fn(const char *word, enum type *ret)                                   \
    {                                                                           \
        unsigned v;                                                             \
        if (!find_word(list, ARRAY_LEN(list), word, &v)) return false;          \
        *ret = (enum type)v;                                                    \
        return true;                                                            \
    }
PARSE_FUNCTION(layer_parse, layer, layer_words)
PARSE_FUNCTION(bad_parse, bad, bad_words)
PARSE_FUNCTION(mode_parse, mode, mode_words)
PARSE_FUNCTION(direction_parse, direction, direction_words)
PARSE_FUNCTION(apply_parse, apply, apply_words)
PARSE_FUNCTION(budget_parse, budget, budget_words)
PARSE_FUNCTION(class_parse, action_class, class_words)
PARSE_FUNCTION(cause_group_parse, cause_group, cause_group_words)
PARSE_FUNCTION(state_parse, state, state_words)
PARSE_FUNCTION(verdict_parse, verdict, verdict_words)
PARSE_FUNCTION(module_parse, module, module_words)

bool unit_parse(const char *word, enum unit *ret)
{
    static const struct { const char *word; enum unit unit; } other[] = {
        {"percent", UNIT_PERCENT}, {"1", UNIT_ONE}, {"count", UNIT_ONE}, {"req/s", UNIT_PER_S}, {"1/s", UNIT_PER_S},
    };
    unsigned v;
    if (find_word(unit_words, ARRAY_LEN(unit_words), word, &v)) {
        *ret = (enum unit)v;
        return true;
    }
    for (unsigned i = 0; i < ARRAY_LEN(other); i++) {
        if (strcmp(other[i].word, word) == 0) {
            *ret = other[i].unit;
            return true;
        }
    }
    return false;
}

const char *unknown_sentence(enum unknown_why v)
{
#define X(id, word, sentence) sentence,
    static const char *const sentences[] = {UNKNOWN_TABLE(X)};
#undef X
    return word_of(sentences, ARRAY_LEN(sentences), (unsigned)v);
}

enum dimension unit_dimension(enum unit u)
{
#define X(id, word, dimension, factor) DIM_##dimension,
    static const enum dimension dimensions[] = {UNIT_TABLE(X)};
#undef X
    CHECK((unsigned)u < UNIT_COUNT);
    return dimensions[u];
}

double unit_factor(enum unit u)
{
#define X(id, word, dimension, factor) factor,
    static const double factors[] = {UNIT_TABLE(X)};
#undef X
    CHECK((unsigned)u < UNIT_COUNT);
    return factors[u];
}

int layer_interval_s(enum layer l)
{
#define X(id, word, interval_s, days) interval_s,
    static const int intervals[] = {LAYER_TABLE(X)};
#undef X
    CHECK((unsigned)l < LAYER_COUNT);
    return intervals[l];
}

int layer_kept_days(enum layer l)
{
#define X(id, word, interval_s, days) days,
    static const int kept[] = {LAYER_TABLE(X)};
#undef X
    CHECK((unsigned)l < LAYER_COUNT);
    return kept[l];
}

int class_default_tier(enum action_class c)
{
#define X(id, word, tier) tier,
    static const int tiers[] = {CLASS_TABLE(X)};
#undef X
    CHECK((unsigned)c < CLASS_COUNT);
    return tiers[c];
}
