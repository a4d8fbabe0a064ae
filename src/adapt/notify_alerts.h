/* What is open now, for Alertmanager: it wants to hear of it again and again, and of its end. Built from the records of
 * the log, so that it is the same after a restart. Inside adapt only.
 *
 *   TrimtabIncident  service, incident   warning   from INCIDENT to CLOSED
 *   TrimtabPerson    service, incident   page      a person has to decide or to look
 *   TrimtabHalted    service             page      from HALT or UNDO-FAILED to RESUME
 *   TrimtabNotice    service, notice     its own   what no record says; ends by itself
 *   TrimtabWatchdog                      none      always
 * Labels never change while an alert is open; what changes stands in its annotations. */
#ifndef ADAPT_NOTIFY_ALERTS_H
#define ADAPT_NOTIFY_ALERTS_H

#include "adapt/notify_words.h"

#define ALERTS_MOST 4096         /* open at one time */
#define ALERTS_BATCH 64          /* of one request */
#define ALERTS_REPEAT (60 * US_PER_S)
#define ALERTS_LAST (4 * US_PER_MIN)     /* unless it is said again, Alertmanager ends an alert after this */
#define ALERTS_NOTICE (15 * US_PER_MIN)
#define ALERTS_KEEP (15 * US_PER_MIN)    /* an ended one is told so long */

struct alerts;

struct alerts *alerts_new(void);         /* NULL: out of memory */
void alerts_free(struct alerts *a);
void alerts_record(struct alerts *a, uint64_t seq, const struct record *r, const struct policy *p, int64_t real_us);
void alerts_notice(struct alerts *a, struct wall at, enum notice level, const char *service, const char *subject, const char *text,
                   int64_t real_us);
uint64_t alerts_version(const struct alerts *a);     /* rises with each change */
uint64_t alerts_dropped(const struct alerts *a);     /* beyond ALERTS_MOST */
/* The document for POST /api/v2/alerts, from place `from` on (0: the watchdog first); returns where to go on, 0 at the end.
 * `least`: less severe ones are left out, but never the watchdog. */
size_t alerts_print(struct alerts *a, struct buf *out, size_t from, unsigned least, bool chinese, const char *log,
                    const char *external_url, int64_t real_us);
void alerts_print_test(struct buf *out, const char *receiver, const char *log, int64_t real_us);

#endif
