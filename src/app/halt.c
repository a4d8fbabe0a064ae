/* trimtab halt [SERVICE | --all] --reason TEXT: works also when the daemon does not answer, by a file that it looks at
 * before each write. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/output.h"
#include "app/verb.h"
#include "base/text.h"

static int by_file(const struct args *a, const struct client *c, const char *service)
{
    char path[1300];
    const char *reason = args_text(a, "reason");
    struct stat st;
    if (service && !text_is_name(service, 63)) {
        fprintf(stderr, "trimtab halt: '%s' is no name of a service\n", service);
        return EXIT_USAGE;
    }
    snprintf(path, sizeof path, "%s/halt%s%s", c->data, service ? "." : "", service ? service : "");
    FILE *f = stat(c->data, &st) == 0 ? fopen(path, "we") : NULL;
    bool ok = f && fprintf(f, "%s: %s\n", verb_user(a), reason ? reason : "no reason given") > 0;
    if (f && fclose(f) != 0) ok = false;
    if (!ok) {
        fprintf(stderr, "trimtab halt: cannot write %s: %s. NOTHING IS HALTED. Say where the daemon's data folder is with"
                        " --data DIR, or send the daemon SIGUSR1.\n", path, strerror(errno));
        return EXIT_FAIL;
    }
    fprintf(stderr, "trimtab halt: the daemon did not take the command, so the file %s was written. While it exists no daemon on"
                    " this data folder writes to %s. To lift it: remove the file, then 'trimtab resume'.\n", path,
            service ? service : "any service");
    return EXIT_GOOD;
}

/* `undo`: take the unverified action back first. */
static int ask(const struct args *a, const struct client *c, const char *service, struct answer *answer)
{
    struct buf path = BUF_INIT;
    if (service) {
        buf_puts(&path, "/api/v1/services/");
        client_segment(&path, service);
        buf_puts(&path, args_has(a, "undo") ? "/halt-undo" : "/halt");
    } else {
        buf_puts(&path, "/api/v1/halt");
    }
    char *body = verb_body(a, NULL, NULL);
    int code = client_post(c, buf_text(&path), NULL, body, body ? strlen(body) : 0, answer);
    free(body);
    buf_free(&path);
    return code;
}

int command_halt(const struct args *a)
{
    struct client c;
    struct answer answer = {.text = BUF_INIT};
    enum output o;
    bool all = args_has(a, "all");
    if (!args_want(a, 0, 1) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    if (all == (a->word_n == 1)) {
        fprintf(stderr, "trimtab halt: say one service, or --all\n");
        return EXIT_USAGE;
    }
    if (all && args_has(a, "undo")) {
        fprintf(stderr, "trimtab halt: --undo is for one service: each unverified action is taken back by name\n");
        return EXIT_USAGE;
    }
    const char *service = all ? NULL : a->words[0];
    int code = ask(a, &c, service, &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) {
        printf("halted: no automatic write to %s until 'trimtab resume %s'%s\n", service ? service : "any service",
               service ? service : "--all", service ? "" : ", or 'trimtab resume SERVICE' for one");
    }
    bool understood = answer.reached && answer.http >= 400 && answer.http < 500 && answer.http != 401 && answer.http != 403;
    answer_free(&answer);
    return code == EXIT_GOOD || understood ? code : by_file(a, &c, service);
}
