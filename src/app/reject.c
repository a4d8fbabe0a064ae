/* trimtab reject SERVICE [REQUEST] */
#include "app/verb.h"

int command_reject(const struct args *a) { return verb_run(a, "reject", VERB_REQUEST, NULL); }
