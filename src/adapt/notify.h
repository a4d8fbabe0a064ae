/* Telling people: notify_port of the daemon. Each notice is one line on stderr, always, and one JSON document to each
 * notify URL (the shape of Alertmanager's webhook, version "4"). Deliveries wait in a bounded queue and are tried
 * again with growing pauses; none ever delays the loop. */
#ifndef ADAPT_NOTIFY_H
#define ADAPT_NOTIFY_H

#include "adapt/adapt.h"

#define NOTIFY_QUEUE 256
#define NOTIFY_TRIES 6               /* pauses of 1, 2, 4, 8, 16 s between them */

struct notify;

struct notify_counters { uint64_t notices[3], sent, failed, dropped; unsigned waiting; };   /* by enum notice */

struct notify *notify_new(const struct adapt *a);   /* NULL: out of memory */
void notify_free(struct notify *n);                 /* takes NULL; after fetch_free */
struct notify_port notify_port(struct notify *n);
void notify_counters(const struct notify *n, struct notify_counters *ret);
const char *notify_level_name(enum notice level);

#endif
