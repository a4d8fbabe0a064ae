/* trimtab normal-now SERVICE */
#include "app/verb.h"

int command_normal_now(const struct args *a) { return verb_run(a, "normal-now", VERB_NOTHING, NULL); }
