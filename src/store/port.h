/* The store as the loop's shell sees it: effects in, events out. Everything happens in the loop's thread; events are
 * delivered inside the calls below, never inside `append`. */
#ifndef STORE_PORT_H
#define STORE_PORT_H

#include "loop/ports.h"
#include "store/store.h"

struct store_port;
/* Borrows store and policy. NULL: out of memory. */
struct store_port *store_port_new(struct store *s, struct port_sink sink, const struct policy *policy);
void store_port_free(struct store_port *p);                        /* takes NULL; not the store */
void store_port_policy(struct store_port *p, const struct policy *policy);   /* after a reload */

/* For EFFECT_APPEND. An append that cannot even be queued is answered like one that failed. */
struct log_port store_port_log(struct store_port *p);
/* Delivers EVENT_ACK for what has ended. Call it when store_fd is readable and after each round of effects.
 * *ret_fatal is set when a sync failed: end the process (loop.md row 22). Returns the number delivered. */
uint32_t store_port_poll(struct store_port *p, bool *ret_fatal);
/* For EFFECT_FOLD and the start: EVENT_RECORD for each record of the service (or of all), oldest first, then
 * EVENT_FOLDED for it (for each). Records of services that the policy does not know are passed over. CORRUPT: no
 * EVENT_FOLDED then. */
enum status store_port_fold(struct store_port *p, uint16_t service, struct err *e);
/* EVENT_STATE of a service, when one was saved. */
enum status store_port_state(struct store_port *p, uint16_t service, struct wall now, struct err *e);
/* EFFECT_SAVE_STATE and EFFECT_POINTS; any other effect is INVALID. now and wall: of the update. */
enum status store_port_keep(struct store_port *p, const struct effect *e, struct instant now, struct wall wall,
                            struct err *err);

#endif
