#include "expr/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool expr_unit_factor(enum unit from, enum unit to, double *ret_factor)
{
    double f = unit_factor(from), t = unit_factor(to);
    *ret_factor = rint(f >= t ? f / t : t / f);
    return f < t;
}

void expr_unit_kind(char out[32], enum unit unit)
{
    static const char *const nouns[] = {
        [DIM_NUMBER] = "a plain number", [DIM_RATIO] = "a ratio", [DIM_TIME] = "a time", [DIM_BYTES] = "a size",
        [DIM_RATE] = "a rate", [DIM_BYTE_RATE] = "a byte rate", [DIM_POWER] = "a power",
        [DIM_TEMPERATURE] = "a temperature", [DIM_FREQUENCY] = "a frequency",
    };
    bool say = unit != UNIT_ONE && unit != UNIT_RATIO;
    snprintf(out, 32, "%s%s%s", nouns[unit_dimension(unit)], say ? " in " : "", say ? unit_name(unit) : "");
}

static bool same_letters(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a, y = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
        if (x != y) return false;
    }
    return *a == *b;
}

const char *expr_unit_nearest(const char *word)
{
    static const struct { const char *seen, *meant; } others[] = {
        {"sec", "s"}, {"secs", "s"}, {"second", "s"}, {"seconds", "s"}, {"msec", "ms"}, {"millis", "ms"},
        {"usec", "us"}, {"min", "m"}, {"mins", "m"}, {"minute", "m"}, {"minutes", "m"}, {"hr", "h"}, {"hrs", "h"},
        {"hour", "h"}, {"hours", "h"}, {"day", "d"}, {"days", "d"}, {"pct", "%"}, {"rps", "/s"}, {"qps", "/s"},
        {"MiB", "MB"}, {"GiB", "GB"}, {"KiB", "KB"}, {"watt", "W"}, {"watts", "W"},
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (same_letters(word, others[i].seen)) return others[i].meant;
    for (int u = UNIT_RATIO; u < UNIT_COUNT; u++)
        if (same_letters(word, unit_name((enum unit)u))) return unit_name((enum unit)u);
    return NULL;
}

/* X(left, right, unit of left, of right, of the result) by dimension. */
struct rule {
    enum dimension left, right;
    enum unit as_left, as_right, result;
};

static bool find(const struct rule *rules, size_t n, enum unit left, enum unit right, enum unit *ret_left,
                 enum unit *ret_right, enum unit *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (rules[i].left != unit_dimension(left) || rules[i].right != unit_dimension(right)) continue;
        *ret_left = rules[i].as_left;
        *ret_right = rules[i].as_right;
        *ret = rules[i].result;
        return true;
    }
    return false;
}

static bool is_scale(enum unit u)
{
    return unit_dimension(u) == DIM_NUMBER || unit_dimension(u) == DIM_RATIO;
}

static enum unit plain(enum unit u) { return u == UNIT_PERCENT ? UNIT_RATIO : u; }

bool expr_unit_product(enum unit left, enum unit right, enum unit *ret_left, enum unit *ret_right, enum unit *ret)
{
    static const struct rule rules[] = {
        {DIM_TIME, DIM_RATE, UNIT_S, UNIT_PER_S, UNIT_ONE},
        {DIM_RATE, DIM_TIME, UNIT_PER_S, UNIT_S, UNIT_ONE},
        {DIM_TIME, DIM_BYTE_RATE, UNIT_S, UNIT_MB_PER_S, UNIT_MB},
        {DIM_BYTE_RATE, DIM_TIME, UNIT_MB_PER_S, UNIT_S, UNIT_MB},
    };
    *ret_left = plain(left);
    *ret_right = plain(right);
    if (is_scale(left) && is_scale(right)) {
        bool ratio = unit_dimension(left) == DIM_RATIO && unit_dimension(right) == DIM_RATIO;
        *ret = ratio ? UNIT_RATIO : UNIT_ONE;
        return true;
    }
    if (is_scale(left) || is_scale(right)) {
        *ret = is_scale(left) ? right : left;
        return true;
    }
    return find(rules, ARRAY_LEN(rules), left, right, ret_left, ret_right, ret);
}

bool expr_unit_quotient(enum unit left, enum unit right, enum unit *ret_left, enum unit *ret_right, enum unit *ret)
{
    static const struct rule rules[] = {
        {DIM_NUMBER, DIM_TIME, UNIT_ONE, UNIT_S, UNIT_PER_S},
        {DIM_NUMBER, DIM_RATE, UNIT_ONE, UNIT_PER_S, UNIT_S},
        {DIM_BYTES, DIM_TIME, UNIT_MB, UNIT_S, UNIT_MB_PER_S},
        {DIM_BYTES, DIM_BYTE_RATE, UNIT_MB, UNIT_MB_PER_S, UNIT_S},
    };
    if (unit_dimension(left) == unit_dimension(right)) {
        *ret_left = *ret_right = left;
        *ret = UNIT_RATIO;
        return true;
    }
    *ret_left = plain(left);
    *ret_right = plain(right);
    if (is_scale(right)) {
        *ret = plain(left);
        return true;
    }
    return find(rules, ARRAY_LEN(rules), left, right, ret_left, ret_right, ret);
}
