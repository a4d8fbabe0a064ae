/* Compiling regular expressions of PromQL: RE2's language, anchored at both ends, '.' takes newlines. */
#ifndef PROMQL_REGEX_H
#define PROMQL_REGEX_H

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include "base/arena.h"

/* Compiled into the arena. NULL: *why says why. */
const pcre2_code *pq_regex_compile(struct arena *a, const char *pattern, const char **why);

#endif
