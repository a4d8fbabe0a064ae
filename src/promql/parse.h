/* Shared by the parts of the parser. */
#ifndef PROMQL_PARSE_H
#define PROMQL_PARSE_H

#include "promql/ast.h"

void parse_advance(struct compile *c);
bool parse_accept(struct compile *c, enum token_kind kind);
/* `what` says what should stand here: "')' expected". */
bool parse_expect(struct compile *c, enum token_kind kind, const char *what);
void *parse_fail_here(struct compile *c, const char *what);
struct pq_node *parse_node(struct compile *c, enum node_kind kind, size_t at);
/* The node's source ends before the token at hand. */
struct pq_node *parse_node_end(struct compile *c, struct pq_node *n);
const char *parse_word_text(struct compile *c, const struct token *t);
struct pq_node *parse_selector(struct compile *c);

#endif
