/* trimtab incidents [SERVICE/NUMBER] */
#include <stdio.h>
#include <string.h>

#include "app/client.h"
#include "app/output.h"
#include "app/story.h"
#include "app/table.h"
#include "base/text.h"

static void show_list(const json_t *d, bool wide)
{
    struct table t;
    json_t *x;
    size_t i;
    const json_t *list = json_object_get(d, "incidents");
    if (json_array_size(list) == 0) {
        printf("No incident.\n");
        return;
    }
    table_open(&t, wide ? "INCIDENT|STATE|SYMPTOM|CAUSE|OPENED|CLOSED|ACTIONS|LAST|REASON"
                        : "INCIDENT|STATE|SYMPTOM|CAUSE|OPENED|ACTIONS|LAST");
    json_array_foreach(list, i, x) {
        struct buf id = BUF_INIT, opened = BUF_INIT, closed = BUF_INIT;
        char actions[24];
        buf_printf(&id, "%s/%lld", text_of(x, "service"), (long long)json_integer_value(json_object_get(x, "incident")));
        clock_text(&opened, text_of(x, "opened"), "");
        clock_text(&closed, text_of(x, "closed"), "");
        snprintf(actions, sizeof actions, "%lld", (long long)json_integer_value(json_object_get(x, "actions")));
        table_take(&t, &id);
        table_cell(&t, text_of(x, "state"));
        table_cell(&t, text_of(x, "symptom"));
        table_cell(&t, text_of(x, "cause"));
        table_take(&t, &opened);
        if (wide) table_take(&t, &closed);
        else buf_free(&closed);
        table_cell(&t, actions);
        table_cell(&t, text_of(x, "last"));
        if (wide) table_cell(&t, text_of(x, "reason"));
    }
    table_show(&t, 0);
}

/* Why an incident may stand still: windows that are in force now. */
static void show_windows(const struct client *c)
{
    struct answer answer;
    json_t *w;
    size_t i;
    if (client_try(c, "/api/v1/windows", &answer) == EXIT_GOOD) {
        json_array_foreach(json_object_get(answer.data, "windows"), i, w) {
            const char *by = text_of(w, "by"), *comment = text_of(w, "comment"), *until = text_of(w, "until");
            if (!is_true(w, "in_force")) continue;
            printf("In force: %s %s%s%s%s%s%s%s\n", text_of(w, "kind"), text_of(w, "id"), by[0] ? " by " : "", by,
                   until[0] ? " until " : "", until, comment[0] ? ": " : "", comment);
        }
    }
    answer_free(&answer);
}

static bool list_path(const struct args *a, struct buf *path)
{
    static const char *const filters[] = {"service", "state", "since", "limit"};
    buf_puts(path, "/api/v1/incidents");
    for (unsigned i = 0, n = 0; i < 4; i++) {
        const char *v = args_text(a, filters[i]);
        if (!v) continue;
        buf_printf(path, "%c%s=", n++ ? '&' : '?', filters[i]);
        client_segment(path, v);
    }
    return buf_ok(path);
}

static bool one_path(const char *id, struct buf *path)
{
    char service[128];
    const char *slash = strrchr(id, '/');
    if (!slash || slash == id || !slash[1]) {
        fprintf(stderr, "trimtab incidents: an incident is named SERVICE/NUMBER, such as embed/3, not '%s'\n", id);
        return false;
    }
    snprintf(service, sizeof service, "%.*s", (int)(slash - id), id);
    buf_puts(path, "/api/v1/incidents/");
    client_segment(path, service);
    buf_putc(path, '/');
    client_segment(path, slash + 1);
    return true;
}

static void show_one(const char *id, const json_t *d)
{
    struct buf b = BUF_INIT;
    char title[200];
    snprintf(title, sizeof title, "incident %.150s", id);
    story_tell(&b, title, json_object_get(d, "records"));
    fwrite(buf_text(&b), 1, b.len, stdout);
    buf_free(&b);
}

int command_incidents(const struct args *a)
{
    struct client c;
    struct answer answer;
    enum output o;
    struct buf path = BUF_INIT;
    if (!args_want(a, 0, 1) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    if (!(a->word_n ? one_path(a->words[0], &path) : list_path(a, &path))) {
        buf_free(&path);
        return EXIT_USAGE;
    }
    int code = client_get(&c, buf_text(&path), &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) {
        if (a->word_n) show_one(a->words[0], answer.data);
        else show_list(answer.data, o == OUTPUT_WIDE);
        show_windows(&c);
    }
    answer_free(&answer);
    buf_free(&path);
    return code;
}
