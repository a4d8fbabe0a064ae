#include "api/routes.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* Compares segment by segment. With `r`, keeps the values of {name}. */
static bool matches(const char *pattern, const char *path, struct http_request *r)
{
    while (*pattern == '/' && *path == '/') {
        size_t p = strcspn(++pattern, "/"), n = strcspn(++path, "/");
        bool word = p > 2 && pattern[0] == '{' && pattern[p - 1] == '}';
        if (word ? n == 0 : (p != n || strncmp(pattern, path, n) != 0)) return false;
        if (word && r) {
            char name[32] = "";
            if (p - 1 > sizeof name) return false;
            memcpy(name, pattern + 1, p - 2);
            name[p - 2] = '\0';
            if (!http_request_add_param(r, name, path, n)) return false;
        }
        pattern += p;
        path += n;
    }
    return *pattern == '\0' && *path == '\0';
}

/* A page in a browser can have a foreign name resolve to this machine; its Host then gives it away. */
static bool host_good(const struct routes *rs, const struct http_request *r)
{
    const char *host = http_request_header(r, "Host");
    if (!host) return true;
    if (host[0] == '[') return true;
    size_t n = strcspn(host, ":");
    if ((n == 9 && strncasecmp(host, "localhost", 9) == 0) || (n > 0 && strspn(host, "0123456789.") == n)) return true;
    for (unsigned i = 0; i < rs->name_n; i++) {
        if (strlen(rs->names[i]) == n && strncasecmp(host, rs->names[i], n) == 0) return true;
    }
    return false;
}

static unsigned with_head(unsigned methods) { return methods & HTTP_GET ? methods | HTTP_HEAD : methods; }

static void refuse_method(struct http_request *r, unsigned methods)
{
    static const struct { unsigned bit; const char *name; } names[] = {
        {HTTP_GET, "GET"}, {HTTP_HEAD, "HEAD"}, {HTTP_POST, "POST"}, {HTTP_PUT, "PUT"}, {HTTP_DELETE, "DELETE"},
    };
    char allow[64] = "";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(methods & names[i].bit)) continue;
        size_t used = strlen(allow);
        snprintf(allow + used, sizeof allow - used, used ? ", %s" : "%s", names[i].name);
    }
    http_reply_header(r, "Allow", allow);
    http_reply_error(r, 405, "this address answers %s", allow);
}

void routes_run(const struct routes *rs, const struct route *row, struct http_request *r)
{
    if (!matches(row->pattern, http_request_path(r), r)) {
        http_reply_error(r, 400, "a part of the address is too long or badly encoded");
        return;
    }
    row->handle(rs->ctx, r);
}

const struct route *routes_find(const struct routes *rs, enum http_method method, const char *path, unsigned *ret_allowed)
{
    *ret_allowed = 0;
    for (unsigned t = 0; t < rs->n; t++) {
        for (unsigned i = 0; i < rs->tables[t].n; i++) {
            const struct route *row = &rs->tables[t].rows[i];
            if (!matches(row->pattern, path, NULL)) continue;
            if (with_head(row->methods) & method) return row;
            *ret_allowed |= with_head(row->methods);
        }
    }
    return NULL;
}

void routes_dispatch(const struct routes *rs, struct http_request *r)
{
    unsigned allowed;
    if (!host_good(rs, r)) {
        http_reply_error(r, 421, "this address is served by IP address, as localhost, or under a name of the configuration's "
                                 "web.names only");
        return;
    }
    const struct route *row = routes_find(rs, http_request_method(r), http_request_path(r), &allowed);
    if (row && rs->guard) rs->guard(rs->ctx, row, r);
    else if (row) routes_run(rs, row, r);
    else if (allowed) refuse_method(r, allowed);
    else if (!rs->other || !rs->other(rs->ctx, r)) http_reply_error(r, 404, "nothing is served at %.200s", http_request_path(r));
}
