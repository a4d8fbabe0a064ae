/* Which function answers which address. A table is an array of rows; the dispatcher knows several tables. A row that
 * changes anything asks for the token. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include "api/http_server.h"

enum route_access {
    ROUTE_OPEN,              /* anybody who can reach the address: loopback only, until logins exist */
    ROUTE_TOKEN              /* Authorization: Bearer TOKEN, the token of DATA/token */
};

struct route {
    unsigned methods;        /* bits of enum http_method; HEAD comes with GET */
    const char *pattern;     /* "/api/v1/services/{service}/halt"; {name} is one whole segment */
    enum route_access access;
    void (*handle)(void *ctx, struct http_request *r);
    const char *summary;     /* one line, for the list of addresses */
};

struct route_table { const struct route *rows; unsigned n; };

struct routes {
    const struct route_table *tables;
    unsigned n;
    const char *token;       /* "" refuses every row that asks for it */
    void *ctx;               /* given to the handlers */
};

/* Answers 404, 405 with Allow, 401 and 421 (a Host that is no address and not localhost: DNS rebinding) by itself. */
void routes_dispatch(const struct routes *rs, struct http_request *r);

#endif
