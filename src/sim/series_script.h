/* Scripted series in promtool's notation: "38x2880 46.8x60", "1+2x3", "5-1x4", "_", "_x5", "stale". Items are separated by
 * white space. `ax3` is a and three more of it (4 values), `a+bx3` is a, a+b, a+2b, a+3b; `_x3` is three missing values. */
#ifndef SIM_SERIES_SCRIPT_H
#define SIM_SERIES_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SCRIPT_RUNS_MAX = 100000, SCRIPT_POINTS_MAX = 100000000 };

enum script_kind { SCRIPT_VALUE, SCRIPT_MISSING, SCRIPT_STALE };

struct script_point { enum script_kind kind; double value; };  /* value: NaN unless SCRIPT_VALUE */

struct script_run { uint64_t first; double start, step; enum script_kind kind; };  /* from point `first` to the next run */

struct series_script {
    struct script_run *runs;
    size_t n;
    uint64_t points;
};

/* Errors name line and column: INVALID (not the notation; native histograms are not supported), LIMIT, MEMORY. *ret is
 * untouched then. An empty text is a script of no points. */
enum status script_parse(const char *text, size_t len, struct series_script *ret, struct err *e);
/* Point i from 0; from `points` on: missing. */
struct script_point script_at(const struct series_script *s, uint64_t i);
void script_free(struct series_script *s);  /* takes NULL */

#endif
