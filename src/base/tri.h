/* Kleene logic. Unknown is not false: see loop.md, inv. 7. */
#ifndef BASE_TRI_H
#define BASE_TRI_H

#include <stdbool.h>

enum tri { TRI_FALSE = 0, TRI_TRUE = 1, TRI_UNKNOWN = 2 };

static inline enum tri tri_of(bool b) { return b ? TRI_TRUE : TRI_FALSE; }
static inline enum tri tri_not(enum tri a)
{
    return a == TRI_UNKNOWN ? TRI_UNKNOWN : a == TRI_TRUE ? TRI_FALSE : TRI_TRUE;
}
static inline enum tri tri_and(enum tri a, enum tri b)
{
    if (a == TRI_FALSE || b == TRI_FALSE) return TRI_FALSE;
    return a == TRI_TRUE && b == TRI_TRUE ? TRI_TRUE : TRI_UNKNOWN;
}
static inline enum tri tri_or(enum tri a, enum tri b)
{
    if (a == TRI_TRUE || b == TRI_TRUE) return TRI_TRUE;
    return a == TRI_FALSE && b == TRI_FALSE ? TRI_FALSE : TRI_UNKNOWN;
}
static inline const char *tri_name(enum tri a)
{
    return a == TRI_TRUE ? "true" : a == TRI_FALSE ? "false" : "unknown";
}

#endif
