/* What stands behind a series: value, time, exemplar. */
#include <string.h>

#include "base/num.h"
#include "collect/expo_inside.h"

static const double power_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* Plain decimals of at most 2^53: one multiplication or division by an exact power of ten is correctly rounded.
 * Returns the bytes read, 0: ask num_parse. */
static size_t number_fast(const char *s, const char *end, double *ret)
{
    const char *p = s;
    bool minus = p < end && *p == '-';
    if (minus) p++;
    uint64_t m = 0;
    const char *first = p;
    while (p < end && is_digit(*p)) m = m * 10 + (uint64_t)(*p++ - '0');
    size_t digits = (size_t)(p - first);
    size_t after = 0;
    if (p < end && *p == '.') {
        const char *point = ++p;
        while (p < end && is_digit(*p)) m = m * 10 + (uint64_t)(*p++ - '0');
        after = (size_t)(p - point);
        digits += after;
    }
    if (digits == 0 || digits > 18 || m > (UINT64_C(1) << 53)) return 0;
    if (p < end && *p != ' ' && *p != '\n') return 0;
    double v = (double)m;
    if (after) v /= power_of_ten[after];
    *ret = minus ? -v : v;
    return (size_t)(p - s);
}

static size_t number(const char *p, const char *end, double *ret)
{
    size_t n = number_fast(p, end, ret);
    if (n) return n;
    size_t len = (size_t)(end - p);
    return num_parse(p, len > 400 ? 400 : len, ret);
}

/* Between two parts of a line: one space in strict OpenMetrics, else blanks. NULL: none there. */
static const char *gap(const struct expo *x, const char *p)
{
    if (!expo_blank(x, p)) return NULL;
    if (x->strict && x->format == EXPO_OPENMETRICS) return *p == ' ' ? p + 1 : NULL;
    return expo_skip_blanks(x, p);
}

/* true: p is where a value or time may end. */
static bool part_ends(const struct expo *x, const char *p)
{
    return expo_line_end(x, p) || *p == ' ' || *p == '\t' || (*p == '\r' && !x->strict);
}

static bool time_from(const struct expo *x, const char *p, const char *end, double v, int64_t *ret)
{
    if (x->format == EXPO_TEXT) return num_parse_i64(p, (size_t)(end - p), ret);
    if (!(v > -9e12 && v < 9e12)) return false;
    double ms = v * 1000.0;
    *ret = (int64_t)(ms < 0 ? ms - 0.5 : ms + 0.5);
    return true;
}

static const char *read_time(struct expo *x, const char *p, int64_t *ret, enum expo_event *event)
{
    double v = 0;
    size_t n = number(p, x->end, &v);
    if (n == 0 || !part_ends(x, p + n) || !time_from(x, p, p + n, v, ret)) {
        *event = expo_fault_at(x, p, x->format == EXPO_TEXT ? "the time must be whole milliseconds"
                                                    : "the time must be a number of seconds");
        return NULL;
    }
    return p + n;
}

static uint32_t code_points(const char *s, uint32_t len, bool escaped)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (escaped && s[i] == '\\' && i + 1 < len) i++;
        if (((uint8_t)s[i] & 0xc0) != 0x80) n++;
    }
    return n;
}

/* p stands on '#'. An exemplar never reaches the sample store; it is read so that a bad one is found.
 * x->labels is used for its labels, so the sample's own labels are set aside first by the caller if needed. */
static const char *read_exemplar(struct expo *x, const char *p, enum expo_event *event)
{
    const char *at = p;
    p++;
    const char *q = gap(x, p);
    if (!q || q >= x->end || *q != '{') { *event = expo_fault_at(x, at, "an exemplar reads '# {labels} value'"); return NULL; }
    struct expo_label keep[EXPO_LABELS_MAX];
    uint32_t own = x->sample.label_count, n = 0;
    memcpy(keep, x->labels, own * sizeof keep[0]);
    p = expo_labels(x, q + 1, &n, event);
    if (p) {
        for (uint32_t i = 0; i < n; i++)
            x->sample.exemplar_chars += code_points(x->labels[i].name, x->labels[i].name_len, x->labels[i].name_escaped) +
                                        code_points(x->labels[i].value, x->labels[i].value_len, x->labels[i].value_escaped);
    }
    memcpy(x->labels, keep, own * sizeof keep[0]);
    if (!p) return NULL;
    q = gap(x, p);
    double v;
    size_t len = q ? number(q, x->end, &v) : 0;
    if (len == 0 || !part_ends(x, q + len)) { *event = expo_fault_at(x, p, "an exemplar needs a value"); return NULL; }
    p = q + len;
    if (!expo_line_end(x, p) && (q = gap(x, p)) != NULL && !expo_line_end(x, q) && *q != '\r') {
        int64_t t;
        if (!(p = read_time(x, q, &t, event))) return NULL;
    }
    x->sample.has_exemplar = true;
    return p;
}

/* The line from the value on. p stands behind the series. */
enum expo_event expo_tail(struct expo *x, const char *p)
{
    struct expo_sample *s = &x->sample;
    const char *q = gap(x, p);
    if (!q) return expo_fault_at(x, p, "a space and a value expected after the series");
    size_t n = number(q, x->end, &s->value);
    if (n == 0 || !part_ends(x, q + n)) return expo_fault_at(x, q, expo_line_end(x, q) ? "the value is missing" : "not a number");
    s->value_text = q;
    s->value_len = (uint32_t)n;
    s->has_time = s->has_exemplar = false;
    s->exemplar_chars = 0;
    p = q + n;
    if (!expo_line_end(x, p)) {
        enum expo_event event = EXPO_BROKEN;
        q = gap(x, p);
        if (q && !expo_line_end(x, q) && *q != '#' && *q != '\r') {
            if (!(p = read_time(x, q, &s->time_ms, &event))) return event;
            s->has_time = true;
            q = gap(x, p);
        }
        if (q && q < x->end && *q == '#') {
            if (!(p = read_exemplar(x, q, &event))) return event;
            q = gap(x, p);
        }
        if (q && x->strict && x->format == EXPO_OPENMETRICS) return expo_fault_at(x, p, "a space at the end of the line");
        if (q) p = q;
        if (p < x->end && *p == '\r' && !x->strict) p++;
        if (!expo_line_end(x, p)) return expo_fault_at(x, p, "something stands behind the sample");
    }
    if ((size_t)(p - x->line_start) > x->limits.line_bytes) return expo_over(x, x->line_start, "a line is over the limit");
    x->p = p < x->end ? p + 1 : x->end;
    return EXPO_SAMPLE;
}
