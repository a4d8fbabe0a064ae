#include "app/window_verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output.h"
#include "app/table.h"
#include "app/verb.h"
#include "base/text.h"

#define PATH "/api/v1/windows"

static void services_text(struct buf *b, const json_t *w)
{
    json_t *name;
    size_t i;
    if (is_true(w, "all")) buf_puts(b, "all");
    json_array_foreach(json_object_get(w, "services"), i, name) buf_printf(b, "%s%s", i ? ", " : "", json_string_value(name));
}

static void one_row(struct table *t, const json_t *w)
{
    struct buf services = BUF_INIT, until = BUF_INIT, next = BUF_INIT;
    bool on = is_true(w, "in_force");
    services_text(&services, w);
    table_cell(t, text_of(w, "id"));
    table_cell(t, text_of(w, "kind"));
    table_cell(t, on ? "in force" : "not now");
    table_take(t, &services);
    if (text_of(w, "changes")[0]) clock_text(&next, text_of(w, "changes"), "");
    else buf_puts(&next, "never");
    table_take(t, &next);
    if (text_of(w, "until")[0]) clock_text(&until, text_of(w, "until"), "");
    else buf_puts(&until, "for ever");
    table_take(t, &until);
    table_cell(t, text_of(w, "by"));
    table_cell(t, text_of(w, "comment"));
}

static int list(const struct client *c, enum output o)
{
    struct answer answer;
    struct table t;
    json_t *w;
    size_t i;
    int code = client_get(c, PATH, &answer);
    const json_t *all = json_object_get(answer.data, "windows");
    if (code != EXIT_GOOD || output_value(o, answer.data)) {
        answer_free(&answer);
        return code;
    }
    if (json_array_size(all) == 0) {
        printf("No window: nothing is frozen by one, and the configuration names none.\n");
    } else {
        table_open(&t, "ID|KIND|NOW|SERVICES|CHANGES (UTC)|ENDS (UTC)|BY|COMMENT");
        json_array_foreach(all, i, w) one_row(&t, w);
        table_show(&t, 0);
        printf("End one that a person opened with: trimtab freeze --end ID. Those with a name stand in the configuration.\n");
    }
    answer_free(&answer);
    return code;
}

static int end(const struct args *a, const struct client *c, enum output o, const char *id)
{
    struct answer answer;
    struct buf path = BUF_INIT;
    buf_puts(&path, PATH "/");
    client_segment(&path, id);
    buf_puts(&path, "?via=cli&by=");
    client_segment(&path, verb_user(a));
    int code = client_delete(c, buf_text(&path), &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) printf("Window %s is ended.\n", id);
    answer_free(&answer);
    buf_free(&path);
    return code;
}

static char *body_of(const struct args *a, const char *kind)
{
    static const char *const flags[] = {"for", "until", "comment"};
    json_t *o = json_pack("{s:s,s:s,s:s}", "kind", kind, "by", verb_user(a), "via", "cli");
    if (o && a->word_n) json_object_set_new(o, "service", json_string(a->words[0]));
    if (o && args_has(a, "all")) json_object_set_new(o, "all", json_true());
    for (unsigned i = 0; o && i < sizeof flags / sizeof flags[0]; i++) {
        if (args_text(a, flags[i])) json_object_set_new(o, flags[i], json_string(args_text(a, flags[i])));
    }
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return text;
}

static bool said_all(const struct args *a)
{
    bool one = a->word_n == 1, all = args_has(a, "all");
    if (one == all) fprintf(stderr, "trimtab %s: say for what: a SERVICE, or --all\n", a->command->name);
    else if ((args_text(a, "for") != NULL) == (args_text(a, "until") != NULL))
        fprintf(stderr, "trimtab %s: say its end: --for 2h, or --until 2026-11-12T18:00:00+08:00\n", a->command->name);
    else return true;
    return false;
}

static int open_one(const struct args *a, const struct client *c, enum output o, const char *kind)
{
    struct answer answer;
    if (!said_all(a)) return EXIT_USAGE;
    char *body = body_of(a, kind);
    int code = client_post(c, PATH, NULL, body, body ? strlen(body) : 0, &answer);
    free(body);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) {
        const char *id = text_of(answer.data, "detail");
        bool maintenance = text_eq(kind, "maintenance");
        printf("Window %s is open for %s: nothing is changed%s until it ends. Taking a change back stays possible.\n"
               "End it before its time with: trimtab %s --end %s\n", id, a->word_n ? a->words[0] : "all services",
               maintenance ? ", nothing is learned and no incident opens" : "", kind, id);
    }
    answer_free(&answer);
    return code;
}

int window_verb(const struct args *a, const char *kind)
{
    struct client c;
    enum output o;
    const char *id = args_text(a, "end");
    if (!args_want(a, 0, id || args_has(a, "list") ? 0 : 1) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    if (id) return end(a, &c, o, id);
    return args_has(a, "list") ? list(&c, o) : open_one(a, &c, o, kind);
}
