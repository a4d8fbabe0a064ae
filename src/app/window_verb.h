/* What `freeze` and `maintenance` share: one opens, lists and ends windows like the other. */
#ifndef APP_WINDOW_VERB_H
#define APP_WINDOW_VERB_H

#include "app/command.h"

int window_verb(const struct args *a, const char *kind);

#endif
