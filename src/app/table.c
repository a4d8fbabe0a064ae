#include "app/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/output.h"
#include "base/check.h"
#include "base/utf8.h"

static void add(struct table *t, const char *text, size_t len)
{
    if (t->cells == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->items = realloc(t->items, t->cap * sizeof *t->items);
        CHECK_MEMORY(t->items);
    }
    char *copy = malloc(len + 1);
    CHECK_MEMORY(copy);
    for (size_t i = 0; i < len; i++) copy[i] = text[i] == '\n' || text[i] == '\t' ? ' ' : text[i];
    copy[len] = '\0';
    t->items[t->cells++] = copy;
}

void table_open(struct table *t, const char *names)
{
    *t = (struct table){0};
    while (*names) {
        size_t n = strcspn(names, "|");
        add(t, names, n);
        names += n + (names[n] == '|');
    }
    t->columns = t->cells;
    CHECK(t->columns > 0 && t->columns <= TABLE_COLUMNS_MAX);
}

void table_cell(struct table *t, const char *text) { add(t, text[0] ? text : "-", text[0] ? strlen(text) : 1); }

void table_take(struct table *t, struct buf *text)
{
    table_cell(t, buf_text(text));
    buf_free(text);
}

static unsigned columns_of(const char *s) { return utf8_columns(s, strlen(s)); }

static void put_cell(struct buf *out, const char *s, unsigned pad, bool colour)
{
    static const char *const codes[] = {[TONE_GOOD] = "32", [TONE_WARN] = "33", [TONE_BAD] = "31", [TONE_FAINT] = "2"};
    enum tone tone = colour ? output_tone(s) : TONE_PLAIN;
    if (tone != TONE_PLAIN) buf_printf(out, "\033[%sm", codes[tone]);
    buf_puts(out, s);
    if (tone != TONE_PLAIN) buf_puts(out, "\033[0m");
    while (pad-- > 0) buf_putc(out, ' ');
}

void table_print(struct table *t, unsigned margin, bool colour, struct buf *out)
{
    unsigned width[TABLE_COLUMNS_MAX] = {0};
    for (unsigned i = 0; i < t->cells; i++) {
        unsigned w = columns_of(t->items[i]), c = i % t->columns;
        if (w > width[c]) width[c] = w;
    }
    for (unsigned i = 0; i < t->cells; i++) {
        unsigned c = i % t->columns;
        bool last = c + 1 == t->columns;
        for (unsigned k = 0; c == 0 && k < margin; k++) buf_putc(out, ' ');
        put_cell(out, t->items[i], last ? 0 : width[c] - columns_of(t->items[i]) + 2, colour && i >= t->columns);
        if (last) buf_putc(out, '\n');
    }
}

void table_free(struct table *t)
{
    for (unsigned i = 0; i < t->cells; i++) free(t->items[i]);
    free(t->items);
    *t = (struct table){0};
}

void table_show(struct table *t, unsigned margin)
{
    struct buf b = BUF_INIT;
    table_print(t, margin, output_colour(), &b);
    fwrite(buf_text(&b), 1, b.len, stdout);
    buf_free(&b);
    table_free(t);
}
