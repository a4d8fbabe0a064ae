#include "api/route_table.h"

#include <stddef.h>

#include "base/check.h"

#define ROUTE(method, pattern, role, handle, tag, summary, query, body, data) \
    {HTTP_##method, pattern, ROLE_##role, handle, summary, query, #body, #data},
static const struct route rows[] = {
#include "api/route.def"
};
#undef ROUTE

static const char *const tags[] = {
#define ROUTE(method, pattern, role, handle, tag, ...) tag,
#include "api/route.def"
#undef ROUTE
};

const struct route *route_table(unsigned *ret_n)
{
    *ret_n = ARRAY_LEN(rows);
    return rows;
}

const char *route_tag(const struct route *row) { return tags[row - rows]; }
