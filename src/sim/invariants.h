/* The invariants of the specification's section 12, checked by somebody who sees the true world: what is
 * durable, what goes out, what the target holds, what was asked. It believes nothing that the loop says about itself; the
 * loop's state is only looked at to compare it with the truth. */
#ifndef SIM_INVARIANTS_H
#define SIM_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "loop/event.h"
#include "model/record.h"

struct swarm;
struct swarm_service;
struct invariants;
struct inv_fleet;

struct invariants *invariants_new(void);             /* of one service */
void invariants_free(struct invariants *v);
struct inv_fleet *invariants_fleet_new(void);
void invariants_fleet_free(struct inv_fleet *f);

/* A record became durable. */
void invariants_record(struct swarm *w, const struct record *r);
/* Right before the bytes of a write leave the process; it was planned, a moment ago, by what was known then. */
void invariants_send(struct swarm_service *s, uint16_t knob, const struct knob_value *value, uint32_t action, bool is_undo,
                     struct instant planned);
/* The answer to a read reached the loop; `sampled` is when the target was looked at. */
void invariants_read(struct swarm_service *s, uint16_t knob, const struct read_vector *v, struct instant sampled);
/* A person's command reached the loop. */
void invariants_command(struct swarm *w, uint16_t service, const struct command *c);
void invariants_known(struct swarm_service *s, uint16_t signal, const struct point *p);   /* a point reached the loop */
void invariants_release(struct swarm_service *s);
void invariants_reload(struct swarm *w);             /* the loop is about to get another policy */
void invariants_killed(struct swarm *w);             /* the process that leads is gone, or leads no longer */
void invariants_starts(struct swarm *w);             /* one that leads begins to live */
/* After every event. */
void invariants_event(struct swarm *w);
/* After the calm at the end: everything has come to rest. */
void invariants_end(struct swarm *w);

/* The first one is kept. */
void violated(struct swarm *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
