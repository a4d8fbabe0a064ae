/* trimtab version */
#include <stdio.h>

#include "app/command.h"

int command_version(const struct args *a)
{
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    printf("trimtab " TRIMTAB_VERSION "\n");
    return EXIT_GOOD;
}
