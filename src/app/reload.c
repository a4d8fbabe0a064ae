/* trimtab reload: the daemon reads its configuration again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output.h"
#include "app/verb.h"

int command_reload(const struct args *a)
{
    struct client c;
    struct answer answer = {.text = BUF_INIT};
    enum output o;
    if (!args_want(a, 0, 0) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    char *body = verb_body(a, NULL, NULL);
    int code = client_post(&c, "/api/v1/reload", NULL, body, body ? strlen(body) : 0, &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) printf("reload: %s\n", text_of(answer.data, "done"));
    free(body);
    answer_free(&answer);
    return code;
}
