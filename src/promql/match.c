/* Label matchers. Regular expressions run on PCRE2's DFA engine: it does not backtrack, so no pattern that a user
 * writes and no label that a target sends can make it slow; what RE2 does not know either is refused at load. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "promql/ast.h"
#include "promql/regex.h"

#define PATTERN_BYTES_MAX 1024
#define COMPILED_BYTES_MAX 65536
#define DFA_WORKSPACE 8192          /* ints */

struct pq_matcher {
    enum pq_match_kind kind;
    const char *name, *value;
    bool anything, something;       /* ".*" and ".+": the two that everybody writes */
    const char **words;             /* a|b|c without any sign: compared as text */
    uint32_t word_count;
    const pcre2_code *code;
    bool *failed;                   /* set when the engine gives up */
};

static void *take(size_t size, void *arena) { return arena_alloc(arena, size); }
static void leave(void *p, void *arena) { (void)p; (void)arena; }   /* the arena frees all at once */

/* What PCRE2 knows and RE2 does not: look-around, back references, atomic and recursive groups, callouts... */
static bool foreign_syntax(const char *p)
{
    bool in_class = false;
    for (; *p; p++) {
        if (*p == '\\') {
            if (p[1] && strchr("123456789gkGKRXNChHVuUlLE", p[1])) return true;
            if (p[1] == '\0') return false;
            p++;
            continue;
        }
        if (in_class) { in_class = *p != ']'; continue; }
        if (*p == '[') {
            in_class = true;
            if (p[1] == '^') p++;
            if (p[1] == ']') p++;
            continue;
        }
        if (p[0] == '(' && p[1] == '*') return true;
        if (p[0] == '(' && p[1] == '?') {
            const char *q = p + 2;
            if (*q == 'P' || *q == '<') { if (q[0] == 'P' ? q[1] != '<' : (q[1] == '=' || q[1] == '!')) return true; }
            else if (*q == '\0' || !strchr("imsU-:", *q)) return true;
        }
        if ((*p == '*' || *p == '+' || *p == '?' || *p == '}') && p[1] == '+') return true;
    }
    return false;
}

const pcre2_code *pq_regex_compile(struct arena *a, const char *pattern, const char **why)
{
    if (strlen(pattern) > PATTERN_BYTES_MAX) { *why = "it is longer than 1 KiB"; return NULL; }
    if (foreign_syntax(pattern)) {
        *why = "look-around, back references and possessive repeats do not exist in PromQL";
        return NULL;
    }
    pcre2_general_context *general = pcre2_general_context_create(take, leave, a);
    if (!general) { *why = "out of memory"; return NULL; }
    pcre2_compile_context *context = pcre2_compile_context_create(general);
    if (!context) { *why = "out of memory"; return NULL; }
    pcre2_set_parens_nest_limit(context, 50);
    int number;
    PCRE2_SIZE at;
    uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL | PCRE2_UTF | PCRE2_DOLLAR_ENDONLY |
                       PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_AUTO_POSSESS;
    const pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &number, &at, context);
    if (!code) { *why = "it is not a regular expression"; return NULL; }
    size_t size = 0;
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    if (size > COMPILED_BYTES_MAX) { *why = "its repeats make it too large"; return NULL; }
    return code;
}

/* 1 match, 0 none, -1 the engine gave up. */
static int regex_run(const pcre2_code *code, const char *value)
{
    int workspace[DFA_WORKSPACE];
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!data) return -1;
    int rc = pcre2_dfa_match(code, (PCRE2_SPTR)value, strlen(value), 0, 0, data, NULL, workspace, DFA_WORKSPACE);
    pcre2_match_data_free(data);
    if (rc >= 0) return 1;
    /* A value that is not UTF-8 matches nothing. */
    if (rc == PCRE2_ERROR_NOMATCH || (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21)) return 0;
    return -1;
}

static bool plain_words(struct arena *a, struct pq_matcher *m)
{
    if (strpbrk(m->value, "\\.+*?()[]{}^$")) return false;
    uint32_t n = 1;
    for (const char *p = m->value; *p; p++) n += *p == '|';
    m->words = ARENA_NEW_N(a, n, const char *);
    char *copy = arena_strdup(a, m->value);
    if (!m->words || !copy) return false;
    for (uint32_t i = 0; i < n; i++) {
        m->words[i] = copy;
        char *bar = strchr(copy, '|');
        if (bar) *bar = '\0';
        copy = bar ? bar + 1 : copy;
    }
    m->word_count = n;
    return true;
}

struct pq_matcher *pq_matcher_new(struct arena *a, enum pq_match_kind kind, const char *name, const char *value,
                               bool *failed_flag, const char **why)
{
    struct pq_matcher *m = ARENA_NEW(a, struct pq_matcher);
    if (!m) return NULL;
    *m = (struct pq_matcher){.kind = kind, .name = name, .value = value, .failed = failed_flag};
    if (kind == PQ_EQ || kind == PQ_NE) return m;
    m->anything = strcmp(value, ".*") == 0;
    m->something = strcmp(value, ".+") == 0;
    if (m->anything || m->something || plain_words(a, m)) return m;
    m->code = pq_regex_compile(a, value, why);
    return m->code ? m : NULL;
}

static bool expression_matches(const struct pq_matcher *m, const char *value)
{
    if (m->anything) return true;
    if (m->something) return *value != '\0';
    if (m->words) {
        for (uint32_t i = 0; i < m->word_count; i++)
            if (strcmp(m->words[i], value) == 0) return true;
        return false;
    }
    int r = regex_run(m->code, value);
    if (r < 0 && m->failed) *m->failed = true;
    return r > 0;
}

bool pq_matches(const struct pq_matcher *m, const char *value)
{
    if (!value) value = "";
    switch (m->kind) {
    case PQ_EQ: return strcmp(m->value, value) == 0;
    case PQ_NE: return strcmp(m->value, value) != 0;
    case PQ_RE: return expression_matches(m, value);
    case PQ_NRE: return !expression_matches(m, value);
    }
    return false;
}

bool pq_matcher_takes_empty(const struct pq_matcher *m) { return pq_matches(m, ""); }
const char *pq_matcher_name(const struct pq_matcher *m) { return m->name; }
enum pq_match_kind pq_matcher_kind(const struct pq_matcher *m) { return m->kind; }
const char *pq_matcher_value(const struct pq_matcher *m) { return m->value; }
