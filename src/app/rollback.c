/* trimtab rollback SERVICE [ACTION] */
#include "app/verb.h"

int command_rollback(const struct args *a) { return verb_run(a, "rollback", VERB_ACTION, NULL); }
