/* The table of all addresses (route.def) and their functions. */
#ifndef API_ROUTE_TABLE_H
#define API_ROUTE_TABLE_H

#include "api/identity.h"
#include "api/routes.h"

#define ROUTE(method, pattern, role, handle, ...) void handle(void *ctx, struct http_request *r);
#include "api/route.def"
#undef ROUTE

const struct route *route_table(unsigned *ret_n);
const char *route_tag(const struct route *row);

#endif
