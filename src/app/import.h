/* What trimtab import takes besides files. */
#ifndef APP_IMPORT_H
#define APP_IMPORT_H

#include <jansson.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/time.h"

struct import_from { const char *service, *url, *bearer_file; struct span back; };
/* The signals of the service by their own queries, at each tick of the last `back`, as CSV: timestamp and a column a signal.
 * `config`: as the API tells it. NOT_FOUND: no such service, or the server has nothing. IO, TIMEOUT: it does not answer. */
enum status import_from_prometheus(const json_t *config, const struct import_from *f, struct buf *out, struct err *e);

#endif
