/* trimtab status [SERVICE] */
#include <stdio.h>
#include <string.h>

#include "app/client.h"
#include "app/output.h"
#include "app/table.h"
#include "base/text.h"
#include "base/time.h"

static void cell_number(struct table *t, const json_t *number, const char *unit)
{
    struct buf b = BUF_INIT;
    number_text(&b, number, unit);
    table_take(t, &b);
}

/* A limit is told to the last digit. */
static void exact_text(struct buf *b, const json_t *number)
{
    if (json_is_number(number)) buf_double(b, json_number_value(number));
    else buf_puts(b, "-");
}

/* ---- all services ---- */

static void one_line(struct table *t, const json_t *s, bool wide)
{
    const json_t *latency = json_object_get(s, "latency"), *now = json_object_get(latency, "now");
    const json_t *base = json_object_get(latency, "baseline"), *incident = json_object_get(s, "incident");
    char number[32] = "";
    table_cell(t, text_of(s, "service"));
    table_cell(t, text_of(s, "state"));
    table_cell(t, text_of(s, "mode"));
    cell_number(t, json_object_get(now, "value"), text_of(now, "unit"));
    cell_number(t, json_object_get(base, "value"), text_of(base, "unit"));
    if (wide) {
        cell_number(t, json_object_get(latency, "objective"), text_of(now, "unit"));
        if (json_is_object(incident)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(json_object_get(incident, "incident")));
        }
        table_cell(t, number);
        table_cell(t, text_of(s, "decision"));
        table_cell(t, text_of(s, "reason"));
    }
    table_cell(t, text_of(s, "sentence"));
}

static void show_all(const json_t *d, bool wide)
{
    const json_t *counts = json_object_get(d, "counts"), *audit = json_object_get(d, "audit");
    struct table t;
    json_t *s;
    size_t i;
    printf("trimtab %s: %lld watched, %lld acting, %lld waiting for you, %lld with a person, %lld halted;"
           " audit %lld records, store %s\n", text_of(d, "version"),
           (long long)json_integer_value(json_object_get(counts, "services")),
           (long long)json_integer_value(json_object_get(counts, "acting")),
           (long long)json_integer_value(json_object_get(counts, "waiting_for_a_person")),
           (long long)json_integer_value(json_object_get(counts, "with_a_person")),
           (long long)json_integer_value(json_object_get(counts, "halted")),
           (long long)json_integer_value(json_object_get(audit, "records")), text_of(audit, "store"));
    if (json_is_string(json_object_get(audit, "metrics_trouble"))) printf("kept signals: %s\n", text_of(audit, "metrics_trouble"));
    if (!is_true(d, "ready")) printf("not ready: %s\n", text_of(d, "not_ready_why"));
    json_array_foreach(json_object_get(d, "receivers_failing"), i, s)
        printf("notices do not reach %s: trimtab notify list tells why\n", json_string_value(s));
    if (is_true(d, "dry_run")) printf("dry run: no write is sent\n");
    if (!is_true(d, "last_reload_good")) printf("the newest configuration has errors; the one before is in force\n");
    printf("\n");
    table_open(&t, wide ? "SERVICE|STATE|MODE|LATENCY|BASELINE|GOAL|INCIDENT|DECISION|REASON|NOW"
                        : "SERVICE|STATE|MODE|LATENCY|BASELINE|NOW");
    json_array_foreach(json_object_get(d, "services"), i, s) one_line(&t, s, wide);
    table_show(&t, 0);
}

/* ---- one service ---- */

static void one_signal(struct table *t, const json_t *s, bool wide)
{
    const char *unit = text_of(s, "unit");
    struct buf b = BUF_INIT;
    table_cell(t, text_of(s, "name"));
    table_cell(t, text_of(s, "layer"));
    if (json_is_null(json_object_get(s, "value"))) table_cell(t, "unknown");
    else cell_number(t, json_object_get(s, "value"), unit);
    age_text(&b, json_object_get(s, "age_seconds"));
    table_take(t, &b);
    table_cell(t, text_of(s, "state"));
    cell_number(t, json_object_get(s, "baseline"), unit);
    if (wide) {
        cell_number(t, json_object_get(s, "profile"), unit);
        cell_number(t, json_object_get(s, "drift"), "ratio");
        cell_number(t, json_object_get(s, "zscore"), "");
        cell_number(t, json_object_get(s, "score"), "");
    }
    const char *why = text_of(s, "why_sentence"), *finding = text_of(s, "finding"), *base = text_of(s, "baseline_why_sentence");
    table_cell(t, why[0] ? why : finding[0] ? finding : base);
}

static void show_signals(const json_t *d, bool wide)
{
    struct table t;
    json_t *s;
    size_t i;
    table_open(&t, wide ? "SIGNAL|LAYER|VALUE|AGE|STATE|BASELINE|PROFILE|DRIFT|ZSCORE|SCORE|FINDING"
                        : "SIGNAL|LAYER|VALUE|AGE|STATE|BASELINE|FINDING");
    json_array_foreach(json_object_get(d, "signals"), i, s) one_signal(&t, s, wide);
    printf("\n");
    table_show(&t, 0);
}

static void show_symptoms(const json_t *d)
{
    struct table t;
    json_t *s;
    size_t i;
    table_open(&t, "SYMPTOM|NOW|RULE");
    json_array_foreach(json_object_get(d, "symptoms"), i, s) {
        table_cell(&t, text_of(s, "name"));
        table_cell(&t, text_of(s, "now"));
        table_cell(&t, text_of(s, "explain"));
    }
    printf("\n");
    table_show(&t, 0);
}

static void show_knobs(const json_t *d)
{
    struct table t;
    json_t *k;
    size_t i;
    table_open(&t, "KNOB|VALUE|TIER|RANGE|BLOCKED");
    json_array_foreach(json_object_get(d, "knobs"), i, k) {
        struct buf range = BUF_INIT;
        char tier[8];
        const char *value = text_of(k, "value"), *believed = text_of(k, "believed");
        char text[160];
        snprintf(text, sizeof text, "%.60s%s%.60s%s", value[0] ? value : "not read", text_eq(value, believed) ? "" : " (believed ",
                 text_eq(value, believed) ? "" : believed[0] ? believed : "unknown", text_eq(value, believed) ? "" : ")");
        table_cell(&t, text_of(k, "name"));
        table_cell(&t, text);
        snprintf(tier, sizeof tier, "%d", (int)json_integer_value(json_object_get(k, "tier")));
        table_cell(&t, tier);
        exact_text(&range, json_object_get(k, "min"));
        buf_puts(&range, "..");
        exact_text(&range, json_object_get(k, "max"));
        table_take(&t, &range);
        table_cell(&t, text_of(k, "blocked"));
    }
    printf("\n");
    table_show(&t, 0);
}

static void show_targets(const json_t *d)
{
    struct table t;
    json_t *x;
    size_t i;
    table_open(&t, "TARGET|UP|AGE|SAMPLES|BROKEN|ERROR");
    json_array_foreach(json_object_get(d, "targets"), i, x) {
        char number[2][24];
        struct buf b = BUF_INIT;
        snprintf(number[0], sizeof number[0], "%lld", (long long)json_integer_value(json_object_get(x, "samples")));
        snprintf(number[1], sizeof number[1], "%lld", (long long)json_integer_value(json_object_get(x, "broken_lines")));
        table_cell(&t, text_of(x, "url"));
        table_cell(&t, is_true(x, "up") ? "yes" : "no");
        age_text(&b, json_object_get(x, "age_seconds"));
        table_take(&t, &b);
        table_cell(&t, number[0]);
        table_cell(&t, number[1]);
        table_cell(&t, text_of(x, "error"));
    }
    printf("\n");
    table_show(&t, 0);
}

static void part_text(struct buf *b, const json_t *v, const char *key)
{
    struct span s = {(int64_t)(json_number_value(json_object_get(v, key)) * 1e6)};
    span_print(b, s);
}

/* "shift awake", or "drift 3 h 10 min of 7 d, wakes 2026-05-19 08:00:30". */
static void one_view(const json_t *v, bool first)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s %s ", first ? "" : ",", text_of(v, "view"));
    if (is_true(v, "awake")) {
        buf_puts(&b, "awake");
    } else {
        part_text(&b, v, "learned_seconds");
        buf_puts(&b, " of ");
        part_text(&b, v, "needed_seconds");
        buf_puts(&b, ", wakes ");
        clock_text(&b, text_of(v, "wakes"), "");
    }
    fputs(buf_text(&b), stdout);
    buf_free(&b);
}

/* The first anchor is always shown: what all drift is measured from, however often it was moved. */
static void show_origin(const json_t *d)
{
    const char *judge = text_of(json_object_get(d, "latency"), "signal");
    json_t *s;
    size_t i;
    json_array_foreach(json_object_get(d, "signals"), i, s) {
        if (!text_eq(text_of(s, "name"), judge) || !json_is_number(json_object_get(s, "origin"))) continue;
        struct buf b = BUF_INIT;
        buf_puts(&b, "origin ");
        number_text(&b, json_object_get(s, "origin"), text_of(s, "unit"));
        buf_printf(&b, ", %.10s; anchor now ", text_of(s, "origin_at"));
        number_text(&b, json_object_get(s, "anchor"), text_of(s, "unit"));
        printf("%s\n", buf_text(&b));
        buf_free(&b);
    }
}

/* What is still to be learned, and what would spare the waiting. */
static void show_learning(const json_t *d)
{
    json_t *v;
    size_t i;
    printf("views:%s", is_true(d, "imported") ? " (from imported history)" : "");
    json_array_foreach(json_object_get(d, "views"), i, v) one_view(v, i == 0);
    printf("\n");
    if (!is_true(d, "warm_for_auto")) {
        printf("It acts by itself after 24 h of history, or at once after: trimtab import %s FILE.csv\n", text_of(d, "service"));
    }
}

static void show_one(const json_t *d, bool wide)
{
    const json_t *request = json_object_get(d, "request");
    printf("%s: %s (state %s, mode %s, %s)\n", text_of(d, "service"), text_of(d, "sentence"), text_of(d, "state"),
           text_of(d, "mode"), is_true(d, "warm_for_auto") ? "warm" : "not warm enough to act by itself");
    if (is_true(d, "frozen")) printf("frozen: %s\n", text_of(d, "frozen_why"));
    if (is_true(d, "halted")) printf("halted by %s: %s\n", text_of(d, "halted_by"), text_of(d, "halted_why"));
    if (json_is_object(request)) {
        printf("waits for you: %s %s -> %s. trimtab approve %s %s\n", text_of(request, "knob"), text_of(request, "from"),
               text_of(request, "to"), text_of(d, "service"), text_of(request, "id"));
    }
    show_learning(d);
    show_origin(d);
    show_signals(d, wide);
    show_symptoms(d);
    show_knobs(d);
    show_targets(d);
    if (!text_eq(text_of(json_object_get(d, "decision"), "reason"), "healthy")) {
        printf("\nWhy this and nothing else: trimtab explain %s\n", text_of(d, "service"));
    }
}

int command_status(const struct args *a)
{
    struct client c;
    struct answer answer;
    enum output o;
    struct buf path = BUF_INIT;
    if (!args_want(a, 0, 1) || !output_of(a, &o) || !client_open(&c, a)) return EXIT_USAGE;
    buf_puts(&path, a->word_n ? "/api/v1/services/" : "/api/v1/status");
    if (a->word_n) client_segment(&path, a->words[0]);
    int code = client_get(&c, buf_text(&path), &answer);
    if (code == EXIT_GOOD && !output_value(o, answer.data)) (a->word_n ? show_one : show_all)(answer.data, o == OUTPUT_WIDE);
    answer_free(&answer);
    buf_free(&path);
    return code;
}
