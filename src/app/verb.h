/* Commands of people: all of them one POST and the loop's answer. */
#ifndef APP_VERB_H
#define APP_VERB_H

#include "app/client.h"

enum verb_second { VERB_NOTHING, VERB_REQUEST, VERB_ACTION };   /* what the second word may be */

/* trimtab VERB SERVICE [SECOND]; with --all for all services where `all` is a path. */
int verb_run(const struct args *a, const char *verb, enum verb_second second, const char *all);
/* The body that says who asks and why. free() it. */
char *verb_body(const struct args *a, const char *key, const char *value);
const char *verb_user(const struct args *a);                    /* --by, else the login name */

#endif
