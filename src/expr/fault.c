#include "expr/fault.h"

#include <stdio.h>
#include <string.h>

bool expr_fault(struct expr_error *error, const char *text, size_t offset, size_t length, const char *hint,
                const char *fmt, ...)
{
    *error = (struct expr_error){.pos = text_pos_at(text, offset), .offset = offset, .length = length};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, ap);
    va_end(ap);
    if (hint) text_copy(error->hint, sizeof error->hint, hint);
    return false;
}

static char printable(char c)
{
    if (c == '\n' || c == '\t' || c == '\r') return ' ';
    return c >= ' ' && c <= '~' ? c : '?';
}

const char *expr_quote(char out[EXPR_QUOTE], const char *text, size_t offset, size_t length)
{
    const size_t room = EXPR_QUOTE - 1;
    size_t n = length <= room ? length : room - 3;
    for (size_t i = 0; i < n; i++) out[i] = printable(text[offset + i]);
    memcpy(out + n, length <= room ? "" : "...", length <= room ? 1 : 4);
    return out;
}
