/* trimtab retry SERVICE [--clear] */
#include "app/verb.h"

int command_retry(const struct args *a) { return verb_run(a, "retry", VERB_NOTHING, NULL); }
