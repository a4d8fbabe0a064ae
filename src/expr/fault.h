/* Inside of the room: how errors are made. */
#ifndef EXPR_FAULT_H
#define EXPR_FAULT_H

#include "expr/expr.h"

#define EXPR_QUOTE 48

/* Notes the error at [offset, offset + length) of text; always returns false. The hint may be NULL. */
bool expr_fault(struct expr_error *error, const char *text, size_t offset, size_t length, const char *hint,
                const char *fmt, ...) PRINTF_LIKE(6, 7);
/* The source slice in printable form, cut with "..." where it is long. */
const char *expr_quote(char out[EXPR_QUOTE], const char *text, size_t offset, size_t length);

#endif
