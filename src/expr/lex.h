/* Inside of the room: bytes -> tokens. Numbers come with their unit. */
#ifndef EXPR_LEX_H
#define EXPR_LEX_H

#include "expr/node.h"

enum expr_token_kind {
    TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_OPERATOR, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COMMA, TOKEN_TRUE, TOKEN_FALSE
};

struct expr_token {
    enum expr_token_kind kind;
    enum expr_op op;             /* OPERATOR: SUB also stands for the unary minus */
    uint32_t offset, length;
    double number;
    bool has_unit;
    enum unit unit;
};

/* Reads the token at or after `at`; `text` ends with NUL. A name is taken with the dashes inside it: the parser,
 * which knows the names, cuts it back. false: *error says why. */
bool expr_lex(const char *text, uint32_t at, struct expr_token *ret, struct expr_error *error);

#endif
