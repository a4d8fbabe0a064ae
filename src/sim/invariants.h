/* The invariants of the specification's section 12, as far as one daemon goes, checked by somebody who sees the true world: what is
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
struct invariants;

struct invariants *invariants_new(void);
void invariants_free(struct invariants *v);

/* A record became durable. */
void invariants_record(struct swarm *w, const struct record *r);
/* Right before the bytes of a write leave the process; it was planned, a moment ago, by what was known then. */
void invariants_send(struct swarm *w, uint16_t knob, const struct knob_value *value, uint32_t action, bool is_undo,
                     struct instant planned);
/* The answer to a read reached the loop; `sampled` is when the target was looked at. */
void invariants_read(struct swarm *w, uint16_t knob, const struct read_vector *v, struct instant sampled);
/* A person's command reached the loop. */
void invariants_command(struct swarm *w, const struct command *c);
void invariants_known_judge(struct swarm *w, const struct point *p);   /* a point of the judged signal reached the loop */
void invariants_release(struct swarm *w);
void invariants_reload(struct swarm *w);             /* the loop is about to get another policy */
void invariants_killed(struct swarm *w);
/* After every event. */
void invariants_event(struct swarm *w);
/* After the calm at the end: everything has come to rest. */
void invariants_end(struct swarm *w);

/* The first one is kept. */
void violated(struct swarm *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
