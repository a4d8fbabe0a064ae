/* trimtab detect --csv FILE [--json] */
#include <math.h>
#include <stdio.h>

#include "app/command.h"
#include "app/csv.h"
#include "app/input.h"
#include "detect/csv.h"

static void say_json(struct buf *b, struct wall at, double value, const struct detect_csv *c, const struct detect_csv_row *row)
{
    struct buf said = BUF_INIT;
    buf_puts(b, "{\"timestamp\":\"");
    wall_print(b, at);
    buf_puts(b, "\",\"value\":");
    if (isfinite(value)) buf_double(b, value);
    else buf_puts(b, "null");
    buf_puts(b, ",\"score\":");
    if (row->why == WHY_KNOWN) buf_double(b, row->score);
    else buf_puts(b, "null");
    buf_printf(b, ",\"state\":\"%s\",\"finding\":", series_state_name(row->state));
    detect_csv_say(&said, c, row);
    if (said.len) buf_json_string(b, said.data, said.len);
    else buf_puts(b, "null");
    if (row->why != WHY_KNOWN) buf_printf(b, ",\"why\":\"%s\"", unknown_name(row->why));
    buf_puts(b, "}\n");
    buf_free(&said);
}

static void say_text(struct buf *b, struct wall at, double value, const struct detect_csv *c, const struct detect_csv_row *row)
{
    wall_print(b, at);
    buf_puts(b, "  ");
    size_t begin = b->len;
    if (isfinite(value)) buf_sig3(b, value);
    else buf_puts(b, "-");
    while (b->len < begin + 10) buf_putc(b, ' ');
    if (row->why == WHY_KNOWN) buf_fixed(b, row->score, 3);
    else buf_puts(b, "-    ");
    buf_printf(b, "  %-10s", series_state_name(row->state));
    if (row->has_finding) {
        buf_putc(b, ' ');
        detect_csv_say(b, c, row);
    } else if (row->why != WHY_KNOWN) {
        buf_printf(b, " %s", unknown_sentence(row->why));
    }
    buf_putc(b, '\n');
}

static int judge(const struct csv_rows *r, bool json)
{
    struct detect_csv *c = detect_csv_new("value", detect_csv_step(r->times, r->n));
    struct buf b = BUF_INIT;
    if (!c) {
        fprintf(stderr, "trimtab detect: no memory\n");
        return EXIT_FAIL;
    }
    if (!json) printf("%-24s  %-9s %-6s %s\n", "TIME", "VALUE", "SCORE", "STATE      FINDING");
    for (uint32_t i = 0; i < r->n; i++) {
        struct detect_csv_row row;
        detect_csv_feed(c, r->times[i], r->values[i], &row);
        (json ? say_json : say_text)(&b, r->times[i], r->values[i], c, &row);
        if (b.len > 65536 || i + 1 == r->n) {
            fwrite(buf_text(&b), 1, b.len, stdout);
            buf_clear(&b);
        }
    }
    buf_free(&b);
    detect_csv_free(c);
    return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAIL;
}

int command_detect(const struct args *a)
{
    struct buf text = BUF_INIT;
    struct csv_rows rows;
    struct err e;
    const char *path = args_text(a, "csv");
    if (!path && a->word_n == 1) path = a->words[0];
    if (!path || a->word_n > 1) {
        fprintf(stderr, "trimtab detect: give the series with --csv FILE (columns timestamp,value; - reads standard input)\n");
        return EXIT_USAGE;
    }
    int code = EXIT_FAIL;
    if (input_read(path, (size_t)200 << 20, &text, &e) == STATUS_OK &&
        csv_read(path, buf_text(&text), text.len, &rows, &e) == STATUS_OK) {
        code = judge(&rows, args_has(a, "json"));
        csv_free(&rows);
    } else {
        fprintf(stderr, "trimtab detect: %s\n", e.text);
    }
    buf_free(&text);
    return code;
}
