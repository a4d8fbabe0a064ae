/* One series fed row by row: the core behind `trimtab detect --csv`. No rules, no service: the built-in views alone.
 * Steps over 30 s: one row is one tick (windows of 10 and 60 rows, slots of the clock time). Up to 30 s: ticks of 30 s,
 * and each row shows what the last tick said. Missing values, gaps and steps back are unknown rows. */
#ifndef DETECT_CSV_H
#define DETECT_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/time.h"
#include "model/evidence.h"

struct detect_csv;

/* Usual distance of rows: the median of the positive differences; 30 s when there is none. */
struct span detect_csv_step(const struct wall *times, uint32_t n);
/* `name` appears in findings and must outlive the object. NULL: out of memory. */
struct detect_csv *detect_csv_new(const char *name, struct span step);
void detect_csv_free(struct detect_csv *c);   /* takes NULL */

struct detect_csv_row {
    double score;            /* 0..1 = r / (1 + r); NaN unknown. From 0.5 on: an alarm */
    double r;                /* the largest view's value over its own limit. Within 100 rows of an alarm the limit is
                              * twice what was told: a step gives one alarm, `state` says how long it lasts */
    enum series_state state;
    bool has_finding;        /* a view is at its limit now; `finding` names it, news or not */
    struct finding finding;
    enum unknown_why why;    /* KNOWN, or why the row has no score */
};
/* NaN or infinity as value: a missing value. */
void detect_csv_feed(struct detect_csv *c, struct wall at, double value, struct detect_csv_row *ret);
/* The row's finding as a sentence; nothing when it has none. */
void detect_csv_say(struct buf *out, const struct detect_csv *c, const struct detect_csv_row *row);

#endif
