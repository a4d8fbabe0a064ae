/* trimtab report: what came of plans and actions, from the audit log and the points beside it. docs/promotion.md defines every
 * word used here: plan, hit, false plan, miss, told, passed. */
#ifndef APP_REPORT_H
#define APP_REPORT_H

#include <jansson.h>

#include "api/emit.h"
#include "base/status.h"
#include "store/history.h"
#include "store/store.h"

#define REPORT_RECORDS_MAX 50000       /* for an answer of the daemon; about a second */
#define REPORT_SETTLED SPAN_MIN(30)    /* an incident that is over by then went away by itself */

struct report_source {
    void *ctx;
    /* In order; entries before `from` may be left out. */
    enum status (*records)(void *ctx, uint64_t from, const struct store_sink *sink, struct err *e);
    enum status (*points)(void *ctx, const char *service, const char *signal, int64_t from, int64_t to,
                          const struct store_step_sink *sink, struct err *e);   /* NULL: there are none */
    uint64_t size;                     /* records of the log; 0: not known, all are read */
};

struct report_request {
    const char *service;               /* NULL: all */
    struct wall since, until;
    uint64_t records_max;              /* LIMIT when more would be read; 0: any number */
};

/* Emits the key "data": one object. */
enum status report_make(const struct report_source *source, const struct report_request *r, struct emit *out, struct err *e);
/* For people, from that object. */
void report_say(struct buf *out, const json_t *data);

#endif
