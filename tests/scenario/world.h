/* Several services under one shipped loop on a virtual clock: signals by script, targets with several instances, a log in
 * memory, and everything around them that may fail. What happened is written down for whoever judges it. */
#ifndef SCENARIO_WORLD_H
#define SCENARIO_WORLD_H

#include "base/arena.h"
#include "loop/loop.h"

#define SERVICES_MAX 8
#define PIECES_MAX 24
#define INSTANCES_MAX 4
#define LOG_MAX 4000

/* "38 @24h 46.8 @24h20m _": values that hold from a time on; _ is no value. */
struct line { struct instant from[PIECES_MAX]; double value[PIECES_MAX]; unsigned n; };

struct target {
    double value[POLICY_KNOBS_MAX][INSTANCES_MAX];
    unsigned n[POLICY_KNOBS_MAX];
    unsigned version[POLICY_KNOBS_MAX];
    bool refuses, ignores, unreadable;
};

struct watched {                     /* of one service */
    struct line lines[POLICY_SIGNALS_MAX];
    struct target target;
    unsigned sends;                  /* forward writes */
    struct instant last_send;
    uint64_t reasons;                /* bit per reason that a tick had */
};

struct world {
    struct arena log_arena;
    struct policy *policy;
    struct loop *loop;
    struct instant now, wake, started;
    struct wall start;
    struct watched services[SERVICES_MAX];
    const struct record *log[LOG_MAX];
    unsigned log_n;
    bool store_fails, kill_at_send;
    unsigned life;                   /* processes so far */
    uint64_t ticks;
    struct buf notices, replies;
    void (*on_tick)(void *ctx, struct world *w);   /* after each round of ticks */
    void *ctx;
};

void world_begin(struct world *w, struct policy *p, struct wall start);
void world_end(struct world *w);     /* the policy stays the caller's */
void world_send(struct world *w, struct event *e);
void world_go(struct world *w, struct instant until);
void world_restart(struct world *w); /* kill -9, and at once again on the same log */
double line_at(const struct line *l, struct instant t);
bool line_parse(const char *text, struct line *ret);

#endif
