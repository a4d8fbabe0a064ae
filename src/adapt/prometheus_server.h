/* One queue a server. Inside adapt only. */
#ifndef ADAPT_PROMETHEUS_SERVER_H
#define ADAPT_PROMETHEUS_SERVER_H

#include "adapt/fetch.h"
#include "base/buf.h"
#include "model/policy.h"

struct servers;

struct server_order {
    const struct prometheus_def *def;      /* copied as far as needed */
    const char *path;                      /* /api/v1/query */
    const char *body;                      /* form; copied */
    void (*done)(void *arg, const struct fetch_result *r);
    void *arg;
};

struct servers *servers_new(struct event_base *base, struct fetch *f);   /* NULL: out of memory */
void servers_end(struct servers *s);               /* before fetch_free: nothing is sent any more, what waits is FETCH_DOWN */
void servers_free(struct servers *s);              /* after servers_end and fetch_free. Takes NULL */
/* `done` comes exactly once, later. */
void servers_send(struct servers *s, const struct server_order *o);

#endif
