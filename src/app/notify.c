/* trimtab notify list | test RECEIVER */
#include <stdio.h>
#include <string.h>

#include "app/output.h"
#include "app/table.h"
#include "app/verb.h"
#include "base/text.h"

static void number_cell(struct table *t, const json_t *row, const char *key)
{
    struct buf b = BUF_INIT;
    number_text(&b, json_object_get(row, key), "");
    table_take(t, &b);
}

static void show(const json_t *receivers)
{
    struct table t;
    size_t i;
    json_t *row;
    table_open(&t, "RECEIVER|TYPE|STATE|WAITING|SENT|REFUSED|LAST GOOD|ERROR");
    json_array_foreach(receivers, i, row) {
        struct buf age = BUF_INIT;
        table_cell(&t, text_of(row, "name"));
        table_cell(&t, text_of(row, "type"));
        table_cell(&t, text_of(row, "state"));
        number_cell(&t, row, "waiting");
        number_cell(&t, row, "sent");
        number_cell(&t, row, "failed");
        if (json_is_number(json_object_get(row, "good_seconds"))) age_text(&age, json_object_get(row, "good_seconds"));
        else buf_puts(&age, "-");
        table_take(&t, &age);
        table_cell(&t, text_of(row, "error"));
    }
    table_show(&t, 0);
}

static int list(const struct client *c, enum output o)
{
    struct answer answer;
    int code = client_get(c, "/api/v1/health", &answer);
    const json_t *receivers = json_object_get(answer.data, "receivers");
    if (code == EXIT_GOOD && !output_value(o, receivers)) {
        if (json_array_size(receivers)) show(receivers);
        else printf("No receiver is configured: see notify in the configuration.\n");
    }
    answer_free(&answer);
    return code;
}

static int test(const struct client *c, enum output o, const char *receiver)
{
    struct answer answer;
    struct buf path = BUF_INIT;
    buf_puts(&path, "/api/v1/receivers/");
    client_segment(&path, receiver);
    buf_puts(&path, "/test");
    int code = client_post(c, buf_text(&path), NULL, NULL, 0, &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) printf("notify test: %s\n", text_of(answer.data, "done"));
    buf_free(&path);
    answer_free(&answer);
    return code;
}

int command_notify(const struct args *a)
{
    struct client c;
    enum output o;
    bool lists = a->word_n == 1 && text_eq(a->words[0], "list");
    if (!args_want(a, 1, 2) || !output_of(a, &o)) return EXIT_USAGE;
    if (!lists && !(a->word_n == 2 && text_eq(a->words[0], "test"))) {
        fprintf(stderr, "trimtab notify: there is: trimtab notify list, and trimtab notify test RECEIVER\n");
        return EXIT_USAGE;
    }
    if (!client_open(&c, a)) return EXIT_USAGE;
    return lists ? list(&c, o) : test(&c, o, a->words[1]);
}
