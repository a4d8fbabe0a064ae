/* trimtab feedback SERVICE/INCIDENT false|true|useful [--comment TEXT] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output.h"
#include "app/verb.h"
#include "base/text.h"

static char *body_of(const struct args *a)
{
    const char *comment = args_text(a, "comment");
    json_t *o = json_pack("{s:s,s:s,s:s}", "verdict", a->words[1], "by", verb_user(a), "via", "cli");
    if (o && comment) json_object_set_new(o, "comment", json_string(comment));
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return text;
}

int command_feedback(const struct args *a)
{
    struct client c;
    struct answer answer = {.text = BUF_INIT};
    struct buf path = BUF_INIT;
    char service[128];
    enum output o;
    if (!args_want(a, 2, 2) || !output_of(a, &o)) return EXIT_USAGE;
    const char *slash = strrchr(a->words[0], '/'), *word = a->words[1];
    bool known = text_eq(word, "false") || text_eq(word, "true") || text_eq(word, "useful");
    if (!slash || !known) {
        fprintf(stderr, "trimtab feedback: say SERVICE/NUMBER of an incident, then false, true or useful; 'trimtab incidents' lists"
                        " them\n");
        return EXIT_USAGE;
    }
    if (!client_open(&c, a)) return EXIT_USAGE;
    snprintf(service, sizeof service, "%.*s", (int)(slash - a->words[0] < 120 ? slash - a->words[0] : 120), a->words[0]);
    buf_puts(&path, "/api/v1/incidents/");
    client_segment(&path, service);
    buf_putc(&path, '/');
    client_segment(&path, slash + 1);
    buf_puts(&path, "/feedback");
    char *body = body_of(a);
    int code = client_post(&c, buf_text(&path), NULL, body, body ? strlen(body) : 0, &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data))
        printf("feedback %s %s: %s\n", a->words[0], word, text_of(answer.data, "done"));
    free(body);
    buf_free(&path);
    answer_free(&answer);
    return code;
}
