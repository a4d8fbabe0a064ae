/* Inside of the room: makes typed nodes; the one place where units and types are checked. */
#ifndef EXPR_BUILD_H
#define EXPR_BUILD_H

#include "expr/node.h"

struct expr_builder {
    const char *text;
    struct expr_error *error;
    uint16_t n;
    struct expr_node nodes[EXPR_LIMIT_NODES];
};

/* All return the new node, or NO_NODE with the error noted. */
uint16_t expr_build_node(struct expr_builder *b, struct expr_node node);
uint16_t expr_build_negate(struct expr_builder *b, uint16_t operand, uint32_t offset);
uint16_t expr_build_not(struct expr_builder *b, uint16_t operand, uint32_t offset);
/* + - * / comparison, and, or. */
uint16_t expr_build_binary(struct expr_builder *b, enum expr_op op, uint16_t left, uint16_t right);
/* The whole rule must be true or false. */
bool expr_build_is_rule(const struct expr_builder *b, uint16_t root);

#endif
