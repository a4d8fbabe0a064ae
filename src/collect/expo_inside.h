/* Shared by the parts of the page reader. */
#ifndef COLLECT_EXPO_INSIDE_H
#define COLLECT_EXPO_INSIDE_H

#include "collect/expo.h"

static inline bool expo_blank(const struct expo *x, const char *p) { return p < x->end && (*p == ' ' || *p == '\t'); }

static inline const char *expo_skip_blanks(const struct expo *x, const char *p)
{
    while (expo_blank(x, p)) p++;
    return p;
}

static inline bool expo_line_end(const struct expo *x, const char *p) { return p >= x->end || *p == '\n'; }

/* Fills x->fault for the place `at` of the line at hand and moves to the next line. Returns EXPO_BROKEN. */
enum expo_event expo_fault_at(struct expo *x, const char *at, const char *reason);
/* The same for a limit. Returns EXPO_OVER_LIMIT. */
enum expo_event expo_over(struct expo *x, const char *at, const char *reason);
/* Labels into x->labels; p stands behind '{'. Returns the place behind '}', NULL after a fault. */
const char *expo_labels(struct expo *x, const char *p, uint32_t *ret_n, enum expo_event *event);
/* The line from the value on; p stands behind the series. */
enum expo_event expo_tail(struct expo *x, const char *p);

#endif
