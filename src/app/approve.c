/* trimtab approve SERVICE [REQUEST] */
#include "app/verb.h"

int command_approve(const struct args *a) { return verb_run(a, "approve", VERB_REQUEST, NULL); }
