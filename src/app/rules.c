/* trimtab rules: Prometheus alert rules for trimtab itself. */
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/share.h"

int command_rules(const struct args *a)
{
    const char *runbooks = args_text(a, "runbooks"), *job = args_text(a, "job");
    struct buf b = BUF_INIT;
    if (!args_want(a, 0, 0)) return EXIT_USAGE;
    if ((runbooks && strpbrk(runbooks, "'\n@")) || (job && strpbrk(job, "'\"\\\n"))) {
        fprintf(stderr, "trimtab rules: --runbooks and --job take no quotes\n");
        return EXIT_USAGE;
    }
    const struct share_word words[] = {
        {"@RUNBOOKS@", runbooks ? runbooks : "file:///usr/local/share/doc/trimtab/docs/runbooks.md"},
        {"@JOB@", job ? job : "trimtab"},
    };
    share_text("rules", words, 2, &b);
    fputs(buf_text(&b), stdout);
    buf_free(&b);
    return EXIT_GOOD;
}
