#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *status_text(enum status s)
{
    static const char *const texts[] = {
#define X(name, text) [STATUS_##name] = text,
        STATUS_TABLE(X)
#undef X
    };
    return (size_t)s < ARRAY_LEN(texts) ? texts[s] : "unknown status";
}

/* Formatting cuts at a byte; a sentence for a person must not end in half a character. */
static void drop_cut_character(char *text)
{
    size_t len = strlen(text);
    text[utf8_cut(text, len, len)] = '\0';
}

enum status err_set(struct err *e, enum status code, const char *fmt, ...)
{
    if (!e) return code;
    char text[sizeof e->text];  /* the arguments may point into e->text */
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (len < 0) snprintf(text, sizeof text, "%s", status_text(code));
    if (len >= (int)sizeof text) drop_cut_character(text);
    e->code = code;
    memcpy(e->text, text, strlen(text) + 1);
    return code;
}

enum status err_prefix(struct err *e, const char *fmt, ...)
{
    CHECK(e != NULL);
    char text[2 * sizeof e->text];
    va_list ap;
    va_start(ap, fmt);
    int len = vsnprintf(text, sizeof e->text, fmt, ap);
    va_end(ap);
    if (len < 0) return e->code;
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, ": %s", e->text);
    bool cut = strlen(text) >= sizeof e->text;
    text[sizeof e->text - 1] = '\0';
    if (cut) drop_cut_character(text);
    memcpy(e->text, text, strlen(text) + 1);
    return e->code;
}
