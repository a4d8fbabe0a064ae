/* A query back as text: parentheses only where they were written. */
#include <string.h>

#include "promql/ast.h"

void pq_print(struct buf *out, const struct pq *q)
{
    bool space = false;
    char quote = '\0';
    for (const char *p = q->text; *p; p++) {
        bool blank = !quote && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r');
        if (!quote && *p == '#') {
            while (p[1] && p[1] != '\n') p++;
            continue;
        }
        if (blank) { space = true; continue; }
        if (space && out->len) buf_putc(out, ' ');
        space = false;
        buf_putc(out, *p);
        if (quote) {
            if (*p == '\\' && quote != '`' && p[1]) buf_putc(out, *++p);
            else if (*p == quote) quote = '\0';
        } else if (*p == '"' || *p == '\'' || *p == '`') {
            quote = *p;
        }
    }
}
