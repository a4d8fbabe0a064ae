/* Inside of the room: text -> nodes. A Pratt parser over expr_lex. */
#ifndef EXPR_PARSE_H
#define EXPR_PARSE_H

#include "expr/build.h"
#include "expr/lex.h"

struct expr_parser {
    const char *text;
    const struct service_def *service;
    struct expr_error *error;
    struct expr_token token;     /* the one looked at */
    uint32_t at;                 /* behind it */
    int depth;
    struct expr_builder build;
};

bool expr_advance(struct expr_parser *p);
/* Expression of operators with at least this power; NO_NODE with the error noted. */
uint16_t expr_parse(struct expr_parser *p, int power);
/* A name: signal, knob or function call (call.c). */
uint16_t expr_parse_name(struct expr_parser *p);
/* Notes "unexpected ..." at the present token. */
uint16_t expr_unexpected(struct expr_parser *p, const char *wanted, const char *hint);

#endif
