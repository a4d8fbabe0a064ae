/* Rows of "timestamp,value" for detect and import. Quoted fields (RFC 4180) are understood; other columns are passed
 * over. */
#ifndef APP_CSV_H
#define APP_CSV_H

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

#endif
