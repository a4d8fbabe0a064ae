/* Asks a server with Prometheus's HTTP API (Prometheus, VictoriaMetrics, Thanos, Mimir) what an expression was over a
 * time: query_range in pieces that every such server answers. For the command line: each call waits. */
#ifndef ADAPT_PROM_RANGE_H
#define ADAPT_PROM_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/time.h"

#define PROM_RANGE_STEPS 10000        /* of one piece; Prometheus refuses more than 11,000 */

struct prom_range;

/* url: of the server, with its path prefix if it has one. bearer_file: NULL, or a file with a token. NULL: *e. */
struct prom_range *prom_range_new(const char *url, const char *bearer_file, struct err *e);
void prom_range_free(struct prom_range *p);   /* takes NULL */

/* One point; NaN where several series have a value at once. false ends the query. */
struct prom_range_sink { void *arg; bool (*point)(void *arg, struct wall at, double value); };

struct prom_range_query { const char *text; struct wall from, to; struct span step, timeout; };
/* Each `step` from `from` to `to`, both included, in order of time; steps without a value are left out. INVALID: the server
 * refuses the expression (its own words). IO, TIMEOUT: it does not answer. *ret_ambiguous: how many steps had several values. */
enum status prom_range_ask(struct prom_range *p, const struct prom_range_query *q, const struct prom_range_sink *sink,
                           uint64_t *ret_ambiguous, struct err *e);

#endif
