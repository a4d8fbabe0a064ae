/* What is different now from when a person was asked: why an approval is refused, in facts and in a sentence. */
#ifndef API_V1_CHANGED_H
#define API_V1_CHANGED_H

#include "api/v1_inside.h"

#define CHANGES_MAX 16

/* what: ended (the request itself), incident, symptom, knob, plan, gate, mode, policy, signal. then, now: as people read them,
 * with their unit. by, reason, at: of an end; "" and WALL_NONE else. */
struct v1_change { const char *what; char name[64], then[96], now[96], by[64], reason[32]; struct wall at; };
struct v1_changes { struct v1_change items[CHANGES_MAX]; unsigned n; };

/* A request's record and the one that ended it (NULL: none yet), newest first, some way back in the log. `request` names it by at
 * least 8 digits of its plan's hash; NULL, "" or the service's name: the newest one. false: not found. */
struct v1_request { const struct record *asked, *end; uint64_t seq; };
bool v1_request_find(const struct v1_port *port, const char *service, const char *request, struct arena *arena,
                     struct v1_request *ret);

void v1_changed_since(struct api *api, const struct service_view *v, const struct v1_request *q, struct v1_changes *ret);
/* Between a request's record and the record that ended it. external: the newest record in between that tells of somebody
 * else's value on its knob, or NULL. */
void v1_changed_between(const struct record *asked, const struct record *end, const struct record *external,
                        struct v1_changes *ret);
void v1_changes_json(struct emit *e, const char *key, const struct v1_changes *c);
/* One sentence of them all; nothing when there is none. */
void v1_changes_say(struct buf *out, const struct v1_changes *c);
/* waiting, approved, rejected, expired or void. */
const char *v1_request_end(enum record_kind k);

#endif
