/* Assertions that stay on in release builds, and small compile-time helpers. */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <stddef.h>

/* Ends the process through the installed handler (default: message on stderr, abort).
 * Only for states that our own code must never reach; never for outside input. */
_Noreturn void check_failed(const char *expr, const char *file, int line);

/* Replaces the handler that reports a failed CHECK before abort; NULL restores the default.
 * The daemon installs one that says which record was in flight. */
void check_set_handler(void (*handler)(const char *expr, const char *file, int line));

#define CHECK_MEMORY_STATUS 6

/* Ends the process with CHECK_MEMORY_STATUS and a sentence: memory is out at a place that cannot go on without. It is as
 * safe as being killed there: what was recorded stays, and the next start reads it. */
_Noreturn void check_out_of_memory(const char *file, int line);
#define CHECK_MEMORY(got) ((got) ? (void)0 : check_out_of_memory(__FILE__, __LINE__))

#define CHECK(cond) ((cond) ? (void)0 : check_failed(#cond, __FILE__, __LINE__))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Checked objects: a struct whose first member is `uint32_t magic` carries its type at run time. */
#define OBJ_VALID(o, want) CHECK((o) != NULL && (o)->magic == (want))

#if defined(__GNUC__)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MUST_USE __attribute__((warn_unused_result))
#else
#define PRINTF_LIKE(f, a)
#define MUST_USE
#endif

#endif
