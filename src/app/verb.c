#include "app/verb.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/output.h"
#include "base/text.h"

const char *verb_user(const struct args *a)
{
    const char *by = args_text(a, "by");
    if (by && by[0]) return by;
    struct passwd *p = getpwuid(getuid());
    return p ? p->pw_name : "unknown";
}

char *verb_body(const struct args *a, const char *key, const char *value)
{
    const char *reason = args_text(a, "reason");
    json_t *o = json_pack("{s:s,s:s}", "by", verb_user(a), "via", "cli");
    if (o && reason) json_object_set_new(o, "reason", json_string(reason));
    if (o && key && value) json_object_set_new(o, key, json_string(value));
    if (o && args_has(a, "clear")) json_object_set_new(o, "clear", json_true());
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return text;
}

static void say(const struct args *a, enum output o, const char *service, const struct answer *answer)
{
    if (output_value(o, answer->data)) return;
    const char *done = text_of(answer->data, "done"), *detail = text_of(answer->data, "detail");
    printf("%s %s: %s%s%s\n", a->command->name, service, done, detail[0] ? ", " : "", detail);
    if (args_has(a, "all")) return;
    printf("See what comes of it: trimtab status %s; how it ended: trimtab incidents --service %s\n", service, service);
}

/* "embed/7" names action and service at once. */
static void split(const char *word, char service[128], const char **action)
{
    const char *slash = strrchr(word, '/');
    snprintf(service, 128, "%.*s", slash ? (int)(slash - word) : 120, word);
    if (slash) *action = word;
}

static bool service_of(const struct args *a, enum verb_second second, char service[128], const char **extra)
{
    if (a->word_n == 0) {
        fprintf(stderr, "trimtab %s: say which service; 'trimtab status' lists them\n", a->command->name);
        return false;
    }
    *extra = a->word_n > 1 ? a->words[1] : NULL;
    if (second == VERB_ACTION) split(a->words[0], service, extra);
    else snprintf(service, 128, "%.120s", a->words[0]);
    return true;
}

int verb_run(const struct args *a, const char *verb, enum verb_second second, const char *all)
{
    struct client c;
    struct answer answer = {.text = BUF_INIT};
    struct buf path = BUF_INIT;
    char service[128] = "all services";
    const char *extra = NULL;
    enum output o;
    bool everything = all && args_has(a, "all");
    if (!args_want(a, 0, second == VERB_NOTHING || everything ? !everything : 2) || !output_of(a, &o)) return EXIT_USAGE;
    if (!everything && !service_of(a, second, service, &extra)) return EXIT_USAGE;
    if (!client_open(&c, a)) return EXIT_USAGE;
    if (everything) {
        buf_puts(&path, all);
    } else {
        buf_puts(&path, "/api/v1/services/");
        client_segment(&path, service);
        buf_printf(&path, "/%s", verb);
    }
    char *body = verb_body(a, second == VERB_ACTION ? "action" : "request", extra);
    int code = client_post(&c, buf_text(&path), NULL, body, body ? strlen(body) : 0, &answer);
    if (code == EXIT_GOOD) say(a, o, service, &answer);
    free(body);
    buf_free(&path);
    answer_free(&answer);
    return code;
}
