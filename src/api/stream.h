/* Server-sent events: what happens, told to everybody who listens. A listener that does not keep up is dropped, never waited
 * for. Events from the audit have ids and are kept for a while, so that who was cut off goes on where it was. */
#ifndef API_STREAM_H
#define API_STREAM_H

#include "api/api.h"

#define STREAM_KEPT 1024             /* events that a listener who comes back may still get */
#define STREAM_BEAT_S 10

struct stream_hub;

/* NULL: out of memory. */
struct stream_hub *stream_new(struct event_base *base, struct api *api);
void stream_free(struct stream_hub *h);   /* takes NULL; after the server */
/* Something about the service has changed; it is told within 0.2 s, at most once a second. */
void stream_service(struct stream_hub *h, uint16_t service);
/* `n` records from `seq` on are durable. */
void stream_records(struct stream_hub *h, uint64_t seq, uint32_t n);
unsigned stream_listeners(const struct stream_hub *h);
uint64_t stream_dropped(const struct stream_hub *h);   /* listeners that did not keep up */

#endif
