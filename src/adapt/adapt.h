/* What the real ports share. The daemon fills it once; it outlives them.
 *
 * Answers go to `sink`, always later and in the loop thread, never from inside the call that asked. A policy may be
 * exchanged while an answer is under way: the ports keep names, and look indices up again when they deliver. */
#ifndef ADAPT_ADAPT_H
#define ADAPT_ADAPT_H

#include <stdbool.h>
#include <stdint.h>

#include "loop/ports.h"
#include "model/policy.h"

struct event_base;
struct fetch;

struct adapt {
    struct event_base *base;
    struct fetch *fetch;
    struct port_sink sink;
    const struct policy *(*policy)(void *ctx);                            /* the one in force now */
    void (*now)(void *ctx, struct instant *ret_now, struct wall *ret_wall);   /* nominal */
    void *ctx;
};

/* A service and one of its knobs or targets by name and by the index it had. */
struct adapt_place {
    char service[POLICY_NAME_MAX + 1];
    char item[256];
    uint16_t service_index, item_index;
};

struct adapt_place adapt_place_knob(const struct policy *p, uint16_t service, uint16_t knob);
struct adapt_place adapt_place_target(const struct policy *p, uint16_t service, uint16_t target);
/* Brings the indices up to date; false: the policy in force has no such thing any more, so the answer is dropped. */
bool adapt_find_knob(const struct adapt *a, struct adapt_place *place);
bool adapt_find_target(const struct adapt *a, struct adapt_place *place);

#endif
