/* trimtab explain SERVICE: why nothing happens, or what does, and what would change it. */
#include <stdio.h>
#include <string.h>

#include "app/client.h"
#include "app/output.h"
#include "app/table.h"
#include "base/text.h"
#include "base/time.h"

/* In mode alert the gates count changes that were never made; "the last write" would otherwise be looked for in vain. */
static bool shadowed(const json_t *d, const json_t *decision)
{
    return text_eq(text_of(d, "mode"), "alert") && !text_eq(text_of(decision, "reason"), "mode-alert") &&
           json_array_size(json_object_get(decision, "gates")) > 0;
}

/* The first sentence: the answer itself. */
static void say_why(const json_t *d)
{
    const json_t *decision = json_object_get(d, "decision"), *plan = json_object_get(decision, "plan");
    const char *kind = text_of(decision, "kind"), *sentence = text_of(decision, "sentence");
    bool planned = json_is_object(plan);
    char what[200] = "", frozen[450];
    if (text_eq(text_of(decision, "reason"), "frozen") && text_of(d, "frozen_why")[0]) {
        snprintf(frozen, sizeof frozen, "it is frozen by %.400s", text_of(d, "frozen_why"));
        sentence = frozen;
    }
    if (planned) {
        snprintf(what, sizeof what, "%.60s %.40s -> %.40s", text_of(plan, "knob"), text_of(plan, "from"), text_of(plan, "to"));
    }
    printf("%s: ", text_of(d, "service"));
    if (is_true(d, "halted")) {
        const char *why = text_of(d, "halted_why");
        printf("nothing is changed, because %s halted it%s%s.\n", text_of(d, "halted_by"), why[0] ? ": " : "", why);
    } else if (text_eq(kind, "tune")) {
        printf("%s is being changed: %s.\n", what[0] ? what : "a knob", sentence);
    } else if (text_eq(kind, "ask")) {
        printf("it asks a person for %s, because %s.\n", what[0] ? what : "a decision", sentence);
    } else if (shadowed(d, decision)) {
        printf("nothing is changed, because the mode is alert. Auto would wait, too, counting the changes it would have "
               "made: %s.\n", sentence);
    } else if (planned) {
        printf("%s is planned but not done, because %s.\n", what, sentence);
    } else {
        printf("nothing is changed, because %s.\n", sentence[0] ? sentence : text_of(d, "sentence"));
    }
}

static void say_state(const json_t *d)
{
    const json_t *incident = json_object_get(d, "incident"), *decision = json_object_get(d, "decision");
    const char *day = text_of(d, "at");
    const char *next = text_of(decision, "opens_when"), *advice = text_of(decision, "advice");
    printf("Now: %s (state %s, mode %s).\n", text_of(d, "sentence"), text_of(d, "state"), text_of(d, "mode"));
    if (json_is_object(incident)) {
        struct buf b = BUF_INIT;
        clock_text(&b, text_of(incident, "onset"), day);
        printf("Incident %lld, %s, began %s UTC.\n", (long long)json_integer_value(json_object_get(incident, "incident")),
               text_of(incident, "symptom"), buf_text(&b));
        buf_free(&b);
    }
    if (advice[0]) printf("Advice: %s.\n", advice);
    if (is_true(d, "halted")) printf("Next: find out why; then lift it with: trimtab resume %s.\n", text_of(d, "service"));
    else if (next[0]) printf("Next: %s.\n", next);
}

/* What has to run down to nothing is a time left. */
static bool time_left(struct buf *b, const json_t *value, const json_t *limit, const char *unit)
{
    bool left = json_is_number(value) && json_is_number(limit) && text_eq(unit, "s") && json_number_value(limit) <= 0;
    if (!left || !(json_number_value(value) > 0 && json_number_value(value) < 1e9)) return false;
    span_print(b, (struct span){(int64_t)json_number_value(value) * US_PER_S});
    buf_puts(b, " left");
    return true;
}

static void gate_value(struct buf *b, const json_t *g)
{
    const json_t *value = json_object_get(g, "value"), *limit = json_object_get(g, "limit");
    bool left = time_left(b, value, limit, text_of(g, "unit"));
    if (json_is_number(value) && !left) number_text(b, value, text_of(g, "unit"));
    if (json_is_number(limit) && !left) {
        buf_puts(b, " / ");
        number_text(b, limit, text_of(g, "unit"));
    }
    const char *note = text_of(g, "note");
    if (note[0]) buf_printf(b, "%s%s", b->len ? "; " : "", note);
}

static void gate_row(struct table *t, const json_t *g)
{
    struct buf b = BUF_INIT;
    bool shut = is_true(g, "shut");
    char subject[120];
    snprintf(subject, sizeof subject, "%.60s %.20s", text_of(g, "knob"), text_of(g, "direction"));
    table_cell(t, text_of(g, "reason"));
    table_cell(t, shut ? "shut" : "open");
    table_cell(t, text_of(g, "knob")[0] ? subject : "service");
    gate_value(&b, g);
    table_take(t, &b);
    table_cell(t, text_of(g, "sentence"));
    table_cell(t, shut ? text_of(g, "opens_when") : "");
}

/* The shut ones in full; of the open ones the names, unless all is wanted. */
static void show_gates(const json_t *d, bool wide)
{
    const json_t *gates = json_object_get(json_object_get(d, "decision"), "gates");
    struct table t;
    struct buf names = BUF_INIT;
    json_t *g;
    size_t i, open = 0;
    if (json_array_size(gates) == 0) {
        printf("\nNo gate was looked at on this tick: there is nothing to decide.\n");
        return;
    }
    table_open(&t, "GATE|IS|FOR|VALUE / LIMIT|WHAT IT MEANS|WHAT WOULD OPEN IT");
    json_array_foreach(gates, i, g) {
        bool shut = is_true(g, "shut");
        if (!shut) buf_printf(&names, "%s%s", open++ ? ", " : "", text_of(g, "reason"));
        if (shut || wide) gate_row(&t, g);
    }
    printf("\nGates of the last tick, shut ones first (%zu shut, %zu open):\n", json_array_size(gates) - open, open);
    if (wide || open < json_array_size(gates)) table_show(&t, 2);
    else table_free(&t);
    if (!wide && open) printf("  open: %s. Their values: -o wide.\n", buf_text(&names));
    buf_free(&names);
}

static void show_causes(const json_t *d)
{
    const json_t *causes = json_object_get(d, "causes");
    struct table t;
    json_t *x;
    size_t i;
    if (json_array_size(causes) == 0) return;
    table_open(&t, "CAUSE|VERDICT|RULE");
    json_array_foreach(causes, i, x) {
        table_cell(&t, text_of(x, "name"));
        table_cell(&t, text_of(x, "verdict"));
        table_cell(&t, text_of(x, "explain"));
    }
    printf("\nCauses, most likely first:\n");
    table_show(&t, 2);
}

static void show_symptoms(const json_t *d)
{
    json_t *s;
    size_t i;
    printf("\nSymptoms:\n");
    json_array_foreach(json_object_get(d, "symptoms"), i, s) {
        printf("  %s is %s: %s\n", text_of(s, "name"), text_of(s, "now"), text_of(s, "explain"));
    }
}

int command_explain(const struct args *a)
{
    struct client c;
    struct answer answer;
    enum output o;
    struct buf path = BUF_INIT;
    if (!args_want(a, 1, 1) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    buf_puts(&path, "/api/v1/services/");
    client_segment(&path, a->words[0]);
    buf_puts(&path, "/explain");
    int code = client_get(&c, buf_text(&path), &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) {
        say_why(answer.data);
        say_state(answer.data);
        show_gates(answer.data, o == OUTPUT_WIDE);
        show_causes(answer.data);
        show_symptoms(answer.data);
    }
    answer_free(&answer);
    buf_free(&path);
    return code;
}
