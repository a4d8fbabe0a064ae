/* Which function answers which address, and which role it takes. A table is an array of rows; the dispatcher knows several.
 * Who a request comes from is found out by `guard`, which may take its time. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/http_server.h"
#include "loop/event.h"

struct route {
    unsigned methods;        /* bits of enum http_method; HEAD comes with GET */
    const char *pattern;     /* "/api/v1/services/{service}/halt"; {name} is one whole segment */
    enum role role;          /* the least that may; ROLE_NONE: anybody who can reach the address */
    void (*handle)(void *ctx, struct http_request *r);
    const char *summary;     /* one line, for the list of addresses */
    const char *query;       /* names of its query parameters, with blanks between; NULL: none */
    const char *body, *data; /* names of their schemas in schemas.json; NULL: no body; data NULL: not JSON */
};

struct route_table { const struct route *rows; unsigned n; };

struct routes {
    const struct route_table *tables;
    unsigned n;
    const char *const *names;      /* host names it is served under besides localhost and addresses */
    unsigned name_n;
    void *ctx;                     /* given to the functions */
    /* Answers what may not be, or calls routes_run, now or later. NULL: everything may. */
    void (*guard)(void *ctx, const struct route *row, struct http_request *r);
    /* What no table knows: answers and says true. NULL: nothing. */
    bool (*other)(void *ctx, struct http_request *r);
};

/* Answers 404, 405 with Allow and 421 (a Host that is no address, not localhost and no name of ours: DNS rebinding) by
 * itself. */
void routes_dispatch(const struct routes *rs, struct http_request *r);
/* The handler, with the values of {name} taken from the path. */
void routes_run(const struct routes *rs, const struct route *row, struct http_request *r);
/* The row that would answer; NULL: none. */
const struct route *routes_find(const struct routes *rs, enum http_method method, const char *path, unsigned *ret_allowed);

#endif
