/* Columns that fit: widths counted as a terminal shows them (wide Chinese characters too). The last column is never
 * padded. Colour goes by a cell's word. */
#ifndef APP_TABLE_H
#define APP_TABLE_H

#include "base/buf.h"

#define TABLE_COLUMNS_MAX 16

struct table {
    unsigned columns, cells;
    char **items;
    unsigned cap;
};

/* Names in capitals, separated by '|': "SERVICE|STATE". */
void table_open(struct table *t, const char *names);
void table_cell(struct table *t, const char *text);
void table_take(struct table *t, struct buf *text);      /* frees it */
/* Appends all, each line after `margin` blanks. */
void table_print(struct table *t, unsigned margin, bool colour, struct buf *out);
void table_show(struct table *t, unsigned margin);       /* on stdout; frees */
void table_free(struct table *t);

#endif
