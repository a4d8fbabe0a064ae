/* Shared by the parts of the parser. */
#ifndef PROMQL_PARSE_H
#define PROMQL_PARSE_H

#include "promql/ast.h"

void pq_parse_advance(struct compile *c);
bool pq_parse_accept(struct compile *c, enum token_kind kind);
/* `what` says what should stand here: "')' expected". */
bool pq_parse_expect(struct compile *c, enum token_kind kind, const char *what);
void *pq_parse_fail_here(struct compile *c, const char *what);
struct pq_node *pq_parse_node(struct compile *c, enum node_kind kind, size_t at);
/* The node's source ends before the token at hand. */
struct pq_node *pq_parse_node_end(struct compile *c, struct pq_node *n);
const char *pq_parse_word_text(struct compile *c, const struct token *t);
struct pq_node *pq_parse_selector(struct compile *c);

#endif
