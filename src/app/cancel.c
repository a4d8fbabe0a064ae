/* trimtab cancel SERVICE [ACTION] */
#include "app/verb.h"

int command_cancel(const struct args *a) { return verb_run(a, "cancel", VERB_ACTION, NULL); }
