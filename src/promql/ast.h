/* Inside of the room: tokens, syntax tree, functions. Others see promql.h only. */
#ifndef PROMQL_AST_H
#define PROMQL_AST_H

#include "promql/promql.h"

/* ---- tokens ---- */

enum token_kind {
    TOK_END, TOK_ERROR, TOK_NUMBER, TOK_DURATION, TOK_STRING, TOK_WORD,
    TOK_LPAREN, TOK_RPAREN, TOK_LBRACE, TOK_RBRACE, TOK_LBRACKET, TOK_RBRACKET, TOK_COMMA, TOK_COLON, TOK_AT,
    TOK_ADD, TOK_SUB, TOK_MUL, TOK_DIV, TOK_MOD, TOK_POW,
    TOK_EQ, TOK_EQEQ, TOK_NE, TOK_LT, TOK_LE, TOK_GT, TOK_GE, TOK_RE, TOK_NRE,
};

struct token {
    enum token_kind kind;
    size_t at, len;             /* in the source text */
    double number;              /* NUMBER; DURATION: seconds */
    int64_t ms;                 /* DURATION */
    const char *string;         /* STRING: unescaped, in the arena */
    const char *why;            /* ERROR */
};

struct lexer { const char *text; size_t len, at; struct arena *arena; };
void pq_lex_next(struct lexer *l, struct token *ret);

/* ---- tree ---- */

#define AGGREGATION_TABLE(X)                                                                         \
    X(SUM, "sum", 0) X(AVG, "avg", 0) X(MIN, "min", 0) X(MAX, "max", 0) X(COUNT, "count", 0)         \
    X(STDDEV, "stddev", 0) X(STDVAR, "stdvar", 0) X(GROUP, "group", 0) X(TOPK, "topk", 's')          \
    X(BOTTOMK, "bottomk", 's') X(QUANTILE, "quantile", 's') X(COUNT_VALUES, "count_values", 't') \
    X(LIMITK, "limitk", 's')
#define X(id, ...) AGG_##id,
enum aggregation { AGGREGATION_TABLE(X) AGG_COUNT_OF };
#undef X

/* X(ID, text, binding strength, sort). Sort: a arithmetic, c comparison, s set. */
#define OPERATOR_TABLE(X)                                                                            \
    X(OR, "or", 1, 's') X(AND, "and", 2, 's') X(UNLESS, "unless", 2, 's')                            \
    X(EQ, "==", 3, 'c') X(NE, "!=", 3, 'c') X(LT, "<", 3, 'c') X(LE, "<=", 3, 'c') X(GT, ">", 3, 'c') \
    X(GE, ">=", 3, 'c') X(ADD, "+", 4, 'a') X(SUB, "-", 4, 'a') X(MUL, "*", 5, 'a') X(DIV, "/", 5, 'a') \
    X(MOD, "%", 5, 'a') X(ATAN2, "atan2", 5, 'a') X(POW, "^", 6, 'a')
#define X(id, ...) OP_##id,
enum operator { OPERATOR_TABLE(X) OP_COUNT_OF };
#undef X
const char *pq_operator_text(enum operator op);
char pq_operator_sort(enum operator op);
const char *pq_aggregation_text(enum aggregation a);

enum node_kind { NODE_NUMBER, NODE_STRING, NODE_SELECTOR, NODE_SUBQUERY, NODE_CALL, NODE_AGGREGATE, NODE_BINARY,
                 NODE_MINUS, NODE_PAREN };
enum at_kind { AT_NONE, AT_TIME, AT_START, AT_END };
enum match_card { ONE_TO_ONE, GROUP_LEFT, GROUP_RIGHT };

struct names { const char **items; uint32_t n; };

struct pq_node {
    enum node_kind kind;
    enum pq_type type;
    size_t at, len;                      /* source text */
    double number;                       /* NUMBER */
    const char *string;                  /* STRING */
    /* SELECTOR and SUBQUERY */
    const char *name;                    /* metric; NULL: none by equality */
    struct pq_matcher **matchers;
    uint32_t matcher_count, index;       /* index: which selector of the query this is */
    int64_t range_ms, step_ms, offset_ms;/* range 0: instant selector; step 0: default */
    enum at_kind at_kind;
    int64_t at_ms;
    /* children: SUBQUERY, MINUS, PAREN and AGGREGATE use a; AGGREGATE's parameter and BINARY's right side are b */
    struct pq_node *a, *b;
    const struct function *function;
    struct pq_node **args;
    uint32_t arg_count;
    enum aggregation aggregation;
    enum operator op;
    bool returns_bool, on, by, without;  /* BINARY: on or ignoring (on == false); AGGREGATE: by, without, neither */
    bool matching_given;
    struct names labels, include;        /* sorted */
    enum match_card card;
    double observations_scale;           /* pq_histogram_quantile: bucket value * scale = requests; 0: cannot be told */
};

struct pq {
    const char *text;
    size_t len;
    struct pq_node *root;
    struct pq_node **selectors;
    uint32_t selector_count;
    bool *match_failed;                  /* set by a matcher whose engine gave up */
};

/* ---- errors ---- */

struct compile {
    struct lexer lexer;
    struct token token, ahead;           /* at hand, and one more */
    struct arena *arena;
    struct pq *q;
    struct pq_error *error;
    uint32_t nodes, depth;
    bool failed;
};
/* Records the first error only. Returns NULL so that callers can return it. */
void *pq_compile_fail(struct compile *c, size_t at, size_t len, const char *fmt, ...) PRINTF_LIKE(4, 5);
void pq_compile_hint(struct compile *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct pq_node *pq_parse_query(struct compile *c);
bool pq_check_types(struct compile *c, struct pq_node *n);
const char *pq_type_text(enum pq_type t);

/* ---- matchers ---- */

struct pq_matcher *pq_matcher_new(struct arena *a, enum pq_match_kind kind, const char *name, const char *value,
                               bool *failed_flag, const char **why);
bool pq_matcher_takes_empty(const struct pq_matcher *m);

/* ---- functions ---- */

struct eval;
struct value;
/* X(word, result, arguments, body). Arguments, one letter each: v vector, m range, s scalar, t text;
 * '?' makes the one before it optional, '*' lets it repeat. Result: v, s. */
struct function {
    const char *word;
    char result;
    const char *arguments;
    bool (*body)(struct eval *ev, const struct pq_node *call, int64_t t, struct value *ret);
    int number;                          /* tells relatives that share a body apart */
};
const struct function *pq_function_find(const char *word);
const char *pq_function_nearest(const char *word);

#endif
