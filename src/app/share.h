/* Files for other programs that are built into this one: alert rules, a dashboard. */
#ifndef APP_SHARE_H
#define APP_SHARE_H

#include "base/buf.h"

struct share_word { const char *from, *to; };   /* "@JOB@" -> "trimtab" */

/* The file of this name (without ending) with the words put in. */
void share_text(const char *name, const struct share_word *words, unsigned n, struct buf *out);

#endif
