/* trimtab serve */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/daemon.h"
#include "base/num.h"

int command_serve(const struct args *a)
{
    struct daemon_options o = {.config = args_text(a, "config"), .data = args_text(a, "data"), .listen = args_text(a, "listen"),
                               .dry_run = args_has(a, "dry-run"), .speed = 1};
    const char *speed = args_text(a, "speed");
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    if (!o.config) {
        fprintf(stderr, "trimtab serve: --config FILE is needed; examples/reference.yaml is one to begin with\n");
        return EXIT_USAGE;
    }
    if (speed && (!num_parse_all(speed, strlen(speed), &o.speed) || !(o.speed >= 1 && o.speed <= 1000))) {
        fprintf(stderr, "trimtab serve: --speed is a number from 1 to 1000, not '%s'\n", speed);
        return EXIT_USAGE;
    }
    return daemon_run(&o);
}
