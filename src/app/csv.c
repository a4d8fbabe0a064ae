#include "app/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/text.h"

struct csv {
    const char *path, *p, *end;
    unsigned line;
    int time_column, value_column;
    uint32_t cap;
};

/* One field up to its comma or the end of the line; quotes around it are taken off. */
static struct csv_field next_field(struct csv *c, const char *end)
{
    struct csv_field f = {c->p, 0};
    if (c->p < end && *c->p == '"') {
        const char *close = memchr(c->p + 1, '"', (size_t)(end - c->p - 1));
        if (close) {
            f = (struct csv_field){c->p + 1, (size_t)(close - c->p - 1)};
            c->p = close + 1;
            while (c->p < end && *c->p != ',') c->p++;
            return f;
        }
    }
    while (c->p < end && *c->p != ',') c->p++;
    f.len = (size_t)(c->p - f.s);
    while (f.len && (*f.s == ' ' || *f.s == '\t')) f.s++, f.len--;
    while (f.len && (f.s[f.len - 1] == ' ' || f.s[f.len - 1] == '\t')) f.len--;
    return f;
}

/* Splits the line at hand and moves behind it. */
static unsigned next_line(struct csv *c, struct csv_field fields[CSV_COLUMNS_MAX])
{
    const char *stop = memchr(c->p, '\n', (size_t)(c->end - c->p));
    const char *next = stop ? stop + 1 : c->end, *end = stop ? stop : c->end;
    unsigned n = 0;
    if (end > c->p && end[-1] == '\r') end--;
    c->line++;
    while (n < CSV_COLUMNS_MAX) {
        fields[n++] = next_field(c, end);
        if (c->p >= end) break;
        c->p++;
    }
    c->p = next;
    return n == 1 && fields[0].len == 0 ? 0 : n;
}

static bool field_is(struct csv_field f, const char *word) { return strlen(word) == f.len && strncasecmp(f.s, word, f.len) == 0; }

static bool read_time(struct csv_field f, struct wall *ret)
{
    char text[64];
    if (f.len == 0 || f.len > 48) return false;
    memcpy(text, f.s, f.len);
    text[f.len] = '\0';
    if (wall_parse(text, ret)) return true;
    strcat(text, "Z");
    return wall_parse(text, ret);
}

bool csv_number(struct csv_field f, double *ret)
{
    if (f.len == 0 || field_is(f, "null")) {
        *ret = NAN;
        return true;
    }
    return num_parse_all(f.s, f.len, ret);
}

/* true: it was a line of names. */
static bool read_names(struct csv *c, const struct csv_field *fields, unsigned n)
{
    int at_time = -1, at_value = -1;
    for (unsigned i = 0; i < n; i++) {
        if (field_is(fields[i], "timestamp") || field_is(fields[i], "time")) at_time = (int)i;
        else if (field_is(fields[i], "value")) at_value = (int)i;
    }
    if (at_time < 0 || at_value < 0) return false;
    c->time_column = at_time;
    c->value_column = at_value;
    return true;
}

static bool grow(struct csv *c, struct csv_rows *r)
{
    if (r->n < c->cap) return true;
    uint32_t cap = c->cap ? 2 * c->cap : 4096;
    struct wall *t = realloc(r->times, cap * sizeof *t);
    if (t) r->times = t;
    double *v = realloc(r->values, cap * sizeof *v);
    if (v) r->values = v;
    if (!t || !v) return false;
    c->cap = cap;
    return true;
}

static enum status read_row(struct csv *c, const struct csv_field *fields, unsigned n, struct csv_rows *r, struct err *e)
{
    struct wall at;
    double value;
    unsigned want = (unsigned)(c->time_column > c->value_column ? c->time_column : c->value_column) + 1;
    if (n < want) {
        return err_set(e, STATUS_INVALID, "%s:%u: %u columns; timestamp and value are expected", c->path, c->line, n);
    }
    struct csv_field t = fields[c->time_column], v = fields[c->value_column];
    if (!read_time(t, &at)) {
        return err_set(e, STATUS_INVALID, "%s:%u: '%.*s' is not a time; write 2026-05-12T10:02:30Z or Unix seconds",
                       c->path, c->line, (int)(t.len < 40 ? t.len : 40), t.s);
    }
    if (!csv_number(v, &value)) {
        return err_set(e, STATUS_INVALID, "%s:%u: '%.*s' is not a number; leave the field empty where nothing is known",
                       c->path, c->line, (int)(v.len < 40 ? v.len : 40), v.s);
    }
    if (r->n == CSV_ROWS_MAX) return err_set(e, STATUS_LIMIT, "%s has more than %u rows", c->path, CSV_ROWS_MAX);
    if (!grow(c, r)) return err_set(e, STATUS_MEMORY, "no memory for the rows of %s", c->path);
    r->times[r->n] = at;
    r->values[r->n++] = value;
    return STATUS_OK;
}

enum status csv_read(const char *path, const char *bytes, size_t len, struct csv_rows *ret, struct err *e)
{
    struct csv_field fields[CSV_COLUMNS_MAX];
    struct csv c = {.path = path, .p = bytes, .end = bytes + len, .value_column = 1};
    struct csv_rows r = {0};
    enum status s = STATUS_OK;
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) c.p += 3;
    for (bool first = true; c.p < c.end && s == STATUS_OK;) {
        unsigned n = next_line(&c, fields);
        if (n == 0) continue;
        if (!first || !read_names(&c, fields, n)) s = read_row(&c, fields, n, &r, e);
        first = false;
    }
    if (s == STATUS_OK && r.n == 0) s = err_set(e, STATUS_INVALID, "%s has no rows; expected lines of timestamp,value", path);
    if (s == STATUS_OK) *ret = r;
    else csv_free(&r);
    return s;
}

static enum status table_line(struct csv *c, const struct csv_field *fields, unsigned n, bool first, const struct csv_sink *sink,
                              struct err *e)
{
    char place[300];
    struct wall at;
    snprintf(place, sizeof place, "%.200s:%u", c->path, c->line);
    if (first) {
        if (!field_is(fields[0], "timestamp") && !field_is(fields[0], "time")) {
            return err_set(e, STATUS_INVALID, "%s: line 1 names the columns, and the first of them is timestamp", place);
        }
        return sink->names(sink->arg, fields, n, place, e);
    }
    if (!read_time(fields[0], &at)) {
        return err_set(e, STATUS_INVALID, "%s: '%.*s' is not a time; write 2026-05-12T10:02:30Z or Unix seconds", place,
                       (int)(fields[0].len < 40 ? fields[0].len : 40), fields[0].s);
    }
    return sink->row(sink->arg, at, fields, n, place, e);
}

enum status csv_table(const char *path, const char *bytes, size_t len, const struct csv_sink *sink, struct err *e)
{
    struct csv_field fields[CSV_COLUMNS_MAX];
    struct csv c = {.path = path, .p = bytes, .end = bytes + len};
    enum status s = STATUS_OK;
    unsigned rows = 0;
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) c.p += 3;
    for (bool first = true; c.p < c.end && s == STATUS_OK;) {
        unsigned n = next_line(&c, fields);
        if (n == 0) continue;
        s = table_line(&c, fields, n, first, sink, e);
        rows += !first;
        first = false;
    }
    if (s == STATUS_OK && rows == 0) s = err_set(e, STATUS_INVALID, "%s has no rows below the line of names", path);
    return s;
}

void csv_free(struct csv_rows *r)
{
    free(r->times);
    free(r->values);
    *r = (struct csv_rows){0};
}
