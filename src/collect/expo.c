#include "collect/expo.h"

#include <string.h>

#include "base/utf8.h"
#include "collect/expo_inside.h"

/* What a byte may be part of. */
enum { NAME = 1, NAME_START = 2, LABEL = 4, LABEL_START = 8, PLAIN = 16, HIGH = 32 };

#define LETTER (NAME | NAME_START | LABEL | LABEL_START | PLAIN)
#define DIGIT (NAME | LABEL | PLAIN)
#define X4(v) v, v, v, v
#define X16(v) X4(v), X4(v), X4(v), X4(v)

/* PLAIN: inside quotes and nothing to think about; not NUL, newline, '"', '\\' or the bytes of UTF-8 sequences. */
static const uint8_t class_of[256] = {
    0, PLAIN, PLAIN, PLAIN, X4(PLAIN), PLAIN, PLAIN, 0, PLAIN, X4(PLAIN),
    X16(PLAIN),
    PLAIN, PLAIN, 0, PLAIN, X4(PLAIN), X4(PLAIN), X4(PLAIN),
    X4(DIGIT), X4(DIGIT), DIGIT, DIGIT, PLAIN | NAME | NAME_START, PLAIN, X4(PLAIN),
    PLAIN, LETTER, LETTER, LETTER, X4(LETTER), X4(LETTER), X4(LETTER),
    X4(LETTER), X4(LETTER), LETTER, LETTER, LETTER, PLAIN, 0, PLAIN, PLAIN, LETTER,
    PLAIN, LETTER, LETTER, LETTER, X4(LETTER), X4(LETTER), X4(LETTER),
    X4(LETTER), X4(LETTER), LETTER, LETTER, LETTER, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN,
    X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH), X16(HIGH),
};

#define IS(c, what) ((class_of[(uint8_t)(c)] & (what)) != 0)

struct expo_limits expo_limits_default(void)
{
    return (struct expo_limits){.labels = EXPO_LABELS_MAX, .name_bytes = 128, .value_bytes = 1024,
                                .line_bytes = 65536};
}

void expo_open(struct expo *x, const char *bytes, size_t len, enum expo_format format, struct expo_limits limits)
{
    memset(x, 0, sizeof *x);
    if (limits.labels > EXPO_LABELS_MAX) limits.labels = EXPO_LABELS_MAX;
    x->begin = x->p = x->line_start = bytes;
    x->end = len ? bytes + len : bytes;
    x->format = format;
    x->limits = limits;
}

/* ---- faults ---- */

enum expo_event expo_fault_at(struct expo *x, const char *at, const char *reason)
{
    x->fault.line = x->line;
    x->fault.col = (uint32_t)(at - x->line_start) + 1;
    x->fault.reason = reason;
    const char *nl = at < x->end ? memchr(at, '\n', (size_t)(x->end - at)) : NULL;
    x->p = nl ? nl + 1 : x->end;
    return EXPO_BROKEN;
}

enum expo_event expo_over(struct expo *x, const char *at, const char *reason)
{
    expo_fault_at(x, at, reason);
    return EXPO_OVER_LIMIT;
}

/* ---- quoted strings ---- */

struct quoted { const char *text; uint32_t len; bool escaped, high, nul; };

/* p stands behind the opening quote. Returns the place of the closing one, NULL with the place of the fault in *at. */
static const char *read_quoted(const struct expo *x, const char *p, struct quoted *q, const char **at)
{
    *q = (struct quoted){.text = p};
    for (;;) {
        while (p < x->end && IS(*p, PLAIN)) p++;
        if (p >= x->end || *p == '\n') { *at = p; return NULL; }
        if (*p == '"') break;
        if (*p == '\\') {
            q->escaped = true;
            if (p + 1 >= x->end || p[1] == '\n') { *at = p; return NULL; }
            if (x->strict && p[1] != '\\' && p[1] != '"' && p[1] != 'n' && x->format == EXPO_TEXT) {
                *at = p;
                return NULL;
            }
            p += 1;
        } else if (*p == '\0') {
            q->nul = true;
        } else {
            q->high = true;
        }
        p++;
    }
    size_t len = (size_t)(p - q->text);
    q->len = len > UINT32_MAX ? UINT32_MAX : (uint32_t)len;
    return p;
}

static enum expo_event quoted_fault(struct expo *x, const char *at)
{
    if (at < x->end && *at == '\\') return expo_fault_at(x, at, "this escape means nothing: only \\\\, \\\" and \\n do");
    return expo_fault_at(x, at, "the quote that opened this text is not closed on its line");
}

/* ---- labels ---- */

/* Length of a plain name at p, 0: none. */
static uint32_t name_at(const struct expo *x, const char *p, int start, int rest)
{
    const char *s = p;
    if (p >= x->end || !IS(*p, start)) return 0;
    while (p < x->end && IS(*p, rest)) p++;
    return (uint32_t)(p - s);
}

/* The part after a label's name: ="value". Fills `l`. Returns the place behind it, NULL after a fault. */
static const char *read_label_value(struct expo *x, const char *p, struct expo_label *l, enum expo_event *event)
{
    if (!x->strict || x->format == EXPO_TEXT) p = expo_skip_blanks(x, p);
    if (p >= x->end || *p != '=') { *event = expo_fault_at(x, p, "'=' expected after the label's name"); return NULL; }
    p++;
    if (!x->strict || x->format == EXPO_TEXT) p = expo_skip_blanks(x, p);
    if (p >= x->end || *p != '"') { *event = expo_fault_at(x, p, "a label's value must stand in double quotes"); return NULL; }
    struct quoted q;
    const char *at;
    const char *close = read_quoted(x, p + 1, &q, &at);
    if (!close) { *event = quoted_fault(x, at); return NULL; }
    if (q.len > x->limits.value_bytes) { *event = expo_over(x, p, "a label's value is over the limit"); return NULL; }
    if (q.high && !utf8_valid(q.text, q.len)) { *event = expo_fault_at(x, p, "a label's value is not UTF-8"); return NULL; }
    if (q.nul) x->sample.clean = false;
    l->value = q.text;
    l->value_len = q.len;
    l->value_escaped = q.escaped;
    return close + 1;
}

/* A quoted word inside braces: the metric's name when nothing follows it, else a label's name. */
static const char *read_quoted_word(struct expo *x, const char *p, struct expo_label *l, bool *is_name,
                                    enum expo_event *event)
{
    struct quoted q;
    const char *at;
    const char *close = read_quoted(x, p + 1, &q, &at);
    if (!close) { *event = quoted_fault(x, at); return NULL; }
    if (q.len == 0) { *event = expo_fault_at(x, p, "a name must not be empty"); return NULL; }
    if (q.len > x->limits.name_bytes) { *event = expo_over(x, p, "a name is over the limit"); return NULL; }
    if (q.high && !utf8_valid(q.text, q.len)) { *event = expo_fault_at(x, p, "a name is not UTF-8"); return NULL; }
    if (q.nul) x->sample.clean = false;
    const char *after = expo_skip_blanks(x, close + 1);
    *is_name = after < x->end && (*after == ',' || *after == '}');
    if (!*is_name) {
        *l = (struct expo_label){.name = q.text, .name_len = q.len, .name_escaped = q.escaped};
        return close + 1;
    }
    if (x->sample.name) { *event = expo_fault_at(x, p, "the metric has two names"); return NULL; }
    x->sample.name = q.text;
    x->sample.name_len = q.len;
    x->sample.name_escaped = q.escaped;
    return after;
}

/* One label (or quoted metric name) at p. Returns the place behind it, NULL after a fault. */
static const char *read_label(struct expo *x, const char *p, uint32_t *n, enum expo_event *event)
{
    if (*n >= x->limits.labels) { *event = expo_over(x, p, "a sample has more labels than the limit"); return NULL; }
    struct expo_label *l = &x->labels[*n];
    if (*p == '"') {
        bool is_name;
        p = read_quoted_word(x, p, l, &is_name, event);
        if (!p || is_name) return p;
    } else {
        uint32_t len = name_at(x, p, LABEL_START, LABEL);
        if (len == 0) { *event = expo_fault_at(x, p, "a label's name expected"); return NULL; }
        if (len > x->limits.name_bytes) { *event = expo_over(x, p, "a label's name is over the limit"); return NULL; }
        l->name = p;
        l->name_len = len;
        l->name_escaped = false;
        p += len;
    }
    p = read_label_value(x, p, l, event);
    if (p) ++*n;
    return p;
}

static bool label_repeats(const struct expo_label *labels, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (labels[i].name_len == labels[j].name_len && labels[i].name[0] == labels[j].name[0] &&
                memcmp(labels[i].name, labels[j].name, labels[i].name_len) == 0)
                return true;
    return false;
}

/* p stands behind '{'. Returns the place behind '}', NULL after a fault. */
const char *expo_labels(struct expo *x, const char *p, uint32_t *ret_n, enum expo_event *event)
{
    const char *open = p;
    bool loose = !x->strict || x->format == EXPO_TEXT;
    uint32_t n = 0;
    for (;;) {
        if (loose) p = expo_skip_blanks(x, p);
        if (p >= x->end) { *event = expo_fault_at(x, p, "the braces are not closed"); return NULL; }
        /* A comma before the brace is allowed in text pages (TorchServe prints one). */
        if (*p == '}' && (n == 0 || loose)) break;
        if (!(p = read_label(x, p, &n, event))) return NULL;
        if (loose) p = expo_skip_blanks(x, p);
        if (p < x->end && *p == '}') break;
        if (p >= x->end || *p != ',') { *event = expo_fault_at(x, p, "',' or '}' expected after a label"); return NULL; }
        p++;
    }
    if (label_repeats(x->labels, n)) { *event = expo_fault_at(x, open, "a label stands twice in one series"); return NULL; }
    *ret_n = n;
    return p + 1;
}

enum expo_event expo_sample(struct expo *x)
{
    struct expo_sample *s = &x->sample;
    const char *p = x->p;
    memset(&x->fault, 0, sizeof x->fault);
    s->series = p;
    s->name = NULL;
    s->name_len = name_at(x, p, NAME_START, NAME);
    s->name_escaped = false;
    s->clean = true;
    s->label_count = 0;
    if (s->name_len > x->limits.name_bytes) return expo_over(x, p, "a metric's name is over the limit");
    if (s->name_len) {
        s->name = p;
        x->fault.name = p;
        x->fault.name_len = s->name_len;
        p += s->name_len;
    } else if (*p != '{') {
        return expo_fault_at(x, p, "a metric's name expected");
    }
    /* Text pages may have blanks between name and brace. */
    const char *brace = x->strict && x->format == EXPO_OPENMETRICS ? p : expo_skip_blanks(x, p);
    if (brace < x->end && *brace == '{') {
        enum expo_event event = EXPO_BROKEN;
        uint32_t n = 0;
        p = expo_labels(x, brace + 1, &n, &event);
        if (!p) return event;
        s->label_count = n;
    }
    if (!s->name) return expo_fault_at(x, s->series, "the metric has no name");
    x->fault.name = s->name;
    x->fault.name_len = s->name_len;
    x->fault.labels_read = true;
    s->series_len = (uint32_t)(p - s->series);
    return expo_tail(x, p);
}

/* ---- lines ---- */

static bool starts(const struct expo *x, const char *p, const char *word, size_t len)
{
    return (size_t)(x->end - p) >= len && memcmp(p, word, len) == 0;
}

static void next_line(struct expo *x)
{
    const char *nl = memchr(x->p, '\n', (size_t)(x->end - x->p));
    x->p = nl ? nl + 1 : x->end;
}

/* Begins the line at x->p, blanks before its first byte skipped. false: the page is read. */
static bool begin_line(struct expo *x)
{
    if (x->p >= x->end) return false;
    x->line++;
    x->line_start = x->p;
    if (!x->strict || x->format == EXPO_TEXT) x->p = expo_skip_blanks(x, x->p);
    return true;
}

static bool is_eof_line(const struct expo *x)
{
    if (!starts(x, x->p, "# EOF", 5)) return false;
    const char *p = x->p + 5;
    return expo_line_end(x, p) || (!x->strict && *p == '\r');
}

bool expo_to_sample(struct expo *x)
{
    while (begin_line(x)) {
        if (x->p < x->end && *x->p != '#' && *x->p != '\n' && *x->p != '\r') return true;
        if (x->p < x->end && *x->p == '#') x->eof_seen = is_eof_line(x);
        if (x->p < x->end) next_line(x);
    }
    return false;
}

enum expo_event expo_expect(struct expo *x, const char *series, uint32_t len)
{
    if ((size_t)(x->end - x->p) <= len || memcmp(x->p, series, len) != 0) return EXPO_END;
    char next = x->p[len];
    if (next != ' ' && next != '\t') return EXPO_END;
    /* "name {" would make a longer series of it. */
    if (series[len - 1] != '}' && *expo_skip_blanks(x, x->p + len) == '{') return EXPO_END;
    x->sample.series = x->p;
    x->sample.series_len = len;
    return expo_tail(x, x->p + len);
}

/* "# TYPE name text" with x->p on '#'. Comments that are none of the three are skipped: EXPO_END. */
static enum expo_event read_meta(struct expo *x)
{
    static const struct { const char *word; enum expo_meta_kind kind; } words[] = {
        {"# HELP ", EXPO_HELP}, {"# TYPE ", EXPO_TYPE}, {"# UNIT ", EXPO_UNIT}};
    const char *start = x->p;
    next_line(x);
    const char *end = x->p > start && x->p[-1] == '\n' ? x->p - 1 : x->p;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!starts(x, start, words[i].word, 7)) continue;
        struct expo_meta *m = &x->meta;
        m->kind = words[i].kind;
        m->name = start + 7;
        const char *p = m->name;
        bool tab_too = x->format == EXPO_TEXT;
        while (p < end && *p != ' ' && !(tab_too && *p == '\t')) p++;
        m->name_len = (uint32_t)(p - m->name);
        m->text = p < end ? p + 1 : NULL;
        m->text_len = p < end ? (uint32_t)(end - p - 1) : 0;
        return EXPO_META;
    }
    return EXPO_END;
}

enum expo_event expo_next(struct expo *x)
{
    if (!x->want_meta) return expo_to_sample(x) ? expo_sample(x) : EXPO_END;
    while (begin_line(x)) {
        if (x->p >= x->end) break;
        if (*x->p == '\n') { x->p++; continue; }
        if (*x->p != '#') return expo_sample(x);
        x->eof_seen = is_eof_line(x);
        if (read_meta(x) == EXPO_META) return EXPO_META;
    }
    return EXPO_END;
}

size_t expo_count_lines(const char *bytes, size_t len)
{
    size_t n = 0;
    const char *p = bytes, *end = len ? bytes + len : bytes;
    while (p < end) {
        if (*p != '#' && *p != '\n') n++;
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl) break;
        p = nl + 1;
    }
    return n;
}

void expo_unescape(struct buf *out, const char *s, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        if (s[i] == '\\' && i + 1 < len && (s[i + 1] == 'n' || s[i + 1] == '\\' || s[i + 1] == '"')) {
            i++;
            buf_putc(out, s[i] == 'n' ? '\n' : s[i]);
        } else {
            buf_putc(out, s[i]);
        }
    }
}
