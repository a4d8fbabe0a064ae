#include "sim/series_script.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"

struct parser {
    const char *text;
    size_t len, at;
    struct series_script out;
    size_t cap;
    struct err *e;
};

static enum status fail_at(struct parser *p, size_t at, enum status code, const char *what)
{
    struct text_pos pos = text_pos_at(p->text, at);
    return err_set(p->e, code, "series %u:%u: %s", pos.line, pos.col, what);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static enum status push_run(struct parser *p, size_t at, struct script_run run, uint64_t count)
{
    if (p->out.n >= SCRIPT_RUNS_MAX) return fail_at(p, at, STATUS_LIMIT, "more than 100,000 items");
    if (count > SCRIPT_POINTS_MAX - p->out.points) return fail_at(p, at, STATUS_LIMIT, "more than 100,000,000 points");
    if (p->out.n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 16;
        struct script_run *grown = realloc(p->out.runs, cap * sizeof *grown);
        if (!grown) return fail_at(p, at, STATUS_MEMORY, "out of memory");
        p->out.runs = grown;
        p->cap = cap;
    }
    run.first = p->out.points;
    p->out.runs[p->out.n++] = run;
    p->out.points += count;
    return STATUS_OK;
}

static bool at_end_of_item(const struct parser *p) { return p->at == p->len || is_space(p->text[p->at]); }

/* "xN" if it is there. *ret = N, or `otherwise`. */
static enum status read_times(struct parser *p, uint64_t otherwise, uint64_t *ret)
{
    *ret = otherwise;
    if (p->at == p->len || p->text[p->at] != 'x') return STATUS_OK;
    size_t from = ++p->at;
    while (p->at < p->len && p->text[p->at] >= '0' && p->text[p->at] <= '9') p->at++;
    if (!num_parse_u64(p->text + from, p->at - from, ret))
        return fail_at(p, from, STATUS_INVALID, "after x comes a whole number, as in 38x2880");
    return STATUS_OK;
}

static enum status read_number(struct parser *p, double *ret)
{
    size_t read = num_parse(p->text + p->at, p->len - p->at, ret);
    if (read == 0) return fail_at(p, p->at, STATUS_INVALID, "not a value; write 38, 38x5, 1+2x5, _, _x5 or stale");
    p->at += read;
    return STATUS_OK;
}

static enum status read_missing(struct parser *p, size_t from)
{
    uint64_t times;
    p->at++;
    enum status s = read_times(p, 1, &times);
    if (s != STATUS_OK) return s;
    return push_run(p, from, (struct script_run){.start = NAN, .kind = SCRIPT_MISSING}, times);
}

static enum status read_values(struct parser *p, size_t from)
{
    struct script_run run = {.kind = SCRIPT_VALUE};
    uint64_t more;
    enum status s = read_number(p, &run.start);
    if (s != STATUS_OK) return s;
    bool stepped = p->at < p->len && (p->text[p->at] == '+' || p->text[p->at] == '-');
    if (stepped) {
        s = read_number(p, &run.step);
        if (s != STATUS_OK) return s;
        if (p->at == p->len || p->text[p->at] != 'x')
            return fail_at(p, p->at, STATUS_INVALID, "a step needs a count, as in 1+2x5");
    }
    s = read_times(p, 0, &more);
    if (s != STATUS_OK) return s;
    if (more >= SCRIPT_POINTS_MAX) return fail_at(p, from, STATUS_LIMIT, "more than 100,000,000 points");
    return push_run(p, from, run, more + 1);
}

static enum status read_item(struct parser *p)
{
    size_t from = p->at;
    enum status s;
    if (p->text[from] == '_') {
        s = read_missing(p, from);
    } else if (p->text[from] == '{') {
        return fail_at(p, from, STATUS_INVALID, "native histograms are not supported");
    } else if (p->len - from >= 5 && memcmp(p->text + from, "stale", 5) == 0) {
        p->at += 5;
        s = push_run(p, from, (struct script_run){.start = NAN, .kind = SCRIPT_STALE}, 1);
    } else {
        s = read_values(p, from);
    }
    if (s == STATUS_OK && !at_end_of_item(p))
        s = fail_at(p, p->at, STATUS_INVALID, "unexpected text; separate items by spaces");
    return s;
}

enum status script_parse(const char *text, size_t len, struct series_script *ret, struct err *e)
{
    struct parser p = {.text = text, .len = len, .e = e};
    while (p.at < len) {
        if (is_space(text[p.at])) {
            p.at++;
            continue;
        }
        enum status s = read_item(&p);
        if (s != STATUS_OK) {
            free(p.out.runs);
            return s;
        }
    }
    *ret = p.out;
    return STATUS_OK;
}

struct script_point script_at(const struct series_script *s, uint64_t i)
{
    if (i >= s->points) return (struct script_point){SCRIPT_MISSING, NAN};
    size_t low = 0, high = s->n;  /* the last run whose first point is at or before i */
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->runs[mid].first <= i) low = mid;
        else high = mid;
    }
    const struct script_run *r = &s->runs[low];
    return (struct script_point){r->kind, r->kind == SCRIPT_VALUE ? r->start + r->step * (double)(i - r->first) : (double)NAN};
}

void script_free(struct series_script *s)
{
    if (!s) return;
    free(s->runs);
    *s = (struct series_script){0};
}
