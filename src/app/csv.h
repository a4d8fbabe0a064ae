/* Rows of "timestamp,value" for detect and import. Quoted fields (RFC 4180) are understood; other columns are passed
 * over. */
#ifndef APP_CSV_H
#define APP_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/time.h"

#define CSV_ROWS_MAX 10000000u
#define CSV_COLUMNS_MAX 256u

struct csv_rows {
    struct wall *times;
    double *values;          /* NaN: an empty field, NaN or null */
    uint32_t n;
};

/* The first line names the columns: timestamp and value, in any place; without such a line the first two columns are
 * taken. Times: RFC 3339, the same without a zone (then UTC), Unix seconds. INVALID names the line. */
enum status csv_read(const char *path, const char *bytes, size_t len, struct csv_rows *ret, struct err *e);
void csv_free(struct csv_rows *r);

/* ---- tables of any columns ---- */

struct csv_field { const char *s; size_t len; };

/* Both: anything but OK ends the reading with that error. `place` is "FILE:LINE". */
struct csv_sink {
    void *arg;
    enum status (*names)(void *arg, const struct csv_field *names, unsigned n, const char *place, struct err *e);
    enum status (*row)(void *arg, struct wall at, const struct csv_field *fields, unsigned n, const char *place, struct err *e);
};
/* Line 1 names the columns, the first is timestamp (or time); then rows, whose first column is the time. */
enum status csv_table(const char *path, const char *bytes, size_t len, const struct csv_sink *sink, struct err *e);
/* An empty field and null are NaN. false: not a number. */
bool csv_number(struct csv_field f, double *ret);

#endif
