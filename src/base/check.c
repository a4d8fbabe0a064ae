#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text, int len, size_t cap)
{
    size_t size = len < 0 ? 0 : (size_t)len < cap ? (size_t)len : cap - 1;
    /* The process is about to end: a failed write leaves nobody to tell. */
    ssize_t ignored = write(STDERR_FILENO, text, size);
    (void)ignored;
}

static void report_on_stderr(const char *expr, const char *file, int line)
{
    char text[512];
    int len = snprintf(text, sizeof text, "%s:%d: internal error: CHECK(%s) failed; this is a bug, please report it\n",
                       file, line, expr);
    say(text, len, sizeof text);
}

static void (*report)(const char *, const char *, int) = report_on_stderr;

void check_set_handler(void (*handler)(const char *expr, const char *file, int line))
{
    report = handler ? handler : report_on_stderr;
}

_Noreturn void check_failed(const char *expr, const char *file, int line)
{
    report(expr, file, line);
    abort();
}

_Noreturn void check_out_of_memory(const char *file, int line)
{
    char text[256];
    int len = snprintf(text, sizeof text,
                       "trimtab: out of memory (%.100s:%d): ends here; nothing that was recorded is lost, the next start goes on"
                       " from it; give it more memory\n",
                       file, line);
    say(text, len, sizeof text);
    _exit(CHECK_MEMORY_STATUS);
}
