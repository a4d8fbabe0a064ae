#include "config/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define SEEN_SLOTS 2048          /* a power of two, over twice the items that can be there */
#define SHOWN_COLUMNS 150        /* of a long source line */
#define SHOWN_BEFORE 60          /* of them in front of the caret */

static const char *const severity_names[] = {"error", "warning", "note"};

void config_diagnostics_free(struct config_diagnostics *d)
{
    if (!d) return;
    arena_free(&d->arena);
    *d = CONFIG_DIAGNOSTICS_INIT;
}

static bool find_lines(struct arena *a, struct config_source *s)
{
    size_t n = 1;
    for (size_t i = 0; i < s->len; i++) n += s->bytes[i] == '\n';
    size_t *lines = ARENA_NEW_N(a, n, size_t);
    if (!lines) return false;
    size_t at = 1;
    for (size_t i = 0; i < s->len; i++)
        if (s->bytes[i] == '\n') lines[at++] = i + 1;
    s->lines = lines;
    s->line_count = n;
    return true;
}

struct config_source *config_source_add(struct config_diagnostics *d, const char *path, const char *bytes, size_t len)
{
    struct config_source *s = ARENA_NEW(&d->arena, struct config_source);
    if (!s) return NULL;
    s->path = arena_strdup(&d->arena, path);
    s->bytes = arena_strndup(&d->arena, bytes, len);
    s->len = len;
    if (!s->path || !s->bytes || !find_lines(&d->arena, s)) return NULL;
    return s;
}

/* Index of the line that holds `offset`. */
static size_t line_index(const struct config_source *s, size_t offset)
{
    size_t low = 0, high = s->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->lines[middle] <= offset) low = middle;
        else high = middle;
    }
    return low;
}

struct text_pos config_source_pos(const struct config_source *s, size_t offset)
{
    size_t line = line_index(s, offset);
    return (struct text_pos){(unsigned)line + 1, (unsigned)(offset - s->lines[line]) + 1};
}

bool config_diagnostics_full(const struct config_diagnostics *d)
{
    return d->n >= CONFIG_DIAGNOSTICS_MAX;
}

static uint32_t hash_of(const struct config_source *source, size_t offset, const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (const char *p = text; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    h = (h ^ offset) * UINT64_C(1099511628211);
    h = (h ^ (uintptr_t)source) * UINT64_C(1099511628211);
    return (uint32_t)(h >> 32);
}

/* False when the same sentence about the same place is there already; else notes that it will be item d->n. */
static bool is_new(struct config_diagnostics *d, const struct config_source *source, size_t offset, const char *text)
{
    uint32_t slot = hash_of(source, offset, text) & (SEEN_SLOTS - 1);
    for (; d->seen[slot]; slot = (slot + 1) & (SEEN_SLOTS - 1)) {
        const struct config_diagnostic *was = &d->items[d->seen[slot] - 1];
        if (was->source == source && was->offset == offset && strcmp(was->text, text) == 0) return false;
    }
    if (d->n < CONFIG_DIAGNOSTICS_MAX) d->seen[slot] = (uint32_t)d->n + 1;
    return true;
}

static bool make_room(struct config_diagnostics *d)
{
    if (d->items) return true;
    d->items = ARENA_NEW_N(&d->arena, CONFIG_DIAGNOSTICS_MAX, struct config_diagnostic);
    d->seen = ARENA_NEW_N(&d->arena, SEEN_SLOTS, uint32_t);
    return d->items && d->seen;
}

static void count(struct config_diagnostics *d, enum config_severity severity)
{
    size_t *counters[] = {&d->errors, &d->warnings, &d->notes};
    ++*counters[severity];
}

void config_report(struct config_diagnostics *d, enum config_severity severity, const struct config_source *source,
                   size_t offset, size_t length, const char *hint, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!make_room(d)) {
        count(d, severity);
        return;
    }
    if (source->cut_line && config_source_pos(source, offset).line == source->cut_line) return;
    if (!is_new(d, source, offset, text)) return;
    count(d, severity);
    if (d->n >= CONFIG_DIAGNOSTICS_MAX) return;
    char *kept = arena_strndup(&d->arena, text, utf8_cut(text, strlen(text), strlen(text)));
    char *advice = arena_strdup(&d->arena, hint ? hint : "");
    d->items[d->n++] = (struct config_diagnostic){
        .severity = severity,
        .source = source,
        .pos = config_source_pos(source, offset),
        .offset = offset,
        .length = length ? length : 1,
        .text = kept ? kept : "out of memory",
        .hint = advice ? advice : "",
    };
}

void config_report_secret(struct config_diagnostics *d, const struct config_source *source, size_t offset, size_t length,
                          size_t secret, const char *hint, const char *text)
{
    size_t before = d->n;
    config_report(d, CONFIG_ERROR, source, offset, length, hint, "%s", text);
    if (d->n > before) d->items[before].secret = secret;
}

static int by_place(const void *left, const void *right)
{
    const struct config_diagnostic *a = left, *b = right;
    int c = strcmp(a->source->path, b->source->path);
    if (c != 0) return c;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    if (a->severity != b->severity) return a->severity < b->severity ? -1 : 1;
    return strcmp(a->text, b->text);
}

void config_diagnostics_sort(struct config_diagnostics *d)
{
    if (d->n > 1) qsort(d->items, d->n, sizeof *d->items, by_place);
    /* `seen` holds old positions now; nothing may be found by them. */
    if (d->seen) memset(d->seen, 0, SEEN_SLOTS * sizeof *d->seen);
}

/* Marks that turn the direction of writing, or are lines of their own: with them a text reads otherwise than it is. */
static bool turns(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Source bytes as a terminal may show them: nothing that moves the cursor or is no UTF-8. */
static void add_shown(struct buf *out, const char *s, size_t len)
{
    while (len) {
        uint32_t point = 0;
        unsigned n = utf8_next(s, len, &point);
        bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
        if (n == 0 || control || turns(point)) buf_putc(out, n && point == '\t' ? ' ' : '?');
        else buf_add(out, s, n);
        s += n ? n : 1;
        len -= n ? n : 1;
    }
}

static void spaces(struct buf *out, size_t n, char c)
{
    while (n--) buf_putc(out, c);
}

/* The part of the line that is shown: [from, to) in the source. */
static void shown_part(const struct config_diagnostic *d, size_t *from, size_t *to)
{
    const struct config_source *s = d->source;
    size_t line = line_index(s, d->offset);
    *from = s->lines[line];
    *to = line + 1 < s->line_count ? s->lines[line + 1] - 1 : s->len;
    if (*to > *from && s->bytes[*to - 1] == '\r') --*to;
    if (*to - *from <= SHOWN_COLUMNS) return;
    if (d->offset - *from > SHOWN_BEFORE) *from = d->offset - SHOWN_BEFORE;
    while (*from < d->offset && ((unsigned char)s->bytes[*from] & 0xc0) == 0x80) ++*from;
    if (*to - *from > SHOWN_COLUMNS) *to = *from + utf8_cut(s->bytes + *from, *to - *from, SHOWN_COLUMNS);
}

static void print_line(struct buf *out, const struct config_diagnostic *d)
{
    const struct config_source *s = d->source;
    size_t from, to;
    shown_part(d, &from, &to);
    size_t at = d->offset < to ? d->offset : to;
    size_t end = d->offset + d->length < to ? d->offset + d->length : to;
    buf_printf(out, "%5u | ", d->pos.line);
    bool hide = d->secret > from && d->secret < to;
    add_shown(out, s->bytes + from, (hide ? d->secret : to) - from);
    if (hide) buf_puts(out, "********");
    buf_puts(out, "\n      | ");
    spaces(out, utf8_columns(s->bytes + from, at - from), ' ');
    buf_putc(out, '^');
    unsigned wide = hide && at == d->secret ? 8 : end > at ? utf8_columns(s->bytes + at, end - at) : 1;
    spaces(out, wide > 1 ? wide - 1 : 0, '~');
    buf_putc(out, '\n');
}

static void print_one(struct buf *out, const struct config_diagnostic *d)
{
    buf_printf(out, "%s:%u:%u: %s: ", d->source->path, d->pos.line, d->pos.col, severity_names[d->severity]);
    add_shown(out, d->text, strlen(d->text));
    buf_putc(out, '\n');
    if (d->source->len) print_line(out, d);
    if (!d->hint[0]) return;
    buf_puts(out, "      = ");
    add_shown(out, d->hint, strlen(d->hint));
    buf_putc(out, '\n');
}

void config_print_diagnostics(struct buf *out, const struct config_diagnostics *d, bool with_notes)
{
    for (size_t i = 0; i < d->n; i++)
        if (with_notes || d->items[i].severity != CONFIG_NOTE) print_one(out, &d->items[i]);
    size_t all = d->errors + d->warnings + d->notes;
    if (all > d->n) buf_printf(out, "... and %zu more\n", all - d->n);
}
