/* trimtab maintenance SERVICE|--all --for 2h|--until TIME, --list, --end ID */
#include "app/window_verb.h"

int command_maintenance(const struct args *a) { return window_verb(a, "maintenance"); }
