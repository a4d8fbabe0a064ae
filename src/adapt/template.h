/* Templates of URLs, headers and bodies: {value} {old} {instance} {version}; any other brace is plain text, so that
 * JSON bodies need no escaping. What is put in is encoded for its place. */
#ifndef ADAPT_TEMPLATE_H
#define ADAPT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum template_place {
    TEMPLATE_URL,        /* percent-encoded; {instance} as host:port */
    TEMPLATE_HEADER,     /* refused when it would hold a control character */
    TEMPLATE_BODY        /* between JSON quotes escaped for JSON, else as it is */
};

struct template_words {
    const char *value, *old, *instance, *version;   /* NULL: this word is not known here */
    size_t value_len, old_len;
};

/* false: a word that is not known here, or one that cannot stand in this place; `why` (>= 160 bytes) says which. */
bool template_expand(struct buf *out, const char *text, enum template_place place, const struct template_words *w,
                     char why[160]);
bool template_uses(const char *text, const char *word);   /* "version" */

#endif
