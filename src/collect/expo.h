/* Reads exposition pages: Prometheus text 0.0.4 and 1.0.0 and OpenMetrics 1.0. Nothing is copied: names and label
 * values point into the page, escapes still in them. One line at a time, each call moves past at least one byte.
 *
 *   struct expo x;
 *   expo_open(&x, bytes, len, format, limits);
 *   while ((e = expo_next(&x)) != EXPO_END) ...
 */
#ifndef COLLECT_EXPO_H
#define COLLECT_EXPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define EXPO_LABELS_MAX 64

enum expo_format { EXPO_TEXT, EXPO_OPENMETRICS };

struct expo_limits {
    uint32_t labels;        /* a sample; at most EXPO_LABELS_MAX */
    uint32_t name_bytes;    /* of metric and label names */
    uint32_t value_bytes;   /* of a label value */
    uint32_t line_bytes;
};
struct expo_limits expo_limits_default(void);   /* 64, 128, 1 KiB, 64 KiB */

enum expo_event {
    EXPO_END,         /* the page is read */
    EXPO_SAMPLE,      /* x->sample is filled */
    EXPO_META,        /* HELP, TYPE or UNIT: x->meta is filled. Only with x->want_meta */
    EXPO_BROKEN,      /* a line that is not in the grammar: x->fault is filled; go on with the next call */
    EXPO_OVER_LIMIT,  /* x->fault is filled; the page counts as unknown, reading on is useless */
};

struct expo_label {
    const char *name, *value;
    uint32_t name_len, value_len;
    bool name_escaped, value_escaped;   /* a backslash stands in it: see expo_unescape */
};

struct expo_sample {
    const char *series;                 /* name and labels as they stand in the page */
    uint32_t series_len;
    const char *name;
    uint32_t name_len;
    bool name_escaped;
    bool clean;                         /* no NUL in name or labels: they may become C strings */
    uint32_t label_count;
    double value;
    bool has_time;
    int64_t time_ms;                    /* Unix time, from ms (text) or s (OpenMetrics) */
    bool has_exemplar;
    uint32_t exemplar_chars;            /* code points in its label names and values */
    const char *value_text;             /* as written, for rules about its spelling */
    uint32_t value_len;
};

enum expo_meta_kind { EXPO_HELP, EXPO_TYPE, EXPO_UNIT };
struct expo_meta { enum expo_meta_kind kind; const char *name, *text; uint32_t name_len, text_len; };

struct expo_fault {
    uint32_t line, col;                 /* from 1; col counts bytes */
    const char *reason;                 /* static text */
    const char *name;                   /* the metric's, NULL when not even that could be read */
    uint32_t name_len;
    bool labels_read;                   /* x->labels holds the series' labels: only its value is unreadable */
};

struct expo {
    const char *begin, *p, *end;
    enum expo_format format;
    struct expo_limits limits;
    bool want_meta;                     /* report HELP, TYPE, UNIT instead of skipping them */
    bool strict;                        /* spacing and spelling exactly as the standard says */
    bool eof_seen;                      /* "# EOF" was the last line */
    uint32_t line;                      /* of the line read last */
    const char *line_start;
    struct expo_sample sample;
    struct expo_label labels[EXPO_LABELS_MAX];
    struct expo_meta meta;
    struct expo_fault fault;
};

void expo_open(struct expo *x, const char *bytes, size_t len, enum expo_format format, struct expo_limits limits);
enum expo_event expo_next(struct expo *x);
/* Moves to the next line that should be a sample, over blank lines and comments. false: nothing is left. */
bool expo_to_sample(struct expo *x);
/* Reads the line at hand. Call after expo_to_sample. */
enum expo_event expo_sample(struct expo *x);
/* When the line at hand starts with exactly this series text: reads its value and time into x->sample, labels
 * untouched, and returns EXPO_SAMPLE or EXPO_BROKEN. Else EXPO_END, and nothing moved. For pages whose lines come in the same order
 * as last time this saves all parsing of names and labels. Call after expo_to_sample. */
enum expo_event expo_expect(struct expo *x, const char *series, uint32_t len);
/* Upper bound of the samples on a page, at memory speed: lines that do not start with '#'. */
size_t expo_count_lines(const char *bytes, size_t len);
/* Appends the text behind \\, \" and \n; other backslashes stay. */
void expo_unescape(struct buf *out, const char *s, uint32_t len);

/* Strict reading of a whole page by the rules of the standard: order, families, types, exemplars, end mark.
 * true: the page is in order. false: *ret says where and why it is not. */
bool expo_check(const char *bytes, size_t len, enum expo_format format, struct expo_fault *ret);

#endif
