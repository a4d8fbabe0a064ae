/* Status codes and an error that says what happened, where, and what to do next. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

#include "base/check.h"

#define STATUS_TABLE(X)                                                  \
    X(OK, "ok")                                                          \
    X(INVALID, "invalid input")                                          \
    X(LIMIT, "limit exceeded")                                           \
    X(NOT_FOUND, "not found")                                            \
    X(EXISTS, "already exists")                                          \
    X(CONFLICT, "conflict")                                              \
    X(DENIED, "not permitted")                                           \
    X(IO, "input/output error")                                          \
    X(CORRUPT, "stored data is corrupt")                                 \
    X(TIMEOUT, "timed out")                                              \
    X(BUSY, "busy")                                                      \
    X(FULL, "no space left")                                             \
    X(MEMORY, "out of memory")                                           \
    X(UNSUPPORTED, "not supported")                                      \
    X(STATE, "not possible in this state")

enum status {
#define X(name, text) STATUS_##name,
    STATUS_TABLE(X)
#undef X
};

const char *status_text(enum status s);

struct err {
    enum status code;
    char text[512];  /* one sentence for a person, UTF-8, no trailing newline */
};

/* Fills `e` (may be NULL) and returns `code`, so that callers can write `return err_set(...)`. */
enum status err_set(struct err *e, enum status code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "prefix: " in front of the text that is there; keeps and returns the code. `e` must not be NULL. */
enum status err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline void err_clear(struct err *e)
{
    if (e) { e->code = STATUS_OK; e->text[0] = '\0'; }
}

#endif
