/* trimtab freeze SERVICE|--all --for 2h|--until TIME, --list, --end ID */
#include "app/window_verb.h"

int command_freeze(const struct args *a) { return window_verb(a, "freeze"); }
