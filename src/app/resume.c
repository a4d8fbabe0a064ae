/* trimtab resume SERVICE | --all */
#include "app/verb.h"

int command_resume(const struct args *a) { return verb_run(a, "resume", VERB_NOTHING, "/api/v1/resume"); }
